//! The choice of a driver, and how an open driver is passed on to another process. `unsafe`: a
//! driver of inherited descriptors shares memory with the kernel, which nothing else may use.
#![allow(unsafe_code)]

use crate::packet::Demux;
#[cfg(feature = "xdp")]
use crate::xdp::{Hook, Xdp};
use crate::{Driver, Interface, LostInterface, NoXdp, OpenError, Packet, QueueFull, RingStats};
use goal_esp::wire::Mac;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// The kinds of drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DriverKind {
    /// Packet sockets, which every Linux has.
    #[default]
    Packet,
    /// AF_XDP sockets where they are possible, and packet sockets elsewhere.
    Xdp,
}

/// Checks that this build and this system have a driver of AF_XDP. An interface may still lack room
/// for one.
///
/// # Errors
/// [`NoXdp`].
pub fn probe_xdp() -> Result<(), NoXdp> {
    #[cfg(feature = "xdp")]
    return Xdp::probe();
    #[cfg(not(feature = "xdp"))]
    return Err(NoXdp::NotBuilt);
}

/// The description of an open driver, for the process that inherits its descriptors.
#[derive(Debug, Serialize, Deserialize)]
pub struct PassedDriver {
    /// The interface, as it was when the driver was opened.
    name: String,
    index: u32,
    mac: [u8; 6],
    mtu: usize,
    port: u16,
    /// The descriptor number of the packet socket.
    packet: RawFd,
    /// The descriptor numbers of the AF_XDP socket and of the memory file with its frames.
    xdp: Option<[RawFd; 2]>,
}

/// A driver of either kind.
pub struct AnyDriver(Either);

enum Either {
    Packet(Box<Packet>),
    #[cfg(feature = "xdp")]
    Xdp(Box<Xdp>),
}

/// Resources that a launcher must hold while another process uses a driver that it passed on. For
/// AF_XDP this is the program at the interface; other drivers need nothing.
pub struct HeldDriver {
    #[cfg(feature = "xdp")]
    _hook: Option<Hook>,
}

/// A group of packet sockets of one interface. The kernel finds the socket of a frame by its port,
/// at a cost that does not depend on the number of sockets. The group must be held as long as any
/// process uses the sockets.
pub struct PortGroup {
    demux: Option<Demux>,
}

impl PortGroup {
    /// Makes a group of these drivers, which take frames of `ethertype` only. From then on they get
    /// no frames that are addressed to all ports. If the system has no such groups, the drivers
    /// stay as they were.
    pub fn of(drivers: &[AnyDriver], ethertype: u16) -> Self {
        let mut sockets: Vec<&Packet> = drivers.iter().map(AnyDriver::packet).collect();
        let demux = match sockets.len() {
            0 | 1 => None,
            _ => Demux::over(&mut sockets, ethertype).ok().flatten(),
        };
        Self { demux }
    }

    /// Returns true if the kernel has made the group.
    pub fn exists(&self) -> bool {
        self.demux.is_some()
    }
}

