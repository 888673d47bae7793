//! System calls on packet sockets that no crate offers. `unsafe`: the kernel gets addresses of
//! structures.
#![allow(unsafe_code)]

use libc::{c_int, sock_filter, socklen_t, tpacket_req, tpacket_stats};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

fn set<T: Copy>(socket: &impl AsFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let (fd, len) = (socket.as_fd().as_raw_fd(), size_of::<T>() as socklen_t);
    // SAFETY: the kernel reads `len` bytes of a value that outlives the call.
    let result = unsafe { libc::setsockopt(fd, level, name, (&raw const *value).cast(), len) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Sets a numeric option of packet sockets.
pub(super) fn set_option(socket: &impl AsFd, name: c_int, value: c_int) -> io::Result<()> {
    set(socket, libc::SOL_PACKET, name, &value)
}

/// Makes the ring of received frames.
pub(super) fn set_receive_ring(socket: &impl AsFd, request: &tpacket_req) -> io::Result<()> {
    set(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, request)
}

/// Makes the socket receive only frames that `program` accepts.
pub(super) fn attach_filter(socket: &impl AsFd, program: &[sock_filter]) -> io::Result<()> {
    set_program(socket, (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER), program)
}

fn set_program(
    socket: &impl AsFd,
    (level, name): (c_int, c_int),
    program: &[sock_filter],
) -> io::Result<()> {
    let program =
        libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // The kernel copies the program, and does not change it.
    set(socket, level, name, &program)
}

/// Makes the filter of the socket permanent: nobody can change it any more.
pub(super) fn lock_filter(socket: &impl AsFd) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_LOCK_FILTER, &1i32)
}

/// A fanout group that sockets can join: its number and its kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group(u32);

/// Options of fanout groups that `libc` lacks (`linux/if_packet.h`).
const PACKET_FANOUT_DATA: c_int = 22;
const PACKET_FANOUT_CBPF: u32 = 6;
const PACKET_FANOUT_FLAG_UNIQUEID: u32 = 0x2000;
/// The option by which a group gets no outgoing frames. Linux has it since 6.3; older kernels
/// ignore it.
const PACKET_FANOUT_FLAG_IGNORE_OUTGOING: u32 = 0x4000;
const KIND: u32 = PACKET_FANOUT_CBPF | PACKET_FANOUT_FLAG_IGNORE_OUTGOING;

/// Makes a new fanout group whose first member is `socket`, which is bound. `members_max` is needed
/// for more than 256 members.
pub(super) fn create_group(socket: &impl AsFd, members_max: Option<u32>) -> io::Result<Group> {
    let request = (KIND | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
    match members_max {
        None => set(socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &request)?,
        Some(most) => set(socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &[request, most])?,
    }
    let mut made = 0u32;
    let mut len = size_of::<u32>() as socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `len` bytes to a number that outlives the call.
    let result = unsafe {
        let made = (&raw mut made).cast();
        libc::getsockopt(fd, libc::SOL_PACKET, libc::PACKET_FANOUT, made, &raw mut len)
    };
    let group = Group(made & 0xffff | KIND << 16);
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(group) }
}

/// Adds a bound socket to a fanout group.
pub(super) fn join_group(socket: &impl AsFd, group: Group) -> io::Result<()> {
    set(socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &group.0)
}

/// Sets the program that computes the number of the member that gets a frame.
pub(super) fn set_group_program(socket: &impl AsFd, program: &[sock_filter]) -> io::Result<()> {
    set_program(socket, (libc::SOL_PACKET, PACKET_FANOUT_DATA), program)
}

/// Returns the number of frames that arrived since the last call, and the number of dropped frames
/// among them.
pub(super) fn statistics(socket: &impl AsFd) -> io::Result<tpacket_stats> {
    let mut stats = tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut len = size_of::<tpacket_stats>() as socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `len` bytes to a structure of integers that outlives the
    // call.
    let result = unsafe {
        libc::getsockopt(
            fd,
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut stats).cast(),
            &raw mut len,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(stats) }
}

/// Binds the socket to an interface and to the frames of one ethertype.
pub(super) fn bind(socket: &impl AsFd, index: u32, ethertype: u16) -> io::Result<()> {
    // SAFETY: all zeros is a value of a structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ethertype.to_be();
    address.sll_ifindex = index as c_int;
    let len = size_of::<libc::sockaddr_ll>() as socklen_t;
    // SAFETY: the kernel reads `len` bytes of an address that outlives the call.
    let result =
        unsafe { libc::bind(socket.as_fd().as_raw_fd(), (&raw const address).cast(), len) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
