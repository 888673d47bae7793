//! Tests parameters of transports, from the command line and from the table of the environment.

use crate::common::{Ended, GOAL_RUN, examples};
use goal_filetest::timeout;
use std::process::Command;
use tempfile::TempDir;

/// Two ranks whose sends both come before their receives: it ends only if these messages leave
/// before their receives are posted.
const RELIES_ON_EAGER: &str = "num_ranks 2\n\
    rank 0 { a: send 2000b to 1 tag 1; b: recv 2000b from 1 tag 1; b requires a }\n\
    rank 1 { a: send 2000b to 0 tag 1; b: recv 2000b from 0 tag 1; b requires a }\n";

/// A folder with the program and a table.
fn folder(table: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("eager.goal"), RELIES_ON_EAGER).unwrap();
    std::fs::write(folder.path().join("table.json"), table).unwrap();
    folder
}

fn run(folder: &TempDir, arguments: &[&str]) -> Ended {
    let mut command = Command::new(GOAL_RUN);
    command.current_dir(folder.path()).env("GOAL_TABLE", "table.json");
    command.args(["eager.goal", "--no-check", "--timeout", &timeout(60)]).args(arguments);
    Ended::from_output(command.output().unwrap())
}

#[test]
fn the_table_has_the_parameters_of_jobs_and_the_command_line_is_stronger() {
    let table = |parameters: &str| {
        format!(r#"{{"measured": "", "rules": [], "transports": {{{parameters}}}}}"#)
    };
    let none = folder(&table(r#""one_host": {"source": ""}"#));
    run(&none, &[]).assert_status(0);
    let one = folder(&table(r#""one_host": {"eager_limit": 0, "source": "this test"}"#));
    run(&one, &[]).assert_status(3);
    run(&one, &["--eager-limit", "4K"]).assert_status(0);
    let several = folder(&table(r#""several_hosts": {"eager_limit": 0, "source": "this test"}"#));
    run(&several, &[]).assert_status(0);
}

#[test]
fn parameters_out_of_their_limits_are_refused() {
    let wrong = r#"{"transports": {"one_host": {"ring_bytes": 5000, "source": ""}}}"#;
    let ended = run(&folder(wrong), &[]);
    ended.assert_status(2);
    let way_out = "a ring of 5000 bytes: give a power of two from 4096 to 1048576";
    ended.assert_says(&["GOAL_TABLE: table.json: ", way_out]);
    let ended = run(&folder("[]"), &[]);
    ended.assert_status(2);
    ended.assert_says(&["GOAL_TABLE: table.json: it is no table of decisions"]);
    let ended = run(&folder("{}"), &["--ring", "5000"]);
    ended.assert_status(2);
    ended.assert_says(&[way_out]);
}

#[test]
fn rings_of_any_size_carry_a_job() {
    for ring in ["4K", "1M"] {
        for example in examples() {
            let ended = crate::common::run_file(
                &example,
                &["--ring", ring, "--eager-limit", "1M", "--verify"],
            );
            ended.assert_status(0);
        }
    }
}
