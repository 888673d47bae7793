//! The right to use raw frames.

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use std::io;

/// Whether raw frames may be used here, in words what is missing otherwise.
///
/// # Errors
/// What is missing, and how to get it.
pub fn probe() -> Result<(), String> {
    match socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC, None) {
        Ok(_) => Ok(()),
        Err(errno) => Err(super::OpenError::of_socket(errno).to_string()),
    }
}

/// What drivers are opened with.
const RIGHTS: CapabilitySet =
    CapabilitySet::NET_RAW.union(CapabilitySet::NET_ADMIN).union(CapabilitySet::BPF);

/// Gives up the rights to open further raw sockets and to attach programs, in this thread and those that it starts: to be called when all are
/// open, before anything else is. What the process may do beside that stays.
///
/// # Errors
/// What the system says.
pub fn give_up_rights() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    if !sets.permitted.intersects(RIGHTS) {
        return Ok(());
    }
    for set in [&mut sets.effective, &mut sets.permitted, &mut sets.inheritable] {
        set.remove(RIGHTS);
    }
    Ok(set_capabilities(None, sets)?)
}
