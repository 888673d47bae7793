//! The transport `cma`: the system copies payloads from the memory of another process (UCX's
//! `cma`). It serves buffers outside of the shared segment.
//!
//! This transport carries no messages. The name of exported bytes is their address in the sender's
//! process with the bit [`COPIED`] set. No offset in a segment has this bit. Only an attempt shows
//! for certain that the system allows the copy. After a refusal the receiver asks the sender to
//! send this payload and all further ones in messages.

use crate::Segment;
use crate::exporter::{own_nonce, read_both};
use goal_engine::memory::Span;
use goal_engine::transport::{Distance, Plugin, Unreadable, ZeroCopy};
use rustix::io::Errno;
use rustix::process::{PTracer, Pid, set_ptracer};
use std::collections::BTreeMap;
use std::error::Error;
use std::{fmt, fs};

/// The properties of the transport.
pub const CMA: Plugin = Plugin {
    name: "cma",
    about: "large payloads outside the segment, copied by the system from process to process",
    priority: 70,
    nearest: Distance::Own,
    reach: Distance::Node,
    carries_messages: false,
    zero_copy: ZeroCopy::Copied,
    latency_ns: 1_500,
    bandwidth_mb_s: 6_000,
    probe,
};

/// The bit that is set in names of bytes to be copied by this transport. Addresses of processes and
/// offsets in a segment are smaller.
pub(crate) const COPIED: u64 = 1 << 63;

/// One rank's access to the memory of other processes.
pub struct Cma<'a> {
    segment: &'a Segment,
    /// The ranks whose memory this rank has tried to read, with true if it can read it. Only
    /// senders of large messages to this rank are in the map.
    tried: BTreeMap<u32, bool>,
}

impl<'a> Cma<'a> {
    /// Returns the access of a rank that has not tried to read any memory yet.
    pub fn new(segment: &'a Segment) -> Self {
        Self { segment, tried: BTreeMap::new() }
    }

    /// Returns the name by which peers can read bytes of this process.
    pub fn export(bytes: Span) -> u64 {
        bytes.address() as u64 | COPIED
    }

    /// Fills `into` with bytes that rank `source` exported as `name`, beginning at byte `offset` of
    /// the export.
    ///
    /// # Errors
    /// [`Unreadable`] if the system refuses, or if the process ID of rank `source` is not valid in
    /// this process. Also if not all bytes are mapped, or if `name` is not a name of this
    /// transport.
    pub fn get(
        &mut self,
        source: u32,
        name: u64,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Unreadable> {
        let peer = self.segment.status(source).exporter.known();
        let peer = peer.filter(|_| name & COPIED != 0).ok_or(Unreadable)?;
        let is_readable =
            *self.tried.entry(source).or_insert_with(|| peer.read(peer.nonce_at, &mut []).is_ok());
        if !is_readable {
            return Err(Unreadable);
        }
        peer.read((name & !COPIED).wrapping_add(offset), into).map_err(|error| {
            // Unmapped bytes do not show that other bytes can't be read.
            self.tried.insert(source, error == Errno::FAULT);
            Unreadable
        })
    }

    /// Returns the number of ranks whose memory this rank could not read. Either the system
    /// refuses, or their process IDs are not valid in this process.
    pub fn unreadable(&self) -> u64 {
        self.tried.values().filter(|&&is_readable| !is_readable).count() as u64
    }
}

/// Tells peers that the buffers of `rank` lie in the address space of this process. Before this
/// call, peers ask for payloads in messages. They always do so if the system has no random numbers.
pub fn announce(segment: &Segment, rank: u32) {
    if let Some((nonce_at, nonce)) = own_nonce() {
        segment.status(rank).exporter.tell(std::process::id(), nonce_at, nonce);
    }
}

/// Lets processes that `launcher` started read the memory of this process. Yama requires this
/// permission. If the call fails, the system refuses peers, and they ask for payloads in messages.
pub fn admit(launcher: u32) {
    if let Some(launcher) = Pid::from_raw(launcher as i32) {
        // Fails on systems without Yama, which don't need the permission.
        let _ = set_ptracer(PTracer::ProcessID(launcher));
    }
}

/// The reason why a process may not read the memory of other processes of its job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Forbidden {
    /// The system call fails even for the process itself.
    Call(Errno),
    /// `kernel.yama.ptrace_scope` has this value, which is at least 2.
    Yama(u8),
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => {
                write!(f, "forbidden: process_vm_readv says `{error}`, as under a seccomp filter")
            }
            Self::Yama(scope) => {
                write!(f, "forbidden by Yama (kernel.yama.ptrace_scope = {scope})")
            }
        }
    }
}

impl Error for Forbidden {}

fn probe() -> Result<(), Box<dyn Error + Send + Sync>> {
    let word = [1u8];
    let mut copy = [0];
    let from = word.as_ptr() as u64;
    let own = read_both(rustix::process::getpid(), (from, &mut copy), (from, &mut []));
    Ok(verdict(own.map(drop), ptrace_scope())?)
}

/// Returns Yama's setting `kernel.yama.ptrace_scope`; `None` on systems without Yama.
pub fn ptrace_scope() -> Option<u8> {
    fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok()?.trim().parse().ok()
}

/// Returns an error if a process certainly may not read the memory of other processes of its job.
/// `own` is the result of reading its own memory, and `scope` is Yama's setting. Ranks have no
/// capabilities, so CAP_SYS_PTRACE makes no difference.
pub(crate) fn verdict(own: Result<(), Errno>, scope: Option<u8>) -> Result<(), Forbidden> {
    own.map_err(Forbidden::Call)?;
    match scope {
        Some(scope @ 2..) => Err(Forbidden::Yama(scope)),
        // With scope 1 a process needs permission, which each process of the job gives by `admit`.
        _ => Ok(()),
    }
}
