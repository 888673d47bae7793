//! The driver of AF_XDP: a rank's frames bypass the kernel's network stack, and lie in memory that
//! the rank shares with the kernel.
//!
//! A program at the interface redirects the frames for a port to the socket of its rank. A receive
//! queue of an interface has at most one such socket, so no more ranks than queues can have one.
//! Each driver of this kind also has a packet socket. Frames that arrive at another queue, or are
//! for all ports, go through the network stack to the packet socket. Launchers and other programs
//! are not affected.

mod area;
mod bpf;
mod hook;
mod program;
mod ring;
mod socket;

use crate::{Driver, LostInterface, NoXdp, Packet, QueueFull, RingStats};
use goal_esp::wire::Mac;
pub(crate) use hook::Hook;
use program::{ETHERTYPES_MAX, Owner};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use socket::Socket;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// The pause before the kernel is asked again to send frames. The kernel does not tell when it has
/// room.
const UNSENT_PAUSE: Duration = Duration::from_millis(1);

/// The AF_XDP driver of a port: an AF_XDP socket and a packet socket.
pub(crate) struct Xdp {
    socket: Socket,
    packet: Box<Packet>,
    /// The program at the interface; `None` if the process that opened the driver holds it.
    hook: Option<Hook>,
}

impl Xdp {
    /// Returns a driver for the port of a packet socket, which was opened for these ethertypes.
    ///
    /// # Errors
    /// [`NoXdp`], with the packet socket unchanged.
    pub(crate) fn over(
        packet: Box<Packet>,
        ethertypes: &[u16],
    ) -> Result<Self, (Box<Packet>, NoXdp)> {
        match Self::set_up(&packet, ethertypes) {
            Ok((socket, hook)) => Ok(Self { socket, packet, hook: Some(hook) }),
            Err(why) => Err((packet, why)),
        }
    }

    fn set_up(packet: &Packet, ethertypes: &[u16]) -> Result<(Socket, Hook), NoXdp> {
        if ethertypes.len() > ETHERTYPES_MAX {
            return Err(NoXdp::Ethertypes { count: ethertypes.len() });
        }
        let hook = Hook::join(packet.interface())?;
        let socket = Socket::open(packet.interface())?;
        let owner = Owner::new(packet.mac(), packet.port(), ethertypes);
        hook.lead(socket.queue(), owner, socket.as_fd())
            .map_err(NoXdp::system("no frames can be led to XDP"))?;
        Ok((socket, hook))
    }

    /// Returns the driver over an AF_XDP socket that another process opened for this interface, and
    /// the memory file of its frames. That process must hold the program at the interface, and must
    /// not use the socket.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn inherited(
        packet: Box<Packet>,
        socket: OwnedFd,
        file: OwnedFd,
    ) -> io::Result<Self> {
        Ok(Self { socket: Socket::over(packet.interface(), socket, file)?, packet, hook: None })
    }

    /// Returns the descriptors of the socket and of the memory file with its frames.
    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.socket.as_fd().as_fd(), self.socket.file().as_fd()]
    }

    /// Returns the program at the interface, which must be held while another process uses the
    /// socket.
    pub(crate) fn into_hook(self) -> Option<Hook> {
        self.hook
    }

    /// Checks that the system has sockets and programs of XDP, and that this process may use them.
    ///
    /// # Errors
    /// [`NoXdp`].
    pub(crate) fn probe() -> Result<(), NoXdp> {
        Socket::probe()?;
        hook::probe()
    }

    /// Returns the descriptors that become readable when a frame arrives.
    pub(super) fn sockets(&self) -> [BorrowedFd<'_>; 2] {
        [self.socket.as_fd().as_fd(), self.packet.as_fd()]
    }

    /// Returns the packet socket.
    pub(crate) fn packet(&self) -> &Packet {
        &self.packet
    }

    /// Returns the counts of frames that arrived at the packet socket.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn packet_stats(&mut self) -> io::Result<RingStats> {
        self.packet.stats()
    }

    /// Returns the counts of frames of the AF_XDP socket and the packet socket together.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn stats(&mut self) -> io::Result<RingStats> {
        let packet = self.packet.stats()?;
        let (taken, dropped) = self.socket.counts()?;
        Ok(RingStats {
            arrived: packet.arrived + taken + dropped,
            dropped: packet.dropped + dropped,
        })
    }
}

impl Driver for Xdp {
    fn mac(&self) -> Mac {
        self.packet.mac()
    }

    fn mtu(&self) -> usize {
        self.packet.mtu()
    }

    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, QueueFull> {
        self.socket.send(write)
    }

    fn flush(&mut self) -> Result<(), LostInterface> {
        self.socket.flush().map_err(|errno| self.packet.lost(errno))
    }

    fn has_unsent(&self) -> bool {
        self.socket.has_unsent()
    }

    #[inline]
    fn has_frame(&self) -> bool {
        self.socket.has_frame() || self.packet.has_frame()
    }

    fn receive(&mut self, frames_max: usize, mut sink: impl FnMut(&[u8])) -> usize {
        let taken = self.socket.receive(frames_max, &mut sink);
        taken + self.packet.receive(frames_max - taken, sink)
    }

    fn wait(&mut self, limit: Option<Duration>) -> Result<(), LostInterface> {
        if self.has_frame() {
            return Ok(());
        }
        let pause = self.socket.has_unsent().then_some(UNSENT_PAUSE);
        // A limit that is too long for the system is no limit.
        let limit =
            limit.into_iter().chain(pause).min().and_then(|limit| Timespec::try_from(limit).ok());
        let mut fds = self.sockets().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        match poll(&mut fds, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(self.packet.lost(errno)),
        }
        // Only the packet socket reports that the interface went down.
        let has_failed = fds[1].revents().contains(PollFlags::ERR);
        if has_failed { self.packet.wait(Some(Duration::ZERO)) } else { Ok(()) }
    }
}
