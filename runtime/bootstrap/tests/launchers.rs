//! The example `wireup` under every launcher of the machine.
//!
//! Those of MPI libraries are taken (see `goal_filetest::mpi`), and `srun` if a Slurm controller
//! answers. A launcher that is missing is skipped with a line.

use goal_filetest::mpi::{self, Launcher};
use goal_filetest::{patience, skipped, timeout};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

/// The time after which a run counts as hanging, in seconds.
const RUN_MAX: u64 = 100;

/// Runs `wireup` on `ranks` ranks.
fn run(launcher: &Launcher, ranks: u32, arguments: &[&str]) -> Output {
    let mut command = launcher.start(ranks, RUN_MAX);
    command.arg(wireup()).args(arguments).output().expect("there is `timeout`")
}

/// Builds the example and returns its path.
fn wireup() -> &'static Path {
    static WIREUP: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    WIREUP.get_or_init(|| {
        let test = std::env::current_exe().expect("a test has a path");
        let profile = test.ancestors().nth(2).expect("it lies in `deps` of a profile's folder");
        let target = profile.parent().expect("a profile's folder lies in the target's");
        let mut cargo = Command::new(env!("CARGO"));
        // The features of the whole workspace, with which this test was built.
        cargo.args(["build", "--quiet", "--workspace", "--example", "wireup"]);
        cargo.arg("--target-dir").arg(target);
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("there is cargo").success());
        profile.join("examples/wireup")
    })
}

/// Returns the launchers of this machine.
fn launchers() -> Vec<Launcher> {
    mpi::launchers().into_iter().chain(slurm()).collect()
}

/// Returns `srun` with each of its protocols, if a controller answers.
fn slurm() -> Vec<Launcher> {
    let ask = |arguments: &[&str]| {
        let output = Command::new("timeout").arg(timeout(10)).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stderr).into_owned())
    };
    if ask(&["sinfo", "--noheader"]).is_none() {
        skipped("no controller of Slurm answers");
        return Vec::new();
    }
    let list = ask(&["srun", "--mpi=list"]).unwrap_or_default();
    let offered = |&protocol: &&str| list.lines().any(|line| line.trim() == protocol);
    let launcher = |protocol| {
        let command = format!("srun --quiet --overcommit --mpi={protocol}");
        let words = command.split(' ').map(str::to_owned).collect();
        Launcher { name: command, command: words, environment: Vec::new() }
    };
    ["pmi2", "pmix"].into_iter().filter(offered).map(launcher).collect()
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

#[test]
fn ranks_exchange_blobs_in_rounds() {
    for launcher in launchers() {
        for ranks in [1, 2, 4, 8] {
            let output = run(&launcher, ranks, &["3", "0", "1", "4096"]);
            let text = text(&output);
            assert!(output.status.success(), "{}, {ranks} ranks: {text}", launcher.name);
            // Ranks have each number on the node once, but Open MPI 5 does not give them in order.
            let count = |part: &str| text.matches(part).count();
            for number in 0..ranks {
                assert_eq!(count(&format!("rank {number} of {ranks}, ")), 1, "{text}");
                assert_eq!(count(&format!(", {number}/{ranks} on its node, by ")), 1, "{text}");
            }
        }
    }
}

#[test]
fn a_dropped_session_counts_as_ended() {
    for launcher in launchers() {
        let output = run(&launcher, 2, &["drop"]);
        assert!(output.status.success(), "{}: {}", launcher.name, text(&output));
    }
}

#[test]
fn an_abort_ends_all_ranks() {
    for launcher in launchers() {
        let start = Instant::now();
        let output = run(&launcher, 3, &["abort"]);
        let text = text(&output);
        assert!(!output.status.success(), "{}: {text}", launcher.name);
        assert!(text.contains("rank 0: it was told to abort"), "{}: {text}", launcher.name);
        assert!(!text.contains("was not ended"), "{}: {text}", launcher.name);
        assert!(start.elapsed() < patience(50), "{}: {text}", launcher.name);
    }
}

#[test]
fn a_rank_that_does_not_come_meets_deadlines() {
    for launcher in launchers() {
        let start = Instant::now();
        let output = run(&launcher, 3, &["late"]);
        let text = text(&output);
        assert_eq!(text.matches("met: rank ").count(), 2, "{}: {text}", launcher.name);
        assert!(text.contains("within 500ms"), "{}: {text}", launcher.name);
        assert!(start.elapsed() < patience(RUN_MAX), "{}: {text}", launcher.name);
    }
}

#[test]
fn a_library_that_is_none_is_named() {
    for launcher in launchers() {
        if !text(&run(&launcher, 1, &["1"])).contains("PMIx") {
            continue;
        }
        let Launcher { name, command, mut environment } = launcher;
        environment.push(("GOAL_LIBPMIX", "/dev/null".to_owned()));
        let output = run(&Launcher { name: name.clone(), command, environment }, 1, &["1"]);
        let text = text(&output);
        assert!(!output.status.success(), "{name}: {text}");
        assert!(text.contains("no usable libpmix.so.2: /dev/null: "), "{name}: {text}");
    }
}

#[test]
fn variables_of_another_job_are_told() {
    let mut command = Command::new("timeout");
    command.arg(timeout(RUN_MAX)).arg(wireup()).arg("1").env_remove("PMI_FD");
    command.env("PMIX_RANK", "0").env("PMIX_NAMESPACE", "of-a-job-that-has-ended");
    let output = command.output().expect("there is `timeout`");
    let text = text(&output);
    assert!(!output.status.success(), "{text}");
    assert!(text.starts_with("wireup: rank 0: ") || text.contains("\nwireup: rank 0: "), "{text}");
    let expected = ["PMIX_NAMESPACE", "no usable libpmix.so.2"];
    assert!(expected.iter().any(|expected| text.contains(expected)), "{text}");
}
