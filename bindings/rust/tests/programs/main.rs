//! Programs with this crate: this file's own tests, started as the ranks of jobs.

mod blocks;
mod collectives;
mod ends;
mod files;
mod forks;
mod graphs;
mod links;
mod misuse;
mod rights;
mod threads;

use goal::{Group, Mode};
use goal_filetest::patience;
use goal_job::{JobSpec, Named, Stuck, Wait};
use goal_launch::{End, Options, Outcome, Program, Ranks, run};
use goal_rank::program::skeleton;
use std::ffi::OsString;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The variable that names the part that a rank does.
const PART: &str = "GOAL_TEST_PART";

/// Does a part if this process is a rank, and passes as a test otherwise.
#[test]
fn this_process_is_a_rank() {
    let Ok(part) = std::env::var(PART) else { return };
    rights::confine_if_asked();
    let group = Group::init().unwrap_or_else(|error| panic!("{error}"));
    match part.as_str() {
        "graphs" => graphs::all(group),
        "blocks" => blocks::all(group),
        "collectives" => collectives::all(group),
        "counted" => collectives::counted(group),
        "kept" => collectives::kept(group),
        "files" => files::all(group),
        "forks" => forks::all(group),
        "links" => links::all(group),
        "threads" => threads::all(group),
        "misuse" => misuse::all(group),
        "late" => threads::late(group),
        "table" => {
            collectives::by_table(group);
            blocks::by_table(group);
        }
        "alone" => threads::alone(group),
        "stuck" => graphs::stuck(group),
        "ends" => ends::all(group),
        "two-wait" => ends::two_wait(group),
        "fails" => ends::fails(group),
        "functions" => ends::functions(group),
        "idle" => ends::idle(group),
        other => panic!("there is no part {other}"),
    }
    if !["two-wait", "fails", "functions", "idle", "kept"].contains(&part.as_str()) {
        group.finalize().unwrap();
    }
}

/// Runs a part on `ranks` ranks, and returns the end of the job.
fn job(part: &str, ranks: u32, progress: Mode) -> End {
    job_with(&[], part, ranks, JobSpec { progress, ..JobSpec::default() })
}

/// Runs a part whose job is to be found stuck. A rank has the thread of its test harness too, which
/// may act as far as the launcher knows.
fn stuck_job(part: &str, ranks: u32, progress: Mode) -> End {
    let stuck = Stuck { ends: true, after: Duration::from_millis(200) };
    job_with(&[], part, ranks, JobSpec { progress, stuck, ..JobSpec::default() })
}

/// Runs a part as [`job`] does, with more variables and with settings of the job.
fn job_with(variables: &[String], part: &str, ranks: u32, spec: JobSpec) -> End {
    outcome(variables, part, ranks, spec).end
}

fn outcome(variables: &[String], part: &str, ranks: u32, spec: JobSpec) -> Outcome {
    let arguments = ["--exact", "this_process_is_a_rank", "--nocapture"];
    let this_file = std::env::current_exe().unwrap();
    // Ranks that fail on purpose say so, which is of interest only if the test fails.
    let said = tempfile::NamedTempFile::new().unwrap();
    let executable = "/bin/sh".into();
    let mut all: Vec<OsString> = vec!["-c".into(), "exec \"$@\" >>\"$0\" 2>&1".into()];
    all.extend([said.path().into(), "env".into()]);
    all.extend(variables.iter().map(Into::into));
    all.extend([format!("{PART}={part}").into(), this_file.into()]);
    all.extend(arguments.map(Into::into));
    let options = Options {
        spec: JobSpec { timeout: Some(patience(120)), ..spec },
        ranks: Ranks::Program(Program { executable, arguments: all }),
        ..Options::default()
    };
    let outcome = run(&skeleton(ranks, 64 << 20), &options).unwrap();
    print!("{}", std::fs::read_to_string(said.path()).unwrap());
    outcome
}

fn completes(part: &str, ranks: impl IntoIterator<Item = u32>) {
    for ranks in ranks {
        for progress in Mode::ALL {
            let end = job(part, ranks, progress);
            assert_eq!(end, End::Complete, "{part} on {ranks} ranks, mode {}", progress.name());
        }
    }
}

#[test]
fn graphs_run() {
    completes("graphs", 1..=4);
}

#[test]
fn collectives_run() {
    completes("collectives", [1, 2, 3, 5]);
}

#[test]
fn collectives_with_blocks_that_differ_run() {
    completes("blocks", 1..=5);
}

