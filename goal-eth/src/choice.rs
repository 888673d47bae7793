//! Which driver carries the frames.

use super::{Driver, Full, Interface, Lost, OpenError, Packet, Program, RingStats, Xdp};
use goal_esp::wire::Mac;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// The drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
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

/// An open driver in numbers, for the process that inherits its descriptors.
#[derive(Debug, Serialize, Deserialize)]
pub struct PassedDriver {
    /// The interface, as it was when the driver was opened.
    name: String,
    index: u32,
    mac: [u8; 6],
    mtu: usize,
    port: u16,
    /// The packet socket; the socket of XDP and the memory file of its frames.
    packet: RawFd,
    xdp: Option<[RawFd; 2]>,
}

/// One of the drivers.
pub enum AnyDriver {
    /// A packet socket.
    Packet(Box<Packet>),
    /// A socket of AF_XDP.
    Xdp(Box<Xdp>),
}

impl AnyDriver {
    /// Opens the interface with this name as [`Packet::open`] does, with this kind of driver or,
    /// where it can't be had, with a packet socket and the reason in words.
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

    /// The driver that another process opened for this one. `take` gives the inherited descriptor
    /// with a number.
    ///
    /// # Errors
    /// `take` has an error, or the inherited driver is not as `passed` says.
    pub fn inherited(
        passed: &PassedDriver,
        mut take: impl FnMut(RawFd) -> io::Result<OwnedFd>,
    ) -> io::Result<Self> {
        let PassedDriver { name, index, mac, mtu, port, packet, xdp } = passed;
        let interface = Interface {
            name: name.clone(),
            index: *index,
            mac: Some(Mac(*mac)),
            mtu: *mtu,
            is_ethernet: true,
            is_up: true,
            has_carrier: true,
        };
        if let Some(refusal) = interface.refusal() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, refusal));
        }
        let packet = Box::new(Packet::over(interface, *port, take(*packet)?)?);
        Ok(match xdp {
            None => Self::Packet(packet),
            Some([socket, file]) => {
                let (socket, file) = (take(*socket)?, take(*file)?);
                Self::Xdp(Xdp::inherited(packet, socket, file)?.into())
            }
        })
    }

    /// Returns the data for the process that is to use the driver. It must inherit
    /// [`AnyDriver::descriptors`].
    pub fn passed(&self) -> PassedDriver {
        let Interface { name, index, mtu, .. } = self.interface();
        PassedDriver {
            name: name.clone(),
            index: *index,
            mac: self.mac().0,
            mtu: *mtu,
            port: self.port(),
            packet: self.packet().as_fd().as_raw_fd(),
            xdp: match self {
                Self::Packet(_) => None,
                Self::Xdp(xdp) => Some(xdp.descriptors().map(|fd| fd.as_raw_fd())),
            },
        }
    }

    /// The descriptors of all that it consists of.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let mut all = vec![self.packet().as_fd()];
        if let Self::Xdp(xdp) = self {
            all.extend(xdp.descriptors());
        }
        all
    }

    /// Returns what this process must hold after it passed the driver on, as long as the other one
    /// uses it.
    pub fn into_program(self) -> Option<Program> {
        match self {
            Self::Packet(_) => None,
            Self::Xdp(xdp) => xdp.into_program(),
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

    fn has_unsent(&self) -> bool {
        either!(self, driver => driver.has_unsent())
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
