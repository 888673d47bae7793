//! Watches a process that has attached as a rank but is not the launcher's own child. This happens
//! when the launcher starts a script, and the script starts the process.
//!
//! The launcher holds a descriptor of the process (a pidfd), which tells that the process has
//! ended. Only the parent of the process learns how it ended.
//!
//! By the time the launcher looks, another process may have the ID of the rank's process. In a
//! container the ID belongs to another PID namespace. So a process states its namespace and when it
//! was started. The launcher finds out which ID the process has in its own namespace. After it has
//! opened the descriptor, it compares the time of the start.
//!
//! Threat: a rank may state the ID and the start of another process. The rank may run as another
//! user than the launcher, or in a container, and so could not send that process a signal itself.
//! Therefore the launcher sends signals only to its own descendants, as `/proc` shows them, and
//! adopts processes whose parents have ended. A rank that lies can only end its own job and
//! processes that the launcher has started.

use goal_job::threads::{may_be, namespace, seen_as};
use goal_shm::{Identity, ProcessState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpgid, pidfd_open, pidfd_send_signal};
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// The time that the parent of an ended rank process has to end too. Its exit status says more.
const GRACE: Duration = Duration::from_secs(2);

/// The most processes in the chain of parents from a rank's process up to the launcher.
const GENERATIONS_MAX: usize = 256;

/// What the launcher knows of the process that has attached as a rank.
#[derive(Debug, Default)]
pub(super) enum Attended {
    /// No process has attached yet.
    #[default]
    Awaited,
    /// The launcher's own child has attached, or a process that can't be watched.
    Unwatched,
    /// Another process than the child has attached: its ID and its descriptor.
    Watched(u32, OwnedFd),
    /// The process has ended: its ID, and the time at which the launcher noticed it.
    Ended(u32, Instant),
}

impl Attended {
    /// Looks at the process that has attached as the rank. `child` is the ID of the launcher's
    /// child. Returns the ID of the attached process if it ended at least [`GRACE`] ago.
    pub(super) fn look(&mut self, process_state: &ProcessState, child: u32) -> Option<u32> {
        if matches!(self, Self::Awaited)
            && let (Some(process), Some(identity)) =
                (process_state.process(), process_state.identity())
        {
            *self = Self::from_process(process_state, process, identity, child);
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

    /// Sends a signal to the process if it is watched and a descendant of this launcher.
    pub(super) fn send(&self, signal: Signal) {
        if let Self::Watched(_, descriptor) = self
            && descends(descriptor)
        {
            let _ = pidfd_send_signal(descriptor, signal);
        }
    }

    /// Returns true if the process is watched and belongs to `group`.
    pub(super) fn is_in_group(&self, group: Pid) -> bool {
        let Self::Watched(process, _) = self else { return false };
        pid(*process).is_some_and(|process| getpgid(Some(process)) == Ok(group))
    }

    /// Returns true if the process has ended, even if its parent still runs.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Self::Ended(..))
    }

    /// Returns true if the attached process has ended. The caller knows that the child has ended.
    /// Returns false for another process that can't be watched, as it may still run.
    pub(super) fn is_gone(&self, process_state: &ProcessState, child: u32) -> bool {
        match self {
            // The child itself has attached, or nothing has. The child has ended.
            Self::Awaited | Self::Unwatched => {
                process_state.process().is_none() || process_state.seen() == Some(child)
            }
            Self::Watched(_, descriptor) => has_ended(descriptor),
            Self::Ended(..) => true,
        }
    }

    fn from_process(
        process_state: &ProcessState,
        process: u32,
        identity: Identity,
        child: u32,
    ) -> Self {
        let process = match namespace() == Some(identity.namespace) {
            true => Some(process),
            false => seen_as(process, identity.namespace),
        };
        let Some(process) = process else { return Self::Unwatched };
        process_state.see(process);
        let number = pid(process).filter(|_| process != child);
        let Some(number) = number else { return Self::Unwatched };
        match pidfd_open(number, PidfdFlags::empty()) {
            // If the time of the start is unknown, only the descriptor tells whether the process
            // has ended.
            Ok(descriptor) if may_be(process, identity) => Self::Watched(process, descriptor),
            // No process, or another one, has the ID by now.
            Ok(_) | Err(Errno::SRCH) => Self::Ended(process, Instant::now()),
            Err(_) => Self::Unwatched,
        }
    }
}

fn pid(process: u32) -> Option<Pid> {
    i32::try_from(process).ok().and_then(Pid::from_raw)
}

/// Returns true if the process of a descriptor descends from this one. Returns false if the system
/// does not tell.
fn descends(descriptor: &OwnedFd) -> bool {
    let first = line(descriptor);
    // The list is read twice. When a parent ends while it is read, its ID may soon belong to a
    // descendant of this process. Then the child has another parent in the second list.
    first.is_some() && first == line(descriptor)
}

/// Returns the process of a descriptor, its parent, and so on up to the child of this process. The
/// IDs are those of `/proc`, which may show an outer PID namespace.
fn line(descriptor: &OwnedFd) -> Option<Vec<u32>> {
    let own: u32 = fs::read_link("/proc/self").ok()?.to_str()?.parse().ok()?;
    let number = descriptor.as_raw_fd();
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{number}")).ok()?;
    let mut process =
        text.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()?;
    let mut line = Vec::new();
    while process != own {
        line.push(process);
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The state and the parent follow the name, which may contain any characters.
        process = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        if line.len() > GENERATIONS_MAX {
            return None;
        }
    }
    (!line.is_empty()).then_some(line)
}

/// Returns true if the process of a descriptor has ended.
fn has_ended(descriptor: &OwnedFd) -> bool {
    let mut one = [PollFd::new(descriptor, PollFlags::IN)];
    poll(&mut one, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use goal_job::threads::identity;
    use std::process::{Command, Stdio};

    fn process_state(process: u32, identity: Identity) -> ProcessState {
        let process_state = ProcessState::default();
        process_state.claim(process).unwrap();
        process_state.identify(identity);
        process_state
    }

    #[test]
    fn a_process_is_watched_until_it_ends() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let mut attended = Attended::default();
        assert_eq!(attended.look(&ProcessState::default(), 1), None);
        assert!(matches!(attended, Attended::Awaited));
        // The start of a process in other clocks says nothing.
        let own = identity().unwrap();
        let process_state = process_state(child.id(), Identity { clocks: own.clocks + 1, ..own });
        assert_eq!(attended.look(&process_state, 1), None);
        assert!(matches!(attended, Attended::Watched(..)), "{attended:?}");
        assert_eq!(process_state.seen(), Some(child.id()));
        child.kill().unwrap();
        goal_filetest::until("the end of the process is seen", || {
            attended.look(&process_state, 1) == Some(child.id())
        });
        child.wait().unwrap();
    }

    #[test]
    fn descendants_are_told_from_other_processes() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let of = |process: u32| {
            let descriptor = pidfd_open(pid(process).unwrap(), PidfdFlags::empty()).unwrap();
            descends(&descriptor)
        };
        assert!(of(child.id()));
        // The process that a rank names may be the launcher itself.
        assert!(!of(std::process::id()));
        assert!(!of(std::os::unix::process::parent_id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn another_process_with_the_number_is_not_taken_for_it() {
        let (own, identity) = (std::process::id(), identity().unwrap());
        let look = |identity: Identity, child| {
            let process_state = process_state(own, identity);
            let mut attended = Attended::default();
            attended.look(&process_state, child);
            let is_gone = attended.is_gone(&process_state, child);
            (attended, process_state.seen(), is_gone)
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
