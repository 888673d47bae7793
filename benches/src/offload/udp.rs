//! A dissemination barrier and an allreduce by recursive doubling over UDP sockets, in which the
//! process blocks until a datagram comes. Nothing is sent again: the wires of a bench lose nothing.

use super::Operation;
use super::way::Setting;
use nix::sys::socket::{setsockopt, sockopt::RcvBufForce};
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::time::Duration;

const PORT: u16 = 7007;
const LIMIT: Duration = Duration::from_secs(10);
/// Round, step and place of a datagram's first element, 32 bits each.
const HEADER: usize = 12;
/// Bytes of a socket's buffer.
const ROOM: usize = 8 << 20;
/// The headers of IP and UDP.
const HEADERS: usize = 28;

/// A rank's socket.
pub(super) struct Udp {
    socket: UdpSocket,
    peers: Vec<SocketAddrV4>,
    rank: u32,
    operation: Operation,
    /// Elements of a datagram.
    elements: usize,
    /// Messages of which a datagram has come, by round and step: elements, and how many are there.
    begun: HashMap<(u32, u32), (Vec<u64>, usize)>,
    buffer: Vec<u8>,
}

impl Udp {
    pub(super) fn open(operation: Operation, setting: &Setting<'_>) -> io::Result<Self> {
        let socket = UdpSocket::bind((setting.ips[setting.rank as usize], PORT))?;
        socket.set_read_timeout(Some(LIMIT))?;
        // Nothing is sent again, so there must be room for all that peers send ahead.
        setsockopt(&socket, RcvBufForce, &ROOM)?;
        let room = setting.mtu as usize;
        Ok(Self {
            socket,
            peers: setting.ips.iter().map(|&ip| SocketAddrV4::new(ip, PORT)).collect(),
            rank: setting.rank,
            operation,
            elements: (room - HEADERS - HEADER) / 8,
            begun: HashMap::new(),
            buffer: vec![0; room],
        })
    }

    pub(super) fn call(&mut self, round: u32, operands: &mut [u64]) -> io::Result<()> {
        let ranks = self.peers.len() as u32;
        let mut step = 0;
        while 1 << step < ranks {
            let distance = 1 << step;
            match self.operation {
                Operation::Barrier => {
                    self.send((self.rank + distance) % ranks, (round, step), &[])?;
                    self.receive((round, step), 0)?;
                }
                Operation::Allreduce => {
                    self.send(self.rank ^ distance, (round, step), operands)?;
                    let theirs = self.receive((round, step), operands.len())?;
                    for (mine, theirs) in operands.iter_mut().zip(theirs) {
                        *mine = mine.wrapping_add(theirs);
                    }
                }
            }
            step += 1;
        }
        Ok(())
    }

    fn send(&mut self, to: u32, (round, step): (u32, u32), elements: &[u64]) -> io::Result<()> {
        let mut at = 0;
        loop {
            let end = elements.len().min(at + self.elements);
            let mut length = HEADER;
            for (i, word) in [round, step, at as u32].into_iter().enumerate() {
                self.buffer[i * 4..][..4].copy_from_slice(&word.to_ne_bytes());
            }
            for element in &elements[at..end] {
                self.buffer[length..][..8].copy_from_slice(&element.to_ne_bytes());
                length += 8;
            }
            self.socket.send_to(&self.buffer[..length], self.peers[to as usize])?;
            at = end;
            if at == elements.len() {
                return Ok(());
            }
        }
    }

    /// Returns the elements of a message, when all are there. A barrier's has none, but a datagram.
    fn receive(&mut self, wanted: (u32, u32), count: usize) -> io::Result<Vec<u64>> {
        loop {
            if self.begun.get(&wanted).is_some_and(|(_, came)| *came == count) {
                return Ok(self.begun.remove(&wanted).expect("it is there").0);
            }
            let length = self.socket.recv(&mut self.buffer)?;
            let word = |i: usize| {
                u32::from_ne_bytes(self.buffer[i * 4..][..4].try_into().expect("four bytes"))
            };
            let (message, at) = ((word(0), word(1)), word(2) as usize);
            let (elements, came) = self.begun.entry(message).or_insert_with(|| (vec![0; count], 0));
            let bytes = self.buffer[HEADER..length].chunks_exact(8);
            *came += bytes.len();
            for (element, bytes) in elements[at..].iter_mut().zip(bytes) {
                *element = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
            }
        }
    }
}
