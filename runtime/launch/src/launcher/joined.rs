//! Admits and watches ranks that another launcher, such as `mpirun`, has started on this host as
//! processes. They join at the launch socket.
//!
//! This launcher is a thread of one of these processes, perhaps its main thread. If the job can't
//! go on, it ends the other processes. How the processes exit is reported by the launcher that
//! started them.

use super::error::LaunchError;
use super::options::Stage;
use super::rank_set::{Exited, Place, RankSet};
use super::signals::attend;
use super::supervise::stop;
use crate::join::{Callers, JoinedRank, LaunchSocket};
use crate::monitor::Stopped;
use goal_job::bootstrap::{RankBootstrap, VERSION};
use goal_job::limits;
use goal_job::offload::RemoteEndpoint;
use goal_job::peer::Peer;
use goal_job::threads::namespace;
use goal_shm::{Sealed, Segment};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, pidfd_send_signal};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// The time in which all processes of a host must join if the user set none. All of them were
/// started together, so only a process that does other work first takes long.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two checks for signals and the time limit.
const LOOK: Duration = Duration::from_millis(20);
/// The time that processes have to leave a job that is over.
const LEAVE_LIMIT: Duration = Duration::from_secs(5);

/// The processes of this host that have joined. Dropping this stops the job. Ranks of a schedule
/// then get time to leave. Processes of a program that have not left are killed, except this one.
pub(super) struct Processes<'a> {
    segment: &'a Segment,
    are_programs: bool,
    members: Vec<Member>,
}

/// A process that has joined, and whether it has left again.
struct Member {
    joined: JoinedRank,
    has_left: bool,
}

impl<'a> Processes<'a> {
    /// Waits until a process has joined for each rank of this host. Then sends each of them its
    /// bootstrap record.
    ///
    /// # Errors
    /// A process does not join in time, or the system refuses.
    pub(super) fn admit(
        place: &Place<'a>,
        endpoints: Vec<RemoteEndpoint>,
        sealed: &Sealed,
        launch_socket: &LaunchSocket,
    ) -> Result<Self, LaunchError> {
        let Place { segment, settings, options, here, .. } = *place;
        let mut joined: BTreeMap<u32, JoinedRank> = BTreeMap::new();
        let mut callers = Callers::default();
        let (since, patience) = (Instant::now(), options.spec.timeout.unwrap_or(PATIENCE));
        while joined.len() < here.len() {
            (options.show)(Stage::Starting {
                started: joined.len() as u32,
                ranks: here.len() as u32,
            });
            if let Some(signal) = attend(options, true) {
                return Err(LaunchError::Interrupted(signal));
            }
            if since.elapsed() >= patience {
                if let Some(why) = callers.hindrance() {
                    let why = limits::named(&why);
                    return Err(LaunchError::Rank(format!(
                        "processes of this host can't join: no connection can be accepted: {why}"
                    )));
                }
                let absent = here.iter().find(|rank| !joined.contains_key(rank));
                return Err(LaunchError::Rank(format!(
                    "rank {} did not join within {} s: has its process begun? All processes of a job must start the same program",
                    absent.copied().unwrap_or_default(),
                    patience.as_secs_f64()
                )));
            }
            for process in launch_socket.admit(&mut callers, LOOK)? {
                if here.binary_search(&process.rank).is_ok() {
                    joined.entry(process.rank).or_insert(process);
                }
            }
        }
        let told = Sealed::copy_of(&serde_json::to_vec(settings).expect("numbers and texts"))?;
        let mut members = Vec::new();
        for ((rank, joined), endpoint) in joined
            .into_iter()
            .zip(endpoints.into_iter().map(Some).chain(std::iter::repeat_with(|| None)))
        {
            let bootstrap = RankBootstrap {
                version: VERSION.into(),
                rank,
                launcher: std::process::id(),
                namespace: namespace(),
                startup_errors: None,
                segment: segment.fd().as_raw_fd(),
                passed: Vec::new(),
                schedule: sealed.fd().as_raw_fd(),
                settings: told.fd().as_raw_fd(),
                section: options
                    .window
                    .as_ref()
                    .map(|window| (window.file.as_raw_fd(), window.outline.place(rank))),
                remote_sockets: endpoint.as_ref().and_then(RemoteEndpoint::passed_sockets),
                kernel: None,
                tables: None,
            };
            let mut descriptors = vec![segment.fd(), sealed.fd(), told.fd()];
            descriptors.extend(options.window.as_ref().map(|window| window.file.as_fd()));
            descriptors.extend(endpoint.iter().flat_map(RemoteEndpoint::descriptors));
            descriptors.extend(segment.bells());
            joined.hand(bootstrap, &descriptors).map_err(|error| {
                LaunchError::Rank(format!("rank {rank} ended before the job began: {error}"))
            })?;
            members.push(Member { joined, has_left: false });
        }
        Ok(Self { segment, are_programs: settings.are_programs(), members })
    }

