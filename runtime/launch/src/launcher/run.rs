//! Runs a job on one host. Jobs on several hosts use some of its steps too.

use super::error::LaunchError;
use super::joined;
use super::losses;
use super::options::{Options, Ranks};
use super::processes::Processes;
use super::programs::Programs;
use super::rank_set::{Place, RankSet};
use super::supervise::Supervisor;
use super::threads;
use crate::outcome::{End, Outcome, Run};
use goal_asm::Nisa;
use goal_engine::state_bytes;
use goal_engine::transport::Distance;
use goal_eth::DriverKind;
use goal_job::binding::Binding;
use goal_job::limits::{Demand, PREFAULT_SHARE, free_memory};
use goal_job::network::Network;
use goal_job::offload::{InKernel, Offload, RemoteEndpoint};
use goal_job::rights;
use goal_job::{JobSpec, Mode, Origin, Settings, has_time, layout};
use goal_rank::program::skeleton;
use goal_shm::{Sealed, Segment};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Instant;

/// Runs every rank of a schedule until the job ends. Returns how it ended. Does not check
/// expectations on memory that derives from the clock; `goal_run::verify::unmet` does.
///
/// # Errors
/// The ranks can't be started.
pub fn run(nisa: &Arc<Nisa>, options: &Options) -> Result<Outcome, LaunchError> {
    let since = Instant::now();
    match options.spec.offload {
        Offload::Off => {}
        Offload::Auto => (options.tell)(&format!("processes run the schedule: {ONE_HOST}")),
        Offload::Kernel => return Err(LaunchError::Offload(ONE_HOST.to_owned())),
    }
    let equipped = equip(nisa, options, None, None);
    let smaller;
    let (nisa, options, equipped) = match equipped {
        // If the job can't start with room for further ranks and need not grow, it starts without
        // this room.
        Err(_) if options.reserve > 0 && !options.must_grow => {
            smaller = without_reserve(nisa, options);
            (&smaller.0, &smaller.1, equip(&smaller.0, &smaller.1, None, None))
        }
        equipped => (nisa, options, equipped),
    };
    let (mut settings, segment, binding) = equipped?;
    if options.spec.offload == Offload::Auto {
        settings.not_in_kernel = Some(ONE_HOST.to_owned());
    }
    let here: Vec<u32> = (0..nisa.num_ranks()).collect();
    let place = Place { nisa, options, settings: &settings, segment: &segment, here: &here, since };
    let watch = |rank_set: &mut dyn RankSet| Supervisor::new(&place).watch(rank_set);
    let end = run_ranks(&place, Vec::new(), watch, |end| *end == End::Complete)?;
    let run = repeated(segment.num_ranks(), options, false, &binding);
    Ok(Outcome::new(end, segment, nisa, &settings, run))
}

/// Returns the skeleton and the options of a job that can't grow.
fn without_reserve(nisa: &Nisa, options: &Options) -> (Arc<Nisa>, Options) {
    let ranks = nisa.num_ranks() - options.reserve;
    (skeleton(ranks, nisa.memory_size(0)), Options { reserve: 0, ..options.clone() })
}

/// The reason why a job on one host can't run in the kernel.
const ONE_HOST: &str = "it runs schedules of several hosts, and all ranks are on this one";

/// Checks the options of a job. Creates its settings, the segment of this host and the binding of
/// its ranks. The binding must live until the ranks have ended. `in_kernel` describes the parts of
/// this host's ranks in the kernel, if they have any.
pub(super) fn equip(
    nisa: &Arc<Nisa>,
    options: &Options,
    network: Option<Network>,
    in_kernel: Option<InKernel>,
) -> Result<(Settings, Segment, Binding), LaunchError> {
    let (ranks, limit) = (nisa.num_ranks(), options.spec.ranks_max);
    if ranks > limit {
        return Err(LaunchError::TooManyRanks { ranks, limit });
    }
    if options.spec.progress == Mode::Node && options.window.is_some() {
        return Err(LaunchError::NodeInWindow);
    }
    if options.record && options.window.is_some() {
        return Err(LaunchError::RecordInWindow);
    }
    if options.spec.survives {
        losses::refuse(options, network.as_ref())?;
    }
    let has_time = has_time(nisa);
    let here = network.as_ref().map_or(ranks - options.reserve, Network::num_here);
    let binding = Binding::new(&options.spec.bind, here)?;
    let mut settings = Settings {
        spec: JobSpec {
            prefault_bytes_max: prefault_bytes_max(options, here),
            ..options.spec.clone()
        },
        pushed_max: options.pushed_max,
        check: !has_time,
        record: options.record || has_time,
        trace_events: match options.traces {
            true => (options.spec.trace_events_max / u64::from(ranks.max(1))).max(1),
            false => 0,
        },
        window: options.window.as_ref().map(|window| window.settings),
        paths: options.transports.paths(Distance::farthest(ranks, network.is_some()))?,
        crowded: binding.is_crowded(here),
        placement: binding.placement(),
        network,
        in_kernel,
        not_in_kernel: None,
        origin: if options.ranks.are_programs() { Origin::Program } else { Origin::Job },
        reserve: options.reserve,
        growth_address: None,
    };
    if settings.record {
        let (needed, limit) = (memory_bytes(nisa), options.spec.verified_bytes_max);
        if needed > limit {
            return Err(LaunchError::TooLargeToVerify { needed, limit });
        }
    }
    let layout = layout(nisa, &settings, options.spec.segment_bytes_max)?;
    let demand = demand(nisa, options, &settings, layout.len() as u64);
    demand.check()?;
    if let Some(doubt) = demand.doubt() {
        (options.tell)(&doubt);
    }
    let mut segment = Segment::create(layout)?;
    if let Some(network) = &mut settings.network {
        // A rank that waits for other hosts sleeps in a poll of sockets. Only a descriptor, its
        // bell, can end this sleep.
        segment.create_bells(network.here())?;
        network.bells = segment.bells().map(|bell| bell.as_raw_fd()).collect();
    }
    Ok((settings, segment, binding))
}

