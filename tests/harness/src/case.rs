//! Reads a test: its script and its expected results.

use crate::script;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The contents of a test's file.
pub(crate) struct Case {
    path: PathBuf,
    script: String,
    exit: i32,
}

/// The beginnings of comments in the languages of test files.
const COMMENTS: [&str; 2] = ["#", "//"];

/// The reason why a test fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{}: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error("`{0}` has no exit status")]
    Status(String),
    #[error("the first lines have no `RUN:`")]
    NoScript,
    #[error("the script can't run: {0}")]
    Script(io::Error),
    /// The results differ from the expected ones. The text shows how.
    #[error("{0}GOAL_BLESS=1 cargo test accepts what is written now")]
    Results(String),
}

impl Failure {
    fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        |cause| Failure::File { path: path.into(), cause }
    }
}

impl Case {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = fs::read(path).map_err(Failure::file(path))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut case = Self { path: path.to_owned(), script: String::new(), exit: 0 };
        for line in text.lines() {
            let Some(comment) = COMMENTS.iter().find_map(|&start| line.strip_prefix(start)) else {
                break;
            };
            let comment = comment.trim();
            if let Some(command) = comment.strip_prefix("RUN:") {
                case.script.push_str(command.trim());
                case.script.push('\n');
            } else if let Some(status) = comment.strip_prefix("EXIT:") {
                case.exit =
                    status.trim().parse().map_err(|_| Failure::Status(comment.to_owned()))?;
            }
        }
        if case.script.is_empty() {
            return Err(Failure::NoScript);
        }
        Ok(case)
    }

    pub(crate) fn run(&self, binaries: &[PathBuf]) -> Result<(), Failure> {
        let ended = script::run(&self.path, &self.script, binaries).map_err(Failure::Script)?;
        let bless = std::env::var_os("GOAL_BLESS").is_some_and(|value| value == "1");
        let mut faults = String::new();
        if ended.status != Some(self.exit) {
            let status = ended.status.map_or("no status".to_owned(), |status| status.to_string());
            faults += &format!("the exit status is {status}, not {}\n", self.exit);
            faults += &format!("standard error:\n{}", ended.err);
        }
        for (extension, what, written) in
            [("out", "standard output", &ended.out), ("err", "standard error", &ended.err)]
        {
            let mut beside = OsString::from(&self.path);
            beside.push(".");
            beside.push(extension);
            let wanted = fs::read(&beside).unwrap_or_default();
            let wanted = String::from_utf8_lossy(&wanted);
            if *written == wanted {
                continue;
            }
            if bless {
                let done = if written.is_empty() {
                    fs::remove_file(&beside)
                } else {
                    fs::write(&beside, written)
                };
                done.map_err(Failure::file(beside))?;
            } else {
                faults += &difference(what, &wanted, written);
            }
        }
        if faults.is_empty() {
            return Ok(());
        }
        Err(Failure::Results(faults))
    }
}

fn difference(what: &str, wanted: &str, written: &str) -> String {
    let same = wanted
        .lines()
        .zip(written.lines())
        .take_while(|(wanted, written)| wanted == written)
        .count();
    let line = |text: &str| {
        text.lines().nth(same).map_or("its end".to_owned(), |line| format!("`{line}`"))
    };
    format!(
        "{what}, line {}: wanted {}, got {}; all of it:\n{written}\n",
        same + 1,
        line(wanted),
        line(written)
    )
}
