//! Tells which sockets are ready, at a cost that does not depend on their number.

use crate::limits::EVENTS_MAX;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A set of sockets, each with a token.
pub(crate) struct Poller {
    epoll: OwnedFd,
}

/// A socket that is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) token: usize,
    /// True if the socket can be read, has an error, or was closed by its peer.
    pub(crate) is_readable: bool,
    /// True if the socket can be written, has an error, or was closed.
    pub(crate) is_writable: bool,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(epoll::CreateFlags::CLOEXEC)? })
    }

    /// Adds a socket. From now on it counts as ready when it can be read, and if `writes`, also
    /// when it can be written.
    pub(crate) fn add(
        &self,
        socket: BorrowedFd<'_>,
        token: usize,
        writes: bool,
    ) -> Result<(), Errno> {
        epoll::add(&self.epoll, socket, data(token), flags(writes))
    }

    /// Stops reporting a socket as readable or writable until [`Poller::set`] is called.
    pub(crate) fn mute(&self, socket: BorrowedFd<'_>, token: usize) -> Result<(), Errno> {
        epoll::modify(&self.epoll, socket, data(token), epoll::EventFlags::empty())
    }

    /// Sets whether the socket counts as ready when it can be written.
    pub(crate) fn set(&self, socket: BorrowedFd<'_>, token: usize, writes: bool) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, data(token), flags(writes))?)
    }

    /// Calls `sink` with the sockets that are ready, at most [`EVENTS_MAX`]. Does not wait.
    pub(crate) fn poll(&self, mut sink: impl FnMut(Ready)) {
        let mut events = [const { MaybeUninit::uninit() }; EVENTS_MAX];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An error is a signal that came in between: the caller polls again.
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut events, Some(&now)) else { return };
        for event in events {
            let flags = event.flags;
            let failed = epoll::EventFlags::ERR | epoll::EventFlags::HUP;
            sink(Ready {
                token: event.data.u64() as usize,
                is_readable: flags.intersects(epoll::EventFlags::IN | failed),
                is_writable: flags.intersects(epoll::EventFlags::OUT | failed),
            });
        }
    }
}

impl Poller {
    /// Returns true if a socket is ready.
    pub(crate) fn is_ready(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], Some(&now))
            .is_ok_and(|ready| ready > 0)
    }
}

/// The descriptor is readable while a socket is ready.
impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

fn data(token: usize) -> epoll::EventData {
    epoll::EventData::new_u64(token as u64)
}

fn flags(writes: bool) -> epoll::EventFlags {
    let read = epoll::EventFlags::IN;
    if writes { read | epoll::EventFlags::OUT } else { read }
}
