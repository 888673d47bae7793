//! Chooses whether schedules run in the kernel, and describes a rank's endpoint for messages to
//! other hosts. The endpoint is remote sockets, the kernel, or both for a rank of a program.
//!
//! Threat: a process that knows the cookie of a rank's part may start its runs. So members are in
//! the sealed settings, as the job's secret is, and never in the environment. Ranks of programs
//! read the cookies in the maps, and have descriptors of these.

use crate::Named;
use crate::remote_sockets::{PassedSockets, RemoteSockets};
use goal_kernel::{Descriptors, Hook, Member, Missing, Share, TableDescriptors, probe};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// The words before the verifier's log, and the beginnings of its last lines.
const VERIFIER: &str = "; the verifier says:\n";
const STATISTICS: [&str; 3] = ["verification time", "stack depth", "processed"];

/// The offer of a kernel that runs schedules.
#[derive(Debug, Clone, Serialize)]
pub struct Offered {
    /// The name of the hooks.
    pub hooks: &'static str,
    /// The source of ticks, at which lost frames are asked for.
    pub ticks: String,
    /// The missing part for ticks that need no process, and how to get it; `None` if nothing is
    /// missing.
    pub no_circle: Option<String>,
}

/// The choice whether a schedule runs in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Offload {
    /// The ranks' processes run it.
    #[default]
    Off,
    /// The kernels of all hosts run it if they can; the ranks' processes do otherwise.
    Auto,
    /// The kernels of all hosts run it, or the job does not start.
    Kernel,
}

impl Named for Offload {
    const NAMES: &'static [(Self, &'static str, &'static str)] = &[
        (Offload::Off, "off", "The ranks' processes run it"),
        (
            Offload::Auto,
            "auto",
            "The kernels of all hosts run it if they can; the ranks' processes do otherwise",
        ),
        (Offload::Kernel, "kernel", "The kernels of all hosts run it, or the job does not start"),
    ];
}

impl Offload {
    /// Finds out by trying if this system's kernel runs schedules. Takes the verifier about half a
    /// second.
    ///
    /// # Errors
    /// The missing part, and how to get it.
    pub fn probe() -> Result<Offered, String> {
        match probe() {
            Ok(offer) if offer.hook == Hook::Tcx => {
                let ticks = offer.ticks().to_string();
                Ok(Offered { hooks: "TCX", ticks, no_circle: offer.no_circle })
            }
            Ok(_) => Err("hooks of TCX: Linux 6.6 or later (at those of older kernels the engine would stay if its launcher is killed)".to_owned()),
            Err(Missing { what, remedy, cause }) => {
                Err(format!("{what}: {remedy} ({})", shortened(&cause)))
            }
        }
    }
}

/// Returns the text on an error of loading up to the verifier's log, which is long, and the log's
/// last line but the statistics.
pub fn shortened(text: &str) -> String {
    let Some((text, log)) = text.split_once(VERIFIER) else { return text.to_owned() };
    let is_reason =
        |line: &&str| !line.is_empty() && !STATISTICS.iter().any(|s| line.starts_with(s));
    match log.lines().rev().find(is_reason) {
        Some(reason) => format!("{text}; the verifier says: {reason}"),
        None => text.to_owned(),
    }
}

/// A schedule that runs in the kernel, or room there for the schedules of programs.
#[derive(Clone, Serialize, Deserialize)]
pub struct InKernel {
    /// The most bytes of payload of a frame.
    pub fragment: u32,
    /// The ranks of this host. Each has its member as bytes, or its share if it is a program.
    members: BTreeMap<u32, Vec<u8>>,
}

impl InKernel {
    /// Returns the parts of the ranks of a schedule; `fragment` is the most payload of a frame, in
    /// bytes.
    pub fn new(fragment: u32, members: &[(u32, Member)]) -> Self {
        let members = members.iter().map(|(rank, member)| (*rank, member.to_bytes().to_vec()));
        Self { fragment, members: members.collect() }
    }

    /// Returns the shares of the ranks of a program.
    pub fn from_programs(fragment: u32, shares: &[(u32, Share)]) -> Self {
        let shares = shares.iter().map(|(rank, share)| (*rank, share.to_bytes().to_vec()));
        Self { fragment, members: shares.collect() }
    }

