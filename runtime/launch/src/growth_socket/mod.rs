//! Takes requests for more ranks at a socket of the launcher. The launcher never waits for the
//! process that sends a request, the caller.

use goal_job::bootstrap::VERSION;
use goal_job::growth::{Answer, FOLDERS, MESSAGE_MAX, Request, TOKEN, prefix, socket};
use goal_job::peer::{Address, Token};
use goal_job::peer::{Peer, random};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, accept_with, bind, listen, recv, send};
use serde::Deserialize;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// The most connections in the queue of the listening socket.
const BACKLOG: i32 = 128;
/// The most callers whose requests are awaited at a time.
const CALLERS_MAX: usize = 16;
/// The most connections that one call accepts.
const TAKEN_MAX: usize = 64;
/// The time in which a caller must send its request.
const PATIENCE: Duration = Duration::from_secs(2);

/// The socket at which a launcher takes requests. Dropping it removes the socket and its folder.
#[derive(Debug)]
pub(crate) struct GrowthSocket {
    address: Address,
    /// The socket. `None` until it is opened.
    socket: Option<OwnedFd>,
    /// True if the folder was created, even if the socket could not be opened afterwards.
    has_folder: bool,
    callers: Vec<Caller>,
}

/// A connected caller whose request has not arrived.
#[derive(Debug)]
struct Caller {
    socket: OwnedFd,
    since: Instant,
}

/// The connection for the reply to a caller. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct Reply(OwnedFd);

impl Reply {
    /// Sends the answer. Returns false if the caller has gone.
    pub(crate) fn send(self, answer: &Answer) -> bool {
        let mut text = serde_json::to_vec(answer).expect("a number or a text");
        if text.len() > MESSAGE_MAX {
            let short: Answer = Err("the reason is too long to be told".to_owned());
            text = serde_json::to_vec(&short).expect("a text");
        }
        send(&self.0, &text, SendFlags::NOSIGNAL | SendFlags::DONTWAIT).is_ok()
    }

    /// Returns true if a reply is in vain, because the caller has closed its connection.
    fn is_vain(&self) -> bool {
        let mut one = [PollFd::new(&self.0, PollFlags::empty())];
        let is_ready = poll(&mut one, Some(&Timespec::default())).is_ok_and(|ready| ready > 0);
        is_ready && one[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
    }
}

/// The fields of a request that all versions of the library have.
#[derive(Deserialize)]
struct Versioned {
    version: String,
}

impl GrowthSocket {
    /// Returns a socket of this process that is not open yet.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn new() -> io::Result<Self> {
        let number = u64::from_ne_bytes(random()?);
        let process = std::process::id();
        let folder = Path::new(FOLDERS).join(format!("{}{number:016x}", prefix(process)));
        let address = Address { process, folder, token: Token::new()? };
        Ok(Self { address, socket: None, has_folder: false, callers: Vec::new() })
    }

    /// Returns the address of the socket, and the token that callers must know.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Opens the socket. If `for_users` is set, also writes the token to a file beside it, so that
    /// the user can send requests.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn open(&mut self, for_users: bool) -> io::Result<()> {
        if self.socket.is_some() {
            return Ok(());
        }
        let Address { folder, token, .. } = &self.address;
        // The name of the folder is new and random, so an existing folder is an error.
        DirBuilder::new().mode(0o700).create(folder)?;
        self.has_folder = true;
        let socket = socket(SocketFlags::NONBLOCK)?;
        bind(&socket, &self.address.socket()?)?;
        listen(&socket, BACKLOG)?;
        self.socket = Some(socket);
        if for_users {
            let mut file = OpenOptions::new();
            let mut file =
                file.write(true).create_new(true).mode(0o600).open(folder.join(TOKEN))?;
            file.write_all(token.bytes())?;
        }
        Ok(())
    }

    /// Returns the next request that has arrived and the connection for its reply. Returns `None`
    /// if there is none. Answers callers whose message is not a valid request, and skips callers
    /// that have gone. Never blocks.
    pub(crate) fn next(&mut self) -> Option<(Request, Reply)> {
        self.take_callers();
        let mut at = 0;
        while at < self.callers.len() {
            let Some(heard) = hear(&self.callers[at], &self.address.token) else {
                at += 1;
                continue;
            };
            let reply = Reply(self.callers.swap_remove(at).socket);
            match heard {
                Ok(_) if reply.is_vain() => {}
                Ok(request) => return Some((request, reply)),
                Err(why) => {
                    reply.send(&Err(why));
                }
            }
        }
        None
    }

    /// Accepts connections. Refuses callers that belong to another user or are confined in other
    /// namespaces, and tells them the reason.
    fn take_callers(&mut self) {
        for _ in 0..TAKEN_MAX {
            if self.callers.len() >= CALLERS_MAX {
                return;
            }
            let Some(listener) = &self.socket else { return };
            let socket = match accept_with(listener, SocketFlags::CLOEXEC) {
                Ok(socket) => socket,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                // No connection waits, or there are no more descriptors. In the second case the
                // callers stay in the queue.
                Err(_) => return,
            };
            let why = match Peer::from_socket(&socket) {
                Ok(Some(peer)) if peer.is_unconfined() => {
                    self.callers.push(Caller { socket, since: Instant::now() });
                    continue;
                }
                Ok(Some(_)) => {
                    "a process in other namespaces than goal-run's (user, mount, PID), as in a \
                     container, does not let its job grow: ask outside of it"
                }
                _ => "only the user of a job lets it grow, and you are another",
            };
            Reply(socket).send(&Err(why.into()));
        }
    }
}

impl Drop for GrowthSocket {
    fn drop(&mut self) {
        if self.has_folder {
            let [socket, token, folder] = self.address.remains();
            let _ = (fs::remove_file(socket), fs::remove_file(token), fs::remove_dir(folder));
        }
    }
}

/// Returns the request of a caller, or the reason why it is refused. Returns `None` while the
/// request may still arrive.
fn hear(caller: &Caller, token: &Token) -> Option<Result<Request, String>> {
    let mut text = vec![0; MESSAGE_MAX];
    let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
    match recv(&caller.socket, &mut text[..], flags) {
        Err(Errno::AGAIN | Errno::INTR) if caller.since.elapsed() < PATIENCE => None,
        Err(Errno::AGAIN | Errno::INTR) => {
            Some(Err(format!("there was no request within {} s", PATIENCE.as_secs())))
        }
        Err(error) => Some(Err(error.to_string())),
        Ok((_, len)) if len > MESSAGE_MAX => {
            Some(Err(format!("the request has {len} bytes, and at most {MESSAGE_MAX} are read")))
        }
        Ok((_, len)) => Some(read(&text[..len], token)),
    }
}

/// Parses a request. Returns the reason for the caller if the text is no request, or if its version
/// or its token is wrong.
fn read(text: &[u8], token: &Token) -> Result<Request, String> {
    let wrong = |error: serde_json::Error| format!("this is no request: {error}");
    let Versioned { version } = serde_json::from_slice(text).map_err(wrong)?;
    if version != VERSION {
        return Err(format!(
            "the job's launcher is goal-run {VERSION}, and the caller is of version {version}: take the same"
        ));
    }
    let request: Request = serde_json::from_slice(text).map_err(wrong)?;
    if request.token != *token {
        return Err("the token is not that of this job".to_owned());
    }
    Ok(request)
}

#[cfg(test)]
mod tests;
