//! Defines requests for more ranks, which the launcher of a running job takes.
//!
//! ```text
//! caller     connects to the launcher's socket, sends a request
//! launcher   starts the processes, sends the numbers of their ranks or a reason
//! ```
//!
//! Each is one message in JSON, on a socket that keeps messages apart. `goal-run grow` asks, and so
//! do ranks (`goal-rank`: `Attached::grow`).
//!
//! A launcher opens the socket only when somebody needs it: at the start of a job with `--grow-to`,
//! and otherwise once a rank has asked. It lies in a new folder that only its user may enter. Ranks
//! get the path and the token from their launcher. For `goal-run grow` the token lies in a file
//! beside the socket, with `--grow-to` alone.
//!
//! Threat: the launcher starts any program for a caller. A process of its user can start programs
//! anyway, unless it is confined in a container or a sandbox. So the launcher answers only
//! processes of its own user in its own user, mount and PID namespaces (`peer.rs`). It checks them
//! when they connect, and reads no byte of others. They must know the token of the job. A rank that
//! is confined can't let its job grow either.
//!
//! Threat: callers send long requests, or nothing. A request has a bound in length, and a caller
//! that is silent loses its connection. The launcher waits for neither. Callers who connect without
//! end delay requests, and nothing else: each look of the launcher takes a bounded number.
//!
//! A caller that gives up closes its connection. The launcher starts nothing for a caller that has
//! gone. If the caller goes meanwhile, the launcher can't send its answer and notices.
//!
//! Threat: another user makes folders with such names. Nobody can guess a name before the folder is
//! there, and callers pass over folders of other users.
//!
//! The launcher removes the folder, and if it is killed, its reaper does.

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

/// The folder in which the folders of sockets are. It does not depend on the environment, so
/// launchers and callers agree on it.
pub const FOLDERS: &str = "/tmp";
/// The name of the socket in its folder.
pub const SOCKET: &str = "socket";
/// The name of the file with the token, for `goal-run grow`.
pub const TOKEN: &str = "token";

/// The reason why a job that goes on after losses does not grow.
pub const NOT_AFTER_LOSSES: &str = "it goes on after losses (--survive), and does not grow";

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Its file, or a name that is looked up in the folders of the launcher's `PATH`.
    pub executable: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// The program of the new ranks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// The program of this rank.
    LikeRank(u32),
    /// This program.
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
    /// The program that they run.
    pub what: What,
    /// True if the caller is a rank that takes them in at once. Otherwise they wait to be accepted.
    pub are_members: bool,
}

/// Returns the reason why `wanted` more ranks do not fit into a job that has had `ranks` of
/// `capacity`; `None` if they do.
pub fn no_room(ranks: u32, capacity: u32, wanted: u32) -> Option<String> {
    let needed = u64::from(ranks) + u64::from(wanted);
    (needed > capacity.into()).then(|| {
        format!(
            "{wanted} more ranks do not fit: the job has had {ranks}, and room for {capacity} in all; start it with goal-run --grow-to {needed}"
        )
    })
}

/// The answer: the first of the new ranks, or the reason why there are none.
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
    /// The launcher is another user's.
    #[error("job {0} is another user's, and only its own user lets it grow")]
    OtherUser(u32),
    /// The launcher has refused.
    #[error("{0}")]
    Refused(String),
    /// This job can't grow.
    #[error("this job can't grow: {0}")]
    Unsupported(&'static str),
    /// The launcher is silent.
    #[error("the launcher of job {0} does not answer: is it stopped?")]
    Silent(u32),
    /// The request is too long.
    #[error(
        "the program and its arguments are too long: a request has at most {MESSAGE_MAX} bytes"
    )]
    TooLong,
    /// The system refuses.
    #[error("{}", limits::named(.0))]
    System(#[from] io::Error),
}

impl Address {
    /// Returns the names of the files that a killed launcher leaves: the socket, the token, and
    /// last their folder.
    pub fn remains(&self) -> [PathBuf; 3] {
        [self.folder.join(SOCKET), self.folder.join(TOKEN), self.folder.clone()]
    }

    /// Returns the address of the socket.
    ///
    /// # Errors
    /// The path is too long.
    pub fn socket(&self) -> io::Result<SocketAddrUnix> {
        Ok(SocketAddrUnix::new(self.folder.join(SOCKET))?)
    }
}

/// Returns the beginning of the names of folders with sockets of the launcher with this process ID.
pub fn prefix(process: u32) -> String {
    format!("goal-run-{process}-")
}

/// Returns a socket that keeps messages apart.
///
/// # Errors
/// The system's.
pub fn socket(flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}
