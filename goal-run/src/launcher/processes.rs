//! Ranks as processes.

#[cfg(test)]
mod tests;

use super::crew::{Crew, Fallen};
use super::options::Stage;
use super::process::{NOT_STARTED, Order};
use super::signals::{PutOff, keep_children};
use super::supervise::stop;
use super::troubles::Troubles;
use super::{LaunchError, Place};
use crate::inherited::Lent;
use crate::monitor::Stopped;
use crate::rights;
use goal_eth::{AnyDriver, Held};
use goal_shm::{Sealed, Segment};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long ranks of a job that is complete may take to exit.
const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// The processes of a job. Those that still run are killed when this is dropped.
pub(super) struct Processes {
    /// With their ranks.
    children: Vec<(u32, Child)>,
    /// Those that somebody has stopped, with the signal: [`Crew::stopped`]. By their place among
    /// the children.
    stopped: BTreeMap<usize, i32>,
    /// Those that this launcher has stopped.
    suspended: Vec<usize>,
    troubles: Troubles,
    /// What must be held while the processes use their drivers.
    held: Vec<Held>,
    /// Which one was asked last.
    next: usize,
}

/// The text on a process that somebody else has waited for.
const NOT_KNOWN: &str = "ended; how is not known";

impl Processes {
    /// Starts one process a rank of this host; stops early where the job is interrupted or, if all
    /// ranks are here, its time is up. Each inherits the memory files and its own driver, and no
    /// rights; it ends with the calling thread.
    ///
    /// # Errors
    /// What the system says; processes that were started are killed.
    pub(super) fn spawn(
        place: &Place<'_>,
        drivers: Vec<AnyDriver>,
        sealed: &Sealed,
        executable: &Path,
    ) -> Result<Self, LaunchError> {
        let Place { segment, settings, options, here, .. } = *place;
        keep_children();
        let mut processes = Self {
            children: Vec::new(),
            stopped: BTreeMap::new(),
            suspended: Vec::new(),
            troubles: Troubles::new()?,
            held: Vec::new(),
            next: 0,
        };
        let mut drivers = drivers.into_iter();
        let told = Sealed::copy_of(&serde_json::to_vec(settings).expect("numbers and texts"))?;
        for (started, &rank) in (0..).zip(here) {
            (options.show)(Stage::Starting { started, ranks: here.len() as u32 });
            let driver = drivers.next();
            let order = Order {
                rank,
                launcher: std::process::id(),
                troubles: processes.troubles.descriptor().as_raw_fd(),
                segment: segment.fd().as_raw_fd(),
                schedule: sealed.fd().as_raw_fd(),
                settings: told.fd().as_raw_fd(),
                section: options
                    .window
                    .as_ref()
                    .map(|window| (window.file.as_raw_fd(), window.outline.place(rank))),
                driver: driver.as_ref().map(AnyDriver::passed),
            };
            let mut command = Command::new(executable);
            command
                .env(Order::VARIABLE, order.to_text())
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            // A group of its own: what a terminal sends to the launcher's group is the launcher's
            // to handle.
            command.process_group(0);
            rights::confine(&mut command);
            let mut descriptors =
                vec![segment.fd(), sealed.fd(), told.fd(), processes.troubles.descriptor()];
            descriptors.extend(options.window.as_ref().map(|window| window.file.as_fd()));
            descriptors.extend(driver.iter().flat_map(AnyDriver::descriptors));
            let child = {
                let _lent = Lent::new(descriptors)?;
                let _put_off = PutOff::new()?;
                command.spawn()
            };
            let started = processes.children.len();
            let child = child.map_err(|cause| LaunchError::of_spawn(started, here.len(), cause))?;
            processes.held.extend(driver.map(AnyDriver::into_held));
            processes.children.push((rank, child));
            // Of several hosts the leader looks at the time.
            let is_late = settings.network.is_none() && place.is_late(Duration::ZERO);
            if is_late || options.interrupted.load(Ordering::SeqCst) != 0 {
                break;
            }
        }
        processes.troubles.close();
        Ok(processes)
    }

