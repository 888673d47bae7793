//! Payloads that the system copies from the memory of another process (UCX's `cma`), for buffers
//! that don't lie in the segment.
//!
//! This transport carries no messages. The name of exported bytes is their address in the sender's
//! process with the bit [`COPIED`] set, which no offset in a segment has. Only a copy shows for
//! certain if the system allows it. A receiver that is refused asks its sender for messages
//! instead, and does so from then on.
#![allow(unsafe_code)] // `process_vm_readv`, which rustix lacks

use crate::Segment;
use goal_engine::memory::Span;
use goal_engine::transport::{Distance, Plugin, Unreadable, ZeroCopy};
use rustix::io::Errno;
use rustix::process::{PTracer, Pid, set_ptracer};
use std::error::Error;
use std::sync::atomic::Ordering;
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
    /// True once the system has refused a copy for want of rights.
    is_refused: bool,
}

impl<'a> Cma<'a> {
    /// Access that the system has not refused yet.
    pub fn new(segment: &'a Segment) -> Self {
        Self { segment, is_refused: false }
    }

    /// The name by which peers can read bytes of this process.
    pub fn export(bytes: Span) -> u64 {
        bytes.address() as u64 | COPIED
    }

    /// Fills `into` with bytes that rank `source` exported as `name`, beginning with the one at
    /// `offset`.
    ///
    /// # Errors
    /// [`Unreadable`] if the system refuses, if not all bytes are mapped, or if `name` is not one
    /// of this transport.
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
        read_exact(process, (name & !COPIED).wrapping_add(offset), into).map_err(|error| {
            self.is_refused = matches!(error, Errno::PERM | Errno::NOSYS);
            Unreadable
        })
    }
}

/// Tells peers that the buffers of `rank` lie in the address space of this process. Before this,
/// peers ask for messages.
pub fn announce(segment: &Segment, rank: u32) {
    segment.status(rank).process.store(std::process::id(), Ordering::SeqCst);
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
    let own = read_exact(rustix::process::getpid(), word.as_ptr() as u64, &mut copy);
    Ok(verdict(own, ptrace_scope())?)
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

/// Fills `into` with bytes of a process from `address` on.
///
/// # Errors
/// The system's error; [`Errno::FAULT`] if not all of the bytes are mapped.
pub(crate) fn read_exact(process: Pid, address: u64, into: &mut [u8]) -> Result<(), Errno> {
    let mut done = 0;
    while done < into.len() {
        let rest = &mut into[done..];
        let local = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let remote = libc::iovec {
            iov_base: std::ptr::without_provenance_mut((address as usize).wrapping_add(done)),
            iov_len: rest.len(),
        };
        // SAFETY: the system writes to `local` only, which is exclusively borrowed. `remote` is an
        // address of another process, which the system checks.
        let copied = unsafe {
            libc::process_vm_readv(process.as_raw_nonzero().get(), &local, 1, &remote, 1, 0)
        };
        match copied {
            ..0 => match Errno::from_io_error(&std::io::Error::last_os_error()) {
                Some(Errno::INTR) => {}
                error => return Err(error.unwrap_or(Errno::IO)),
            },
            0 => return Err(Errno::FAULT),
            _ => done += copied as usize,
        }
    }
    Ok(())
}