    /// Waits until the processes of a complete job have left it.
    pub(super) fn join(&mut self) {
        let segment = self.segment;
        stop(segment, Some(LEAVE_LIMIT), || self.have_left());
    }

    /// Returns true if all processes have left the job or have ended.
    fn have_left(&mut self) -> bool {
        self.members.iter_mut().all(Member::look)
    }
}

impl Member {
    /// Returns true if the process has left the job or has ended.
    fn look(&mut self) -> bool {
        let is_over = |descriptor: &OwnedFd| is_readable(descriptor, Duration::ZERO);
        // A child that the process has forked may keep the connection open, so its pidfd counts
        // too.
        self.has_left = self.has_left
            || is_over(&self.joined.socket)
            || self.joined.peer.handle.as_ref().is_some_and(is_over);
        self.has_left
    }
}

impl RankSet for Processes<'_> {
    fn exited(&mut self) -> Option<Exited> {
        if self.segment.start_barrier().is_stopped() {
            return None;
        }
        let segment = self.segment;
        let is_missed = |rank: u32| segment.status(rank).member_state.takes_part();
        let is_gone = |member: &mut Member| member.look() && is_missed(member.joined.rank);
        let member = self.members.iter_mut().find_map(|one| is_gone(one).then_some(one))?;
        let JoinedRank { rank, peer: Peer { process, .. }, .. } = member.joined;
        let how = match self.are_programs {
            true => {
                format!("(process {process}) ended before its end: it has not called GOAL_Finalize")
            }
            false => format!("(process {process}) ended before the job"),
        };
        Some(Exited::Ended(rank, how, None))
    }

    fn started(&self) -> usize {
        self.members.len()
    }

    /// Processes of a program leave when all ranks have come to their end.
    fn have_finished(&mut self, have_passed: bool) -> bool {
        have_passed && (!self.are_programs || self.have_left())
    }

    /// The launcher that started the processes also stops and continues them.
    fn stopped(&mut self) -> Vec<Stopped> {
        vec![]
    }

    fn suspend(&mut self) {}

    fn resume(&mut self) {}

    fn end_threads(&mut self) {}
}

impl Drop for Processes<'_> {
    fn drop(&mut self) {
        if !self.segment.start_barrier().is_stopped() {
            self.segment.start_barrier().stop();
        }
        // A rank of a schedule leaves by itself when the job is over. A program does not notice the
        // end of another one. After a failed action its calls return the error, so it gets time to
        // report the error and to end by itself.
        let segment = self.segment;
        let has_failed = |one: &Member| segment.failure_of_failed(one.joined.rank).is_some();
        if !self.are_programs || self.members.iter().any(has_failed) {
            self.join();
        }
        if !self.are_programs {
            return;
        }
        let own = std::process::id();
        for member in &mut self.members {
            let has_left = member.look();
            let Peer { process, handle } = &member.joined.peer;
            if !has_left && *process != own {
                let sent = handle.as_ref().map(|one| pidfd_send_signal(one, Signal::KILL));
                debug_assert!(!matches!(sent, Some(Err(Errno::PERM))), "it is the same user's");
            }
        }
    }
}

/// Returns true if a descriptor becomes readable, or reaches its end, within `limit`.
fn is_readable(descriptor: &impl AsFd, limit: Duration) -> bool {
    let limit = Timespec::try_from(limit).ok();
    let mut fds = [PollFd::new(descriptor, PollFlags::IN)];
    poll(&mut fds, limit.as_ref()).is_ok_and(|ready| ready > 0)
}
