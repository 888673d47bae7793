//! The caller's end of a request.

use super::{Answer, Command, GrowError, MESSAGE_MAX, Request, What, address, socket};
use crate::order::VERSION;
use crate::rights::peer_of_own_user;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, Shutdown, SocketFlags, connect, recv, send, shutdown};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest time that a caller waits for the launcher: it has to start processes.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest time that a caller waits until the launcher has a door.
const START: Duration = Duration::from_secs(2);
/// The time between two attempts.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Asks the job of the launcher with the process ID `job` for `ranks` more ranks, and returns the
/// first of them. Without a command they run the program of rank 0. They wait until ranks of the
/// job accept them.
///
/// # Errors
/// [`GrowError`].
pub fn grow(job: u32, ranks: u32, command: Option<Command>) -> Result<u32, GrowError> {
    let what = command.map_or(What::LikeRank(0), What::Command);
    let request = Request { version: VERSION.into(), ranks, what, are_members: false };
    ask(job, &request, || {})
}

/// Sends a request, calls `sent`, and waits for the answer.
///
/// # Errors
/// [`GrowError`].
pub(crate) fn ask(job: u32, request: &Request, sent: impl FnOnce()) -> Result<u32, GrowError> {
    let text = serde_json::to_vec(request).map_err(std::io::Error::from)?;
    if text.len() > MESSAGE_MAX {
        return Err(GrowError::TooLong);
    }
    let socket = socket(SocketFlags::empty())?;
    // A queue of strangers that is full must not hold this process up.
    set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE)).map_err(std::io::Error::from)?;
    let since = Instant::now();
    let connected = loop {
        match connect(&socket, &address(job)?) {
            Err(Errno::INTR) => {}
            // A launcher that has just been started opens its door soon.
            Err(Errno::CONNREFUSED) if since.elapsed() < START && is_there(job) => {
                std::thread::sleep(LOOK_AGAIN);
            }
            connected => break connected,
        }
    };
    connected.map_err(|error| match error {
        Errno::CONNREFUSED | Errno::NOENT => GrowError::NoJob(job),
        Errno::AGAIN => GrowError::Silent(job),
        error => GrowError::System(error.into()),
    })?;
    if peer_of_own_user(&socket)?.is_none() {
        return Err(GrowError::OtherUser(job));
    }
    match retry_on_intr(|| send(&socket, &text, SendFlags::NOSIGNAL)) {
        // A launcher that refuses at once has sent its answer before.
        Ok(_) | Err(Errno::PIPE | Errno::CONNRESET) => {}
        Err(error) => return Err(GrowError::System(error.into())),
    }
    sent();
    let answer = receive(&socket, job, PATIENCE)?;
    let answer: Answer = serde_json::from_slice(&answer).map_err(std::io::Error::from)?;
    answer.map_err(GrowError::Refused)
}

/// Returns true if there is a process with this ID.
fn is_there(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

/// Waits for the answer. One that comes too late can't be sent, so that the launcher and the caller
/// agree on it.
pub(super) fn receive(
    socket: &OwnedFd,
    job: u32,
    patience: Duration,
) -> Result<Vec<u8>, GrowError> {
    let (since, mut text) = (Instant::now(), vec![0; MESSAGE_MAX]);
    loop {
        let left = patience.saturating_sub(since.elapsed());
        if left.is_zero() {
            shutdown(socket, Shutdown::Read).map_err(std::io::Error::from)?;
        }
        match recv(socket, &mut text[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) if left.is_zero() => return Err(GrowError::Silent(job)),
            Ok((0, _)) | Err(Errno::CONNRESET) => return Err(GrowError::NoJob(job)),
            Ok((len, _)) => {
                text.truncate(len);
                return Ok(text);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(GrowError::System(error.into())),
        }
        let limit = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(socket, PollFlags::IN)], limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(GrowError::System(error.into())),
        }
    }
}
