//! Starts ranks as processes of a program, and watches these processes.
//!
//! Each process has its own process group. So the signals of a terminal reach only the launcher,
//! which passes on requests to end or to stop. Processes that a rank starts are in its group too,
//! and end with the job. The launcher reaps a rank's process only at the end of the job. Until then
//! the process ID can't name another group.
//!
//! If the program is a script, another process that it starts may attach as the rank: see
//! [`Attended`].
//!
//! **Rights.** A program has the rights of its user, as if the user had started it. It gets none of
//! the capabilities that the launcher's file gave to the launcher. On several hosts it gets the
//! sockets of its rank. So a launcher whose file has capabilities does not start programs there:
//! see [`rights`](goal_job::rights).
//!
//! `unsafe`: code that a child runs between its start and its program.
#![allow(unsafe_code)]

use super::attended::Attended;
use super::child::{Exit, LOOK, Process};
use super::error::LaunchError;
use super::input;
use super::options::{Program, Stage};
use super::output::Output;
use super::rank_set::{Exited, Place, RankSet};
use super::reaper::{Reaper, ReaperPipe};
use super::shutdown::wake;
use super::signals::{Deferred, keep_children, stop_as_usual};
use crate::growth_socket::GrowthSocket;
use crate::monitor::Stopped;
use goal_eth::HeldDriver;
use goal_job::Settings;
use goal_job::bootstrap::{OF_PROGRAM, OF_SCHEDULE, RankBootstrap, VERSION};
use goal_job::inherited::{Lent, Passed};
use goal_job::limits::restore_open_files;
use goal_job::offload::RemoteEndpoint;
use goal_job::remote_sockets::RemoteSockets;
use goal_job::threads::{namespace, sleep};
use goal_shm::{Sealed, Segment};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, child_subreaper, getpid, getppid,
    set_child_subreaper, set_parent_process_death_signal, waitid, waitpgid,
};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The longest time for which a launcher waits for a process that it may not kill. Such a process
/// runs as another user, because its file is set-user-ID.
const FOREIGN_LIMIT: Duration = Duration::from_secs(5);

/// The longest time for which a launcher waits until processes that ranks have started are gone.
const VANISH_LIMIT: Duration = Duration::from_millis(200);

/// The lowest number of a descriptor that is passed on to a program.
const PASSED_MIN: RawFd = 32;

/// The processes of a program's ranks on this host. Dropping this ends them and what they started.
pub(super) struct Programs<'a> {
    pub(super) place: Place<'a>,
    pub(super) segment: &'a Segment,
    pub(super) processes: Vec<Process>,
    /// The schedule and the settings, which every process inherits.
    sealed: &'a Sealed,
    told: Sealed,
    /// The bells of all ranks, if they have any.
    bells: Vec<Passed>,
    /// The socket for requests for more ranks. `None` if the job can't grow.
    pub(super) requests: Option<GrowthSocket>,
    /// The reaper, which kills the ranks if the launcher is killed.
    reaper: Reaper,
    /// True if this process stays a subreaper of orphans after the job.
    adopts_always: bool,
    /// The thread that passes on the output of ranks. `None` if they inherit standard output.
    output: Option<Output>,
    /// The resources that must live as long as the processes use their drivers.
    held: Vec<HeldDriver>,
    /// The time at which the processes were stopped. `None` while they run.
    suspended_at: Option<Instant>,
    /// The total time for which the processes were stopped.
    suspended: Duration,
}