/// The launcher learns which algorithms ran, and how often.
#[test]
fn starts_of_collectives_are_counted() {
    let outcome = outcome(&[], "counted", 3, JobSpec::default());
    assert_eq!(outcome.end, End::Complete);
    let started = |entry: &goal_shm::Started| {
        (entry.collective.clone(), entry.algorithm.clone(), entry.block, entry.starts)
    };
    for starts in outcome.rank_starts() {
        let starts: Vec<_> = starts.iter().map(started).collect();
        let entry = |collective: &str, algorithm: &str, block, starts| {
            (collective.to_owned(), algorithm.to_owned(), block, starts)
        };
        let wanted = [
            entry("allreduce", "flat", Some(16), 5),
            entry("allreduce", "flat", Some(8), 1),
            entry("allgather", "linear", None, 2),
        ];
        assert_eq!(starts, wanted);
    }
}

#[test]
fn every_run_of_a_file_starts_with_its_initial_values() {
    completes("files", 1..=3);
}

#[test]
fn schedules_are_linked() {
    completes("links", [1, 2, 4]);
}

#[test]
fn forked_children_are_no_ranks() {
    completes("forks", [1, 3]);
}

#[test]
fn threads_share_the_group() {
    completes("threads", [1, 3]);
}

/// One thread of each rank waits, and another one computes or sleeps before its part. The first one
/// sleeps at once: one that polls shares a processor with the second one and would take longer to
/// look idle than the second one takes.
#[test]
fn a_rank_with_another_thread_is_not_stuck() {
    for progress in Mode::ALL {
        let spec = JobSpec { progress, wait: Wait::Block, ..JobSpec::default() };
        let end = job_with(&[], "late", 2, spec);
        assert_eq!(end, End::Complete, "mode {}", progress.name());
    }
}

/// A table of decisions that the environment names.
#[test]
fn the_table_of_the_environment_decides() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.json");
    let table = r#"{"measured": "nothing", "rules": [
        {"collective": "bcast", "algorithm": "chain", "source": "this test"}
    ]}"#;
    std::fs::write(&file, table).unwrap();
    let given = |value: &std::path::Path| format!("GOAL_TABLE={}", value.display());
    let end = job_with(&[given(&file)], "table", 2, JobSpec::default());
    assert_eq!(end, End::Complete);
    let end = job_with(&[given(folder.path())], "table", 1, JobSpec::default());
    assert!(matches!(end, End::Died { .. }), "a folder is no table: {end:?}");
}

/// Without a launcher the process itself finds that nothing comes. It has the thread of its test
/// harness too, so the variable has to ask for the end.
#[test]
fn a_process_alone_does_not_wait_for_ever() {
    alone("alone");
}

/// Runs a part in a process without a launcher.
fn alone(part: &str) {
    let mut process = Command::new(std::env::current_exe().unwrap());
    process.args(["--exact", "this_process_is_a_rank", "--nocapture"]);
    process.env(PART, part).env("GOAL_STUCK", "end,0.2");
    // It may panic on purpose.
    process.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = process.spawn().unwrap();
    let deadline = Instant::now() + patience(60);
    let status = loop {
        match process.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            None => {
                process.kill().unwrap();
                process.wait().unwrap();
                panic!("it waits for ever");
            }
        }
    };
    let mut told = String::new();
    process.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert!(status.success(), "{status}: {told}");
}

#[test]
fn ends_are_told_in_every_mode() {
    completes("ends", [1, 2]);
}

/// A failure on the rank's thread reaches a task that waits, and a panic ends the job.
#[test]
fn failures_reach_who_waits() {
    alone("fails");
    alone("functions");
    alone("idle");
}

#[test]
fn a_panic_in_the_start_of_a_kept_collective_ends_the_job() {
    let text = format!("{:?}", job("kept", 2, Mode::Caller));
    assert!(text.contains("rank 0: a fault of this library or of a registered function"), "{text}");
}

#[test]
fn ranks_whose_threads_all_wait_for_ever_are_named() {
    for mode in [Mode::Caller, Mode::Thread] {
        let text = format!("{:?}", stuck_job("two-wait", 2, mode));
        assert!(text.contains("waits in Run::wait") && text.contains("tag 5"), "{text}");
    }
    alone("two-wait");
}

#[test]
fn misuse_is_an_error() {
    completes("misuse", [1, 2]);
}

#[test]
fn ranks_that_wait_for_ever_are_named_with_their_call() {
    let end = stuck_job("stuck", 2, Mode::Caller);
    let text = format!("{end:?}");
    assert!(text.contains("waits in Run::wait") && text.contains("tag 9"), "{text}");
}