    /// Lets the processes of a complete job exit, until a signal asks for an end.
    pub(super) fn join(mut self, segment: &Segment, interrupted: &AtomicUsize) {
        let mut running = 0;
        stop(segment, Some(EXIT_LIMIT), || {
            if interrupted.load(Ordering::SeqCst) != 0 {
                return true;
            }
            while let Some((_, child)) = self.children.get_mut(running) {
                match child.try_wait() {
                    Ok(None) => return false,
                    _ => running += 1,
                }
            }
            true
        });
    }
}

impl Crew for Processes {
    fn fallen(&mut self) -> Option<Fallen> {
        let what = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // One question for all. It tells nothing of a child that somebody else has waited for: one
        // is asked for itself.
        let looks = match waitid(WaitId::All, what) {
            Ok(None) => 1,
            _ => self.children.len(),
        };
        for _ in 0..looks.min(self.children.len()) {
            self.next = (self.next + 1) % self.children.len();
            let (rank, child) = &mut self.children[self.next];
            let status = match child.try_wait() {
                Ok(None) => continue,
                Ok(Some(status)) => status,
                Err(_) => return Some(Fallen::Ended(*rank, NOT_KNOWN.to_owned())),
            };
            let why = self.troubles.first().filter(|_| status.code() == Some(NOT_STARTED.into()));
            return Some(match why {
                Some(why) => Fallen::NotStarted(*rank, why),
                None => Fallen::Ended(*rank, describe(status)),
            });
        }
        None
    }

    fn started(&self) -> usize {
        self.children.len()
    }

    fn stopped(&mut self) -> Vec<Stopped> {
        for (place, (_, child)) in self.children.iter().enumerate() {
            let what = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
            // Each tells of the last change only.
            if let Ok(Some(change)) = waitid(WaitId::Pid(Pid::from_child(child)), what) {
                match change.stopping_signal() {
                    Some(signal) => self.stopped.insert(place, signal),
                    None => self.stopped.remove(&place),
                };
            }
        }
        let stopped = self.stopped.iter().map(|(&place, &signal)| {
            let (rank, child) = &self.children[place];
            Stopped { rank: *rank, process: child.id(), signal }
        });
        stopped.collect()
    }

    fn suspend(&mut self) {
        // Also takes note of those that somebody else has stopped: they stay so.
        let _ = self.stopped();
        for (place, (_, child)) in self.children.iter_mut().enumerate() {
            // A process that has ended is waited for here only, so its number is nobody else's.
            let runs = matches!(child.try_wait(), Ok(None));
            if runs && !self.stopped.contains_key(&place) && send(child, Signal::STOP) {
                self.suspended.push(place);
            }
        }
    }

    fn resume(&mut self) {
        for place in self.suspended.drain(..) {
            send(&self.children[place].1, Signal::CONT);
            self.stopped.remove(&place);
        }
    }
}

/// Sends a signal to a process that was not waited for. True if that was possible.
fn send(child: &Child, signal: Signal) -> bool {
    kill_process(Pid::from_child(child), signal).is_ok()
}

impl Drop for Processes {
    fn drop(&mut self) {
        for (_, child) in &mut self.children {
            // The number of one that has ended may be another's, where somebody else has waited for
            // it.
            if matches!(child.try_wait(), Ok(None)) {
                let _ = child.kill();
            }
        }
        for (_, child) in &mut self.children {
            let _ = child.wait();
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => match signal_hook::low_level::signal_name(signal) {
            Some(name) => format!("was killed by signal {signal} ({name})"),
            None => format!("was killed by signal {signal}"),
        },
        (None, Some(code)) => format!("exited with status {code} before its end"),
        (None, None) => "ended".to_owned(),
    }
}
