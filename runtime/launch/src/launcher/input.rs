//! Passes standard input on to rank 0 of a program.
//!
//! If standard input is a file or a pipe, rank 0 inherits it. A terminal is not inherited, because
//! it stops every process that reads it from the background, and each rank has its own process
//! group. So a thread of the launcher reads the terminal while the launcher is in the foreground.
//! It passes the bytes on in a pipe.

use goal_job::threads::sleep;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;
use std::io::{self, IsTerminal, Read, Write, stdin};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// The longest time between two looks at the pipe and the foreground.
const LOOK: Duration = Duration::from_millis(100);

/// Returns the standard input for rank 0.
///
/// # Errors
/// The system's error.
pub(super) fn of_first_rank() -> io::Result<Stdio> {
    if !stdin().is_terminal() {
        return Ok(Stdio::inherit());
    }
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    // The thread ends with this process, or when rank 0 has closed the pipe.
    thread::Builder::new().name("input".to_owned()).spawn(move || pass_on(write))?;
    Ok(Stdio::from(read))
}

fn pass_on(pipe: OwnedFd) {
    let mut terminal = stdin().lock();
    let mut pipe = std::fs::File::from(pipe);
    let mut bytes = [0; 4096];
    let limit = Timespec::try_from(LOOK).ok();
    loop {
        let mut closed = [PollFd::new(&pipe, PollFlags::empty())];
        if poll(&mut closed, Some(&Timespec::default())).is_ok_and(|ready| ready > 0) {
            return;
        }
        if tcgetpgrp(stdin()).ok() != Some(getpgrp()) {
            sleep(LOOK);
            continue;
        }
        let stdin = stdin();
        let mut readable = [PollFd::new(&stdin, PollFlags::IN)];
        if !poll(&mut readable, limit.as_ref()).is_ok_and(|ready| ready > 0) {
            continue;
        }
        match terminal.read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(len) if pipe.write_all(&bytes[..len]).is_err() => return,
            Ok(_) => {}
        }
    }
}
