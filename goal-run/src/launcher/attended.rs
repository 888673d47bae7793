//! The processes that have attached as ranks and that their launcher has not started itself: those
//! behind a script.
//!
//! The launcher holds such a process by a descriptor, which tells its end. How it ended only its
//! parent learns.
//!
//! Threat: the number of a process may be that of another one by the time the launcher looks, and
//! in a container it is one of another namespace. So a process says when it was started and in
//! which namespace. The launcher looks for its own number of a process in another namespace, and
//! compares the start after it has opened the descriptor. A rank that lies may end its own job, and
//! another process of its user, which it could end itself.

use crate::threads::{may_be, namespace, seen_as};
use goal_shm::{Attendance, Identity};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// The time that the parent of a process has to end by itself: its exit status says more.
const GRACE: Duration = Duration::from_secs(2);

/// The process that has attached as a rank, as the launcher knows it.
#[derive(Debug, Default)]
pub(super) enum Attended {
    /// None has attached yet.
    #[default]
    Awaited,
    /// The launcher's own child, or one that can't be watched.
    Unwatched,
    /// A process behind it.
    Watched(u32, OwnedFd),
    /// It has ended.
    Ended(u32, Instant),
}

impl Attended {
    /// Looks at the process behind `child`. Returns its ID if it has ended, and `child` did not
    /// follow for a while.
    pub(super) fn look(&mut self, attendance: &Attendance, child: u32) -> Option<u32> {
        if matches!(self, Self::Awaited)
            && let (Some(process), Some(identity)) = (attendance.process(), attendance.identity())
        {
            *self = Self::of(attendance, process, identity, child);
        }
        if let Self::Watched(process, descriptor) = self
            && has_ended(descriptor)
        {
            *self = Self::Ended(*process, Instant::now());
        }
        match self {
            Self::Ended(process, since) => (since.elapsed() >= GRACE).then_some(*process),
            Self::Awaited | Self::Unwatched | Self::Watched(..) => None,
        }
    }

    /// Kills the process if it is watched.
    pub(super) fn kill(&self) {
        if let Self::Watched(_, descriptor) = self {
            let _ = pidfd_send_signal(descriptor, Signal::KILL);
        }
    }

    /// Returns true if the process has ended, also if its parent goes on.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Self::Ended(..))
    }

    /// Returns true if no process behind the child goes on, which has ended itself. One that can't
    /// be watched may.
    pub(super) fn is_gone(&self, attendance: &Attendance, child: u32) -> bool {
        match self {
            // The child itself, which has been waited for, or none.
            Self::Awaited | Self::Unwatched => {
                attendance.process().is_none() || attendance.seen() == Some(child)
            }
            Self::Watched(_, descriptor) => has_ended(descriptor),
            Self::Ended(..) => true,
        }
    }

    fn of(attendance: &Attendance, process: u32, identity: Identity, child: u32) -> Self {
        let process = match namespace() == Some(identity.namespace) {
            true => Some(process),
            false => seen_as(process, identity.namespace),
        };
        let Some(process) = process else { return Self::Unwatched };
        attendance.see(process);
        let number = i32::try_from(process).ok().and_then(Pid::from_raw);
        let Some(number) = number.filter(|_| process != child) else { return Self::Unwatched };
        match pidfd_open(number, PidfdFlags::empty()) {
            // If the system does not tell the start, the descriptor tells if the process is gone.
            Ok(descriptor) if may_be(process, identity) => Self::Watched(process, descriptor),
            // Its ID is free by now, or that of another process.
            Ok(_) | Err(Errno::SRCH) => Self::Ended(process, Instant::now()),
            Err(_) => Self::Unwatched,
        }
    }
}

/// Returns true if the process of a descriptor has ended.
fn has_ended(descriptor: &OwnedFd) -> bool {
    let mut one = [PollFd::new(descriptor, PollFlags::IN)];
    poll(&mut one, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::identity;
    use std::process::{Command, Stdio};

    fn attendance(process: u32, identity: Identity) -> Attendance {
        let attendance = Attendance::default();
        attendance.claim(process).unwrap();
        attendance.identify(identity);
        attendance
    }

    #[test]
    fn a_process_is_watched_until_it_ends() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let mut attended = Attended::default();
        assert_eq!(attended.look(&Attendance::default(), 1), None);
        assert!(matches!(attended, Attended::Awaited));
        // The start of a process in other clocks says nothing.
        let own = identity().unwrap();
        let attendance = attendance(child.id(), Identity { clocks: own.clocks + 1, ..own });
        assert_eq!(attended.look(&attendance, 1), None);
        assert!(matches!(attended, Attended::Watched(..)), "{attended:?}");
        assert_eq!(attendance.seen(), Some(child.id()));
        child.kill().unwrap();
        while attended.look(&attendance, 1) != Some(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    #[test]
    fn another_process_with_the_number_is_not_taken_for_it() {
        let (own, identity) = (std::process::id(), identity().unwrap());
        let look = |identity: Identity, child| {
            let attendance = attendance(own, identity);
            let mut attended = Attended::default();
            attended.look(&attendance, child);
            let is_gone = attended.is_gone(&attendance, child);
            (attended, attendance.seen(), is_gone)
        };
        let later = Identity { start: identity.start + 1, ..identity };
        assert!(matches!(look(later, 1), (Attended::Ended(..), Some(_), true)));
        assert!(matches!(look(identity, 1), (Attended::Watched(..), Some(_), false)));
        assert!(matches!(look(identity, own), (Attended::Unwatched, Some(_), true)));
        // A process in a container that is not seen from here, with the number of the child.
        let elsewhere = Identity { namespace: 1, ..identity };
        assert!(matches!(look(elsewhere, own), (Attended::Unwatched, None, false)));
    }
}
