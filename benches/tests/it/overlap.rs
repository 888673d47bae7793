//! The benchmarks with ranks run to their tables: their ranks check the results themselves.

use std::ffi::OsStr;
use std::process::Command;

/// The modes of progress. Each mode is measured.
const MODES: [&str; 3] = ["caller", "thread", "node"];

/// Returns the output of a benchmark without MPI, and the lines of its raw data.
fn run(arguments: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("samples.csv");
    let text = output(arguments, &[OsStr::new("--csv"), csv.as_os_str()]);
    let csv = std::fs::read_to_string(csv).expect("raw data");
    (text, csv.lines().map(str::to_owned).collect())
}

/// Returns the output of a benchmark without MPI.
fn output(arguments: &str, more: &[&OsStr]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_goal-bench"))
        .args(arguments.split_whitespace())
        .args(more)
        .env("PATH", "")
        .output()
        .expect("goal-bench starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn an_allreduce_beside_a_product() {
    let (text, csv) = run("overlap --order 64 --size 8 --size 65536 --iterations 4 --runs 1");
    assert_eq!(text.matches("| 64 x 64 |").count(), 4 * MODES.len(), "{text}");
    assert_eq!(csv.len(), 1 + 4 * MODES.len(), "{csv:?}");
    let numbers: Vec<f64> =
        csv[1].split(',').skip(5).map(|cell| cell.parse().expect("a number")).collect();
    let [alone, both, waiting] = numbers[..] else { panic!("{}", csv[1]) };
    assert!(alone > 0.0 && waiting <= both, "{}", csv[1]);
}

#[test]
fn a_rank_that_is_late() {
    let (text, csv) = run("late --size 8 --busy-ms 20 --iterations 2 --runs 1");
    assert!(MODES.iter().all(|mode| text.contains(mode)), "{text}");
    assert_eq!(csv.len(), 1 + (20 + 2 + 2 + 2) * MODES.len(), "{csv:?}");
    let (_, csv) = run("late --ranks 4 --size 4096 --busy-ms 20 --iterations 1 --runs 1");
    assert_eq!(
        csv.iter().filter(|line| line.starts_with("4,4096,caller,last,")).count(),
        1,
        "{csv:?}"
    );
}

#[test]
fn operations_without_a_library() {
    let arguments =
        "mpi --operation barrier,allreduce,exchange --size 8,4096 --rounds 20 --runs 1 --ranks 2,4";
    let (text, csv) = run(arguments);
    // A barrier has no size; four ranks do not exchange.
    assert_eq!(text.matches("|  exchange |").count(), 2 * 4, "{text}");
    // A run may be repeated, and a comment names the machine.
    let rows = |line: &&String| !line.starts_with('#');
    assert!(csv.iter().filter(rows).count() > 2 * (5 + 3), "{csv:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("samples.csv");
    std::fs::write(&path, csv.join("\n")).expect("raw data is written");
    let again = output("mpi --from", &[path.as_os_str()]);
    assert_eq!(again, text);
}

#[test]
fn local_operations() {
    let (text, csv) = run("local --function sumInt32 --size 64 --runs 2");
    assert!(text.contains("| sumInt32"), "{text}");
    assert_eq!(csv.len(), 1 + 4 * 2, "{csv:?}");
}

#[test]
fn ranks_that_wait() {
    // Built where the whole workspace is.
    let built =
        std::path::Path::new(env!("CARGO_BIN_EXE_goal-bench")).with_file_name("goal-run").exists();
    if !built {
        return goal_filetest::skipped("there is no goal-run");
    }
    let (text, csv) = run("idle --ranks 3 --seconds 1");
    assert_eq!(text.matches("| 3 ").count(), MODES.len(), "{text}");
    for (mode, process) in MODES
        .iter()
        .flat_map(|mode| ["rank 0", "rank 1", "rank 2", "goal-run"].map(|process| (mode, process)))
    {
        assert!(
            csv.iter().any(|line| line.starts_with(&format!("3,{mode},{process},"))),
            "{csv:?}"
        );
    }
}
