//! Sleeps until something arrives from another host, or a sender on this host rings the rank's
//! bell.

use goal_eth::now_ns;
use goal_kernel::{Announced, CompletionEvents};
use goal_shm::Bell;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::iter;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// The most descriptors of all fabrics of a rank together. A fabric should have a single one, such
/// as an epoll instance.
pub(super) const FABRICS_DESCRIPTORS_MAX: usize = 6;
/// The most descriptors that a sleep waits for: those of fabrics, of a bell, and of completion
/// events.
const DESCRIPTORS_MAX: usize = FABRICS_DESCRIPTORS_MAX + 2;

/// Waits for other hosts while another thread uses the rank's fabrics.
pub(crate) struct Sleeper {
    pub(super) sockets: Arc<[OwnedFd]>,
    pub(super) events: Option<Arc<CompletionEvents>>,
    pub(super) until_ns: Option<u64>,
}

impl Sleeper {
    /// Returns the time in nanoseconds at which a fabric has work even if no frame arrives; `None`
    /// if there is no such time.
    pub(crate) fn until_ns(&self) -> Option<u64> {
        self.until_ns
    }

    /// Sleeps until the bell rings, a frame arrives, a fabric has work, a completion event comes or
    /// `limit` has passed. Does not drain the bell: another thread may sleep on it too, and would
    /// not wake if this thread drained it first.
    pub(crate) fn sleep(&self, bell: Bell<'_>, limit: Option<Duration>) {
        let until =
            self.until_ns.map(|until_ns| Duration::from_nanos(until_ns.saturating_sub(now_ns())));
        let limit = limit.into_iter().chain(until).min();
        sleep(&self.sockets, bell, self.events.as_deref(), limit);
    }

    /// Returns a sleeper that waits for the bell alone, for tests.
    #[cfg(test)]
    pub(crate) fn from_bell() -> Self {
        Self { sockets: Arc::new([]), events: None, until_ns: None }
    }
}

/// Sleeps until a descriptor is readable, a completion event comes or `limit` has passed. Returns
/// true if the bell has rung.
pub(super) fn sleep(
    sockets: &[OwnedFd],
    bell: Bell<'_>,
    events: Option<&CompletionEvents>,
    limit: Option<Duration>,
) -> bool {
    let Some(events) = events else {
        return poll_once(sockets, bell, None, limit).bell;
    };
    let until_ns = limit.map(|limit| now_ns().saturating_add(limit.as_nanos() as u64));
    loop {
        let left = until_ns.map(|ns| Duration::from_nanos(ns.saturating_sub(now_ns())));
        let readable = match events.announce() {
            Announced::Nothing => return poll_once(sockets, bell, None, left).bell,
            // The bell was not read, so it may have rung.
            Announced::Due => Readable { any: true, bell: true },
            // The sleep goes on if `most` has passed without news, so that the rank's state stays
            // the same.
            Announced::Sleep(most) => {
                let time = left.map_or(most, |left| left.min(most));
                poll_once(sockets, bell, Some(events), Some(time))
            }
        };
        events.disarm();
        let is_late = until_ns.is_some_and(|ns| ns <= now_ns());
        if readable.any || is_late || events.is_due() || events.is_news() {
            return readable.bell;
        }
    }
}

/// The descriptors that are readable after a wait.
struct Readable {
    any: bool,
    bell: bool,
}

/// Waits until a descriptor is readable or `limit` has passed, by one call of `poll`.
fn poll_once(
    sockets: &[OwnedFd],
    bell: Bell<'_>,
    events: Option<&CompletionEvents>,
    limit: Option<Duration>,
) -> Readable {
    let bell = bell.descriptor().expect("the launcher hung up a bell");
    let readable = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
    let others = sockets.iter().map(AsFd::as_fd).chain(events.map(AsFd::as_fd));
    let mut fds = [const { None }; DESCRIPTORS_MAX];
    let mut count = 0;
    for descriptor in iter::once(bell).chain(others) {
        fds[count] = Some(readable(descriptor));
        count += 1;
    }
    let mut fds = fds.map(|fd| fd.unwrap_or_else(|| readable(bell)));
    // A limit that is too long for the system counts as no limit.
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    // Errors are ignored: the caller polls again, and sending fails if the interface is down.
    let any = poll(&mut fds[..count], limit.as_ref()).is_ok_and(|ready| ready > 0);
    Readable { any, bell: any && !fds[0].revents().is_empty() }
}
