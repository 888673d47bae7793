//! Starts the ranks of a job, watches over them and cleans up.
//!
//! The launcher creates one segment of shared memory for all that ranks share, for processes and
//! threads alike. When [`run`] returns, no rank is left. If the launcher dies, the kernel ends its
//! rank processes, and the segment, which has no name, vanishes with them.

mod crew;
mod hosts;
mod options;
mod process;
mod processes;
mod signals;
mod supervise;
mod threads;
mod troubles;

pub use crate::monitor::{Pending, Started, Stopped};
pub use crate::outcome::{Counts, End, Outcome};
pub use hosts::{Ended, Hosts, HostsError, OptionNames, Others, Verdict, run_on_hosts};
pub use options::{Options, Ranks, Stage};
pub use process::rank_process;
pub use signals::{attend, interrupted, suspended, unattended};

use crate::job::{Mode, Settings, has_time, layout};
use crate::limits::Demand;
use crate::monitor::{Observed, signal_name};
use crate::network::Network;
use crate::{limits, rights};
use crew::Crew;
use goal_asm::Nisa;
use goal_engine::state_bytes;
use goal_engine::transport::Distance;
use goal_eth::{AnyDriver, DriverKind};
use goal_shm::{Sealed, Segment};
use processes::Processes;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use supervise::Supervisor;

/// Why a job was not started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The program needs more shared memory than allowed.
    #[error("{0} (--max-segment raises it)")]
    TooLarge(#[from] goal_shm::SegmentTooLarge),
    /// The program has more ranks than may be started.
    #[error(
        "the program has {ranks} ranks, and at most {limit} are started (--max-started raises it)"
    )]
    TooManyRanks {
        /// Ranks of the program.
        ranks: u32,
        /// Ranks allowed.
        limit: u32,
    },
    /// No transport is left to a rank.
    #[error(transparent)]
    Unreachable(#[from] crate::transport::Unreachable),
    /// The interpreter would need more memory than allowed to compare the run.
    #[error(
        "the interpreter needs {needed} bytes for the memory of all ranks, the limit is {limit} (--max-verified raises it)"
    )]
    TooLargeToVerify {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A window can't record matches, since the record would be as long as the schedule.
    #[error(
        "what receives take is not recorded in a window: verify the run without one, or leave out the record"
    )]
    RecordInWindow,
    /// Mode `node` needs whole schedules: only a rank's own process has what its window holds.
    #[error(
        "ranks can't act for each other where each reads its schedule through a window: leave --window out, or take --progress thread"
    )]
    NodeInWindow,
    /// Mode `node` is for jobs on one host: only a rank's own process has its streams.
    #[error(
        "ranks can't act for each other where some are on other hosts: take --progress thread, or leave it out"
    )]
    NodeOnHosts,
    /// The hosts of the job do not agree, or do not find each other.
    #[error("the job does not start: {0}")]
    Hosts(#[from] HostsError),
    /// Other hosts can't be reached from here.
    #[error(transparent)]
    Interface(#[from] goal_eth::OpenError),
    /// A signal ended this launcher before it had started ranks.
    #[error("ended by {}", signal_name(*.0))]
    Interrupted(usize),
    /// The system refuses to start another process.
    #[error("the ranks can't be started: the system refuses process {} of {wanted}: {}", started + 1, limits::named(cause))]
    Process {
        /// The number that was started.
        started: usize,
        /// The number that the job needs.
        wanted: usize,
        /// The system's error.
        cause: io::Error,
    },
    /// The executable for rank processes does not exist.
    #[error(
        "the ranks can't be started: this program is not found (/proc is not mounted, or the file is gone): mount /proc, or take --ranks-as threads"
    )]
    Executable,
    /// The system refuses to start another thread.
    #[error("the ranks can't be started: the system refuses thread {} of {wanted}: {}", started + 1, limits::named(cause))]
    Thread {
        /// The number that was started.
        started: usize,
        /// The number that the job needs.
        wanted: usize,
        /// The system's error.
        cause: io::Error,
    },
    /// A limit of the system is too low for the job.
    #[error("the ranks can't be started: {0}")]
    Limit(#[from] limits::Shortage),
    /// A rank could not start; the text is its own.
    #[error("the ranks can't be started: {0}")]
    Rank(String),
    /// The system has no more memory, processes, threads or descriptors.
    #[error("the ranks can't be started: {}", limits::named(.0))]
    System(#[from] io::Error),
}

impl LaunchError {
    /// Returns the error for a process that could not be started after `started` others.
    fn of_spawn(started: usize, wanted: usize, cause: io::Error) -> Self {
        match cause.raw_os_error() {
            Some(libc::ENOENT) => Self::Executable,
            Some(libc::EMFILE | libc::ENFILE) => Self::System(cause),
            _ => Self::Process { started, wanted, cause },
        }
    }
}

/// The part of a job that runs on this host.
#[derive(Clone, Copy)]
struct Place<'a> {
    nisa: &'a Arc<Nisa>,
    options: &'a Options,
    settings: &'a Settings,
    segment: &'a Segment,
    /// The ranks of this host, ascending.
    here: &'a [u32],
    /// The start of the time that the time limit bounds.
    since: Instant,
}

