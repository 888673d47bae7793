//! System calls that no crate offers. `unsafe`: they pass structures with addresses to the kernel.
#![allow(unsafe_code)]

use libc::{c_char, c_int, socklen_t};
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

fn result(returned: c_int) -> io::Result<()> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The commands of ethtool that switch off offloads of segmentation, checksums and merging:
/// ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO.
const OFFLOADS: [u32; 4] = [0x17, 0x1f, 0x24, 0x2c];

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Switches off the offloads of an interface, so that its frames are as on a real wire.
pub(crate) fn no_offloads(name: &str) -> io::Result<()> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    for command in OFFLOADS {
        let mut value = Value { command, data: 0 };
        // SAFETY: all zeros is a value of a structure of integers.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        let room = request.ifr_name.len() - 1;
        for (to, &from) in request.ifr_name[..room].iter_mut().zip(name.as_bytes()) {
            *to = from as c_char;
        }
        request.ifr_ifru.ifru_data = (&raw mut value).cast();
        // SAFETY: the request reads a name that ends with 0 and the value that it points at; both
        // outlive the call.
        result(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) })?;
    }
    Ok(())
}

/// Opens a packet socket that receives all frames that arrive at an interface, whatever their
/// destination. Any frame can be sent with it. It does not block.
pub(crate) fn open(name: &str) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
    let (ignored, len): (c_int, _) = (1, size_of::<c_int>() as socklen_t);
    // SAFETY: the kernel reads `len` bytes of a value that outlives the call.
    result(unsafe {
        let value = (&raw const ignored).cast();
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_IGNORE_OUTGOING,
            value,
            len,
        )
    })?;
    // SAFETY: all zeros is a value of a structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = name_to_index(&socket, name)? as c_int;
    let len = size_of::<libc::sockaddr_ll>() as socklen_t;
    // SAFETY: the kernel reads `len` bytes of an address that outlives the call.
    result(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) })?;
    Ok(socket)
}
