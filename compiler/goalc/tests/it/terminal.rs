//! The terminal output of `goalc` while it works, and after it.

use goal_filetest::{Terminal, screen};
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const PROGRAM: &str = "rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }";

/// Runs `goalc` on a terminal, with a program that comes after a while; all that was written.
fn on_terminal(arguments: &[&str], delay: Duration) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_goalc"));
    command.args(arguments).stdin(Stdio::piped());
    let mut terminal = Terminal::start(command).unwrap();
    let mut input = terminal.child.stdin.take().unwrap();
    // Time has to pass: a stage is shown only after a while.
    sleep(delay);
    input.write_all(PROGRAM.as_bytes()).unwrap();
    drop(input);
    let (status, written) = terminal.end().unwrap();
    assert_eq!(status, Some(0), "{written}");
    written
}

#[test]
fn the_stage_is_gone_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.nisa");
    let written =
        on_terminal(&["build", "-", "-o", file.to_str().unwrap()], Duration::from_millis(1600));
    assert!(written.contains("reading"), "{written:?}");
    assert_eq!(screen(&written), Vec::<String>::new(), "{written:?}");
    let written = on_terminal(&["stats", "-"], Duration::from_millis(1600));
    assert!(written.contains("reading"), "{written:?}");
    let screen = screen(&written);
    assert!(screen.len() > 1 && !screen.iter().any(|line| line.contains("reading")), "{screen:?}");
}

#[test]
fn work_that_is_soon_done_shows_no_stage() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.nisa");
    let arguments = ["build", "-", "-o", file.to_str().unwrap()];
    // A busy machine may take longer, but not each time.
    let shows_nothing = |_| on_terminal(&arguments, Duration::ZERO).is_empty();
    assert!((0..10).any(shows_nothing));
}