impl<'a> Programs<'a> {
    /// Starts a process for each rank of this host. Stops early if the job is interrupted. In a job
    /// on one host also stops if the time is up. A process inherits the memory files and its remote
    /// endpoint. It ends with the calling thread.
    ///
    /// # Errors
    /// The system's error; processes that were started are killed.
    pub(super) fn spawn(
        place: &Place<'a>,
        endpoints: Vec<RemoteEndpoint>,
        sealed: &'a Sealed,
        program: &Program,
    ) -> Result<Self, LaunchError> {
        let Place { segment, settings, options, here, .. } = *place;
        keep_children();
        let mut requests = (settings.reserve > 0).then(GrowthSocket::new).transpose()?;
        let growth_address = requests.as_ref().map(|socket| socket.address().clone());
        // From here on, the reaper cleans up if the launcher is killed.
        let reaper = Reaper::start(here.len(), growth_address.as_ref())?;
        if let Some(socket) = requests.as_mut().filter(|_| options.must_grow) {
            socket.open(true).map_err(|error| {
                let folder = socket.address().folder.display();
                let text = format!("the job can't grow (--grow-to): {folder}: {error}");
                io::Error::new(error.kind(), text)
            })?;
        }
        let told = Settings { growth_address, ..settings.clone() };
        let told = Sealed::copy_of(&serde_json::to_vec(&told).expect("numbers and texts"))?;
        let mut programs = Self {
            place: *place,
            segment,
            processes: Vec::new(),
            sealed,
            told,
            bells: Passed::all(segment.bells())?,
            requests,
            reaper,
            output: Output::of_job(place.present().len(), options),
            adopts_always: child_subreaper().is_ok_and(|process| process.is_some()),
            held: Vec::new(),
            suspended_at: None,
            suspended: Duration::ZERO,
        };
        // As a subreaper the launcher adopts orphans, so it can wait for processes that ranks have
        // started.
        let _ = set_child_subreaper(Some(getpid()));
        let (program, mut endpoints) = (Arc::new(program.clone()), endpoints.into_iter());
        let here = place.present();
        for (started, &rank) in (0..).zip(here) {
            (options.show)(Stage::Starting { started, ranks: here.len() as u32 });
            programs.start(rank, &program, endpoints.next(), here.len())?;
            // In a job on several hosts the leader alone watches the time.
            let is_late = settings.network.is_none() && place.is_late(Duration::ZERO);
            if is_late || options.interrupted.load(Ordering::SeqCst) != 0 {
                break;
            }
        }
        Ok(programs)
    }

    /// Starts the process of a rank. `wanted` is the number of ranks to start, for the error.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn start(
        &mut self,
        rank: u32,
        program: &Arc<Program>,
        endpoint: Option<RemoteEndpoint>,
        wanted: usize,
    ) -> Result<(), LaunchError> {
        let Self { segment, sealed, ref told, ref bells, .. } = *self;
        let mut descriptors = vec![segment.fd(), sealed.fd(), told.fd()];
        descriptors.extend(endpoint.iter().flat_map(RemoteEndpoint::descriptors));
        let mut passed = Passed::all(descriptors.iter().copied())?;
        passed.extend_from_slice(bells);
        let bootstrap = RankBootstrap {
            version: VERSION.into(),
            rank,
            launcher: std::process::id(),
            namespace: namespace(),
            startup_errors: None,
            segment: segment.fd().as_raw_fd(),
            passed,
            schedule: sealed.fd().as_raw_fd(),
            settings: told.fd().as_raw_fd(),
            section: None,
            remote_sockets: endpoint.as_ref().and_then(RemoteEndpoint::passed_sockets),
            kernel: None,
            tables: endpoint.as_ref().and_then(RemoteEndpoint::passed_tables),
        };
        let mut command = Command::new(&program.executable);
        command
            .args(&program.arguments)
            .env(OF_PROGRAM, bootstrap.to_text())
            .env_remove(OF_SCHEDULE)
            .stdin(if rank == 0 { input::of_first_rank()? } else { Stdio::null() })
            .stdout(self.output.as_mut().map_or_else(Stdio::inherit, Output::of_rank))
            .process_group(0);
        let (launcher, reaper) = (getpid(), self.reaper.pipe());
        // SAFETY: system calls on values of the closure; nothing is allocated, no lock taken.
        unsafe { command.pre_exec(move || prepare(launcher, reaper)) };
        let child = {
            let _lent = Lent::new(descriptors)?;
            let _deferred = Deferred::new()?;
            self.reaper.around(|| command.spawn())
        };
        let started = self.processes.len();
        let child = child.map_err(|cause| {
            LaunchError::of_program(&program.executable, started, wanted, cause)
        })?;
        self.held.extend(
            endpoint
                .and_then(RemoteEndpoint::into_remote_sockets)
                .and_then(RemoteSockets::into_held),
        );
        self.processes.push(Process {
            rank,
            program: Arc::clone(program),
            child,
            since: Instant::now(),
            attended: Attended::default(),
            exit: None,
            stopped: None,
            is_suspended: false,
            is_lost: false,
        });
        Ok(())
    }

    /// Reaps orphans of ranks that have ended, which this process has adopted. Orphans outside the
    /// groups of ranks are not reaped before the end of the job.
    fn reap_adopted(&self) {
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        let ended = |of| {
            let what = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
            waitid(of, what).ok()?.pid()
        };
        if ended(Id::All).is_none() {
            return;
        }
        for process in self.processes.iter().filter(|process| process.exit.is_none()) {
            let first = nix::unistd::Pid::from_raw(process.pid().as_raw_pid());
            // The rank's own process is the oldest child of its group, so `waitid` finds it first.
            // It is not reaped here.
            while let Some(one) = ended(Id::PGid(first)).filter(|&one| one != first) {
                if waitid(Id::Pid(one), WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG).is_err() {
                    break;
                }
            }
        }
    }

    /// Returns the text and the exit status of the launcher if this end of a rank's process ends
    /// the job. Returns `None` if the job goes on.
    fn fault(&self, process: &Process, exit: Exit) -> Option<(String, Option<u8>)> {
        let process_state = |rank: u32| &self.segment.status(rank).process_state;
        let name = process.program.executable.display();
        let start_barrier = self.segment.start_barrier();
        let member_state = &self.segment.status(process.rank).member_state;
        if !member_state.is_member() || member_state.has_left() && exit == Exit::Status(0) {
            return None;
        }
        match exit {
            Exit::Signal(signal) => {
                let text = match signal_hook::low_level::signal_name(signal) {
                    Some(of_signal) => {
                        format!("({name}) was killed by signal {signal} ({of_signal})")
                    }
                    None => format!("({name}) was killed by signal {signal}"),
                };
                Some((text, Some((128 + signal) as u8)))
            }
            Exit::Status(0) if process_state(process.rank).process().is_some() => {
                let has_left = start_barrier.has_ended();
                (!has_left).then(|| {
                    (
                        format!("({name}) exited before its end: it has not called GOAL_Finalize"),
                        None,
                    )
                })
            }
            Exit::Status(0) if process.rank >= self.segment.num_started() => Some((
                format!("({name}) was added to the job, and exited without attaching to it"),
                None,
            )),
            Exit::Status(0) => {
                let waits = |process: &&Process| process_state(process.rank).process().is_some();
                let waiting = self.processes.iter().find(waits)?;
                let text = format!(
                    "({name}) exited and never attached to the job, and rank {} waits for it",
                    waiting.rank
                );
                Some((text, None))
            }
            Exit::Status(status) => {
                let before = match start_barrier.has_ended() {
                    true => "",
                    false if member_state.has_left() => " after it had left",
                    false => " before its end",
                };
                let text = format!("({name}) exited with status {status}{before}");
                Some((text, Some(status as u8)))
            }
        }
    }
}

