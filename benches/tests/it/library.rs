//! The benchmarks of programs in C run to their tables: the programs check the results themselves.

use goal_cluster::{Cluster, Wiring};
use goal_filetest::skipped;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

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

/// Returns true, after a line that says so, if there is no MPI library on the path.
fn lacks_mpi() -> bool {
    let lacks = !is_there("mpirun") || !is_there("mpicc");
    if lacks {
        skipped("there is no mpirun or no mpicc");
    }
    lacks
}

fn bench(arguments: &str, more: &[PathBuf]) -> Output {
    output(
        Command::new(env!("CARGO_BIN_EXE_goal-bench"))
            .args(arguments.split_whitespace())
            .args(more),
    )
}

/// Returns the output of one benchmark at a time: ranks that wait keep their processors.
fn output(command: &mut Command) -> Output {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    command.output().expect("goal-bench starts")
}

/// Returns the output of a benchmark, and the lines of its raw data.
fn run(arguments: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("samples.csv");
    let output = bench(arguments, &["--csv".into(), csv.clone()]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let csv = std::fs::read_to_string(csv).expect("raw data");
    (text, csv.lines().map(str::to_owned).collect())
}

#[test]
fn operations_in_all_ways() {
    if lacks() {
        return;
    }
    let (text, csv) = run(
        "mpi --mpi= --ours libgoal --operation pingpong,barrier,bcast,reduce,allreduce,gather,scatter,allgather,alltoall,mix,exchange --size 8,65536 --rounds 20 --runs 1 --ranks 2,3",
    );
    assert!(text.contains("calls of libgoal"), "{text}");
    for ranks in [2, 3] {
        for (memory, kind) in [("malloc", "malloc"), ("shared", "alloc")] {
            for operation in
                ["bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall"]
            {
                for bytes in [8, 65536] {
                    for way in ["blocking", "nonblocking", "persistent"] {
                        let line =
                            format!("{memory},{ranks},{operation},{bytes},libgoal:{way}:{kind},");
                        assert!(csv.iter().any(|of| of.starts_with(&line)), "{line}: {csv:?}");
                    }
                }
            }
        }
    }
    let ways = |row: &str| {
        let of_row = csv.iter().filter(|line| line.starts_with(row));
        let contestant = |line: &String| line.split(',').nth(4).map(str::to_owned);
        let mut ways: Vec<String> = of_row.filter_map(contestant).collect();
        ways.retain(|contestant| contestant.starts_with("libgoal:"));
        ways.sort();
        ways.dedup();
        ways.len()
    };
    // A ping-pong is one schedule that is started again; exchanges are not called.
    let rows =
        ["malloc,2,pingpong,8,", "malloc,2,barrier,0,", "malloc,2,exchange,8,", "malloc,3,mix,0,"];
    assert_eq!(rows.map(ways), [1, 3, 0, 3], "{csv:?}");
}

#[test]
fn operations_that_are_made_harder() {
    if lacks() {
        return;
    }
    let options = "mpi --mpi= --ours libgoal --memory malloc --ranks 2 --runs 1 --rounds 20";
    for (more, rows) in [
        (
            "--operation bcast --size 0,57 --skew 0.2,10",
            ["bcast late 0.2 us,0", "bcast late 10 us,57"],
        ),
        ("--operation mix,mix-world --cold", ["mix cold 1024 KiB,0", "mix-world cold 1024 KiB,0"]),
        (
            "--operation bcast,reduce,allreduce --size 4,16 --float64 --second-thread",
            ["reduce float64 second thread,16", "allreduce float64 second thread,16"],
        ),
        ("--operation barrier,gather --size 8 --in-a-row 10", ["barrier x 10,0", "gather x 10,8"]),
    ] {
        let (text, csv) = run(&format!("{options} {more}"));
        for row in rows {
            let line = format!("malloc,2,{row},libgoal:persistent:malloc,1,");
            assert!(csv.iter().any(|of| of.starts_with(&line)), "{line}: {csv:?}");
        }
        assert_eq!(text.matches("| libgoal |").count(), csv_rows(&csv), "{text}");
    }
}

/// Returns the number of rows that persistent calls of libgoal have. A repeated run
/// counts once.
fn csv_rows(csv: &[String]) -> usize {
    let row =
        |line: &'_ String| line.split_once(",libgoal:persistent:").map(|(row, _)| row.to_owned());
    csv.iter().filter_map(row).collect::<HashSet<_>>().len()
}

#[test]
fn a_variant_is_a_contestant() {
    if lacks() {
        return;
    }
    let options = "mpi --mpi= --ours libgoal --memory malloc --ranks 2 --runs 1 --rounds 20";
    let arguments = format!("{options} --operation barrier --variant");
    let mut command = Command::new(env!("CARGO_BIN_EXE_goal-bench"));
    command.args(arguments.split_whitespace()).arg("blocks=GOAL_UNUSED=1 --wait block");
    let output = output(&mut command);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    // Beside other work it can be that no run counts. The table then has no contestants.
    let has_both = text.contains("|  blocks |") && text.contains("| libgoal |");
    assert!(has_both || text.contains("no run counts"), "{text}");
    assert!(text.contains("libgoal blocks: GOAL_UNUSED=1 --wait block"), "{text}");
    let error = error_of(&format!("{arguments} blocks"));
    assert!(error.contains("`blocks`: give NAME=WORDS"), "{error}");
}

#[test]
fn instructions_of_calls() {
    if lacks() || !cfg!(target_arch = "x86_64") {
        return;
    }
    let arguments = "instructions --mpi= --operation barrier,bcast --calls 3";
    let (text, csv) = run(arguments);
    // Two ranks in three ways of two operations, each with some hundred instructions.
    assert_eq!(csv.len(), 1 + 2 * 3 * 2, "{text}");
    for line in &csv[1..] {
        let counts = line.split(',').skip(6).map(|of| of.parse().expect("a count"));
        let counts: Vec<u64> = counts.collect();
        assert!(counts[0] > 20 && counts[1] < counts[0], "{line}");
    }
}

/// Returns what goal-bench says about these arguments.
fn error_of(arguments: &str) -> String {
    let output = bench(arguments, &[]);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_table_of_algorithms_is_used() {
    if lacks() {
        return;
    }
    let arguments = "mpi --mpi= --ours libgoal --operation barrier --runs 1 --ranks 2 --table";
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table.json");
    let fails = |reason: &str| {
        let output = bench(arguments, std::slice::from_ref(&table));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(reason), "{error}");
    };
    fails("table.json: No such file");
    std::fs::write(&table, "{").expect("written");
    fails("it is no table of decisions");
}

#[test]
fn costs_of_calls() {
    if lacks() {
        return;
    }
    let (text, csv) = run("library --samples 1 --runs 1");
    for call in ["GOAL_Run |", "GOAL_Test of an ended run |", "GOAL_Run and GOAL_Wait |"] {
        assert_eq!(text.matches(call).count(), 4, "{text}");
    }
    // A group of one waits for no message.
    assert_eq!(csv.iter().filter(|line| line.contains(",waiting,")).count(), 4, "{csv:?}");
}

#[test]
fn applications() {
    if lacks() {
        return;
    }
    let (text, csv) = run("apps --mpi= --class S --ranks 1,3 --iterations 0.01 --runs 1");
    for application in ["cg", "is", "halo"] {
        for ranks in [1, 3] {
            let line = format!("{application},{ranks},S,libgoal,prepared,1,");
            assert!(csv.iter().any(|of| of.starts_with(&line)), "{line}: {csv:?}");
        }
        assert_eq!(text.matches(&format!("| {application} ")).count(), 2, "{text}");
    }
}

#[test]
fn applications_beside_mpi() {
    if lacks() || lacks_mpi() {
        return;
    }
    let (text, csv) = run("apps --class S --ranks 2 --iterations 0.01 --runs 1");
    // A program of libgoal, and each way of MPI.
    assert_eq!(csv.len(), 1 + 3 + (3 + 3 + 2), "{csv:?}");
    assert_eq!(text.matches("libgoal ").count(), 3 + 1, "{text}");
}

#[test]
fn an_application_with_a_wrong_result_ends_the_benchmark() {
    if lacks() {
        return;
    }
    // The keys are not exchanged.
    let error = error_with(
        "int GOAL_Alltoallv(const void *in, const int64_t *a, const int64_t *b, void *out, const int64_t *c, const int64_t *d, GOAL_Type type, GOAL_Comm comm) { return GOAL_SUCCESS; }",
        "apps --mpi= --application is --class S --ranks 2 --iterations 0.01 --runs 1",
    );
    assert!(error.contains("keys are wrong"), "{error}");
}

#[test]
fn an_allreduce_beside_a_product() {
    if lacks() {
        return;
    }
    for memory in ["malloc", "alloc"] {
        let (text, csv) = run(&format!(
            "overlap --mpi= --memory {memory} --order 64 --size 8,65536 --iterations 4 --runs 1"
        ));
        for mode in ["caller", "thread", "node"] {
            assert_eq!(text.matches(&format!(" libgoal {mode} |")).count(), 4, "{text}");
        }
        assert_eq!(csv.len(), 1 + 4 * 6, "{csv:?}");
    }
}

#[test]
fn a_rank_that_is_late() {
    if lacks() {
        return;
    }
    let (text, _) = run("late --mpi= --ours libgoal --size 8 --busy-ms 20 --iterations 2 --runs 1");
    assert!(text.contains("| libgoal thread |"), "{text}");
}

#[test]
fn a_rank_on_each_of_two_hosts() {
    if lacks() {
        return;
    }
    if let Err(missing) = Cluster::new(&Wiring::bridge(2)) {
        return missing.report("a_rank_on_each_of_two_hosts");
    }
    let (text, _) = run(
        "overlap --between-hosts --mpi= --order 64 --size 65536 --iterations 4 --runs 1 --progress caller,thread",
    );
    for mode in ["caller", "thread"] {
        assert_eq!(text.matches(&format!("| libgoal over ESP {mode} |")).count(), 2, "{text}");
    }
}

/// Returns what goal-bench says if functions of the library are replaced by these.
fn error_with(functions: &str, arguments: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let [source, library] = ["wrong.c", "wrong.so"].map(|name| folder.path().join(name));
    std::fs::write(&source, format!("#include <goal.h>\n{functions}\n")).expect("written");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/c/include");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wl,-z,lazy", "-I"]).arg(include);
    let compiled = compiler.arg(source).arg("-o").arg(&library).status().expect("cc starts");
    assert!(compiled.success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_goal-bench"));
    let output = output(command.args(arguments.split_whitespace()).env("LD_PRELOAD", library));
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_wrong_result_ends_the_benchmark() {
    if lacks() {
        return;
    }
    let error = error_with(
        "int GOAL_Allgather(const void *in, void *out, int64_t count, GOAL_Type type, GOAL_Comm comm) { return GOAL_SUCCESS; }",
        "mpi --mpi= --ours libgoal --operation allgather --size 8 --runs 1 --ranks 2 --memory malloc",
    );
    let wanted = "libgoal:blocking:malloc: wrong result of allgather, 2 ranks";
    assert!(error.contains(wanted), "{error}");
    let error = error_with(
        "GOAL_Handle GOAL_Iallreduce(const void *in, void *out, int64_t count, GOAL_Type type, GOAL_Op op, GOAL_Comm comm) { return GOAL_Ibarrier(comm); }",
        "overlap --mpi= --ours libgoal --order 64 --size 8 --iterations 4 --runs 1 --progress caller",
    );
    assert!(error.contains("the allreduce of round 0 has another result"), "{error}");
}

#[test]
fn operations_beside_mpi() {
    if lacks() || lacks_mpi() {
        return;
    }
    let (text, csv) = run(
        "mpi --operation pingpong,barrier,bcast,reduce,allreduce,gather,scatter,allgather,alltoall,mix,exchange,exchange-again,halo --size 8,65536 --rounds 10 --runs 1 --ranks 2",
    );
    // Each contestant's lines of a row, without those of wrong results and failures.
    let count = |row: &str, is_contestant: fn(&str) -> bool| {
        let is_right = |line: &&String| line.split(',').nth(7) != Some("NaN");
        let of_row = csv.iter().filter(|line| line.starts_with(row)).filter(is_right);
        of_row.filter(|line| line.split(',').nth(4).is_some_and(is_contestant)).count()
    };
    let is_ours = |by: &str| by.starts_with("libgoal:");
    let is_peer = |by: &str| by.split(':').count() == 3 && !by.starts_with("libgoal:");
    for memory in ["malloc", "shared"] {
        for operation in [
            "pingpong",
            "bcast",
            "reduce",
            "allreduce",
            "gather",
            "scatter",
            "allgather",
            "alltoall",
        ] {
            let row = format!("{memory},2,{operation},65536,");
            let counts = [count(&row, is_ours), count(&row, |by| by == "schedule")];
            assert!(!counts.contains(&0) && count(&row, is_peer) >= 2, "{row} {csv:?}");
        }
        for operation in ["exchange", "exchange-again", "halo"] {
            let row = format!("{memory},2,{operation},8,");
            assert!(count(&row, is_peer) >= 2, "{row} {csv:?}");
        }
    }
    assert!(!text.contains("left wrong results"), "{text}");
}

#[test]
fn an_allreduce_beside_that_of_mpi() {
    if lacks() || lacks_mpi() {
        return;
    }
    let (_, csv) = run("overlap --order 64 --size 65536 --iterations 4 --runs 1 --progress caller");
    // A peer, a schedule and a program of the C library, without and with calls.
    assert_eq!(csv.len(), 1 + 3 * 2, "{csv:?}");
    let (_, csv) = run("late --size 8 --busy-ms 20 --iterations 2 --runs 1 --progress caller");
    assert_eq!(csv.len(), 1 + 3 * (20 + 2 + 2 + 2), "{csv:?}");
}
