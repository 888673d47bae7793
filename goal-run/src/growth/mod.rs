//! Requests to the launcher of a running job to start more ranks.
//!
//! ```text
//! caller     connects to the launcher's door, sends a request
//! launcher   starts the processes, sends the numbers of their ranks or a reason
//! ```
//!
//! Each is one message on a socket that keeps messages apart, in JSON. `goal-run grow` asks, and so
//! do ranks ([`Attached::grow`](crate::program::Attached::grow)).
//!
//! Threat: any process of the host can connect to an abstract socket. The launcher answers only
//! processes of its own user, and reads no byte of others. A process of that user can start
//! programs anyway, unless it is confined: one in a container with the host's network and the same
//! user can let the job start programs outside. A job without room for more ranks starts none, and
//! docs/goal-run.md says so. A request has a bound in length, and a caller that is silent loses its
//! connection; the launcher waits for neither. Others who connect without end delay requests, and
//! nothing else: each look of the launcher takes a bounded number.
//!
//! A caller that gives up closes its connection. The launcher starts nothing for one that is gone,
//! and learns from its answer if the caller has gone meanwhile.
//!
//! Threat: another user takes the name of the door before the launcher does. The job then has no
//! door, and a caller finds that its peer is another user's.

mod ask;
mod door;

pub(crate) use ask::ask;
pub use ask::grow;
pub(crate) use door::Door;

use crate::limits;
use crate::threads::namespace;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;

/// The longest request and the longest answer, in bytes.
pub(crate) const MESSAGE_MAX: usize = 64 << 10;

/// The reason why a job that goes on after losses does not grow.
pub(crate) const NOT_AFTER_LOSSES: &str = "it goes on after losses (--survive), and does not grow";

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
pub(crate) enum What {
    /// That of a rank.
    LikeRank(u32),
    /// This one.
    Command(Command),
}

/// A request to start more ranks.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The version of the caller.
    pub(crate) version: Cow<'static, str>,
    pub(crate) ranks: u32,
    pub(crate) what: What,
    /// True if the caller is a rank that takes them in at once. Otherwise they wait to be accepted.
    pub(crate) are_members: bool,
}

/// The answer: the first of the new ranks, or the reason why there are none.
pub(crate) type Answer = Result<u32, String>;

/// The reason why a job does not grow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrowError {
    /// There is no door of this name.
    #[error(
        "there is no job {0} that can grow here: give the process ID of the goal-run that started it (jobs of programs on one host grow)"
    )]
    NoJob(u32),
    /// The launcher, or who has taken its name, is another user's.
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

/// Returns the address of the door of the launcher with this process ID. An ID is that of one
/// process in its namespace, so the number of the namespace is part of the name.
fn address(process: u32) -> io::Result<SocketAddrUnix> {
    let name = format!("goal-run-{process}-{}", namespace().unwrap_or_default());
    Ok(SocketAddrUnix::new_abstract_name(name.as_bytes())?)
}

fn socket(flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

#[cfg(test)]
mod tests;