/// Occupies the descriptors below 32 as long as the result lives, so that this process opens files
/// under higher numbers. A rank may be a shell script, and shells open files under numbers of one
/// digit. So the descriptors that the launcher passes on must have other numbers.
///
/// # Errors
/// The system's error.
pub fn beyond_shells() -> io::Result<Vec<OwnedFd>> {
    let mut low = Vec::new();
    loop {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("/dev/null: {error}"));
        let one = OwnedFd::from(File::open("/dev/null").map_err(named)?);
        if one.as_raw_fd() >= PASSED_MIN {
            return Ok(low);
        }
        low.push(one);
    }
}

/// Prepares a child for the program that it is about to execute.
fn prepare(launcher: Pid, reaper: ReaperPipe) -> io::Result<()> {
    stop_as_usual();
    restore_open_files();
    set_parent_process_death_signal(Some(Signal::KILL))?;
    reaper.add_own_group();
    // The launcher may have died before the death signal was set.
    if getppid() == Some(launcher) { Ok(()) } else { Err(Errno::SRCH.into()) }
}

impl RankSet for Programs<'_> {
    fn exited(&mut self) -> Option<Exited> {
        for process in &mut self.processes {
            process.look();
        }
        self.reap_adopted();
        self.give_up_ended();
        if let Some(exited) = self.overdue() {
            return Some(exited);
        }
        let fault = |process: &Process| Some((process.rank, self.fault(process, process.exit?)?));
        let mut left = self.processes.iter().filter(|process| !process.is_lost);
        if let Some((rank, (how, status))) = left.find_map(fault) {
            return Some(Exited::Ended(rank, how, status));
        }
        let segment = self.segment;
        let lost = |process: &mut Process| {
            let status = segment.status(process.rank);
            let lost = process.attended.look(&status.process_state, process.child.id())?;
            let is_missed = process.exit.is_none() && status.member_state.takes_part();
            let name = process.program.executable.display().to_string();
            (is_missed && !segment.start_barrier().has_ended()).then_some((
                process.rank,
                lost,
                name,
            ))
        };
        let mut left = self.processes.iter_mut().filter(|process| !process.is_lost);
        let (rank, lost, name) = left.find_map(lost)?;
        let how = format!(
            "(process {lost}, which {name} has started) ended before its end: it has not called GOAL_Finalize"
        );
        Some(Exited::Ended(rank, how, None))
    }

    fn bury(&mut self, rank: u32) -> bool {
        let one = |process: &&mut Process| process.rank == rank;
        let Some(process) = self.processes.iter_mut().find(one) else { return false };
        process.is_lost = process.end(&self.segment.status(rank).process_state);
        process.is_lost
    }

    fn started(&self) -> usize {
        self.processes.len()
    }

    fn have_finished(&mut self, _: bool) -> bool {
        for process in &mut self.processes {
            process.look();
        }
        // A rank that exits with status 0 but has not called `GOAL_Finalize` has not finished. This
        // holds even if all ranks have exited.
        let is_done = |process: &Process| {
            process.is_lost
                || !self.segment.status(process.rank).member_state.is_member()
                || process.exit == Some(Exit::Status(0))
                    && self.fault(process, Exit::Status(0)).is_none()
        };
        self.processes.iter().all(is_done)
    }

    fn grow(&mut self) -> bool {
        self.answer_requests()
    }

    fn dismiss(&mut self) {
        self.dismiss_unaccepted();
    }

    fn stopped(&mut self) -> Vec<Stopped> {
        for process in &mut self.processes {
            let what = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
            // `waitid` reports the last change of each child only.
            if let Ok(Some(change)) = waitid(WaitId::Pid(process.pid()), what) {
                process.stopped = change.stopping_signal();
            }
        }
        let stopped = self.processes.iter().filter_map(|process| {
            let (rank, signal) = (process.rank, process.stopped?);
            process.exit.is_none().then(|| Stopped { rank, process: process.child.id(), signal })
        });
        stopped.collect()
    }

    fn forward(&mut self, signal: i32) -> bool {
        if let Some(signal) = Signal::from_named_raw(signal) {
            for process in &mut self.processes {
                process.forward(signal, &self.segment.status(process.rank).process_state);
            }
        }
        true
    }

    fn suspend(&mut self) {
        self.suspended_at = Some(Instant::now());
        // Notes the processes that are stopped already, because `resume` must not continue them.
        let _ = self.stopped();
        for process in &mut self.processes {
            process.is_suspended =
                process.look().is_none() && process.stopped.is_none() && process.send(Signal::STOP);
        }
    }

    fn resume(&mut self) {
        let stopped = self.suspended_at.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.suspended += stopped;
        for process in &mut self.processes {
            process.since += stopped;
            if std::mem::take(&mut process.is_suspended) {
                process.send(Signal::CONT);
                process.stopped = None;
            }
        }
    }

    fn end_threads(&mut self) {}
}

