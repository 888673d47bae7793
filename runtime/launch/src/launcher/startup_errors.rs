//! Carries start-up errors from rank processes to their launcher. The launcher shows only the first
//! one, so that not every rank writes to the terminal.
//!
//! A message is one line. It is short enough for one atomic write to a pipe, so lines of several
//! ranks do not mix.

use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The most bytes of one atomic write to a pipe.
const BYTES_MAX: usize = 4096;

/// A pipe from ranks to their launcher.
pub(super) struct StartupErrors {
    /// The end that the launcher reads.
    heard: OwnedFd,
    /// The end that ranks inherit. `None` once all ranks were started.
    told: Option<OwnedFd>,
}

impl StartupErrors {
    /// # Errors
    /// The system's error.
    pub(super) fn new() -> io::Result<Self> {
        let (heard, told) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok(Self { heard, told: Some(told) })
    }

    /// Returns the descriptor that a rank is to inherit.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.told.as_ref().expect("ranks are being started").as_fd()
    }

    /// Closes the end for ranks, when all ranks were started.
    pub(super) fn close(&mut self) {
        self.told = None;
    }

    /// Returns the first message, or `None` if there is none. Further ones mostly say the same.
    pub(super) fn first(&self) -> Option<String> {
        let mut bytes = [0; BYTES_MAX];
        let len = read(&self.heard, &mut bytes[..]).ok().filter(|&len| len > 0)?;
        let text = String::from_utf8_lossy(&bytes[..len]).into_owned();
        text.lines().next().map(str::to_owned)
    }
}

/// Writes a message to the pipe of the launcher. Without one, writes it to standard error.
pub(super) fn tell(launcher: Option<OwnedFd>, text: &str) {
    let mut line = text.replace('\n', " ");
    let mut len = line.len().min(BYTES_MAX - 1);
    while !line.is_char_boundary(len) {
        len -= 1;
    }
    line.truncate(len);
    line.push('\n');
    // A full pipe counts as success: it holds messages of other ranks, and the launcher shows the
    // first of them.
    let told = launcher.is_some_and(|launcher| {
        matches!(write(&launcher, line.as_bytes()), Ok(_) | Err(Errno::AGAIN))
    });
    if !told {
        eprint!("goal-run: a rank can't start: {line}");
    }
}
