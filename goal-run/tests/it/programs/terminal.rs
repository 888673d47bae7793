//! Tests programs on a terminal.

use crate::common::processes::{assert_gone, children_of};
use crate::common::{GOAL_RUN, default_signals};
use goal_filetest::{open_terminal, timeout};
use rustix::process::Pid;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Starts a command as the foreground of a terminal of its own.
fn on_terminal(arguments: &[&str]) -> (Child, File) {
    let (master, slave) = open_terminal().unwrap();
    let mut command = Command::new(GOAL_RUN);
    command.args(arguments).stdin(Stdio::from(slave.try_clone().unwrap()));
    command.stdout(Stdio::from(slave.try_clone().unwrap()));
    command.stderr(Stdio::from(slave.try_clone().unwrap()));
    let number = slave.as_raw_fd();
    let lead = move || {
        rustix::process::setsid()?;
        // SAFETY: a system call on numbers.
        #[expect(unsafe_code, reason = "a child has to do it before it executes")]
        match unsafe { libc::ioctl(number, libc::TIOCSCTTY, 0) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: it makes system calls only.
    #[expect(unsafe_code, reason = "a child has to do it before it executes")]
    unsafe {
        command.pre_exec(lead)
    };
    (default_signals(&mut command).spawn().unwrap(), master)
}

/// Reads until a text has come.
fn read_until(terminal: &mut File, wanted: &str) -> String {
    let mut text = String::new();
    let mut bytes = [0; 256];
    while !text.contains(wanted) {
        let len = terminal.read(&mut bytes).unwrap_or(0);
        assert!(len > 0, "{text:?} without {wanted:?}");
        text.push_str(&String::from_utf8_lossy(&bytes[..len]));
    }
    text
}

#[test]
fn the_first_rank_reads_the_terminal() {
    let script = "read line && echo \"got $line\"";
    let (mut child, mut terminal) =
        on_terminal(&["-n", "1", "--timeout", &timeout(60), "sh", "-c", script]);
    terminal.write_all(b"a word\n").unwrap();
    read_until(&mut terminal, "got a word");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_keys_of_a_terminal_end_a_job() {
    let script = "echo ready; sleep 1000; echo over";
    let (mut child, mut terminal) =
        on_terminal(&["-n", "2", "--timeout", &timeout(60), "sh", "-c", script]);
    let ready = read_until(&mut terminal, "ready");
    if ready.matches("ready").count() < 2 {
        read_until(&mut terminal, "ready");
    }
    let children = children_of(Pid::from_child(&child));
    assert_eq!(children.len(), 3, "two ranks and the reaper");
    // Ctrl-C.
    terminal.write_all(b"\x03").unwrap();
    let written = read_until(&mut terminal, "ended by SIGINT");
    assert!(!written.contains("over"), "{written:?}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_gone(&children);
}
