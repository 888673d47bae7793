//! Gives up the rights of a job's processes as soon as the processes do not need them any more.
//!
//! Threat: an attacker may take over a process of a job, by a frame or by a fault of this code. The
//! attacker then has the rights of this process. So a launcher opens the sockets of its ranks, and
//! then gives up its rights. Ranks never have rights: no capability in any set, and `no_new_privs`
//! is set. So no program that ranks execute gets rights from its file or its owner.
//!
//! Each thread has rights of its own, and a new thread gets those of its starter. So rights are
//! given up before libraries start threads. In a job on one host, the main thread gives up its
//! rights while it is the only thread. If it needs rights later, it does its work [`apart`].
//!
//! Threat: a local user starts a file that has capabilities (`setcap`) and chooses its environment.
//! A process becomes a rank only if `no_new_privs` was set before the file was executed. The kernel
//! has then granted it only rights that its starter had. `AT_SECURE` does not show that, because
//! the kernel sets it for every file with effective capabilities, even if it grants none.
//!
//! Threat: the same user takes a socket out of a rank process, by `ptrace` or `pidfd_getfd`. The
//! kernel allows that, because the process runs as this user and has no right that the user lacks.
//! It forbids it from the first moment on if the user can't read the file of the process. So a
//! launcher with rights from a file that the user can read starts no rank processes with sockets.
//!
//! `unsafe`: code that a child runs between its start and its program.
#![allow(unsafe_code)]

use goal_eth::DriverKind;
use rustix::fs::{Access, AtFlags, CWD, accessat, getxattr};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getgid, getuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_ambient_set,
    clear_ambient_capability_set, no_new_privs, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// The capabilities that a launcher of root keeps, so that it can write its results to any folder.
const FILES: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::DAC_READ_SEARCH);

/// The capabilities to open packet sockets, and to raise the priority of the thread that receives
/// frames from other hosts.
const PACKETS: CapabilitySet = CapabilitySet::NET_RAW.union(CapabilitySet::SYS_NICE);
/// The further capabilities that AF_XDP sockets need.
const XDP: CapabilitySet = CapabilitySet::NET_ADMIN
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::SYS_ADMIN)
    .union(CapabilitySet::IPC_LOCK);

/// The capabilities to load schedules into the kernel. `SYS_ADMIN` is needed to create the network
/// namespace in which frames circle as ticks.
const OFFLOAD: CapabilitySet = CapabilitySet::NET_ADMIN
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::SYS_ADMIN);

/// The stack size in bytes of a thread that does work [`apart`]. Most main threads have a stack of
/// this size.
const STACK_BYTES: usize = 8 << 20;

/// Gives up every capability of this thread. Threads and programs that it starts later have none
/// either.
///
/// # Errors
/// The system's error.
pub fn give_up() -> io::Result<()> {
    keep(CapabilitySet::empty())
}

/// Gives up every capability of a launcher's thread. But a launcher of root keeps the right to
/// write files, which the programs that it starts do not get.
///
/// # Errors
/// The system's error.
pub fn give_up_all_but_files() -> io::Result<()> {
    keep(of_results())
}

/// Gives up capabilities of a launcher that is about to open the sockets of its ranks. It keeps the
/// capabilities to open sockets and to write files. If it `offloads` the ranks' schedule, it also
/// keeps those to load schedules into the kernel.
///
/// # Errors
/// The system's error.
pub fn give_up_all_but_sockets(driver: DriverKind, offloads: bool) -> io::Result<()> {
    let of_kernel = if offloads { OFFLOAD } else { CapabilitySet::empty() };
    keep(of_results() | of_sockets(driver) | of_kernel)
}

/// Returns the capabilities with which a launcher writes its results. Only a launcher of root has
/// any, because the capabilities of a file do not belong to the user.
fn of_results() -> CapabilitySet {
    if getuid().is_root() { FILES } else { CapabilitySet::empty() }
}

/// Calls `work` on a new thread that has given up its rights, and returns the result. The calling
/// thread keeps its rights. Threads that `work` starts have no rights.
///
/// # Errors
/// The system starts no thread, or the thread can't give up its rights.
pub fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let body = || give_up_all_but_files().map(|()| work());
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("apart".to_owned()).stack_size(STACK_BYTES);
        builder.spawn_scoped(scope, body)?.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Makes `command` start its program without rights.