impl AnyDriver {
    /// Opens the interface with this name as [`Packet::open`] does. If a driver of kind `kind` is
    /// not possible, returns a packet socket with the reason.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(
        kind: DriverKind,
        interface: &str,
        ethertypes: &[u16],
        port: Option<u16>,
    ) -> Result<(Self, Option<NoXdp>), OpenError> {
        Ok(Self::over(kind, Packet::open(interface, ethertypes, port)?, ethertypes))
    }

    /// Opens an interface as [`AnyDriver::open`] does, for a port that the caller has claimed as a
    /// [`Port`](crate::Port).
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_claimed(
        kind: DriverKind,
        interface: &str,
        ethertypes: &[u16],
        port: u16,
    ) -> Result<(Self, Option<NoXdp>), OpenError> {
        Ok(Self::over(kind, Packet::open_claimed(interface, ethertypes, port)?, ethertypes))
    }

    #[cfg_attr(not(feature = "xdp"), expect(unused_variables, reason = "for XDP"))]
    fn over(kind: DriverKind, packet: Packet, ethertypes: &[u16]) -> (Self, Option<NoXdp>) {
        let packet = Box::new(packet);
        match kind {
            DriverKind::Packet => (Self(Either::Packet(packet)), None),
            #[cfg(feature = "xdp")]
            DriverKind::Xdp => match Xdp::over(packet, ethertypes) {
                Ok(xdp) => (Self(Either::Xdp(xdp.into())), None),
                Err((packet, why)) => (Self(Either::Packet(packet)), Some(why)),
            },
            #[cfg(not(feature = "xdp"))]
            DriverKind::Xdp => (Self(Either::Packet(packet)), Some(NoXdp::NotBuilt)),
        }
    }

    /// Returns the driver that another process opened for this process. `take` returns the
    /// inherited descriptor with a number.
    ///
    /// # Errors
    /// The errors of `take`, and of a description that does not match the descriptors.
    ///
    /// # Safety
    /// `passed` and the descriptors must come from one driver. Its process must not use that driver
    /// after it passed them on, and no other driver may be made of them. The kernel and the driver
    /// share memory behind these descriptors, which a second user would change.
    pub unsafe fn inherited(
        passed: &PassedDriver,
        mut take: impl FnMut(RawFd) -> io::Result<OwnedFd>,
    ) -> io::Result<Self> {
        let PassedDriver { name, index, mac, mtu, port, packet, xdp } = passed;
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
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
            return Err(invalid(refusal.to_string()));
        }
        let packet = Box::new(Packet::over(interface, *port, take(*packet)?)?);
        Ok(Self(match xdp {
            None => Either::Packet(packet),
            #[cfg(feature = "xdp")]
            Some([socket, file]) => {
                let (socket, file) = (take(*socket)?, take(*file)?);
                Either::Xdp(Xdp::inherited(packet, socket, file)?.into())
            }
            #[cfg(not(feature = "xdp"))]
            Some(_) => return Err(invalid(NoXdp::NotBuilt.to_string())),
        }))
    }

    /// Returns the description of the driver for the process that will use it. That process must
    /// inherit [`AnyDriver::descriptors`] under the same numbers.
    pub fn passed(&self) -> PassedDriver {
        let Interface { name, index, mtu, .. } = self.interface();
        PassedDriver {
            name: name.clone(),
            index: *index,
            mac: self.mac().0,
            mtu: *mtu,
            port: self.port(),
            packet: self.packet().as_fd().as_raw_fd(),
            xdp: match &self.0 {
                Either::Packet(_) => None,
                #[cfg(feature = "xdp")]
                Either::Xdp(xdp) => Some(xdp.descriptors().map(|fd| fd.as_raw_fd())),
            },
        }
    }

    /// Returns the descriptors that the driver consists of.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match &self.0 {
            Either::Packet(packet) => vec![packet.as_fd()],
            #[cfg(feature = "xdp")]
            Either::Xdp(xdp) => [&[self.packet().as_fd()][..], &xdp.descriptors()].concat(),
        }
    }

    /// Closes the driver after it was passed on. Returns what this process must hold while another
    /// process uses the driver.
    pub fn into_held(self) -> HeldDriver {
        match self.0 {
            Either::Packet(_) => HeldDriver {
                #[cfg(feature = "xdp")]
                _hook: None,
            },
            #[cfg(feature = "xdp")]
            Either::Xdp(xdp) => HeldDriver { _hook: xdp.into_hook() },
        }
    }

    /// Returns the descriptors that become readable when a frame arrives.
    pub fn sockets(&self) -> Vec<BorrowedFd<'_>> {
        match &self.0 {
            Either::Packet(packet) => vec![packet.as_fd()],
            #[cfg(feature = "xdp")]
            Either::Xdp(xdp) => xdp.sockets().into(),
        }
    }

    /// Returns the kind of the driver.
    pub fn kind(&self) -> DriverKind {
        match self.0 {
            Either::Packet(_) => DriverKind::Packet,
            #[cfg(feature = "xdp")]
            Either::Xdp(_) => DriverKind::Xdp,
        }
    }

    fn packet(&self) -> &Packet {
        match &self.0 {
            Either::Packet(packet) => packet,
            #[cfg(feature = "xdp")]
            Either::Xdp(xdp) => xdp.packet(),
        }
    }

    /// Returns the number of the port.
    pub fn port(&self) -> u16 {
        self.packet().port()
    }

    /// Returns the interface, as it was when the driver was opened.
    pub fn interface(&self) -> &Interface {
        self.packet().interface()
    }

    /// Returns the counts of all frames for the port.
    ///
    /// # Errors
    /// The system's error.
    pub fn stats(&mut self) -> io::Result<RingStats> {
        match &mut self.0 {
            Either::Packet(packet) => packet.stats(),
            #[cfg(feature = "xdp")]
            Either::Xdp(xdp) => xdp.stats(),
        }
    }

    /// Returns the counts of frames that arrived at the packet socket. With AF_XDP these are the
    /// frames that the program at the interface did not redirect.
    ///
    /// # Errors
    /// The system's error.
    pub fn packet_stats(&mut self) -> io::Result<RingStats> {
        match &mut self.0 {
            Either::Packet(packet) => packet.stats(),
            #[cfg(feature = "xdp")]
            Either::Xdp(xdp) => xdp.packet_stats(),
        }
    }
}

/// Calls the same method of either driver.
macro_rules! either {
    ($self:ident, $driver:ident => $call:expr) => {
        match &$self.0 {
            Either::Packet($driver) => $call,
            #[cfg(feature = "xdp")]
            Either::Xdp($driver) => $call,
        }
    };
    (mut $self:ident, $driver:ident => $call:expr) => {
        match &mut $self.0 {
            Either::Packet($driver) => $call,
            #[cfg(feature = "xdp")]
            Either::Xdp($driver) => $call,
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

    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, QueueFull> {
        either!(mut self, driver => driver.send(write))
    }

    fn flush(&mut self) -> Result<(), LostInterface> {
        either!(mut self, driver => driver.flush())
    }

    fn has_unsent(&self) -> bool {
        either!(self, driver => driver.has_unsent())
    }

    #[inline]
    fn has_frame(&self) -> bool {
        either!(self, driver => driver.has_frame())
    }

    fn receive(&mut self, frames_max: usize, sink: impl FnMut(&[u8])) -> usize {
        either!(mut self, driver => driver.receive(frames_max, sink))
    }

    fn can_amend(&self) -> bool {
        either!(self, driver => driver.can_amend())
    }

    fn amend(&mut self, count: usize, change: impl FnOnce(&mut [&mut [u8]])) {
        either!(mut self, driver => driver.amend(count, change))
    }

    fn receive_batches(&mut self, frames_max: usize, sink: impl FnMut(&[&[u8]])) -> usize {
        either!(mut self, driver => driver.receive_batches(frames_max, sink))
    }

    fn wait(&mut self, limit: Option<Duration>) -> Result<(), LostInterface> {
        either!(mut self, driver => driver.wait(limit))
    }
}
