//! Controls the process that the launcher has started for a rank of a program.

use super::attended::Attended;
use super::options::Program;
use goal_job::threads::sleep;
use goal_shm::ProcessState;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest time for which a launcher waits until the processes of a lost rank are gone.
const BURIAL_LIMIT: Duration = Duration::from_secs(2);

/// The time between two looks at processes that are about to end.
pub(super) const LOOK: Duration = Duration::from_millis(1);

/// The process of a rank of a program.
pub(super) struct Process {
    pub(super) rank: u32,
    pub(super) program: Arc<Program>,
    pub(super) child: Child,
    /// The time of its start, without the time for which the job was stopped.
    pub(super) since: Instant,
    /// The process that has attached as the rank, which the child may have started.
    pub(super) attended: Attended,
    /// The end of the child. `None` while it runs.
    pub(super) exit: Option<Exit>,
    /// The signal that stopped the child. `None` if it is not stopped.
    pub(super) stopped: Option<i32>,
    /// True if this launcher has stopped the child.
    pub(super) is_suspended: bool,
    /// True if the rank is lost and the job goes on without it.
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

    /// Sends a signal to the process group. Returns false if this process may not signal any of it.
    pub(super) fn send(&self, signal: Signal) -> bool {
        kill_process_group(self.pid(), signal) != Err(Errno::PERM)
    }

    /// Passes a signal on to the process group while the child runs. The process that has attached
    /// as the rank gets it too, even if it has left the group or the child has ended.
    pub(super) fn forward(&mut self, signal: Signal, process_state: &ProcessState) {
        self.attended.look(process_state, self.child.id());
        let is_in_group = self.attended.is_in_group(self.pid());
        let is_sent = self.look().is_none() && self.send(signal);
        if !(is_sent && is_in_group) {
            self.attended.send(signal);
        }
    }

    /// Kills the process that has attached as the rank, which may have left its group.
    pub(super) fn kill_attended(&mut self, process_state: &ProcessState) {
        self.attended.look(process_state, self.child.id());
        self.attended.send(Signal::KILL);
    }

    /// Kills what is left of the rank's processes. Returns true if all of them are gone.
    pub(super) fn end(&mut self, process_state: &ProcessState) -> bool {
        self.kill_attended(process_state);
        self.send(Signal::KILL);
        let _ = self.child.kill();
        let since = Instant::now();
        while since.elapsed() < BURIAL_LIMIT {
            if self.look().is_some() && self.attended.is_gone(process_state, self.child.id()) {
                return true;
            }
            sleep(LOOK);
        }
        false
    }

    /// Returns how the process ended, or `None` if it still runs. Its process ID stays reserved.
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
            // A seccomp filter may forbid `waitid`. This call frees the process ID, which another
            // process may then get.
            Err(_) => self.child.try_wait().ok().flatten().and_then(|ended| {
                ended.code().map(Exit::Status).or_else(|| ended.signal().map(Exit::Signal))
            }),
        };
        self.exit
    }
}
