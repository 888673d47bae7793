//! One hook at an interface for the packet sockets of many ports: a fanout group of the kernel.
//!
//! Without a group, the kernel offers each frame to every packet socket of its ethertype. So each
//! frame passes one filter for each rank of the host. In a group a frame passes one program, which
//! computes the socket from the port.

#[cfg(test)]
mod tests;

use super::{Packet, filter, sys};
use std::io;
use std::os::fd::OwnedFd;

/// The most members of a group without a stated maximum. Old kernels accept such a group too.
const MEMBERS_MAX: usize = 256;

/// A fanout group of packet sockets. Its first member is a socket that refuses every frame. This
/// socket gets the frames to ports of no other member. Dropping it would change the numbers of the
/// others, so the group must be held while they are used.
pub(crate) struct Demux {
    _refusing: OwnedFd,
}

impl Demux {
    /// Makes a group of these sockets, which must have one interface and one ethertype. A socket of
    /// the group gets no frames that are addressed to all ports. Returns `None` if there are no
    /// sockets, or if the program of the group would be too long.
    ///
    /// # Errors
    /// The system's error; the sockets get their frames as before.
    pub(crate) fn over(sockets: &mut [&Packet], ethertype: u16) -> io::Result<Option<Self>> {
        sockets.sort_unstable_by_key(|socket| socket.port());
        let ports: Vec<u16> = sockets.iter().map(|socket| socket.port()).collect();
        let (Some(program), Some(first)) = (program(&ports), sockets.first()) else {
            return Ok(None);
        };
        let refusing = Packet::socket().map_err(io::Error::other)?;
        sys::attach_filter(&refusing, &[filter::step(filter::RETURN, 0)])?;
        sys::set_option(&refusing, libc::PACKET_IGNORE_OUTGOING, 1)?;
        sys::bind(&refusing, first.interface().index, ethertype)?;
        let members = ports.len() + 1;
        let group =
            sys::create_group(&refusing, (members > MEMBERS_MAX).then_some(members as u32))?;
        sys::set_group_program(&refusing, &program)?;
        sys::lock_filter(&refusing)?;
        // After an error, the sockets that have joined have the right numbers. The others get their
        // frames as before.
        let _ = sockets.iter().try_for_each(|socket| sys::join_group(*socket, group));
        Ok(Some(Self { _refusing: refusing }))
    }
}

/// Returns the program that computes the number of the socket of each of `ports`, from 1 on. The
/// ports must ascend. The program returns 0 for every other port. Returns `None` if it would be too
/// long.
fn program(ports: &[u16]) -> Option<Vec<libc::sock_filter>> {
    let mut runs: Vec<(u16, usize)> = Vec::new();
    for (index, &port) in ports.iter().enumerate() {
        let begins = index == 0 || ports[index - 1] + 1 != port;
        if begins {
            runs.push((port, index));
        }
    }
    // The kernel passes a group's program the bytes after Ethernet's header.
    let mut program = vec![filter::step(filter::LOAD_HALF, filter::PORT - filter::ETHERNET_LEN)];
    for (at, &(first, index)) in runs.iter().enumerate().rev() {
        let end = runs.get(at + 1).map_or(ports.len(), |&(_, index)| index);
        let last = ports[end - 1];
        program.push(filter::if_greater(last, 3, 0));
        program.push(filter::if_less(first, 2, 0));
        // Modulo 2^32.
        program.push(filter::step(filter::ADD, (index as u32 + 1).wrapping_sub(first.into())));
        program.push(filter::step(filter::RETURN_LOADED, 0));
    }
    program.push(filter::step(filter::RETURN, 0));
    (program.len() <= libc::BPF_MAXINSNS as usize).then_some(program)
}
