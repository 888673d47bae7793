//! Asks the launcher of a running job for more ranks.

use super::{
    Address, Answer, Command, FOLDERS, GrowError, MESSAGE_MAX, Request, TOKEN, Token, What, prefix,
    socket,
};
use crate::bootstrap::VERSION;
use crate::peer::Peer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, Shutdown, SocketFlags, connect, recv, send, shutdown};
use rustix::process::geteuid;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest time for which a caller waits for the answer. The launcher has to start processes
/// meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest time for which `goal-run grow` waits until the launcher has opened its socket.
const START: Duration = Duration::from_secs(2);
/// The longest time for which a rank waits until its launcher has opened its socket.
const OPEN: Duration = Duration::from_secs(10);
/// The time between two attempts to connect.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Asks the launcher with the process ID `job` for `ranks` more ranks in its job. Returns the
/// number of the first new rank. Without `command` the new ranks run the program of rank 0. They
/// wait until ranks of the job accept them.
///
/// # Errors
/// [`GrowError`].
pub fn grow(job: u32, ranks: u32, command: Option<Command>) -> Result<u32, GrowError> {
    let what = command.map_or(What::LikeRank(0), What::Command);
    let text = |token: Token| {
        text_of(&Request {
            version: VERSION.into(),
            token,
            ranks,
            what: what.clone(),
            are_members: false,
        })
    };
    // A request that is too long fails here, whatever its token is.
    text(Token::new()?)?;
    let since = Instant::now();
    loop {
        let (own, are_others) = addresses(job)?;
        // Other users may have created folders with such names, so these count only if there is no
        // own folder.
        let is_other = own.is_empty() && are_others;
        for address in own {
            if let Some(socket) = connected(&address)? {
                return speak(&socket, &text(address.token)?, job, || {});
            }
        }
        // A launcher that has just been started opens its socket soon.
        if since.elapsed() >= START || !is_there(job) {
            return Err(if is_other { GrowError::OtherUser(job) } else { GrowError::NoJob(job) });
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Sends a request to the launcher of this rank, and waits for the answer. Returns the number of
/// the first new rank. Calls `wants` repeatedly until the launcher has opened its socket, and
/// `sent` when the request was sent.
///
/// # Errors
/// [`GrowError`].
pub fn ask(
    address: &Address,
    request: &Request,
    wants: impl Fn(),
    sent: impl FnOnce(),
) -> Result<u32, GrowError> {
    let text = text_of(request)?;
    let since = Instant::now();
    loop {
        if let Some(socket) = connected(address)? {
            return speak(&socket, &text, address.process, sent);
        }
        if since.elapsed() >= OPEN {
            return Err(GrowError::Unsupported(
                "its launcher has no socket that this process reaches, as from a container (see its errors)",
            ));
        }
        wants();
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn text_of(request: &Request) -> Result<Vec<u8>, GrowError> {
    let text = serde_json::to_vec(request).map_err(io::Error::from)?;
    if text.len() > MESSAGE_MAX { Err(GrowError::TooLong) } else { Ok(text) }
}

/// Returns the addresses of this user's launchers with the process ID `job`, and true if other
/// users have folders with such names.
///
/// # Errors
/// The system's error.
fn addresses(job: u32) -> Result<(Vec<Address>, bool), GrowError> {
    let (mut own, mut are_others) = (Vec::new(), false);
    for entry in fs::read_dir(FOLDERS)?.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(&prefix(job)) {
            continue;
        }
        // A symbolic link is not followed. It does not count as a folder, since another user may
        // have created it.
        let Ok(folder) = entry.metadata().as_ref().map(|file| (file.is_dir(), file.uid())) else {
            continue;
        };
        match folder {
            (true, user) if user == geteuid().as_raw() => {
                // A job without --grow-to has no token in its folder.
                if let Ok(token) = read_token(&entry.path()) {
                    own.push(Address { process: job, folder: entry.path(), token });
                }
            }
            _ => are_others = true,
        }
    }
    Ok((own, are_others))
}

fn read_token(folder: &Path) -> io::Result<Token> {
    let mut bytes = Vec::new();
    File::open(folder.join(TOKEN))?.take(Token::LEN as u64 + 1).read_to_end(&mut bytes)?;
    Token::from_bytes(&bytes).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Connects to a launcher's socket. Returns `None` if the socket is not open.
fn connected(address: &Address) -> Result<Option<OwnedFd>, GrowError> {
    let job = address.process;
    let socket = socket(SocketFlags::empty())?;
    // A full queue of pending connections must not hold this process up.
    set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE)).map_err(io::Error::from)?;
    let target = address.socket()?;
    match retry_on_intr(|| connect(&socket, &target)) {
        Ok(()) => {}
        Err(Errno::CONNREFUSED | Errno::NOENT) => return Ok(None),
        Err(Errno::AGAIN) => return Err(GrowError::Silent(job)),
        Err(error) => return Err(GrowError::System(error.into())),
    }
    match Peer::from_socket(&socket)? {
        Some(_) => Ok(Some(socket)),
        None => Err(GrowError::OtherUser(job)),
    }
}

/// Sends a request, calls `sent`, and waits for the answer. Returns the number of the first new
/// rank.
fn speak(socket: &OwnedFd, text: &[u8], job: u32, sent: impl FnOnce()) -> Result<u32, GrowError> {
    match retry_on_intr(|| send(socket, text, SendFlags::NOSIGNAL)) {
        // If the launcher refuses at once, it has sent its answer already and has closed the
        // connection.
        Ok(_) | Err(Errno::PIPE | Errno::CONNRESET) => {}
        Err(error) => return Err(GrowError::System(error.into())),
    }
    sent();
    let answer = receive(socket, job, PATIENCE)?;
    let answer: Answer = serde_json::from_slice(&answer).map_err(io::Error::from)?;
    answer.map_err(GrowError::Refused)
}

/// Returns true if there is a process with this ID.
fn is_there(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

/// Waits for the answer for at most `patience`, and returns its bytes. Afterwards the launcher
/// can't send an answer any more. So launcher and caller agree if there was one.
pub fn receive(socket: &OwnedFd, job: u32, patience: Duration) -> Result<Vec<u8>, GrowError> {
    let (since, mut text) = (Instant::now(), vec![0; MESSAGE_MAX]);
    let mut is_reset = false;
    loop {
        let left = patience.saturating_sub(since.elapsed());
        if left.is_zero() {
            shutdown(socket, Shutdown::Read).map_err(std::io::Error::from)?;
        }
        match recv(socket, &mut text[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) if left.is_zero() => return Err(GrowError::Silent(job)),
            // If the launcher refuses, it does not read the request. The system reports that once,
            // and then delivers the answer.
            Err(Errno::CONNRESET) if !is_reset => is_reset = true,
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
