//! Messages as bare trains of frames, the best that a driver or UDP can do. Nothing is lost on the
//! wire, and a credit in time keeps the receiver's queue from running over.

use super::way::{Patience, Way};
use crate::frames::LIMIT;
use goal_cluster::INTERFACE;
use goal_esp::wire::{ETHERTYPE_ESP, Frame, Mac};
use goal_eth::{Driver, Packet};
use nix::sys::socket::{setsockopt, sockopt::RcvBufForce};
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

/// The most frames under way: ESP's budget.
const WINDOW: u32 = 256;
/// The number of frames after which the receiver sends a credit.
const CREDIT: u32 = 64;

/// A way that carries single frames.
pub(super) trait Frames: Send {
    /// Returns the most bytes of a frame.
    fn payload_max(&self) -> usize;

    /// Sends a frame, at the latest with the next [`Frames::flush`]. An empty frame is a credit.
    fn push(&mut self, payload: &[u8]) -> io::Result<()>;

    fn flush(&mut self) -> io::Result<()>;

    /// Hands a frame that has come to `sink`. If `waits`, waits until there is one. Returns true if
    /// there was one.
    fn take(&mut self, waits: bool, sink: impl FnMut(&[u8])) -> io::Result<bool>;
}

/// Messages as trains.
pub(super) struct Train<F> {
    frames: F,
    spins: bool,
    /// The number of frames that were sent and have no credit, and of those that came and have
    /// none.
    unacknowledged: u32,
    owed: u32,
}

impl<F: Frames> Train<F> {
    pub(super) fn new(frames: F, spins: bool) -> Self {
        Self { frames, spins, unacknowledged: 0, owed: 0 }
    }

    /// Waits for the next frame, and hands it to `sink` unless it is a credit.
    fn next(&mut self, mut sink: impl FnMut(&[u8])) -> io::Result<()> {
        let mut patience = Patience::new();
        let mut is_credit = false;
        let mut take = |payload: &[u8]| {
            is_credit = payload.is_empty();
            if !is_credit {
                sink(payload);
            }
        };
        while !self.frames.take(!self.spins, &mut take)? {
            patience.check()?;
        }
        if is_credit {
            self.unacknowledged -= CREDIT;
            return Ok(());
        }
        self.owed += 1;
        if self.owed == CREDIT {
            self.owed = 0;
            self.frames.push(&[])?;
            self.frames.flush()?;
        }
        Ok(())
    }
}

impl<F: Frames> Way for Train<F> {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        for payload in message.chunks(self.frames.payload_max()) {
            if self.unacknowledged == WINDOW {
                self.frames.flush()?;
                self.next(|_| {})?;
            }
            self.frames.push(payload)?;
            self.unacknowledged += 1;
        }
        self.frames.flush()
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < message.len() {
            self.next(|payload| {
                message[done..][..payload.len()].copy_from_slice(payload);
                done += payload.len();
            })?;
        }
        Ok(())
    }
}

/// Frames by the driver of packet sockets.
pub(super) struct Raw {
    driver: Packet,
    to: (Mac, u16),
}

impl Raw {
    /// The bytes before the payload: the length of ESP's shortest headers.
    const HEADER_LEN: usize = 40;

    pub(super) fn open(port: u16, to: (Mac, u16)) -> io::Result<Self> {
        let driver =
            Packet::open(INTERFACE, &[ETHERTYPE_ESP], Some(port)).map_err(io::Error::other)?;
        Ok(Self { driver, to })
    }
}

impl Frames for Raw {
    fn payload_max(&self) -> usize {
        Frame::<&[u8]>::HEADER_LEN + self.driver.mtu() - Self::HEADER_LEN
    }

    fn push(&mut self, payload: &[u8]) -> io::Result<()> {
        let (from, (mac, port)) = (self.driver.mac(), self.to);
        loop {
            let write = |out: &mut [u8]| {
                Frame::new_checked(&mut *out).ok()?.emit(from, mac, ETHERTYPE_ESP);
                out[16..18].copy_from_slice(&(payload.len() as u16).to_be_bytes());
                out[20..22].copy_from_slice(&port.to_be_bytes());
                out[Self::HEADER_LEN..][..payload.len()].copy_from_slice(payload);
                Some(Self::HEADER_LEN + payload.len())
            };
            if self.driver.send(write).is_ok() {
                return Ok(());
            }
            self.flush()?;
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.driver.flush().map_err(io::Error::other)
    }

    fn take(&mut self, waits: bool, mut sink: impl FnMut(&[u8])) -> io::Result<bool> {
        if waits {
            self.driver.wait(Some(LIMIT)).map_err(io::Error::other)?;
        }
        let taken = self.driver.receive(1, |frame| {
            let len = u16::from_be_bytes([frame[16], frame[17]]);
            sink(&frame[Self::HEADER_LEN..][..len.into()]);
        });
        Ok(taken > 0)
    }
}

/// Datagrams of UDP, each in a frame.
pub(super) struct Udp {
    socket: UdpSocket,
    payload_max: usize,
    buffer: Vec<u8>,
}

impl Udp {
    pub(super) fn new(socket: UdpSocket, mtu: usize, spins: bool) -> io::Result<Self> {
        socket.set_read_timeout(Some(LIMIT))?;
        socket.set_nonblocking(spins)?;
        // Room for all frames that are on their way, as in the driver's ring.
        setsockopt(&socket, RcvBufForce, &(16 << 20))?;
        // The headers of IP and UDP.
        let payload_max = mtu - 28;
        Ok(Self { socket, payload_max, buffer: vec![0; payload_max] })
    }
}

impl Frames for Udp {
    fn payload_max(&self) -> usize {
        self.payload_max
    }

    fn push(&mut self, payload: &[u8]) -> io::Result<()> {
        let mut patience = Patience::new();
        loop {
            match self.socket.send(payload) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => patience.check()?,
                Err(error) => return Err(error),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn take(&mut self, _waits: bool, mut sink: impl FnMut(&[u8])) -> io::Result<bool> {
        match self.socket.recv(&mut self.buffer) {
            Ok(len) => {
                sink(&self.buffer[..len]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }
}
