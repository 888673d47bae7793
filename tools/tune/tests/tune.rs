//! `goal-tune` on ranks, and its table.

use goal_collectives::Table;
use goal_filetest::patience;
use goal_job::JobSpec;
use goal_job::transport::Tuned;
use goal_launch::{End, Options, Program, Ranks, run};
use goal_rank::program::skeleton;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes a launcher that starts nothing: a script that prints the time of a job. `cases` computes
/// the time from the options.
fn launcher(folder: &Path, cases: &str) -> PathBuf {
    let text = format!(
        "ring=; eager=; burst=; hosts=no\nwhile [ $1 != -- ]; do\ncase $1 in\n--ring) ring=$2;;\n\
         --eager-limit) eager=$2;;\n--burst) burst=$2;;\n--interface) hosts=yes;;\nesac; shift; done\n{cases}"
    );
    script(folder, "launcher", &text)
}

/// Makes a script of the shell in a folder.
fn script(folder: &Path, name: &str, lines: &str) -> PathBuf {
    let path = folder.join(name);
    let text = format!("#!/bin/sh\n{lines}\n");
    // Another process writes it: one that is started meanwhile would inherit the open file.
    let write = "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"";
    let mut command = Command::new("sh");
    let made = command.args(["-c", write, "sh", &text]).arg(&path).status().unwrap();
    assert!(made.success());
    path
}

/// Searches with such a launcher. Returns what it said, and the table.
fn search(folder: &Path, cases: &str, options: &[&str]) -> (String, Table) {
    let (launcher, table) = (launcher(folder, cases), folder.join("table.json"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_goal-tune"));
    command.arg("--launcher").arg(launcher).args(["--ranks", "2", "--transport", "-o"]);
    let output = command.arg(&table).args(options).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    (said, Table::parse(&std::fs::read_to_string(table).unwrap()).unwrap())
}

#[test]
fn the_best_parameters_of_transports_are_found_between_the_values_of_the_grid() {
    let folder = tempfile::tempdir().unwrap();
    let cases = "case $ring in 131072) t=500;; 262144) t=600;; *) t=1000;; esac
        [ $hosts = no ] || case $burst in 256) ;; *) t=$((t * 9 / 10));; esac
        echo \"[$t,$t]\"";
    let (said, table) = search(folder.path(), cases, &[]);
    assert!(said.contains("--ring 131072: 50.0 % less time, noise 0.0 %"), "{said}");
    assert!(said.contains("--eager-limit: nothing was better beyond the noise of 0.0 %"), "{said}");
    assert!(!said.contains("burst"), "{said}");
    assert_eq!(table.rules, Table::published().rules);
    let found = |table: &Table| {
        let transports = serde_json::json!({ "transports": table.transports });
        Tuned::parse(&transports.to_string()).unwrap()
    };
    let one_host = found(&table).one_host.unwrap();
    assert_eq!((one_host.ring_bytes, one_host.eager_limit), (Some(131_072), None));
    assert!(one_host.source.contains("on 2 ranks: 5 rounds"), "{}", one_host.source);
    // A search on several hosts leaves that of one host as it is.
    let options = ["--rounds", "3", "--", "--interface", "v0"];
    let (said, table) = search(folder.path(), cases, &options);
    let both = found(&table);
    assert_eq!(both.one_host, Some(one_host));
    let several = both.several_hosts.unwrap();
    assert_eq!((several.ring_bytes, several.initial_burst), (Some(131_072), None));
    assert!(several.burst.is_some_and(|burst| burst < 256), "{said}");
}

/// Each job takes another time, whatever its settings are.
#[test]
fn where_only_chance_differs_the_defaults_stay() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    std::fs::write(&count, "").unwrap();
    let cases = format!(
        "printf . >> '{0}'; n=$(wc -c < '{0}'); t=$((1000 + n * 7919 % 97)); echo \"[$t]\"",
        count.display()
    );
    let (said, table) = search(folder.path(), &cases, &[]);
    assert_eq!(said.matches("nothing was better beyond the noise").count(), 2, "{said}");
    let transports = table.transports.unwrap();
    assert_eq!(transports["one_host"].as_object().unwrap().len(), 1, "{transports}");
}

