//! The benchmarks of messages over TCP run to their tables: the programs check the results
//! themselves.

use goal_filetest::skipped;
use std::path::Path;
use std::process::{Command, Output};

/// Returns true if a command can be started.
fn is_there(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|of| of.status.success())
}

/// Returns true, after a line that says so, if the library, goal-run or a compiler is missing. The
/// first two are there where the whole workspace is built.
fn lacks() -> bool {
    let own = Path::new(env!("CARGO_BIN_EXE_goal-bench"));
    let is_built = |name: &str| {
        own.with_file_name(name).exists() || own.with_file_name("deps").join(name).exists()
    };
    let lacks = !is_built("goal-run") || !is_built("libgoal_c.so") || !is_there("cc");
    if lacks {
        skipped("there is no goal-run, no libgoal_c.so or no cc");
    }
    lacks
}

fn bench(arguments: &str, csv: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_goal-bench"));
    let command = command.args(arguments.split_whitespace()).arg("--csv").arg(csv);
    command.output().expect("goal-bench starts")
}

/// Returns the output of a benchmark, and the lines of its raw data.
fn run(arguments: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("samples.csv");
    let output = bench(arguments, &csv);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let csv = std::fs::read_to_string(csv).expect("raw data");
    (text, csv.lines().map(str::to_owned).collect())
}

#[test]
fn operations_over_tcp() {
    if lacks() {
        return;
    }
    let has_mpi = is_there("mpirun") && is_there("mpicc");
    if !has_mpi {
        skipped("there is no mpirun or no mpicc: libgoal is measured alone");
    }
    let mpi = if has_mpi { "" } else { "--mpi=" };
    let (text, csv) = run(&format!(
        "tcp {mpi} --operation pingpong,barrier,allreduce --size 8,65536 --rounds 20 --runs 1 --ranks 2"
    ));
    let count = |row: &str, is_one: fn(&str) -> bool| {
        let of_row = csv.iter().filter(|line| line.starts_with(row));
        of_row.filter(|line| line.split(',').nth(4).is_some_and(is_one)).count()
    };
    for row in ["pingpong,8,", "pingpong,65536,", "barrier,0,", "allreduce,8,", "allreduce,65536,"]
    {
        let row = format!("shared,2,{row}");
        assert_ne!(count(&row, |by| by.starts_with("libgoal:")), 0, "{row}: {csv:?}");
        let peers = count(&row, |by| !by.starts_with("libgoal:"));
        assert_eq!(peers > 0, has_mpi, "{row}: {csv:?}");
    }
    let met = text.matches(" yes |").count() + text.matches(" no |").count();
    assert_eq!(met > 0, has_mpi, "{text}");
}

/// Each of two ranks has the connection with the other, and some that are idle.
#[test]
fn many_connections() {
    let (text, csv) =
        run("connections --connections 1,70 --size 8192,1048576 --trips 100 --streams 1 --turns 1");
    for wait in ["spin", "sleep"] {
        for figure in ["latency,8", "bandwidth,8192", "bandwidth,1048576"] {
            for connections in [1, 70] {
                let line = format!("{wait},{figure},{connections},1,");
                assert!(csv.iter().any(|of| of.starts_with(&line)), "{line}: {csv:?}");
            }
        }
    }
    // The row of the first number of connections, of each figure.
    assert!(text.matches(" 100.0 % |").count() >= 6, "{text}");
}
