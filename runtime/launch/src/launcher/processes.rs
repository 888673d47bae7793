//! Starts ranks as processes that run the job's schedule, and watches these processes.

use super::error::LaunchError;
use super::options::Stage;
use super::process::NOT_STARTED;
use super::rank_set::{Exited, Place, RankSet};
use super::signals::{Deferred, keep_children};
use super::startup_errors::StartupErrors;
use super::supervise::stop;
use crate::monitor::Stopped;
use goal_eth::HeldDriver;
use goal_job::bootstrap::{OF_PROGRAM, OF_SCHEDULE, RankBootstrap, VERSION};
use goal_job::inherited::Lent;
use goal_job::offload::RemoteEndpoint;
use goal_job::remote_sockets::RemoteSockets;
use goal_job::rights;
use goal_job::threads::namespace;
use goal_shm::{Sealed, Segment};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The time that rank processes of a complete job have to exit.
const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// The rank processes of this host. Dropping this kills the processes that still run.
pub(super) struct Processes {
    /// Each rank with its process.
    children: Vec<(u32, Child)>,
    /// The signals that stopped processes, by index in `children`.
    stopped: BTreeMap<usize, i32>,
    /// The processes that this launcher has stopped, by index in `children`.
    suspended: Vec<usize>,
    startup_errors: StartupErrors,
    /// The resources that must live as long as the processes use their drivers.
    held: Vec<HeldDriver>,
    /// The index of the child that was checked by itself last.
    next: usize,
}

/// The text for a process whose exit status another part of this program has taken.
const NOT_KNOWN: &str = "ended; how is not known";

impl Processes {
    /// Starts a process for each rank of this host. Stops early if the job is interrupted. In a job
    /// on one host also stops if the time is up. A process inherits the memory files and its remote
    /// endpoint, but no capabilities. It ends with the calling thread.
    ///
    /// # Errors
    /// The system's error; processes that were started are killed.
    pub(super) fn spawn(
        place: &Place<'_>,
        endpoints: Vec<RemoteEndpoint>,
        sealed: &Sealed,
        executable: &Path,
    ) -> Result<Self, LaunchError> {
        let Place { segment, settings, options, here, .. } = *place;
        keep_children();
        let mut processes = Self {
            children: Vec::new(),
            stopped: BTreeMap::new(),
            suspended: Vec::new(),
            startup_errors: StartupErrors::new()?,
            held: Vec::new(),
            next: 0,
        };
        let mut endpoints = endpoints.into_iter();
        let told = Sealed::copy_of(&serde_json::to_vec(settings).expect("numbers and texts"))?;
        for (started, &rank) in (0..).zip(here) {
            (options.show)(Stage::Starting { started, ranks: here.len() as u32 });
            let endpoint = endpoints.next();
            let bootstrap = RankBootstrap {
                version: VERSION.into(),
                rank,
                launcher: std::process::id(),
                namespace: namespace(),
                startup_errors: Some(processes.startup_errors.descriptor().as_raw_fd()),
                segment: segment.fd().as_raw_fd(),
                passed: Vec::new(),
                schedule: sealed.fd().as_raw_fd(),
                settings: told.fd().as_raw_fd(),
                section: options
                    .window
                    .as_ref()
                    .map(|window| (window.file.as_raw_fd(), window.outline.place(rank))),
                remote_sockets: endpoint.as_ref().and_then(RemoteEndpoint::passed_sockets),
                kernel: endpoint.as_ref().and_then(RemoteEndpoint::passed_kernel),
                tables: None,
            };
            let mut command = Command::new(executable);
            command
                .env(OF_SCHEDULE, bootstrap.to_text())
                .env_remove(OF_PROGRAM)
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            // With its own process group, the child does not get the terminal's signals; the
            // launcher does.
            command.process_group(0);
            rights::confine(&mut command);
            let mut descriptors =
                vec![segment.fd(), sealed.fd(), told.fd(), processes.startup_errors.descriptor()];
            descriptors.extend(options.window.as_ref().map(|window| window.file.as_fd()));
            descriptors.extend(endpoint.iter().flat_map(RemoteEndpoint::descriptors));
            let child = {
                let _lent = Lent::new(descriptors)?;
                let _deferred = Deferred::new()?;
                command.spawn()
            };
            let started = processes.children.len();
            let child = child.map_err(|cause| LaunchError::of_spawn(started, here.len(), cause))?;
            processes.held.extend(
                endpoint
                    .and_then(RemoteEndpoint::into_remote_sockets)
                    .and_then(RemoteSockets::into_held),
            );
            processes.children.push((rank, child));
            // In a job on several hosts the leader alone watches the time.
            let is_late = settings.network.is_none() && place.is_late(Duration::ZERO);
            if is_late || options.interrupted.load(Ordering::SeqCst) != 0 {
                break;
            }
        }
        processes.startup_errors.close();
        Ok(processes)
    }

    /// Waits until the processes of a complete job have exited, or a signal asks for an end. The
    /// wait is at most [`EXIT_LIMIT`] long.
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

impl RankSet for Processes {
    fn exited(&mut self) -> Option<Exited> {
        let what = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // This system call covers all children. It does not report a child whose exit status
        // another part of this program has taken. So each call also checks one child by itself.
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
                Err(_) => return Some(Exited::Ended(*rank, NOT_KNOWN.to_owned(), None)),
            };
            let why =
                self.startup_errors.first().filter(|_| status.code() == Some(NOT_STARTED.into()));
            return Some(match why {
                Some(why) => Exited::NotStarted(*rank, why),
                None => Exited::Ended(*rank, describe(status), None),
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
            // `waitid` reports the last change of each child only.
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
        // Notes the processes that are stopped already, because `resume` must not continue them.
        let _ = self.stopped();
        for (place, (_, child)) in self.children.iter_mut().enumerate() {
            // The ID of an ended process stays reserved until it is waited for. `Processes`
            // alone should do that, by `try_wait` and `wait`.
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

    fn end_threads(&mut self) {}
}

/// Sends a signal to a process whose ID is still reserved. Returns true on success.
fn send(child: &Child, signal: Signal) -> bool {
    kill_process(Pid::from_child(child), signal).is_ok()
}

impl Drop for Processes {
    fn drop(&mut self) {
        for (_, child) in &mut self.children {
            // Another part of this program may have waited for a child. Then another process may
            // have its ID.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{WaitOptions, waitpid};

    #[test]
    fn a_process_that_somebody_else_has_waited_for_has_ended() {
        let child = Command::new("true").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mut processes = Processes {
            children: vec![(7, child)],
            stopped: BTreeMap::new(),
            suspended: Vec::new(),
            startup_errors: StartupErrors::new().unwrap(),
            held: Vec::new(),
            next: 0,
        };
        waitpid(Some(pid), WaitOptions::empty()).unwrap();
        let exited = processes.exited();
        assert!(
            matches!(&exited, Some(Exited::Ended(7, how, None)) if how == NOT_KNOWN),
            "{exited:?}"
        );
    }
}
