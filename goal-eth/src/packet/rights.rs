//! The right to use raw frames.

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

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