/// Returns the most bytes that each of the `here` ranks of this host makes resident at its start.
fn prefault_bytes_max(options: &Options, here: u32) -> u64 {
    let share = |free: u64| free / PREFAULT_SHARE / u64::from(here.max(1));
    options.spec.prefault_bytes_max.min(free_memory().map_or(0, share))
}

/// Returns the options that the report of a job repeats.
pub(super) fn repeated(ranks: u32, options: &Options, has_hosts: bool, binding: &Binding) -> Run {
    let farthest = Distance::farthest(ranks, has_hosts);
    Run {
        repeat: options.spec.repeat,
        ranks_as: options.ranks.name(),
        transports: options.transports.names(farthest).iter().map(ToString::to_string).collect(),
        unbound: binding.processors().err().map(ToString::to_string),
    }
}

/// Returns the resources that the ranks of this host need: memory, processes and files.
fn demand(nisa: &Nisa, options: &Options, settings: &Settings, segment: u64) -> Demand {
    let here = (0..nisa.num_ranks()).filter(|&rank| settings.is_here(rank));
    // The memory of programs is not counted, because most of their heaps is never touched.
    let here = here.filter(|_| !settings.are_programs());
    let memory = here.map(|rank| nisa.memory_size(rank).saturating_add(nisa.scratch_size(rank)));
    let ranks = settings.num_here(nisa.num_ranks() - settings.reserve).into();
    Demand {
        ranks,
        are_processes: !matches!(options.ranks, Ranks::Threads),
        threads: if settings.spec.progress == Mode::Thread { 2 } else { 1 },
        shared: segment + nisa.bytes().len() as u64,
        own: if settings.spec.progress == Mode::Node {
            0
        } else {
            state_bytes(settings.spec.unexpected_limit)
        },
        files: settings.network.as_ref().map_or(0, |network| {
            open_files(ranks, network.wire.driver(), &options.ranks, settings.in_kernel.is_some())
        }),
        memory: memory.fold(0, u64::saturating_add),
    }
}

/// Returns the number of files that a launcher of `ranks` ranks opens in a job on several hosts.
/// Each rank has a bell, a port and its sockets. In the kernel it also has descriptors of maps, and
/// the engine has maps, programs and links. For programs the descriptors below 32 are kept free.
/// The numbers were measured.
pub(super) fn open_files(
    ranks: u64,
    driver: Option<DriverKind>,
    kind: &Ranks,
    in_kernel: bool,
) -> u64 {
    let of_driver = match driver {
        Some(DriverKind::Packet) => 3,
        Some(DriverKind::Xdp) => 6,
        None => 3,
    };
    let (fixed, each) = match (kind, in_kernel) {
        (Ranks::Threads | Ranks::Processes { .. }, false) => (24, of_driver),
        (Ranks::Threads | Ranks::Processes { .. }, true) => (39, 6),
        // Each rank also has a connection and a pidfd.
        (Ranks::JoinedRank { .. }, _) => (24, of_driver + 2),
        (Ranks::Program(_), false) => (43, of_driver),
        (Ranks::Program(_), true) => (67, of_driver + 9),
    };
    ranks.saturating_mul(each).saturating_add(fixed)
}

/// Starts the ranks of this host and calls `watch`. Then ends the ranks and returns the result of
/// `watch`. If `is_complete` returns true for it, rank processes get time to exit by themselves. In
/// a job on several hosts each rank has one of the `endpoints`. All sockets are open already, so
/// the launcher gives up its capabilities here.
pub(super) fn run_ranks<T>(
    place: &Place<'_>,
    endpoints: Vec<RemoteEndpoint>,
    watch: impl FnOnce(&mut dyn RankSet) -> Result<T, LaunchError>,
    is_complete: impl FnOnce(&T) -> bool,
) -> Result<T, LaunchError> {
    if place.options.gives_up_rights {
        match place.options.ranks.are_programs() {
            true => rights::give_up_for_programs(None, false, place.settings.reserve > 0)?,
            false => rights::give_up_all_but_files()?,
        }
    }
    let sealed = || Sealed::copy_of(place.nisa.bytes());
    let executable = match &place.options.ranks {
        Ranks::Threads => return threads::run(place, endpoints, watch),
        Ranks::Processes { executable } => executable,
        Ranks::Program(program) => {
            let sealed = sealed()?;
            return watch(&mut Programs::spawn(place, endpoints, &sealed, program)?);
        }
        Ranks::JoinedRank { launch_socket, .. } => {
            let mut processes =
                joined::Processes::admit(place, endpoints, &sealed()?, launch_socket)?;
            let end = watch(&mut processes)?;
            if is_complete(&end) {
                processes.join();
            }
            return Ok(end);
        }
    };
    let sealed = sealed()?;
    let mut processes = Processes::spawn(place, endpoints, &sealed, executable)?;
    let end = watch(&mut processes)?;
    if is_complete(&end) {
        processes.join(place.segment, &place.options.interrupted);
    }
    Ok(end)
}

/// Returns the bytes of memory and scratch memory of all ranks together.
fn memory_bytes(nisa: &Nisa) -> u64 {
    let of_rank = |rank| nisa.memory_size(rank).saturating_add(nisa.scratch_size(rank));
    (0..nisa.num_ranks()).fold(0, |sum: u64, rank| sum.saturating_add(of_rank(rank)))
}