    /// Returns the share of a rank of a program on this host.
    pub fn share(&self, rank: u32) -> Option<Share> {
        let bytes = self.members.get(&rank)?.as_slice().try_into().ok()?;
        Some(Share::from_bytes(bytes))
    }

    /// Returns the member of a rank of this host.
    pub fn member(&self, rank: u32) -> Option<Member> {
        let bytes = self.members.get(&rank)?.as_slice().try_into().ok()?;
        Some(Member::from_bytes(bytes))
    }
}

/// Does not show the members, which have cookies.
impl fmt::Debug for InKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InKernel").field("fragment", &self.fragment).finish_non_exhaustive()
    }
}

/// A rank's endpoint for messages to other hosts. Its launcher has opened it.
pub enum RemoteEndpoint {
    /// Remote sockets of the rank's own.
    Sockets(RemoteSockets),
    /// The kernel, which runs the rank's schedule.
    Kernel(Descriptors),
    /// Remote sockets of the rank's own, and the kernel, which runs some of its program's
    /// schedules.
    Both(RemoteSockets, TableDescriptors),
}

impl RemoteEndpoint {
    /// Describes the remote sockets for the rank's process; `None` if it has none.
    pub fn passed_sockets(&self) -> Option<PassedSockets> {
        match self {
            RemoteEndpoint::Sockets(remote_sockets) | RemoteEndpoint::Both(remote_sockets, _) => {
                Some(remote_sockets.passed())
            }
            RemoteEndpoint::Kernel(_) => None,
        }
    }

    /// Returns the remote sockets; `None` if the rank has none.
    pub fn into_remote_sockets(self) -> Option<RemoteSockets> {
        match self {
            RemoteEndpoint::Sockets(remote_sockets) | RemoteEndpoint::Both(remote_sockets, _) => {
                Some(remote_sockets)
            }
            RemoteEndpoint::Kernel(_) => None,
        }
    }

    /// Returns the numbers of the descriptors that lead to the kernel; `None` for another endpoint.
    pub fn passed_kernel(&self) -> Option<PassedKernel> {
        let RemoteEndpoint::Kernel(Descriptors { memory, status, handed, socket }) = self else {
            return None;
        };
        let all = [memory, status, handed, socket].map(AsRawFd::as_raw_fd);
        let [memory, status, handed, socket] = all;
        Some(PassedKernel { memory, status, handed, socket })
    }

    /// Returns the numbers of the descriptors of the tables of a program's rank, if it has them.
    pub fn passed_tables(&self) -> Option<PassedTables> {
        let RemoteEndpoint::Both(_, tables) = self else { return None };
        Some(PassedTables(all_of(tables).map(AsRawFd::as_raw_fd)))
    }

    /// Returns the descriptors that the rank's process must inherit.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            RemoteEndpoint::Sockets(remote_sockets) => remote_sockets.descriptors(),
            RemoteEndpoint::Kernel(Descriptors { memory, status, handed, socket }) => {
                [memory, status, handed, socket].map(AsFd::as_fd).to_vec()
            }
            RemoteEndpoint::Both(remote_sockets, tables) => {
                let of_kernel = all_of(tables).map(AsFd::as_fd);
                remote_sockets.descriptors().into_iter().chain(of_kernel).collect()
            }
        }
    }
}

fn all_of(tables: &TableDescriptors) -> [&OwnedFd; 9] {
    let TableDescriptors { parts, status, actions, dependents, receives, .. } = tables;
    let TableDescriptors { sends, memory, handed, socket, .. } = tables;
    [parts, status, actions, dependents, receives, sends, memory, handed, socket]
}

/// The descriptors of the tables that a rank of a program installs its schedules in, as numbers
/// that its process inherits: in the order of [`TableDescriptors`].
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PassedTables(pub [RawFd; 9]);

/// The descriptors of a rank whose schedule runs in the kernel, as numbers that its process
/// inherits.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PassedKernel {
    /// The map of the memory of ranks.
    pub memory: RawFd,
    /// The map of the state of runs.
    pub status: RawFd,
    /// The map of fallback operations, which the kernel leaves to the process.
    pub handed: RawFd,
    /// The socket that wakes the process.
    pub socket: RawFd,
}
