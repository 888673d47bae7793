//! Starts ranks that do a part of [`rank`](crate::programs::rank).

use crate::common::{Ended, GOAL_RUN, default_signals};
use goal_filetest::timeout;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The variable that names the part of a rank.
pub(crate) const PART: &str = "GOAL_TEST_PART";

/// The arguments with which this file's tests become a rank: the harness runs one test, whose part
/// the environment names.
pub(crate) const AS_RANK: [&str; 5] =
    ["programs::rank::this_process_is_a_rank", "--exact", "--nocapture", "--test-threads", "1"];

/// The name of this file of tests.
pub(crate) fn this_file() -> String {
    std::env::current_exe().unwrap().to_str().unwrap().to_owned()
}

/// The command that starts the ranks of a part.
pub(crate) fn command(part: &str, options: &[&str]) -> Command {
    let mut command = Command::new(GOAL_RUN);
    command.args(options).arg(this_file()).args(AS_RANK).env(PART, part);
    if !options.contains(&"--timeout") {
        // Should it hang, it ends after a minute, as none of the tests expects.
        let program = command;
        command = Command::new(GOAL_RUN);
        command.args(["--timeout", &timeout(60)]).args(program.get_args()).env(PART, part);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    default_signals(&mut command);
    command
}

/// Runs the ranks of a part.
pub(crate) fn run(part: &str, options: &[&str]) -> Ended {
    Ended::from_output(command(part, options).output().unwrap())
}

/// The lines that ranks have told, in their order of the alphabet.
pub(crate) fn told(ended: &Ended) -> Vec<&str> {
    let mut lines: Vec<&str> =
        ended.out.lines().filter_map(|line| Some(line.split_once("told: ")?.1)).collect();
    lines.sort_unstable();
    lines
}

/// The arguments that start this file of tests as a rank.
pub(crate) fn as_rank() -> Vec<String> {
    std::iter::once(this_file()).chain(AS_RANK.map(str::to_owned)).collect()
}

/// A shell script, whose arguments are a program.
pub(crate) struct Script {
    folder: TempDir,
}

impl Script {
    pub(crate) fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Written by another process: a child that another test starts meanwhile would inherit a
        // descriptor of the file, and one that is open for writing can't be executed.
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\" && chmod 755 \"$2\"",
            "sh",
        ]);
        let made = command.arg(text).arg(folder.path().join("script")).status().unwrap();
        assert!(made.success());
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("script")
    }
}
