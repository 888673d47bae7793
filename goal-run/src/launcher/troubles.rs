//! Messages of rank processes that can't start: to their launcher, which tells it once, and not
//! each to the terminal.
//!
//! A message is one line, at most as long as what a pipe takes in one piece, so that lines of
//! several ranks don't mix.

use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes that a pipe takes in one piece.
const BYTES_MAX: usize = 4096;

/// A pipe from ranks to their launcher.
pub(super) struct Troubles {
    heard: OwnedFd,
    /// The end that ranks inherit; the launcher closes it when all are started.
    told: Option<OwnedFd>,
}

impl Troubles {
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

    /// No more ranks are started.
    pub(super) fn close(&mut self) {
        self.told = None;
    }

    /// The first message, if a rank has left one. The rest is left out: ranks that can't start say
    /// the same.
    pub(super) fn first(&self) -> Option<String> {
        let mut bytes = [0; BYTES_MAX];
        let len = read(&self.heard, &mut bytes[..]).ok().filter(|&len| len > 0)?;
        let text = String::from_utf8_lossy(&bytes[..len]).into_owned();
        text.lines().next().map(str::to_owned)
    }
}

/// Leaves a message for the launcher or, where there is none, on standard error.
pub(super) fn tell(launcher: Option<OwnedFd>, text: &str) {
    let mut line = text.replace('\n', " ");
    let mut len = line.len().min(BYTES_MAX - 1);
    while !line.is_char_boundary(len) {
        len -= 1;
    }
    line.truncate(len);
    line.push('\n');
    // Only a pipe takes it: whoever started this process may have named any file. One that is full
    // holds what other ranks have said, and the launcher tells the first of these only.
    let told = launcher.is_some_and(|launcher| {
        matches!(write(&launcher, line.as_bytes()), Ok(_) | Err(Errno::AGAIN))
    });
    if !told {
        eprint!("goal-run: a rank can't start: {line}");
    }
}
