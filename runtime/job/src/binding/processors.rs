//! Finds the processors that this process may use, their cores, and those of other jobs.
//!
//! A launcher claims a processor by a lock on a byte of `/dev/null`. The number of the byte is that
//! of the processor. Every process can lock it without any right, and nothing has to be created.
//! The kernel ends the claim when its owner ends, however that happens. A process that holds such
//! locks without need only keeps jobs from binding their ranks. All network namespaces share the
//! file, also those with a sysfs of their own. Containers with a `/dev` of their own don't see each
//! other's claims.

use super::request::parse;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The files that tell about processors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine<'a> {
    /// The folder of sysfs with a folder for each processor.
    pub(super) system: &'a Path,
    /// The file whose bytes are locked.
    pub(super) locks: &'a Path,
}

/// Returns the files of this machine.
pub(super) fn machine() -> Machine<'static> {
    Machine { system: Path::new("/sys/devices/system/cpu"), locks: Path::new("/dev/null") }
}

/// A processor that this process holds until this is dropped.
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
/// on processor time counts too.
pub fn num_processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns true if this host has fewer processors than `ranks`.
pub fn is_crowded(ranks: u32) -> bool {
    ranks as usize > num_processors()
}

/// Returns the processors that this process may use, ascending.
///
/// # Errors
/// The system's error, also if the machine may have more processors than [`CpuSet::MAX_CPU`].
pub(super) fn allowed() -> io::Result<Vec<u32>> {
    let mask = sched_getaffinity(None)?;
    let numbers = 0..CpuSet::MAX_CPU;
    Ok(numbers.filter(|&processor| mask.is_set(processor)).map(|number| number as u32).collect())
}

/// Returns the processors of this machine that are online; `None` if the system does not list them.
pub(super) fn exist(machine: Machine<'_>) -> Option<Vec<u32>> {
    read_list(&machine.system.join("online"))
}

/// Claims a processor. Returns `None` if another job holds it.
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

/// Claims up to `wanted` of the `allowed` processors, one of each core before a second one of any.
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

/// Returns the `allowed` processors, one of each core before a second one of any.
pub(super) fn by_core(machine: Machine<'_>, allowed: &[u32]) -> Vec<u32> {
    let mut ordered = allowed.to_vec();
    ordered.sort_by_cached_key(|&processor| place_in_core(machine.system, allowed, processor));
    ordered
}

/// Returns the number of smaller `allowed` processors of the same core; 0 if the system does not
/// say which processors share a core.
fn place_in_core(system: &Path, allowed: &[u32], processor: u32) -> usize {
    let topology = system.join(format!("cpu{processor}/topology"));
    // The second name is that of kernels before 5.3.
    let names = ["core_cpus_list", "thread_siblings_list"];
    let siblings = names.iter().find_map(|name| read_list(&topology.join(name)));
    let siblings = siblings.unwrap_or_default();
    siblings.iter().filter(|&&other| other < processor && allowed.contains(&other)).count()
}

fn read_list(file: &Path) -> Option<Vec<u32>> {
    parse(fs::read_to_string(file).ok()?.trim()).ok()
}
