//! Runs the command on texts.

#![allow(dead_code)] // each test file uses a part

pub(crate) mod members;
pub(crate) mod processes;
pub(crate) mod rights;

use goal_filetest::timeout;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

pub(crate) const TRANSPORTS: [&str; 2] = ["shm", "threads"];

pub(crate) const GOAL_RUN: &str = env!("CARGO_BIN_EXE_goal-run");

/// Copies the command, in another process. A child that another test starts meanwhile would inherit
/// this process's descriptor of the copy. A file that is open for writing can't be executed.
pub(crate) fn copy_command(to: &Path) {
    assert!(Command::new("cp").arg(GOAL_RUN).arg(to).status().unwrap().success());
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    pub(crate) fn from_output(output: Output) -> Self {
        Self {
            status: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The report; `--format json` must have been given.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn assert_status(&self, status: i32) {
        assert_eq!(self.status, Some(status), "{self:?}");
    }

    #[track_caller]
    pub(crate) fn assert_says(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.err.contains(part), "no {part:?} in {}", self.err);
        }
    }
}

/// All files of `examples/`.
pub(crate) fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let examples: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "goal")).collect();
    assert!(!examples.is_empty());
    examples
}

/// Runs a file. Should it hang, it ends after a minute, as none of the tests expects.
pub(crate) fn run_file(path: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new(GOAL_RUN);
    command.arg(path);
    if !arguments.contains(&"--timeout") {
        command.args(["--timeout", &timeout(60)]);
    }
    Ended::from_output(command.args(arguments).output().unwrap())
}

/// Runs a text.
pub(crate) fn run_text(text: &str, arguments: &[&str]) -> Ended {
    let mut file = tempfile::Builder::new().suffix(".goal").tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    run_file(file.path(), arguments)
}

/// Makes a child handle signals as by default. Signals that this process ignores would stay ignored
/// otherwise, and a shell lets its background commands ignore SIGINT.
pub(crate) fn default_signals(command: &mut Command) -> &mut Command {
    let reset = || {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGTSTP] {
            // SAFETY: the default action runs no code, and the call is safe between fork and exec.
            #[expect(unsafe_code, reason = "a child has to say it before it executes")]
            unsafe {
                libc::signal(signal, libc::SIG_DFL)
            };
        }
        Ok(())
    };
    // SAFETY: it makes system calls only.
    #[expect(unsafe_code, reason = "a child has to say it before it executes")]
    unsafe {
        command.pre_exec(reset)
    }
}

/// Starts a text that is still running when this returns.
pub(crate) fn start_text(text: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new(GOAL_RUN);
    command
        .arg("-")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = default_signals(&mut command).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child
}
