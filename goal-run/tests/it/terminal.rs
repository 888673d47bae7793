//! Tests the terminal output while a job runs, and after it.

use crate::common::GOAL_RUN;
use goal_filetest::{Terminal, screen, timeout};
use std::io::Write;
use std::process::{Command, Stdio};

/// Runs a text with its output and errors on a terminal. Returns all that was written.
fn on_terminal(text: &str, arguments: &[&str], term: Option<&str>) -> String {
    let mut file = tempfile::Builder::new().suffix(".goal").tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let mut command = Command::new("env");
    command.arg(format!("TERM={}", term.unwrap_or("xterm"))).arg(GOAL_RUN).arg(file.path());
    command.args(["--timeout", &timeout(60)]).args(arguments).stdin(Stdio::null());
    let (status, written) = Terminal::start(command).unwrap().end().unwrap();
    assert_eq!(status, Some(0), "{written}");
    written
}

/// The last line, and the only one, is the result.
fn assert_only_result(written: &str) {
    let screen = screen(written);
    assert_eq!(screen.len(), 1, "{screen:?} of {written:?}");
    assert!(screen[0].starts_with("2 ranks"), "{screen:?}");
}

#[test]
fn a_long_run_says_how_far_it_is_and_leaves_the_result_only() {
    let text = "num_ranks 2 rank * { calc 900000000 }";
    let written = on_terminal(text, &["--repeat", "3"], None);
    assert!(written.contains("instance 2 of 3"), "{written:?}");
    assert!(!written.contains("optimizing"), "{written:?}");
    assert_only_result(&written);
    let written =
        on_terminal("num_ranks 2 rank 0 { calc 2500000000 } rank 1 { calc 1 }", &[], None);
    assert!(written.contains("running, 1 of 2 ranks have ended"), "{written:?}");
    assert_only_result(&written);
}

#[test]
fn a_terminal_that_can_not_rewrite_a_line_shows_the_result_only() {
    let written = on_terminal("num_ranks 2 rank * { calc 1500000000 }", &[], Some("dumb"));
    assert!(!written.contains("running") && !written.contains('\x1b'), "{written:?}");
    assert_only_result(&written);
}

#[test]
fn many_ranks_that_start_are_counted() {
    let text = "num_ranks 1500 rank * { calc 1 }";
    let written = on_terminal(text, &[], None);
    // A fast machine may have started them within the second that nothing is shown.
    assert!(!written.contains("optimizing"), "{written:?}");
    let shown = written.contains(" of 1500 ranks");
    println!("the start of 1500 ranks was shown: {shown}");
    let screen = screen(&written);
    assert_eq!(screen.len(), 1, "{screen:?}");
    assert!(screen[0].starts_with("1500 ranks: 0 messages"), "{screen:?}");
}
