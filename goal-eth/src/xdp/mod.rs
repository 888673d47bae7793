//! The driver of AF_XDP: frames for a rank leave the kernel's way where they arrive, and lie in
//! memory that the rank shares with the kernel.
//!
//! A program at the interface leads the frames for a port to its socket. A receive queue of an
//! interface has one such socket, so that of several ranks as many can have one as there are
//! queues. What arrives at another queue, or is for all ports, goes on to the kernel's network and
//! so to the packet socket that each driver of this kind has beside. Launchers and other programs
//! notice nothing.

mod area;
mod bpf;
mod error;
mod hook;
mod program;
mod ring;
mod socket;

pub use error::NoXdp;

use super::{Driver, Full, Lost, Packet, RingStats};
use goal_esp::wire::Mac;
use hook::Hook;
use program::{ETHERTYPES_MAX, Owner};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use socket::Socket;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// When frames are sent again that the kernel did not take: it does not say when it has room.
const LEFT_OVER_PAUSE: Duration = Duration::from_millis(1);

/// A port's socket of AF_XDP.
pub struct Xdp {
    socket: Socket,
    packet: Box<Packet>,
    /// The program; `None` where another process holds it.
    hook: Option<Hook>,
}

/// The hook that keeps the program at an interface, for the process that opened a socket and passed
/// it on.
pub struct Program(#[expect(dead_code, reason = "held, not used")] Hook);

impl Xdp {
    /// Takes over a port from its packet socket, which was opened for these ethertypes.
    ///
    /// # Errors
    /// Why it can't be had, with the packet socket as it was.
    pub fn over(packet: Box<Packet>, ethertypes: &[u16]) -> Result<Self, (Box<Packet>, NoXdp)> {
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

    /// The driver over sockets that another process opened for this interface and has not used, and
    /// the memory file for their frames. That process holds the program.
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

    /// The descriptors of the socket and of the memory file for frames.
    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.socket.as_fd().as_fd(), self.socket.file().as_fd()]
    }

    /// Returns the program that must be held as long as another process uses the sockets.
    pub(super) fn into_program(self) -> Option<Program> {
        self.hook.map(Program)
    }

    /// Whether there could be one on this system, whatever an interface has.
    ///
    /// # Errors
    /// Why not.
    pub fn probe() -> Result<(), NoXdp> {
        Socket::probe()?;
        hook::probe()
    }

    /// What is readable when a frame has arrived.
    pub(super) fn sockets(&self) -> [BorrowedFd<'_>; 2] {
        [self.socket.as_fd().as_fd(), self.packet.as_fd()]
    }

    /// The packet socket beside.
    pub fn packet(&self) -> &Packet {
        &self.packet
    }

    /// Whether the kernel copies frames; it does not where the interface's driver can write and
    /// read the shared memory.
    ///
    /// # Errors
    /// What the system says.
    pub fn copies(&self) -> io::Result<bool> {
        self.socket.copies()
    }

    /// What came by the packet socket beside so far.
    ///
    /// # Errors
    /// What the system says.
    pub fn stats_beside(&mut self) -> io::Result<RingStats> {
        self.packet.stats()
    }

    /// What was counted so far, on both ways.
    ///
    /// # Errors
    /// What the system says.
    pub fn stats(&mut self) -> io::Result<RingStats> {
        let beside = self.packet.stats()?;
        let (taken, dropped) = self.socket.counts()?;
        Ok(RingStats {
            arrived: beside.arrived + taken + dropped,
            dropped: beside.dropped + dropped,
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

    fn send(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Result<bool, Full> {
        self.socket.send(write)
    }

    fn flush(&mut self) -> Result<(), Lost> {
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

    fn wait(&mut self, limit: Option<Duration>) -> Result<(), Lost> {
        if self.has_frame() {
            return Ok(());
        }
        let pause = self.socket.has_unsent().then_some(LEFT_OVER_PAUSE);
        // A limit too long for the system is none.
        let limit =
            limit.into_iter().chain(pause).min().and_then(|limit| Timespec::try_from(limit).ok());
        let mut fds = self.sockets().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        match poll(&mut fds, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(self.packet.lost(errno)),
        }
        // The packet socket is told of what happens to the interface.
        let has_failed = fds[1].revents().contains(PollFlags::ERR);
        if has_failed { self.packet.wait(Some(Duration::ZERO)) } else { Ok(()) }
    }
}
