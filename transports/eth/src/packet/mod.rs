//! The driver that every Linux has: a packet socket (AF_PACKET) with a ring of received frames
//! (TPACKET_V2).
//!
//! Received frames are read in the kernel's ring, without a system call. Frames to send are handed
//! to the kernel several at a time.

mod demux;
mod filter;
mod queue;
mod ring;
mod sys;

pub(crate) use demux::Demux;

use crate::{Driver, Interface, LostInterface, OpenError, Port, QueueFull, now_ns};
use goal_esp::wire::Mac;
use queue::{Queue, send_to};
use ring::Ring;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Counts of frames that arrived for a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RingStats {
    /// The number of frames that arrived, including dropped ones.
    pub arrived: u64,
    /// The number of frames that were dropped because the ring had no room.
    pub dropped: u64,
}

/// Checks that this process may use packet sockets.
///
/// # Errors
/// [`OpenError`].
pub fn probe() -> Result<(), OpenError> {
    Packet::socket().map(drop)
}

/// The packet socket of a port.
pub struct Packet {
    interface: Interface,
    mac: Mac,
    port: u16,
    /// The claim to the port; `None` if the caller of [`Packet::open_claimed`] holds it.
    _claim: Option<Port>,
    queue: Queue,
    ring: Ring,
    socket: OwnedFd,
    stats: RingStats,
}

impl Packet {
    /// Opens the interface with this name, for frames of these ethertypes (at least one) to `port`.
    /// If `port` is `None`, takes a free port.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(interface: &str, ethertypes: &[u16], port: Option<u16>) -> Result<Self, OpenError> {
        let interface = Self::interface_of(interface)?;
        // The socket comes first, so that a missing right is reported before a taken port.
        let socket = Self::socket()?;
        let claimed =
            port.map_or_else(|| Port::any(&interface), |number| Port::claim(&interface, number));
        let claim = claimed.map_err(|cause| match port {
            Some(number) if cause.kind() == io::ErrorKind::AddrInUse => {
                OpenError::Taken { interface: interface.name.clone(), number }
            }
            _ => OpenError::System { what: "no port is free", cause },
        })?;
        Self::bind(interface, socket, ethertypes, claim.number(), Some(claim))
    }

    /// Opens an interface as [`Packet::open`] does, for a port that the caller has claimed as a
    /// [`Port`].
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_claimed(interface: &str, ethertypes: &[u16], port: u16) -> Result<Self, OpenError> {
        Self::bind(Self::interface_of(interface)?, Self::socket()?, ethertypes, port, None)
    }

    /// Returns the driver over the socket that another process opened for this interface and port.
    /// That process must not have received frames, and must not use the socket.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn over(interface: Interface, port: u16, socket: OwnedFd) -> io::Result<Self> {
        let ring = Ring::over(&socket, interface.usable_mtu())?;
        Ok(Self::new(interface, port, None, ring, socket))
    }

    fn interface_of(name: &str) -> Result<Interface, OpenError> {
        let all = Interface::all()
            .map_err(|cause| OpenError::System { what: "the interfaces can't be listed", cause })?;
        Ok(Interface::among(&all, name)?)
    }

    /// Opens a socket. It receives nothing before it is bound.
    fn socket() -> Result<OwnedFd, OpenError> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)
            .map_err(OpenError::from_socket)
    }

    fn bind(
        interface: Interface,
        socket: OwnedFd,
        ethertypes: &[u16],
        port: u16,
        claim: Option<Port>,
    ) -> Result<Self, OpenError> {
        let ring =
            Self::set_up(&socket, &interface, interface.address(), ethertypes, port).map_err(
                |cause| OpenError::System { what: "the packet socket can't be set up", cause },
            )?;
        Ok(Self::new(interface, port, claim, ring, socket))
    }

    fn new(
        interface: Interface,
        port: u16,
        claim: Option<Port>,
        ring: Ring,
        socket: OwnedFd,
    ) -> Self {
        let (mac, stats) = (interface.address(), RingStats::default());
        Self { interface, mac, port, _claim: claim, queue: Queue::new(), ring, socket, stats }
    }

    fn set_up(
        socket: &OwnedFd,
        interface: &Interface,
        mac: Mac,
        ethertypes: &[u16],
        port: u16,
    ) -> io::Result<Ring> {
        let version = libc::tpacket_versions::TPACKET_V2;
        sys::set_option(socket, libc::PACKET_VERSION, version as i32)?;
        sys::set_option(socket, libc::PACKET_IGNORE_OUTGOING, 1)?;
        sys::attach_filter(socket, &filter::program(mac, ethertypes, port))?;
        // The filter is locked, so that a process that gets the socket can't receive other frames
        // either.
        sys::lock_filter(socket)?;
        let ring = Ring::new(socket, interface.usable_mtu())?;
        // The kernel gives a socket the frames of one ethertype or of all.
        let ethertype = if let [one] = ethertypes { *one } else { libc::ETH_P_ALL as u16 };
        sys::bind(socket, interface.index, ethertype)?;
        Ok(ring)
    }

    /// Returns the number of the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the interface, as it was when the driver was opened.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Returns the counts of frames since the driver was opened.
    ///
    /// # Errors
    /// The system's error.
    pub fn stats(&mut self) -> io::Result<RingStats> {
        let new = sys::statistics(&self.socket)?;
        // The system counts dropped frames among the arrived ones, and counts from 0 again after
        // each call.
        self.stats.arrived += u64::from(new.tp_packets);
        self.stats.dropped += u64::from(new.tp_drops);
        Ok(self.stats)
    }

    /// Returns the error of an interface that carries no more frames.
    pub(super) fn lost(&self, cause: impl Into<io::Error>) -> LostInterface {
        LostInterface { interface: self.interface.name.clone(), cause: cause.into() }
    }
}

impl AsFd for Packet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Driver for Packet {
    fn mac(&self) -> Mac {
        self.mac
    }

    fn mtu(&self) -> usize {
        self.interface.usable_mtu()
    }

    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, QueueFull> {
        self.queue.push(write)
    }

    fn flush(&mut self) -> Result<(), LostInterface> {
        self.queue
            .flush(now_ns, |frames| send_to(&self.socket, frames))
            .map_err(|errno| self.lost(errno))
    }

    fn has_unsent(&self) -> bool {
        !self.queue.is_empty()
    }

    #[inline]
    fn has_frame(&self) -> bool {
        self.ring.has_frame()
    }

    fn receive(&mut self, frames_max: usize, mut sink: impl FnMut(&[u8])) -> usize {
        self.ring.receive(frames_max, |frames| frames.iter().for_each(|frame| sink(frame)))
    }

    fn can_amend(&self) -> bool {
        true
    }

    fn amend(&mut self, count: usize, change: impl FnOnce(&mut [&mut [u8]])) {
        self.queue.amend(count, change)
    }

    fn receive_batches(&mut self, frames_max: usize, sink: impl FnMut(&[&[u8]])) -> usize {
        self.ring.receive(frames_max, sink)
    }

    fn wait(&mut self, limit: Option<Duration>) -> Result<(), LostInterface> {
        if self.has_frame() {
            return Ok(());
        }
        let for_room = if self.queue.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN | for_room)];
        // A limit that is too long for the system is no limit.
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        match poll(&mut fds, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(self.lost(errno)),
        }
        if fds[0].revents().contains(PollFlags::ERR) {
            match sockopt::socket_error(&self.socket) {
                Ok(Ok(())) => {}
                Ok(Err(errno)) | Err(errno) => return Err(self.lost(errno)),
            }
        }
        Ok(())
    }
}
