//! Which driver carries the frames.

use super::{Driver, Full, Interface, Lost, OpenError, Packet, RingStats, Xdp};
use goal_esp::wire::Mac;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// The drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum DriverKind {
    /// Packet sockets, which every Linux has
    #[default]
    Packet,
    /// Sockets of AF_XDP where they can be had, and packet sockets where not
    Xdp,
}

impl DriverKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packet => "packet",
            Self::Xdp => "xdp",
        }
    }
}

/// One of the drivers.
pub enum AnyDriver {
    /// A packet socket.
    Packet(Box<Packet>),
    /// A socket of AF_XDP.
    Xdp(Box<Xdp>),
}

impl AnyDriver {
    /// Opens the interface with this name as [`Packet::open`] does, with this kind of driver or, where it can't be had, with a packet socket and
    /// the reason in words.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(
        kind: DriverKind,
        interface: &str,
        ethertypes: &[u16],
        port: Option<u16>,
    ) -> Result<(Self, Option<String>), OpenError> {
        Ok(Self::over(kind, Packet::open(interface, ethertypes, port)?, ethertypes))
    }

    /// The same with a port that somebody else holds the claim to, for this.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_claimed(
        kind: DriverKind,
        interface: &str,
        ethertypes: &[u16],
        port: u16,
    ) -> Result<(Self, Option<String>), OpenError> {
        Ok(Self::over(kind, Packet::open_claimed(interface, ethertypes, port)?, ethertypes))
    }

    fn over(kind: DriverKind, packet: Packet, ethertypes: &[u16]) -> (Self, Option<String>) {
        let packet = Box::new(packet);
        match kind {
            DriverKind::Packet => (Self::Packet(packet), None),
            DriverKind::Xdp => match Xdp::over(packet, ethertypes) {
                Ok(xdp) => (Self::Xdp(xdp.into()), None),
                Err((packet, why)) => (Self::Packet(packet), Some(why.to_string())),
            },
        }
    }

    /// What is readable when a frame has arrived.
    pub fn sockets(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Packet(packet) => vec![packet.as_fd()],
            Self::Xdp(xdp) => xdp.sockets().into(),
        }
    }

    /// Which one it is.
    pub fn kind(&self) -> DriverKind {
        match self {
            Self::Packet(_) => DriverKind::Packet,
            Self::Xdp(_) => DriverKind::Xdp,
        }
    }

    fn packet(&self) -> &Packet {
        match self {
            Self::Packet(packet) => packet,
            Self::Xdp(xdp) => xdp.packet(),
        }
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.packet().port()
    }

    /// The interface, as it was when it was opened.
    pub fn interface(&self) -> &Interface {
        self.packet().interface()
    }

    /// What has been counted so far.
    ///
    /// # Errors
    /// What the system says.
    pub fn stats(&mut self) -> io::Result<RingStats> {
        match self {
            Self::Packet(packet) => packet.stats(),
            Self::Xdp(xdp) => xdp.stats(),
        }
    }
}

/// The same call of either.
macro_rules! either {
    ($self:ident, $driver:ident => $call:expr) => {
        match $self {
            AnyDriver::Packet($driver) => $call,
            AnyDriver::Xdp($driver) => $call,
        }
    };
}

impl Driver for AnyDriver {
    fn mac(&self) -> Mac {
        either!(self, driver => driver.mac())
    }

    fn mtu(&self) -> usize {
        either!(self, driver => driver.mtu())
    }

    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, Full> {
        either!(self, driver => driver.send(write))
    }

    fn flush(&mut self) -> Result<(), Lost> {
        either!(self, driver => driver.flush())
    }

    fn has_left_over(&self) -> bool {
        either!(self, driver => driver.has_left_over())
    }

    #[inline]
    fn has_frame(&self) -> bool {
        either!(self, driver => driver.has_frame())
    }

    fn receive(&mut self, frames_max: usize, sink: impl FnMut(&[u8])) -> usize {
        either!(self, driver => driver.receive(frames_max, sink))
    }

    fn wait(&mut self, limit: Option<Duration>) -> Result<(), Lost> {
        either!(self, driver => driver.wait(limit))
    }
}
