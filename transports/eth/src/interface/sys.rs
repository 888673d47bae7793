//! The ioctl that returns the MTU of an interface. `unsafe`: the system fills in a structure.
#![allow(unsafe_code)]

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io;
use std::os::fd::AsRawFd;

/// Returns the most bytes of a frame after its header, for the interface with this name.
pub(super) fn mtu(name: &str) -> io::Result<usize> {
    // The ioctl works on any socket of this network namespace.
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: all zeros is a value of a structure of integers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, &from) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *to = from as libc::c_char;
    }
    // SAFETY: the request reads a name that ends with 0 and writes the structure, which outlives
    // the call.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: this request filled in that member.
    Ok(unsafe { request.ifr_ifru.ifru_mtu } as usize)
}