impl<'a> Place<'a> {
    /// Returns the input of a report on unfinished actions.
    fn observed(&self) -> Observed<'a> {
        let Self { nisa, options, settings, segment, here, .. } = *self;
        Observed { segment, nisa, window: options.window.as_ref(), settings, here }
    }

    /// Returns true if the time is up. Does not count the time for which this process was
    /// `suspended`.
    fn is_late(&self, suspended: Duration) -> bool {
        let timeout = self.options.timeout;
        timeout.is_some_and(|timeout| self.since.elapsed().saturating_sub(suspended) >= timeout)
    }
}

/// Runs every rank of a schedule until the job ends, and returns how it ended. Expectations on
/// memory that derives from the clock are left to [`unmet`](crate::verify::unmet).
///
/// # Errors
/// The ranks can't be started.
pub fn run(nisa: &Arc<Nisa>, options: &Options) -> Result<Outcome, LaunchError> {
    let since = Instant::now();
    let (settings, segment) = equip(nisa, options, None)?;
    let here: Vec<u32> = (0..nisa.num_ranks()).collect();
    let place = Place { nisa, options, settings: &settings, segment: &segment, here: &here, since };
    let watch = |crew: &mut dyn Crew| Supervisor::new(&place).watch(crew);
    let end = run_ranks(&place, Vec::new(), watch, |end| *end == End::Complete)?;
    Ok(Outcome::new(end, segment, nisa, &settings))
}

