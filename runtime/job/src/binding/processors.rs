//! Finds the processors that this process may use and their cores, and claims processors.
//!
//! A launcher claims a processor by a lock on a byte of `/dev/null`. The offset of the byte is the
//! number of the processor. Every process can lock this file without any right, and nothing has to
//! be created. The kernel ends the claim when its owner ends, however that happens. If a process
//! holds such locks without need, jobs do not bind their ranks, and nothing worse happens. All
//! network namespaces share the file, even namespaces with a sysfs of their own. Containers with a
//! `/dev` of their own don't see each other's claims.

use super::request::parse;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The files from which processors are read and by which they are claimed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine<'a> {
    /// The folder of sysfs that has a folder for each processor.
    pub(super) system: &'a Path,
    /// The file whose bytes are locked.
    pub(super) locks: &'a Path,
}

/// Returns the files of this machine.
pub(super) fn machine() -> Machine<'static> {
    Machine { system: Path::new("/sys/devices/system/cpu"), locks: Path::new("/dev/null") }
}

/// A claim to a processor. It ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    processor: u32,
    /// The file description that has the lock.
    _locks: File,
}

impl Claim {
    pub(super) fn processor(&self) -> u32 {
        self.processor
    }
}

/// Returns the number of processors that this process may keep busy. A limit of its control group
/// on processor time is taken into account.
pub fn num_processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns true if this host has fewer processors than `ranks`.
pub fn is_crowded(ranks: u32) -> bool {
    ranks as usize > num_processors()
}

/// Returns the processors that this process may use, in ascending order.
///
/// # Errors
/// The system's error. The system also returns one if the machine may have more than
/// [`CpuSet::MAX_CPU`] processors.
pub(super) fn allowed() -> io::Result<Vec<u32>> {
    let mask = sched_getaffinity(None)?;
    let numbers = 0..CpuSet::MAX_CPU;
    Ok(numbers.filter(|&processor| mask.is_set(processor)).map(|number| number as u32).collect())
}

/// Returns the processors of this machine that are online; `None` if the system does not list them.
pub(super) fn exist(machine: Machine<'_>) -> Option<Vec<u32>> {
    read_list(&machine.system.join("online"))
}

/// Claims a processor. Returns `None` if another job has claimed it.
///
/// # Errors
/// The system's error.
pub(super) fn try_claim(machine: Machine<'_>, processor: u32) -> io::Result<Option<Claim>> {
    let locks = File::options().read(true).write(true).open(machine.locks)?;
    let byte = libc::flock {
        l_type: libc::F_WRLCK as i16,
        l_whence: libc::SEEK_SET as i16,
        l_start: processor.into(),
        l_len: 1,
        l_pid: 0,
    };
    // A lock of the open file description, which other threads of this process do not have.
    match fcntl(&locks, FcntlArg::F_OFD_SETLK(&byte)) {
        Ok(_) => Ok(Some(Claim { processor, _locks: locks })),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Claims up to `wanted` of the `allowed` processors. Tries one processor of each core first, then
/// the second ones.
///
/// # Errors
/// The system's error.
pub(super) fn claim_cores(
    machine: Machine<'_>,
    allowed: &[u32],
    wanted: usize,
) -> io::Result<Vec<Claim>> {
    let mut claims = Vec::new();
    for processor in by_core(machine, allowed) {
        if claims.len() == wanted {
            break;
        }
        claims.extend(try_claim(machine, processor)?);
    }
    Ok(claims)
}

/// Returns the `allowed` processors in another order: one processor of each core first, then the
/// second ones.
pub(super) fn by_core(machine: Machine<'_>, allowed: &[u32]) -> Vec<u32> {
    let mut ordered = allowed.to_vec();
    ordered.sort_by_cached_key(|&processor| place_in_core(machine.system, allowed, processor));
    ordered
}

/// Returns how many `allowed` processors with smaller numbers are on the core of `processor`.
/// Returns 0 if the system does not state which processors share a core.
fn place_in_core(system: &Path, allowed: &[u32], processor: u32) -> usize {
    let topology = system.join(format!("cpu{processor}/topology"));
    // Kernels before 5.3 have only the second name.
    let names = ["core_cpus_list", "thread_siblings_list"];
    let siblings = names.iter().find_map(|name| read_list(&topology.join(name)));
    let siblings = siblings.unwrap_or_default();
    siblings.iter().filter(|&&other| other < processor && allowed.contains(&other)).count()
}

fn read_list(file: &Path) -> Option<Vec<u32>> {
    parse(fs::read_to_string(file).ok()?.trim()).ok()
}
