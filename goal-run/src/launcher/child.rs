//! The process of a program's rank, as its launcher has started it.

use super::attended::Attended;
use super::options::Program;
use crate::threads::sleep;
use goal_shm::Attendance;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest time for which a launcher waits until the processes of a lost rank are gone.
const BURIAL_LIMIT: Duration = Duration::from_secs(2);

/// The time between two looks at processes that end.
pub(super) const LOOK: Duration = Duration::from_millis(1);

/// The process of a rank.
pub(super) struct Process {
    pub(super) rank: u32,
    pub(super) program: Arc<Program>,
    pub(super) child: Child,
    /// The time of its start, without the time for which the job was stopped.
    pub(super) since: Instant,
    /// The process that has attached as the rank, which the child may have started.
    pub(super) attended: Attended,
    /// The end of the child, once it is known.
    pub(super) exit: Option<Exit>,
    /// The signal that stopped it.
    pub(super) stopped: Option<i32>,
    /// True if this launcher has stopped it.
    pub(super) is_suspended: bool,
    /// True if the job goes on without it.
    pub(super) is_lost: bool,
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Status(i32),
    Signal(i32),
}

impl Process {
    pub(super) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends a signal to the process group. Returns false if no process of it could get it.
    pub(super) fn send(&self, signal: Signal) -> bool {
        kill_process_group(self.pid(), signal) != Err(Errno::PERM)
    }

    /// Kills the process that has attached as the rank, which may have left its group.
    pub(super) fn kill_attended(&mut self, attendance: &Attendance) {
        self.attended.look(attendance, self.child.id());
        self.attended.kill();
    }

    /// Kills what is left of the rank's processes. Returns true if all of them are gone.
    pub(super) fn end(&mut self, attendance: &Attendance) -> bool {
        self.kill_attended(attendance);
        self.send(Signal::KILL);
        let _ = self.child.kill();
        let since = Instant::now();
        while since.elapsed() < BURIAL_LIMIT {
            if self.look().is_some() && self.attended.is_gone(attendance, self.child.id()) {
                return true;
            }
            sleep(LOOK);
        }
        false
    }

    /// Returns the end of the process, which keeps its number.
    pub(super) fn look(&mut self) -> Option<Exit> {
        let what = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if self.exit.is_some() {
            return self.exit;
        }
        self.exit = match waitid(WaitId::Pid(self.pid()), what) {
            Ok(ended) => ended.and_then(|ended| {
                let signal = || ended.terminating_signal().map(Exit::Signal);
                ended.exit_status().map(Exit::Status).or_else(signal)
            }),
            // A filter of system calls may forbid the call, and not the file.
            Err(_) => {
                let path = format!("/proc/{}/stat", self.child.id());
                std::fs::read_to_string(path).ok().and_then(|stat| Exit::of_stat(&stat))
            }
        };
        self.exit
    }
}

impl Exit {
    /// Returns the end of a process from its `stat`, if it has ended and was not waited for.
    fn of_stat(stat: &str) -> Option<Self> {
        // The name before the state may hold anything. The last field is the status of `wait`.
        let fields = stat.rsplit_once(')')?.1;
        let status = ExitStatus::from_raw(fields.split_whitespace().next_back()?.parse().ok()?);
        if !fields.trim_start().starts_with('Z') {
            return None;
        }
        status.code().map(Self::Status).or_else(|| status.signal().map(Self::Signal))
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_end_of_a_process_is_read_from_its_stat() {
        let stat = |state, status| format!("17 (a) Z b) {state} 1 17 0 {status}\n");
        assert_eq!(Exit::of_stat(&stat('Z', 3 << 8)), Some(Exit::Status(3)));
        assert_eq!(Exit::of_stat(&stat('Z', 9)), Some(Exit::Signal(9)));
        assert_eq!(Exit::of_stat(&stat('S', 0)), None);
    }
}
