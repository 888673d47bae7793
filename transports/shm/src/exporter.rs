//! Identifies the process that holds a rank's buffers, and copies payloads from its memory.
//!
//! Threat: a process ID may name another process, in another PID namespace or after the process has
//! ended. Each rank may be in a container of its own, so a copy by process ID alone could return
//! bytes of any process. Therefore each process announces a random number, and the address at which
//! it keeps this number. A receiver reads the number first, and once more in the system call that
//! copies a payload. A forked child has zeros at this address, because its memory is not its
//! parent's.
#![allow(unsafe_code)] // `process_vm_readv`, which rustix lacks, and memory that forks don't have

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use rustix::process::Pid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The bytes of the random number that tells a process from all others.
const NONCE_LEN: usize = 16;

/// The process in whose address space a rank's buffers lie. The rank writes these words before it
/// sends.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Exporter {
    /// The process ID in the process's own PID namespace; 0 before it is known.
    process: AtomicU32,
    /// The address at which the process keeps its random number.
    nonce_at: AtomicU64,
    nonce: [AtomicU64; NONCE_LEN / 8],
}

impl Exporter {
    pub(crate) fn tell(&self, process: u32, nonce_at: u64, nonce: [u8; NONCE_LEN]) {
        for (word, bytes) in self.nonce.iter().zip(nonce.as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Ordering::SeqCst);
        }
        self.nonce_at.store(nonce_at, Ordering::SeqCst);
        self.process.store(process, Ordering::SeqCst);
    }

    pub(crate) fn known(&self) -> Option<Peer> {
        let process = Pid::from_raw(self.process.load(Ordering::SeqCst) as i32)?;
        let mut nonce = [0; NONCE_LEN];
        for (word, bytes) in self.nonce.iter().zip(nonce.as_chunks_mut().0) {
            *bytes = word.load(Ordering::SeqCst).to_le_bytes();
        }
        Some(Peer { process, nonce_at: self.nonce_at.load(Ordering::SeqCst), nonce })
    }
}

/// A process as its peers know it.
pub(crate) struct Peer {
    pub(crate) process: Pid,
    pub(crate) nonce_at: u64,
    pub(crate) nonce: [u8; NONCE_LEN],
}

impl Peer {
    /// Fills `into` with bytes of the process from `address` on.
    ///
    /// # Errors
    /// The system's error; [`Errno::SRCH`] if the process ID belongs to another process, and
    /// [`Errno::FAULT`] if not all of the bytes are mapped.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Errno> {
        let mut done = 0;
        loop {
            let mut nonce = [0; NONCE_LEN];
            let rest = (address.wrapping_add(done as u64), &mut into[done..]);
            let read = read_both(self.process, (self.nonce_at, &mut nonce), rest);
            let len = match read {
                // Nothing is mapped at the address of the random number, so this is another
                // process.
                Err(Errno::FAULT) => return Err(Errno::SRCH),
                read => read?,
            };
            if len < NONCE_LEN || nonce != self.nonce {
                return Err(Errno::SRCH);
            }
            done += len - NONCE_LEN;
            if done == into.len() {
                return Ok(());
            }
            if len == NONCE_LEN {
                return Err(Errno::FAULT);
            }
        }
    }
}

/// Returns the address of this process's random number, and the number. Returns `None` if the
/// system has no random number or no memory for it.
pub(crate) fn own_nonce() -> Option<(u64, [u8; NONCE_LEN])> {
    static OWN: OnceLock<Option<(u64, [u8; NONCE_LEN])>> = OnceLock::new();
    *OWN.get_or_init(|| {
        let mut nonce = [0; NONCE_LEN];
        // One call returns all of so few bytes.
        getrandom(&mut nonce, GetRandomFlags::empty()).ok()?;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping, which stays until the process ends. The copy fits into it, and
        // nobody else has it yet. The advice changes what a forked child finds there.
        unsafe {
            let page = mmap_anonymous(null_mut(), NONCE_LEN, access, flags).ok()?;
            // Fails before Linux 4.14. A forked child then has the same number, but another process
            // ID.
            let _ = madvise(page, NONCE_LEN, Advice::LinuxWipeOnFork);
            page.cast::<[u8; NONCE_LEN]>().write(nonce);
            Some((page as u64, nonce))
        }
    })
}

/// Fills two buffers, one after the other, with bytes of a process. Each buffer comes with the
/// address of its bytes. Returns the number of bytes copied, which is below the sum of both lengths
/// if not all bytes are mapped.
///
/// # Errors
/// The system's error; [`Errno::FAULT`] if the first byte is not mapped.
pub(crate) fn read_both(
    process: Pid,
    first: (u64, &mut [u8]),
    second: (u64, &mut [u8]),
) -> Result<usize, Errno> {
    let of = |(_, into): &mut (u64, &mut [u8])| libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let at = |(address, into): &(u64, &mut [u8])| libc::iovec {
        iov_base: std::ptr::without_provenance_mut(*address as usize),
        iov_len: into.len(),
    };
    let mut both = [first, second];
    let (local, remote) = (both.each_mut().map(of), both.each_ref().map(at));
    loop {
        // SAFETY: the system writes to `local` only, which is exclusively borrowed. `remote` names
        // addresses of another process, which the system checks.
        let copied = unsafe {
            let process = process.as_raw_nonzero().get();
            libc::process_vm_readv(process, local.as_ptr(), 2, remote.as_ptr(), 2, 0)
        };
        if copied >= 0 {
            return Ok(copied as usize);
        }
        match Errno::from_io_error(&std::io::Error::last_os_error()) {
            Some(Errno::INTR) => {}
            error => return Err(error.unwrap_or(Errno::IO)),
        }
    }
}
