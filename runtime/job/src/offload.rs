//! Chooses if schedules run in the kernel, and describes a rank's endpoint for messages to other
//! hosts. The endpoint is remote sockets, the kernel or, for a rank of a program, both.
//!
//! Threat: a process that knows the cookie of a rank's part may start runs of this part. So
//! members, which contain cookies, are in the sealed settings, like the job's secret. They are
//! never in the environment. Ranks of programs have descriptors of the kernel's maps, and read the
//! cookies there.

use crate::Named;
use crate::remote_sockets::{PassedSockets, RemoteSockets};
use goal_kernel::{Descriptors, Hook, Member, Missing, Share, TableDescriptors, probe};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// The text before the log of the kernel's verifier in an error. [`STATISTICS`] has the beginnings
/// of the log's last lines.
const VERIFIER: &str = "; the verifier says:\n";
const STATISTICS: [&str; 3] = ["verification time", "stack depth", "processed"];

/// The properties of a kernel that can run schedules.
#[derive(Debug, Clone, Serialize)]
pub struct Offered {
    /// The name of the hooks to which the kernel's engine is attached.
    pub hooks: &'static str,
    /// The source of ticks. At a tick the kernel's engine asks for lost frames.
    pub ticks: String,
    /// What is missing for ticks without a process, and how to get it; `None` if nothing is
    /// missing.
    pub no_circle: Option<String>,
}

/// The choice if a schedule runs in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Offload {
    /// The ranks' processes run the schedule.
    #[default]
    Off,
    /// The kernels of all hosts run the schedule if they can. Otherwise the ranks' processes run
    /// it.
    Auto,
    /// The kernels of all hosts run the schedule, or the job does not start.
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
    /// Finds out if this system's kernel can run schedules, by an attempt to load the engine. This
    /// takes about half a second in the kernel's verifier.
    ///
    /// # Errors
    /// What is missing, and how to get it.
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

/// Returns a short form of an error text about the loading of the engine. Of the verifier's log,
/// which is long, it keeps only the last line before the statistics.
pub fn shortened(text: &str) -> String {
    let Some((text, log)) = text.split_once(VERIFIER) else { return text.to_owned() };
    let is_reason =
        |line: &&str| !line.is_empty() && !STATISTICS.iter().any(|s| line.starts_with(s));
    match log.lines().rev().find(is_reason) {
        Some(reason) => format!("{text}; the verifier says: {reason}"),
        None => text.to_owned(),
    }
}

/// The parts of this host's ranks in the kernel: of a schedule, or of the room for the schedules of
/// programs.
#[derive(Clone, Serialize, Deserialize)]
pub struct InKernel {
    /// The most bytes of payload in a frame.
    pub fragment: u32,
    /// The [`Member`] of each rank of this host as bytes. For a rank of a program it is the
    /// [`Share`] instead.
    members: BTreeMap<u32, Vec<u8>>,
}

impl InKernel {
    /// Creates the value for ranks whose schedule runs in the kernel. `fragment` is the most
    /// payload of a frame, in bytes.
    pub fn new(fragment: u32, members: &[(u32, Member)]) -> Self {
        let members = members.iter().map(|(rank, member)| (*rank, member.to_bytes().to_vec()));
        Self { fragment, members: members.collect() }
    }

    /// Creates the value for ranks of a program. `fragment` is the most payload of a frame, in
    /// bytes.
    pub fn from_programs(fragment: u32, shares: &[(u32, Share)]) -> Self {
        let shares = shares.iter().map(|(rank, share)| (*rank, share.to_bytes().to_vec()));
        Self { fragment, members: shares.collect() }
    }

    /// Returns the share of a program's rank on this host; `None` if it has none.
    pub fn share(&self, rank: u32) -> Option<Share> {
        let bytes = self.members.get(&rank)?.as_slice().try_into().ok()?;
        Some(Share::from_bytes(bytes))
    }

    /// Returns the member of a rank of this host; `None` if it has none.
    pub fn member(&self, rank: u32) -> Option<Member> {
        let bytes = self.members.get(&rank)?.as_slice().try_into().ok()?;
        Some(Member::from_bytes(bytes))
    }
}

/// Leaves out the members, because they contain cookies.
impl fmt::Debug for InKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InKernel").field("fragment", &self.fragment).finish_non_exhaustive()
    }
}

/// A rank's endpoint for messages to other hosts. Its launcher has opened it.
pub enum RemoteEndpoint {
    /// Remote sockets of the rank.
    Sockets(RemoteSockets),
    /// The kernel, which runs the rank's schedule.
    Kernel(Descriptors),
    /// Remote sockets of the rank, and the kernel, which runs some schedules of the rank's program.
    Both(RemoteSockets, TableDescriptors),
}

impl RemoteEndpoint {
    /// Returns the description of the remote sockets for the rank's process; `None` if the rank has
    /// none.
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

    /// Returns the numbers of the descriptors of [`RemoteEndpoint::Kernel`]; `None` for another
    /// endpoint.
    pub fn passed_kernel(&self) -> Option<PassedKernel> {
        let RemoteEndpoint::Kernel(Descriptors { memory, status, handed, socket }) = self else {
            return None;
        };
        let all = [memory, status, handed, socket].map(AsRawFd::as_raw_fd);
        let [memory, status, handed, socket] = all;
        Some(PassedKernel { memory, status, handed, socket })
    }

    /// Returns the numbers of the descriptors of the tables of a program's rank; `None` if it has
    /// no tables.
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

/// The numbers of the descriptors of the tables in which a rank of a program installs its
/// schedules. The rank's process inherits them. They are in the order of the fields of
/// [`TableDescriptors`].
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PassedTables(pub [RawFd; 9]);

/// The numbers of the descriptors of a rank whose schedule runs in the kernel. The rank's process
/// inherits them.
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