pub fn confine(command: &mut Command) {
    // A confined thread starts only programs without rights, so nothing is needed. A process
    // without work before its program also starts faster.
    if !is_confined() {
        // SAFETY: system calls on values of the stack; nothing is allocated and no lock taken.
        unsafe { command.pre_exec(give_up) };
    }
}

/// Returns true if the program of this process was started without rights that its starter lacked.
pub fn is_confined() -> bool {
    no_new_privs().unwrap_or(false)
}

/// Returns true if the file of this process gives rights that its starter may lack. The file is
/// set-user-ID or set-group-ID, or has capabilities (`AT_SECURE`). In this case the caller must
/// neither load nor open files that the environment names. It does not matter if `no_new_privs` is
/// set, because the process may have set it after it got these rights.
pub fn are_of_file() -> bool {
    // SAFETY: the call reads what the kernel left at the start of the process.
    (unsafe { libc::getauxval(libc::AT_SECURE) }) != 0
}

/// The error that the file of this process is set-user-ID or set-group-ID. The user could write any
/// file with the rights of the file's owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this file must not be set-user-ID or set-group-ID: chmod ug-s it, and give it the capability instead (setcap cap_net_raw=ep, chmod 711)"
)]
pub struct SetId;

/// Returns an error if the file of this process is set-user-ID or set-group-ID.
///
/// # Errors
/// [`SetId`].
pub fn refuse_set_id() -> Result<(), SetId> {
    if getuid() == geteuid() && getgid() == getegid() { Ok(()) } else { Err(SetId) }
}

/// The error that this process has rights from its file, and that its user could take sockets out
/// of rank processes. The process opens these sockets by its rights.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Exposed(#[from] Exposure);

/// The reason why the user could take sockets out of rank processes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Exposure {
    /// The user owns the file, and can therefore make it readable.
    #[error(
        "{0} has capabilities and belongs to the user, who could take the sockets of rank processes: chown root {0}, \
         chmod 711 {0}, and then setcap it again",
        file.display()
    )]
    Owned {
        /// The file.
        file: PathBuf,
    },
    /// The user can read the file.
    #[error(
        "{0} has capabilities and the user can read it, who could take the sockets of rank processes: chmod 711 {0}",
        file.display()
    )]
    Readable {
        /// The file.
        file: PathBuf,
    },
}

/// Gives up the capabilities that a launcher of programs does not need, including those from its
/// file. A launcher of root keeps the rights to write files and to kill processes of other users.
/// With a `driver` it also keeps the right to open sockets. If it `offloads`, it keeps the right to
/// load the kernel's engine.
///
/// Programs get the rights of their user, as if the user had started them. Programs of root get all
/// capabilities of root when they are executed. Programs of another user get the ambient
/// capabilities. So this function changes neither `no_new_privs` nor the bounding set.
///
/// If the job `grows`, a launcher of root keeps its permitted set. The kernel lets the launcher
/// inspect only processes whose capabilities are all in this set. See [`with_permitted`].
///
/// # Errors
/// The system's error.
pub fn give_up_for_programs(
    driver: Option<DriverKind>,
    offloads: bool,
    grows: bool,
) -> io::Result<()> {
    let of_kernel = if offloads { OFFLOAD } else { CapabilitySet::empty() };
    let of_sockets = driver.map_or(CapabilitySet::empty(), of_sockets);
    let kept = match getuid().is_root() {
        true => FILES | CapabilitySet::KILL | of_sockets | of_kernel,
        false => {
            let all = (0..u64::BITS).map(|number| CapabilitySet::from_bits_retain(1 << number));
            let is_users =
                |&one: &CapabilitySet| capability_is_in_ambient_set(one).unwrap_or(false);
            all.filter(is_users).fold(CapabilitySet::empty(), CapabilitySet::union)
        }
    };
    let mut sets = capabilities(None)?;
    if !(grows && getuid().is_root()) {
        sets.permitted &= kept;
    }
    sets.effective &= kept;
    Ok(set_capabilities(None, sets)?)
}

/// Calls `work` while this thread has all capabilities of its permitted set. Gives up the
/// additional ones afterwards.
pub fn with_permitted<T>(work: impl FnOnce() -> T) -> T {
    let sets = capabilities(None).ok().filter(|sets| sets.effective != sets.permitted);
    let taken = sets.filter(|&sets| {
        set_capabilities(None, CapabilitySets { effective: sets.permitted, ..sets }).is_ok()
    });
    let done = work();
    if let Some(sets) = taken {
        // This can't fail, because a thread may always give up capabilities.
        let _ = set_capabilities(None, sets);
    }
    done
}