impl Drop for Programs<'_> {
    fn drop(&mut self) {
        let is_complete = self.have_finished(true);
        let (mut mine, mut foreign) = (Vec::new(), Vec::new());
        for process in &mut self.processes {
            process.kill_attended(&self.segment.status(process.rank).process_state);
            let is_mine = process.send(Signal::KILL);
            // The child may have left its group.
            let _ = process.child.kill();
            if is_mine { mine.push(process) } else { foreign.push(process) }
        }
        // A process that has left its group and runs in another namespace gets no signal. It
        // notices the end of the job when it is woken.
        self.segment.start_barrier().stop();
        wake(self.segment, self.place.present());
        let mut groups: Vec<Pid> = mine.iter().map(|process| process.pid()).collect();
        for process in mine {
            let _ = process.child.wait();
        }
        let since = Instant::now();
        for process in foreign {
            while matches!(process.child.try_wait(), Ok(None)) && since.elapsed() < FOREIGN_LIMIT {
                sleep(LOOK);
            }
        }
        // All other processes of the groups got the signal. Each becomes a child of this process
        // when its parent ends, so it can be awaited.
        let since = Instant::now();
        loop {
            groups.retain(|&group| !is_gone(group));
            if groups.is_empty() || since.elapsed() >= VANISH_LIMIT {
                break;
            }
            sleep(LOOK);
        }
        if !self.adopts_always {
            let _ = set_child_subreaper(None);
        }
        if let Some(output) = &self.output {
            let Place { options, since, .. } = self.place;
            // Without pipes, ranks that came to their end would wait for a reader themselves until
            // the time is up. So the thread does the same.
            let time_is_up = options.spec.timeout.and_then(|timeout| since.checked_add(timeout));
            let time_is_up = time_is_up.and_then(|time| time.checked_add(self.suspended));
            output.end(if is_complete { time_is_up } else { Some(Instant::now()) });
        }
    }
}

/// Reaps the ended children of this process in a process group. Returns true if this process has
/// no child in the group any more.
fn is_gone(group: Pid) -> bool {
    loop {
        match waitpgid(group, WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}
