//! Exchanges lines over a socket, with a deadline for each.
//!
//! Threat: see `mod.rs`. At most [`LINE_MAX`] bytes are kept.

use crate::deadline::Deadline;
use crate::error::{Error, shown};
use crate::limits::{LINE_MAX, REQUEST_MAX};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// This process's end of a connection to a PMI-1 server.
#[derive(Debug)]
pub(super) struct Channel {
    socket: OwnedFd,
    /// The rank of this process, for errors.
    rank: u32,
}

impl Channel {
    pub(super) fn new(socket: OwnedFd, rank: u32) -> Self {
        Self { socket, rank }
    }

    pub(super) fn rank(&self) -> u32 {
        self.rank
    }

    /// Sends a request and returns the answer, without its newline.
    ///
    /// # Errors
    /// The deadline passes, the connection ends, the answer is too long, or the server sends bytes
    /// before or after the answer.
    pub(super) fn request(&self, request: &str, deadline: &Deadline) -> Result<Vec<u8>, Error> {
        if let Some(early) = self.pending()? {
            return Err(self.protocol(request, "bytes came before the request", &early));
        }
        self.send(request, deadline)?;
        let mut line = Vec::new();
        let mut part = [0; 4096];
        loop {
            self.wait(PollFlags::IN, request, deadline)?;
            let count = match recv(&self.socket, &mut part, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(self.closed("it was closed")),
                Ok((count, _)) => count,
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(error) => return Err(self.closed(error)),
            };
            let end = part[..count].iter().position(|&byte| byte == b'\n');
            line.extend_from_slice(&part[..end.unwrap_or(count)]);
            if line.len() >= LINE_MAX {
                return Err(self.protocol(request, "the line is too long", &line));
            }
            match end {
                Some(end) if end + 1 == count => return Ok(line),
                Some(end) => {
                    let rest = &part[end + 1..count];
                    return Err(self.protocol(request, "bytes follow the answer", rest));
                }
                None => {}
            }
        }
    }

    /// Sends a request, with a newline.
    pub(super) fn send(&self, request: &str, deadline: &Deadline) -> Result<(), Error> {
        debug_assert!(request.len() < REQUEST_MAX && !request.contains('\n'));
        let line = format!("{request}\n");
        let mut left = line.as_bytes();
        while !left.is_empty() {
            self.wait(PollFlags::OUT, request, deadline)?;
            match send(&self.socket, left, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => left = &left[count..],
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(self.closed(error)),
            }
        }
        Ok(())
    }

    /// Waits until the server closes the connection or the deadline passes. Ignores the bytes that
    /// the server sends.
    pub(super) fn wait_for_close(&self, deadline: &Deadline) {
        let mut part = [0; 4096];
        while self.wait(PollFlags::IN, "", deadline).is_ok() {
            match recv(&self.socket, &mut part, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return,
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Returns the error for an answer that the protocol does not allow.
    pub(super) fn protocol(&self, request: &str, cause: &'static str, answer: &[u8]) -> Error {
        let request = shown(request.as_bytes());
        Error::Protocol { rank: self.rank, request, cause, answer: shown(answer) }
    }

    fn closed(&self, cause: impl ToString) -> Error {
        Error::Closed { rank: self.rank, cause: cause.to_string() }
    }

    /// Returns bytes that have arrived already; `None` if there are none.
    fn pending(&self) -> Result<Option<Vec<u8>>, Error> {
        let mut part = [0; 256];
        match recv(&self.socket, &mut part, RecvFlags::DONTWAIT) {
            Ok((0, _)) => Err(self.closed("it was closed")),
            Ok((count, _)) => Ok(Some(part[..count].to_vec())),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(self.closed(error)),
        }
    }

    /// Waits until the socket is ready for `flags`. A socket with an error counts as ready, and the
    /// next call on it returns the error.
    fn wait(&self, flags: PollFlags, request: &str, deadline: &Deadline) -> Result<(), Error> {
        loop {
            let left = deadline.left();
            if left.is_zero() {
                let request = format!("`{}`", shown(request.as_bytes()));
                return Err(Error::Deadline { rank: self.rank, request, wait: deadline.wait });
            }
            // A long wait is divided into parts, so that the length of each fits the system's type.
            let left = left.min(Duration::from_secs(3600));
            let timeout = Timespec::try_from(left).expect("an hour fits");
            let mut ready = [PollFd::new(&self.socket, flags)];
            match poll(&mut ready, Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(self.closed(error)),
            }
        }
    }
}
