//! The transport `cma`: the system copies payloads from the memory of another process (UCX's
//! `cma`). It serves buffers outside of the shared segment.
//!
//! This transport carries no messages. The name of exported bytes is their address in the sender's
//! process with the bit [`COPIED`] set, which no offset in a segment has. Only an attempt shows for
//! certain that the system allows the copy. After a refusal the receiver asks its sender for
//! messages instead, also for all further payloads.

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

/// The bit that is set in the names of bytes to be copied. No address of a process and no offset in
/// a segment is as large.
pub(crate) const COPIED: u64 = 1 << 63;

/// One rank's access to the memory of other processes.
pub struct Cma<'a> {
    segment: &'a Segment,
    /// The ranks that it has tried to read: true for those that it can. Only senders of large
    /// messages to it are here.
    tried: BTreeMap<u32, bool>,
}

impl<'a> Cma<'a> {
    /// Access that the system has not refused yet.
    pub fn new(segment: &'a Segment) -> Self {
        Self { segment, tried: BTreeMap::new() }
    }

    /// The name by which peers can read bytes of this process.
    pub fn export(bytes: Span) -> u64 {
        bytes.address() as u64 | COPIED
    }

    /// Fills `into` with bytes that rank `source` exported as `name`, beginning with the one at
    /// `offset`.
    ///
    /// # Errors
    /// [`Unreadable`] if the system refuses, or if this process can't name the source's process.
    /// Also if not all bytes are mapped, or if `name` is not one of this transport.
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
            // Bytes that are not mapped say nothing of others.
            self.tried.insert(source, error == Errno::FAULT);
            Unreadable
        })
    }

    /// Returns the number of ranks whose memory this one could not read: their processes can't be
    /// named from this one, or the system refuses.
    pub fn unreadable(&self) -> u64 {
        self.tried.values().filter(|&&is_readable| !is_readable).count() as u64
    }
}

/// Tells peers that the buffers of `rank` lie in the address space of this process. Before this,
/// and if the system has no random numbers, peers ask for messages.
pub fn announce(segment: &Segment, rank: u32) {
    if let Some((nonce_at, nonce)) = own_nonce() {
        segment.status(rank).exporter.tell(std::process::id(), nonce_at, nonce);
    }
}

/// Lets processes that `launcher` started read this one's memory, which Yama requires. If that
/// fails, peers are refused and ask for messages.
pub fn admit(launcher: u32) {
    if let Some(launcher) = Pid::from_raw(launcher as i32) {
        // Fails on systems without Yama, which don't need it.
        let _ = set_ptracer(PTracer::ProcessID(launcher));
    }
}

/// Why a process may not read the memory of the others of its job.
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

/// Yama's `kernel.yama.ptrace_scope`; `None` on systems without Yama.
pub fn ptrace_scope() -> Option<u8> {
    fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok()?.trim().parse().ok()
}

/// Judges if a process may read others of its job, as far as it can tell by itself: `own` is the
/// result of reading its own memory, and `scope` is Yama's setting. Ranks have no capabilities, so
/// CAP_SYS_PTRACE makes no difference.
pub(crate) fn verdict(own: Result<(), Errno>, scope: Option<u8>) -> Result<(), Forbidden> {
    own.map_err(Forbidden::Call)?;
    match scope {
        Some(scope @ 2..) => Err(Forbidden::Yama(scope)),
        // At 1 each process of the job calls `admit`.
        _ => Ok(()),
    }
}