/// Returns the capabilities to open the sockets of a driver.
fn of_sockets(driver: DriverKind) -> CapabilitySet {
    match driver {
        DriverKind::Packet => PACKETS,
        DriverKind::Xdp => PACKETS | XDP,
    }
}

/// Returns an error if this process has rights from its file, and its user could take sockets out
/// of rank processes with the file `executable`.
///
/// # Errors
/// [`Exposed`].
pub fn refuse_readable(executable: &Path) -> Result<(), Exposed> {
    if !has_rights_of_file() {
        return Ok(());
    }
    let file = executable.canonicalize().unwrap_or_else(|_| executable.to_owned());
    // The owner could make the file readable between this check and the start of a rank.
    if executable.metadata().is_ok_and(|file| file.uid() == getuid().as_raw()) {
        return Err(Exposure::Owned { file }.into());
    }
    // `accessat` checks for the real user and without capabilities, as a rank process executes the
    // file.
    if accessat(CWD, executable, Access::READ_OK, AtFlags::empty()) != Err(Errno::ACCESS) {
        return Err(Exposure::Readable { file }.into());
    }
    Ok(())
}

/// Returns true if this thread has rights that the starter of its program did not have.
/// Capabilities in the ambient set come from the starter, because the kernel empties this set if a
/// file gives rights.
pub fn has_rights_of_file() -> bool {
    let Ok(sets) = capabilities(None) else { return false };
    let is_of_file = |number: &u32| {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        sets.permitted.contains(capability)
            && !capability_is_in_ambient_set(capability).unwrap_or(false)
    };
    !getuid().is_root() && (0..u64::BITS).any(|number| is_of_file(&number))
}

/// Returns the capabilities that the file of this program gives. The kernel executes the file only
/// if the bounding set has them. If `no_new_privs` is set, the file gives none of them.
fn of_own_file() -> CapabilitySet {
    // The layout is that of linux/capability.h: a word of flags, then the permitted and the
    // inheritable set, low words first. The owner of a namespace may follow.
    let mut value = [0; 24];
    let length = getxattr("/proc/self/exe", "security.capability", &mut value).unwrap_or(0);
    let word = |at: usize| match value[..length].get(4 * at..4 * at + 4) {
        Some(bytes) => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        None => 0,
    };
    CapabilitySet::from_bits_retain(word(1) | word(2) | (word(3) | word(4)) << 32)
}

fn keep(kept: CapabilitySet) -> io::Result<()> {
    set_no_new_privs(true)?;
    // This fails on a kernel without an ambient set, which does not matter.
    let _ = clear_ambient_capability_set();
    // This needs CAP_SETPCAP. Without it the bounding set stays as it is, and `no_new_privs` alone
    // must suffice.
    let of_file = of_own_file();
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if of_file.contains(capability) {
            continue;
        }
        if remove_capability_from_bounding_set(capability) == Err(Errno::INVAL) {
            break;
        }
    }
    let mut sets = capabilities(None)?;
    sets.permitted &= kept;
    sets.effective &= kept;
    sets.inheritable = CapabilitySet::empty();
    Ok(set_capabilities(None, sets)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left() {
        // A thread of its own: it does not get its rights back.
        let told = std::thread::spawn(|| {
            give_up_all_but_files().unwrap();
            let launcher = capabilities(None).unwrap();
            give_up().unwrap();
            assert!(is_confined());
            (launcher, capabilities(None).unwrap())
        });
        let (launcher, rank) = told.join().unwrap();
        assert_eq!(launcher.permitted - FILES, CapabilitySet::empty());
        assert_eq!(launcher.effective, launcher.permitted);
        assert_eq!(rank.permitted | rank.effective | rank.inheritable, CapabilitySet::empty());
    }

    #[test]
    fn threads_of_work_apart_have_no_rights_from_their_first_moment() {
        fn sets() -> (rustix::thread::CapabilitySets, bool) {
            (capabilities(None).unwrap(), is_confined())
        }
        let before = sets();
        let (own, others) = apart(|| {
            let inner = thread::spawn(|| (sets(), thread::spawn(sets).join().unwrap()));
            (sets(), inner.join().unwrap())
        })
        .unwrap();
        assert_eq!(others, (own, own));
        assert_eq!(own.0.permitted - FILES, CapabilitySet::empty());
        assert!(own.1);
        assert_eq!(sets(), before);
    }
}