/// Checks the options of a job, and creates its settings and the segment of this host.
fn equip(
    nisa: &Arc<Nisa>,
    options: &Options,
    network: Option<Network>,
) -> Result<(Settings, Segment), LaunchError> {
    let (ranks, limit) = (nisa.num_ranks(), options.ranks_max);
    if ranks > limit {
        return Err(LaunchError::TooManyRanks { ranks, limit });
    }
    if options.progress == Mode::Node && options.window.is_some() {
        return Err(LaunchError::NodeInWindow);
    }
    if options.record && options.window.is_some() {
        return Err(LaunchError::RecordInWindow);
    }
    let has_time = has_time(nisa);
    let here = network.as_ref().map_or(ranks, Network::num_here);
    let mut settings = Settings {
        eager_limit: options.engine.eager_limit,
        unexpected_limit: options.engine.unexpected_limit,
        calc: match options.engine.calc {
            goal_engine::Calc::Skip => None,
            goal_engine::Calc::Scaled(factor) => Some(factor),
        },
        repeat: options.repeat,
        check: !has_time,
        record: options.record || has_time,
        trace_events: options
            .trace_events
            .map_or(0, |events| (events / u64::from(ranks.max(1))).max(1)),
        window: options.window.as_ref().map(|window| window.settings),
        paths: options.transports.paths(Distance::farthest(ranks, network.is_some()))?,
        crowded: is_crowded(here),
        progress: options.progress,
        wait: options.wait,
        network,
    };
    if settings.record {
        let (needed, limit) = (memory_bytes(nisa), options.verified_bytes_max);
        if needed > limit {
            return Err(LaunchError::TooLargeToVerify { needed, limit });
        }
    }
    let layout = layout(nisa, &settings, options.segment_bytes_max)?;
    let demand = demand(nisa, options, &settings, layout.len() as u64);
    demand.check()?;
    if let Some(doubt) = demand.doubt() {
        (options.tell)(&doubt);
    }
    let mut segment = Segment::create(layout)?;
    if let Some(network) = &mut settings.network {
        // A rank that waits for other hosts sleeps in a poll of sockets, which only a descriptor
        // ends.
        segment.create_bells(network.here())?;
        network.bells = segment.bells().map(|bell| bell.as_raw_fd()).collect();
    }
    Ok((settings, segment))
}

/// Returns the resources that the ranks of this host need.
fn demand(nisa: &Nisa, options: &Options, settings: &Settings, segment: u64) -> Demand {
    let here = (0..nisa.num_ranks()).filter(|&rank| settings.is_here(rank));
    let memory = here.map(|rank| nisa.memory_size(rank).saturating_add(nisa.scratch_size(rank)));
    Demand {
        ranks: settings.num_here(nisa.num_ranks()).into(),
        are_processes: matches!(options.ranks, Ranks::Processes { .. }),
        threads: if settings.progress == Mode::Thread { 2 } else { 1 },
        shared: segment + nisa.bytes().len() as u64,
        own: if settings.progress == Mode::Node {
            0
        } else {
            state_bytes(settings.unexpected_limit)
        },
        // A rank's bell, its port and its sockets.
        descriptors: settings.network.as_ref().map_or(0, |network| match network.driver {
            DriverKind::Packet => 3,
            DriverKind::Xdp => 6,
        }),
        memory: memory.fold(0, u64::saturating_add),
    }
}

/// Runs the ranks of this host, and `watch` meanwhile, and returns the result of `watch` when all
/// ranks have ended. If `is_complete` is true of that result, rank processes get time to exit by
/// themselves. In a job on several hosts there is a driver for each rank. All sockets are open, so
/// the launcher gives up its rights here.
fn run_ranks<T>(
    place: &Place<'_>,
    drivers: Vec<AnyDriver>,
    watch: impl FnOnce(&mut dyn Crew) -> Result<T, LaunchError>,
    is_complete: impl FnOnce(&T) -> bool,
) -> Result<T, LaunchError> {
    if place.options.gives_up_rights {
        rights::give_up_all_but_files()?;
    }
    let executable = match &place.options.ranks {
        Ranks::Threads => return threads::run(place, drivers, watch),
        Ranks::Processes { executable } => executable,
    };
    let sealed = Sealed::copy_of(place.nisa.bytes())?;
    let mut processes = Processes::spawn(place, drivers, &sealed, executable)?;
    let end = watch(&mut processes)?;
    if is_complete(&end) {
        processes.join(place.segment, &place.options.interrupted);
    }
    Ok(end)
}

/// Returns true if this host has fewer processors than `ranks`.
pub fn is_crowded(ranks: u32) -> bool {
    ranks as usize > std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the size in bytes of the memory and scratch memory of all ranks.
fn memory_bytes(nisa: &Nisa) -> u64 {
    let of_rank = |rank| nisa.memory_size(rank).saturating_add(nisa.scratch_size(rank));
    (0..nisa.num_ranks()).fold(0, |sum: u64, rank| sum.saturating_add(of_rank(rank)))
}
