//! Payloads that the system copies from the memory of another process (UCX's `cma`): for buffers
//! that don't lie in the segment.
//!
//! It carries no messages. The name of exported bytes is their address in the sender's process with
//! [`COPIED`] set, which no place in a segment has. Whether the system allows it shows for good
//! when it is done: a receiver that is refused asks for messages, then and from then on.

mod read;
#[cfg(test)]
mod tests;

use crate::Segment;
use goal_engine::memory::Span;
use goal_engine::transport::{Distance, Plugin, Unreadable, ZeroCopy};
use rustix::io::Errno;
use rustix::process::{PTracer, Pid, set_ptracer};
use std::fs;
use std::sync::atomic::Ordering;

/// Properties of the transport.
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

/// Set in names of bytes to be copied; no address of a process and no place in a segment is as
/// large.
const COPIED: u64 = 1 << 63;

/// One rank's way to the memory of the others.
pub struct Cma<'a> {
    segment: &'a Segment,
    is_refused: bool,
}

impl<'a> Cma<'a> {
    /// A way that has not been refused.
    pub fn new(segment: &'a Segment) -> Self {
        Self { segment, is_refused: false }
    }

    /// The name under which peers can read bytes of this process.
    pub fn export(bytes: Span) -> u64 {
        bytes.address() as u64 | COPIED
    }

    /// Copies bytes that rank `source` exported as `name`, from the `offset`th on.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn get(
        &mut self,
        source: u32,
        name: u64,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Unreadable> {
        let process = self.segment.status(source).process.load(Ordering::SeqCst);
        if name & COPIED == 0 || self.is_refused {
            return Err(Unreadable);
        }
        let process = Pid::from_raw(process as i32).ok_or(Unreadable)?;
        read::exact(process, (name & !COPIED).wrapping_add(offset), into).map_err(|error| {
            self.is_refused = matches!(error, Errno::PERM | Errno::NOSYS);
            Unreadable
        })
    }
}

/// Tells peers that the buffers of `rank` have addresses of this process; they ask for messages
/// before.
pub fn announce(segment: &Segment, rank: u32) {
    segment.status(rank).process.store(std::process::id(), Ordering::SeqCst);
}

/// Lets the processes that `launcher` started read this one's memory, where Yama asks for that.
/// Where it can't be had, peers are refused and ask for messages.
pub fn admit(launcher: u32) {
    if let Some(launcher) = Pid::from_raw(launcher as i32) {
        // Fails where there is no Yama to be told.
        let _ = set_ptracer(PTracer::ProcessID(launcher));
    }
}

fn probe() -> Result<(), String> {
    let word = [1u8];
    let mut copy = [0];
    let own = read::exact(rustix::process::getpid(), word.as_ptr() as u64, &mut copy);
    verdict(own, ptrace_scope())
}

/// Yama's `kernel.yama.ptrace_scope`; `None` without Yama.
pub fn ptrace_scope() -> Option<u8> {
    fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok()?.trim().parse().ok()
}

/// Whether a process may read another one of its job, as far as it can be told by itself: by what
/// became of reading its own memory, and by what Yama allows. Ranks have no rights, so
/// CAP_SYS_PTRACE makes no difference.
fn verdict(own: Result<(), Errno>, scope: Option<u8>) -> Result<(), String> {
    if let Err(error) = own {
        return Err(format!(
            "forbidden: process_vm_readv says `{error}`, as under a seccomp filter"
        ));
    }
    match scope {
        Some(scope @ 2..) => Err(format!("forbidden by Yama (kernel.yama.ptrace_scope = {scope})")),
        // At 1 a process admits its job itself.
        _ => Ok(()),
    }
}
