//! Defines requests for more ranks, and sends them to the launcher of a running job.
//!
//! ```text
//! caller     connects to the launcher's socket, sends a request
//! launcher   starts the processes, sends the numbers of their ranks or a reason
//! ```
//!
//! Request and answer are one message each, in JSON, on a socket that preserves message boundaries.
//! The caller is `goal-run grow` or a rank (`goal-rank`: `Attached::grow`).
//!
//! A launcher opens the socket only when it is needed: at the start of a job with `--grow-to`, and
//! otherwise when a rank first wants to ask. The socket lies in a new folder that only its user may
//! enter. Ranks get the path and the token from their launcher. With `--grow-to` a file beside the
//! socket contains the token, for `goal-run grow`.
//!
//! Threat: the launcher starts any program for a caller. A process of its user can start programs
//! anyway, unless it is confined in a container or a sandbox. So the launcher answers only
//! processes of its own user in its own user, mount and PID namespaces (`peer.rs`). It checks each
//! process at its connection, and reads no byte from others. The process must also know the token
//! of the job. A rank that is confined can't let its job grow either.
//!
//! Threat: callers send long requests, or nothing. The length of a request is limited, and a silent
//! caller loses its connection. The launcher waits for neither. If callers connect without end,
//! they only delay requests, since the launcher handles a limited number of connections at a time.
//!
//! A caller that gives up closes its connection. The launcher then starts nothing for it. If the
//! caller gives up while processes are being started, the launcher notices that it can't send its
//! answer.
//!
//! Threat: another user creates folders with such names. Nobody can guess the name of a folder
//! before it exists, and callers ignore folders of other users.
//!
//! The launcher removes the folder at its end. If the launcher is killed, its reaper removes the
//! folder.

mod ask;

pub use ask::{ask, grow, receive};

use crate::limits;
use crate::peer::{Address, Token};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// The longest request and the longest answer, in bytes.
pub const MESSAGE_MAX: usize = 64 << 10;

/// The folder that contains the folders of sockets. It does not depend on the environment, so
/// launchers and callers agree on it.
pub const FOLDERS: &str = "/tmp";
/// The name of the socket in its folder.
pub const SOCKET: &str = "socket";
/// The name of the file with the token, for `goal-run grow`.
pub const TOKEN: &str = "token";

/// The reason why a job that goes on after the loss of a rank can't grow.
pub const NOT_AFTER_LOSSES: &str = "it goes on after losses (--survive), and does not grow";

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The file of the program, or a name that the launcher looks up in its `PATH`.
    pub executable: OsString,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
}

/// The program of the new ranks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// The program that the rank with this number runs.
    LikeRank(u32),
    /// The program of this command.
    Command(Command),
}

/// A request to start more ranks.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// The version of the caller.
    pub version: Cow<'static, str>,
    /// The token of the job.
    pub token: Token,
    /// The number of new ranks.
    pub ranks: u32,
    /// The program that the new ranks run.
    pub what: What,
    /// True if the new ranks take part in the job at once, because a rank has asked for them.
    /// Otherwise they wait to be accepted.
    pub are_members: bool,
}

/// Returns the reason why `wanted` more ranks do not fit into a job; `None` if they fit. The job
/// has had `ranks` ranks so far, and has room for `capacity` in all.
pub fn no_room(ranks: u32, capacity: u32, wanted: u32) -> Option<String> {
    let needed = u64::from(ranks) + u64::from(wanted);
    (needed > capacity.into()).then(|| {
        format!(
            "{wanted} more ranks do not fit: the job has had {ranks}, and room for {capacity} in all; start it with goal-run --grow-to {needed}"
        )
    })
}

/// The launcher's answer: the number of the first new rank, or the reason why it has started none.
pub type Answer = Result<u32, String>;

/// The reason why a job does not grow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrowError {
    /// No launcher with this process ID takes requests.
    #[error(
        "there is no job {0} that can grow here: give the process ID of the goal-run that started it, with --grow-to (jobs of programs on one host grow)"
    )]
    NoJob(u32),
    /// The launcher with this process ID belongs to another user.
    #[error("job {0} is another user's, and only its own user lets it grow")]
    OtherUser(u32),
    /// The launcher has refused the request for this reason.
    #[error("{0}")]
    Refused(String),
    /// This job can't grow for this reason.
    #[error("this job can't grow: {0}")]
    Unsupported(&'static str),
    /// The launcher with this process ID does not answer.
    #[error("the launcher of job {0} does not answer: is it stopped?")]
    Silent(u32),
    /// The request is longer than [`MESSAGE_MAX`].
    #[error(
        "the program and its arguments are too long: a request has at most {MESSAGE_MAX} bytes"
    )]
    TooLong,
    /// The system returned an error.
    #[error("{}", limits::named(.0))]
    System(#[from] io::Error),
}

impl Address {
    /// Returns the paths that a killed launcher leaves behind: the socket, the token, and last
    /// their folder.
    pub fn remains(&self) -> [PathBuf; 3] {
        [self.folder.join(SOCKET), self.folder.join(TOKEN), self.folder.clone()]
    }

    /// Returns the address of the launcher's socket.
    ///
    /// # Errors
    /// The path is too long.
    pub fn socket(&self) -> io::Result<SocketAddrUnix> {
        Ok(SocketAddrUnix::new(self.folder.join(SOCKET))?)
    }
}

/// Returns the beginning of the folder's name for the socket of the launcher with this process ID.
pub fn prefix(process: u32) -> String {
    format!("goal-run-{process}-")
}

/// Returns a new Unix socket that preserves message boundaries (`SOCK_SEQPACKET`).
///
/// # Errors
/// The system's error.
pub fn socket(flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}
