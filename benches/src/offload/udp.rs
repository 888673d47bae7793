//! A dissemination barrier and an allreduce by recursive doubling over UDP, in which the process
//! blocks until a datagram comes. Each pair of ranks has a pair of connected sockets, which saves
//! the look-up of a route for each datagram. Nothing is sent again: the wires of a bench lose
//! nothing.

use super::Operation;
use super::way::Setting;
use nix::sys::socket::{setsockopt, sockopt::RcvBufForce};
use std::io;
use std::net::UdpSocket;
use std::time::Duration;

/// The port of a rank's socket to rank 0. Those to the others follow.
const PORT: u16 = 7007;
const LIMIT: Duration = Duration::from_secs(10);
/// Round, step and place of a datagram's first element, 32 bits each.
const HEADER: usize = 12;
/// Bytes of a socket's buffer.
const ROOM: usize = 8 << 20;
/// The headers of IP and UDP.
const HEADERS: usize = 28;

/// The round and the step that a message belongs to.
type Message = (u32, u32);

/// A rank's sockets.
pub(super) struct Udp {
    /// By the number of the other rank.
    sockets: Vec<UdpSocket>,
    rank: u32,
    operation: Operation,
    /// Elements of a datagram.
    elements: usize,
    /// The message that came last.
    theirs: Vec<u64>,
    /// Datagrams that came before those of the message that was waited for: the sender, and bytes.
    early: Vec<(u32, Vec<u8>)>,
    buffer: Vec<u8>,
}

impl Udp {
    pub(super) fn open(operation: Operation, setting: &Setting<'_>) -> io::Result<Self> {
        let open = |other: usize| -> io::Result<UdpSocket> {
            let port = |rank: usize| PORT + rank as u16;
            let socket = UdpSocket::bind((setting.ips[setting.rank as usize], port(other)))?;
            socket.connect((setting.ips[other], port(setting.rank as usize)))?;
            socket.set_read_timeout(Some(LIMIT))?;
            // Nothing is sent again, so there must be room for all that peers send ahead.
            setsockopt(&socket, RcvBufForce, &ROOM)?;
            Ok(socket)
        };
        let room = setting.mtu as usize;
        Ok(Self {
            sockets: (0..setting.ips.len()).map(open).collect::<io::Result<_>>()?,
            rank: setting.rank,
            operation,
            elements: (room - HEADERS - HEADER) / 8,
            theirs: Vec::new(),
            early: Vec::new(),
            buffer: vec![0; room],
        })
    }

    pub(super) fn call(&mut self, round: u32, operands: &mut [u64]) -> io::Result<()> {
        let ranks = self.sockets.len() as u32;
        let mut step = 0;
        while 1 << step < ranks {
            let distance = 1 << step;
            match self.operation {
                Operation::Barrier => {
                    self.send((self.rank + distance) % ranks, (round, step), &[])?;
                    self.receive((self.rank + ranks - distance) % ranks, (round, step), 0)?;
                }
                Operation::Allreduce => {
                    let other = self.rank ^ distance;
                    self.send(other, (round, step), operands)?;
                    self.receive(other, (round, step), operands.len())?;
                    for (mine, theirs) in operands.iter_mut().zip(&self.theirs) {
                        *mine = mine.wrapping_add(*theirs);
                    }
                }
            }
            step += 1;
        }
        Ok(())
    }

    fn send(&mut self, to: u32, (round, step): Message, elements: &[u64]) -> io::Result<()> {
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
            self.sockets[to as usize].send(&self.buffer[..length])?;
            at = end;
            if at == elements.len() {
                return Ok(());
            }
        }
    }

    /// Receives a message of `count` elements into `theirs`. A message of a barrier has no
    /// elements, but one datagram.
    fn receive(&mut self, from: u32, wanted: Message, count: usize) -> io::Result<()> {
        self.theirs.resize(count, 0);
        let mut left = count;
        let is_wanted =
            |early: &mut (u32, Vec<u8>)| early.0 == from && message_of(&early.1) == wanted;
        for (_, datagram) in self.early.extract_if(.., is_wanted) {
            left -= take(&datagram, &mut self.theirs);
            if left == 0 {
                return Ok(());
            }
        }
        loop {
            let length = self.sockets[from as usize].recv(&mut self.buffer)?;
            let datagram = &self.buffer[..length];
            if message_of(datagram) == wanted {
                left -= take(datagram, &mut self.theirs);
                if left == 0 {
                    return Ok(());
                }
            } else {
                self.early.push((from, datagram.to_vec()));
            }
        }
    }
}

fn word(datagram: &[u8], i: usize) -> u32 {
    u32::from_ne_bytes(datagram[i * 4..][..4].try_into().expect("four bytes"))
}

fn message_of(datagram: &[u8]) -> Message {
    (word(datagram, 0), word(datagram, 1))
}

/// Copies the elements of a datagram to their places. Returns their number.
fn take(datagram: &[u8], elements: &mut [u64]) -> usize {
    let at = word(datagram, 2) as usize;
    let bytes = datagram[HEADER..].chunks_exact(8);
    let count = bytes.len();
    for (element, bytes) in elements[at..].iter_mut().zip(bytes) {
        *element = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    }
    count
}
