//! Reports tests that can't run on this machine.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::thread;

/// Prints that the test of this thread, or a part of it, is skipped. `what` says what is missing.
/// The line is visible even if the test's output is captured.
///
/// If the environment variable `GOAL_TEST_SKIPS` names a file, the line `TEST: WHAT` is added to
/// it. `TEST` is the name of the current thread: libtest gives each test a thread with its name.
pub fn skipped(what: &str) {
    // An error is ignored: then the line is lost.
    let _ = writeln!(io::stderr(), "skipped: {what}");
    if let Some(path) = env::var_os("GOAL_TEST_SKIPS") {
        let line = format!("{}: {what}\n", thread::current().name().unwrap_or("?"));
        let file = OpenOptions::new().append(true).create(true).open(path);
        // One call writes the whole line, as other processes add lines to the same file.
        let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}