#[test]
fn a_job_that_fails_ends_the_search_with_its_error() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = launcher(folder.path(), "echo 'goal-run: no rights' >&2; exit 2");
    let mut command = Command::new(env!("CARGO_BIN_EXE_goal-tune"));
    command.arg("--launcher").arg(launcher).args(["--ranks", "2", "--transport"]);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(said.contains("exit status: 2: goal-run: no rights"), "{said}");
}

#[test]
fn ranks_measure_their_transports() {
    let arguments = ["--probe", "--bytes", "8,70000", "--time", "1"].map(Into::into).to_vec();
    let program = Program { executable: env!("CARGO_BIN_EXE_goal-tune").into(), arguments };
    let options = Options {
        spec: JobSpec { timeout: Some(patience(60)), ..JobSpec::default() },
        ranks: Ranks::Program(program),
        ..Options::default()
    };
    for ranks in [2, 3] {
        assert_eq!(run(&skeleton(ranks, 1 << 20), &options).unwrap().end, End::Complete);
    }
}

#[test]
fn a_table_is_measured_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.json");
    let options = ["--collectives", "bcast,barrier", "--bytes", "8,70000", "--time", "1", "-o"];
    let mut arguments: Vec<_> = options.into_iter().map(Into::into).collect();
    arguments.push(file.clone().into());
    let program = Program { executable: env!("CARGO_BIN_EXE_goal-tune").into(), arguments };
    let options = Options {
        spec: JobSpec { timeout: Some(patience(60)), ..JobSpec::default() },
        ranks: Ranks::Program(program),
        ..Options::default()
    };
    assert_eq!(run(&skeleton(3, 1 << 20), &options).unwrap().end, End::Complete);
    let table = Table::parse(&std::fs::read_to_string(file).unwrap()).unwrap();
    let measured = |name| {
        let ours = |rule: &&goal_collectives::Rule| rule.ranks == 3 && rule.collective == name;
        let first = table.rules.iter().find(ours);
        first.is_some_and(|rule| rule.source.starts_with("measured"))
    };
    assert!(measured("bcast") && measured("barrier"));
    assert!(table.rules.len() > Table::published().rules.len());
}

/// Compares schedules with MPI by scripts in place of the compiler and the launcher. A job under
/// the library prints `schedules`, and tells `report`.
fn compare(schedules: &str, report: &str) -> std::process::Output {
    let folder = tempfile::tempdir().unwrap();
    let mpicc = script(folder.path(), "mpicc", "grep -q MPI_Allreduce \"$2\" && : > \"$4\"");
    let lines = format!(
        "[ \"$1 $2 $3 $4\" = '--quiet -n 3 env' ] || exit 9\necho 'Some MPI 7'\ncase $5 in\n\
         LD_PRELOAD=/*) printf '{schedules}'; echo '{report}' >&2;;\n\
         *) printf 'bcast,4,1\\nbcast,16,1\\nbcast,64,1\\nibcast,4,1\\n';;\nesac"
    );
    let mpirun = script(folder.path(), "mpirun", &lines);
    let library = folder.path().join("libgoal-mpi.so");
    std::fs::write(&library, "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_goal-tune"));
    command.args(["--launcher", "none", "--ranks", "3", "--rounds", "3", "--mpi"]).arg(library);
    command.arg("--mpicc").arg(mpicc).arg("--mpirun").arg(format!("{} --quiet", mpirun.display()));
    command.output().unwrap()
}

#[test]
fn blocks_that_are_faster_as_schedules_are_found() {
    let output = compare(
        r"bcast,4,0.5\nbcast,16,2\nbcast,64,0.5\nibcast,4,3\n",
        "libgoal-mpi: bcast: 3 as schedules",
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("# Some MPI 7: goal-tune --mpi on 3 ranks"), "{text}");
    assert!(text.contains("# bcast 16 1.000 2.000\n"), "{text}");
    assert!(text.ends_with("all=off\nbcast=0-4+64-\nibcast=off\n"), "{text}");
}

#[test]
fn jobs_that_do_not_compare_end_with_an_error() {
    let same = r"bcast,4,1\nbcast,16,1\nbcast,64,1\nibcast,4,1\n";
    for (schedules, report, cause) in [
        (same, "All calls are left to MPI", "the library ran no schedule: All calls are left"),
        (r"bcast,4,1\n", "1 as schedules", "two jobs measured different operations"),
        (r"bcast,4,1 us\n", "1 as schedules", "in place of a time"),
    ] {
        let output = compare(schedules, report);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty());
        assert!(said.contains(cause), "{said}");
    }
}
