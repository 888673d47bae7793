//! Defines the settings of a job, and lays out its segment.

use crate::binding::{Placement, is_crowded};
use crate::mode::Mode;
use crate::network::{Network, Wire};
use crate::offload::InKernel;
use crate::peer::Address;
use crate::spec::JobSpec;
use crate::trace;
use crate::transport::{Choice, RouteTable, Unreachable};
use crate::wait::{Sharing, Wait};
use goal_asm::Nisa;
use goal_asm::nisa::{Operation, StreamLimits};
use goal_engine::transport::Distance;
use goal_engine::{Options, Seed, StateSizes, state_bytes};
use goal_shm::{Layout, RankSizes, SegmentTooLarge};
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::ops::Range;
use std::sync::OnceLock;

/// The settings of a job, the same for all of its ranks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// The settings that the user chose. But `prefault_bytes_max` is the share of one rank.
    pub spec: JobSpec,
    /// The value of [`Options::pushed_max`] for the ranks' engines.
    pub pushed_max: u64,
    /// True if each rank compares its memory with what the program expects after every instance.
    pub check: bool,
    /// True if each rank records which receive took which message.
    pub record: bool,
    /// The number of trace records that are kept of each rank; 0 traces nothing.
    pub trace_events: u64,
    /// True if ranks share processors, so that a waiting rank should not keep its processor busy.
    pub crowded: bool,
    /// The processors of ranks; `None` if ranks are not bound.
    pub placement: Option<Placement>,
    /// The window through which ranks run their schedules; `None` if ranks hold whole schedules.
    pub window: Option<WindowSettings>,
    /// The transports that carry messages.
    pub paths: RouteTable,
    /// The network and the hosts of the ranks; `None` if all ranks are on this host.
    pub network: Option<Network>,
    /// The parts of this host's ranks in the kernel; `None` if processes run the schedule.
    pub in_kernel: Option<InKernel>,
    /// The reason why processes run schedules that the kernels were asked to run. `None` if the
    /// kernels run them, or were not asked to.
    pub not_in_kernel: Option<String>,
    /// The kind of code that starts the ranks' schedules.
    pub origin: Origin,
    /// The number of ranks that are not started with the job, but may be added later. They are the
    /// last ranks of the schedule.
    #[serde(default)]
    pub reserve: u32,
    /// The address of the launcher's socket for growth requests, if the job can grow.
    #[serde(default)]
    pub growth_address: Option<Address>,
}

/// The code that starts the schedules of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Origin {
    /// A rank process of a schedule, or a program that uses members without a launcher. Ranks run
    /// the job's own schedules.
    #[default]
    Job,
    /// A program that a launcher has started. The job's schedule has no actions.
    Program,
    /// A program without a launcher, the only rank of its job.
    Alone,
}

/// The settings of the windows through which ranks run their sections.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct WindowSettings {
    /// The number of actions in the window.
    pub size: u32,
    /// Limits on the memory for reading ahead.
    pub limits: StreamLimits,
}

impl Settings {
    /// Returns the settings of a job with one instance and the default [`JobSpec`]. All of its
    /// ranks are on this host.
    ///
    /// # Errors
    /// [`Unreachable`] if by `transports` a rank can't reach another rank or itself.
    pub fn new(ranks: u32, transports: &Choice) -> Result<Self, Unreachable> {
        Ok(Self {
            spec: JobSpec::default(),
            pushed_max: 0,
            check: false,
            record: false,
            trace_events: 0,
            crowded: is_crowded(ranks),
            placement: None,
            window: None,
            paths: transports.paths(Distance::farthest(ranks, false))?,
            network: None,
            in_kernel: None,
            not_in_kernel: None,
            origin: Origin::Job,
            reserve: 0,
            growth_address: None,
        })
    }

    /// Sets the settings that the user chose.
    pub fn with_spec(self, spec: JobSpec) -> Self {
        Self { spec, ..self }
    }

    /// Sets the processor of each rank of this host, for a program that binds its ranks itself.
    /// `processors` has one entry for each rank, in ascending order of the ranks. By default ranks
    /// are not bound.
    ///
    /// # Errors
    /// The system does not state the processors that this thread may use.
    pub fn with_processors(self, processors: &[u32]) -> io::Result<Self> {
        let placement = Placement::from_ranks(processors)?;
        Ok(Self { crowded: placement.is_crowded(), placement: Some(placement), ..self })
    }

    /// Keeps the last `events` records of each rank's trace; 0 traces nothing.
    pub fn with_trace(self, events: u64) -> Self {
        Self { trace_events: events, ..self }
    }

    /// Returns true if these settings are valid for a job of `ranks` ranks.
    pub fn fits(&self, ranks: u32) -> bool {
        let has_places = self.network.as_ref().is_none_or(|network| {
            network.num_ranks() == ranks && network.bells.len() == network.num_here() as usize
        });
        let has_window = self.window.is_none_or(|window| window.size > 0);
        let started = ranks.saturating_sub(self.reserve);
        let is_placed =
            self.placement.as_ref().is_none_or(|placement| placement.fits(self.num_here(started)));
        is_placed && has_places && has_window && self.spec.repeat > 0 && started > 0
    }

    /// Returns true if ranks are processes of programs. Such ranks start schedules of their own.
    pub fn are_programs(&self) -> bool {
        self.origin != Origin::Job
    }

    /// Returns true if `rank` is on this host.
    pub fn is_here(&self, rank: u32) -> bool {
        self.network.as_ref().is_none_or(|network| network.is_here(rank))
    }

    /// Returns the number of ranks on this host. The job has `ranks` ranks.
    pub fn num_here(&self, ranks: u32) -> u32 {
        self.network.as_ref().map_or(ranks, Network::num_here)
    }

    /// Returns the index of `rank` among the ranks on this host.
    fn index_here(&self, rank: u32) -> usize {
        match &self.network {
            None => rank as usize,
            Some(network) => network.here().take_while(|&here| here < rank).count(),
        }
    }

    /// Binds the calling thread to the processor of `rank`. Returns the processor; `None` if ranks
    /// are not bound.
    ///
    /// # Errors
    /// The system's error.
    pub fn bind(&self, rank: u32) -> io::Result<Option<u32>> {
        let Some(placement) = &self.placement else { return Ok(None) };
        placement.bind_rank(self.index_here(rank)).map(Some)
    }

    /// Returns the settings for a rank that has joined the job after its start. Such a rank is not
    /// bound to a processor. It counts as crowded if `is_crowded` is true or if the job is crowded.
    /// Ranks that started with the job keep their settings.
    pub fn of_joined(self, is_crowded: bool) -> Self {
        Self { placement: None, crowded: self.crowded || is_crowded, ..self }
    }

    /// Returns the number of parties at the start barrier of this host: its ranks and, if there are
    /// other hosts, its launcher. The launcher arrives when the ranks of all hosts are ready.
    pub fn awaited(&self, ranks: u32) -> u32 {
        self.num_here(ranks) + u32::from(self.network.is_some())
    }

    /// Returns how the ranks of this host share processors. Ranks on Ethernet count as crowded if
    /// only two share a processor, because a look at their sockets is no cheaper than a sleep. Over
    /// TCP such a look costs less than a tenth of a sleep.
    pub fn sharing(&self) -> Sharing {
        let is_paired = self.placement.as_ref().is_some_and(Placement::is_sparse);
        let is_on_ethernet = |network: &Network| matches!(network.wire, Wire::Ethernet(_));
        let is_on_ethernet = self.network.as_ref().is_some_and(is_on_ethernet);
        match (self.crowded, is_paired && !is_on_ethernet) {
            (false, _) => Sharing::None,
            (true, true) => Sharing::Paired,
            (true, false) => Sharing::Crowded,
        }
    }

    /// Returns true if ranks poll for a while at the start barrier. They do so if each rank has a
    /// processor, there are no other hosts, and [`Wait::Block`] is not chosen.
    pub fn polls_at_start(&self) -> bool {
        !self.crowded && self.network.is_none() && self.spec.wait != Wait::Block
    }

    /// Returns the sizes of the state of an instance on `rank`.
    pub fn state_sizes(&self, nisa: &Nisa, rank: u32) -> StateSizes {
        match self.window {
            Some(window) => StateSizes::in_window(window.size),
            None => StateSizes::from_section(nisa.section(rank)),
        }
    }

    /// Returns the options of the ranks' engines.
    pub fn engine(&self) -> Options {
        Options {
            eager_limit: self.spec.eager_limit,
            pushed_max: self.pushed_max,
            unexpected_limit: self.spec.unexpected_limit,
            calc: self.spec.calc,
            seed: seed(),
        }
    }
}

/// Returns the layout of a job's segment. The leader's segment also has areas for ranks on other
/// hosts. At the end the leader fills them with the memory of these ranks.
///
/// # Errors
/// The segment would have more than `bytes_max` bytes.
pub fn layout(nisa: &Nisa, settings: &Settings, bytes_max: u64) -> Result<Layout, SegmentTooLarge> {
    let sizes = (0..nisa.num_ranks()).map(|rank| {
        let state = settings.state_sizes(nisa, rank);
        let (counters, finished) = split_instance(state, &(0..usize::MAX));
        let is_here = settings.is_here(rank);
        let if_gathered = |bytes| {
            if is_here || settings.network.as_ref().is_some_and(Network::leads) { bytes } else { 0 }
        };
        let if_here = |bytes| if is_here { bytes } else { 0 };
        RankSizes {
            memory: if_gathered(nisa.memory_size(rank)),
            scratch: if_here(nisa.scratch_size(rank)),
            instance: if_gathered(
                (counters.len().next_multiple_of(size_of::<u64>()) + finished.len()) as u64,
            ),
            trace: if_gathered(trace::area_bytes(settings.trace_events)),
            matches: if_gathered(if settings.record {
                (state.matches * size_of::<u64>()) as u64
            } else {
                0
            }),
            engine: if_here(if settings.spec.progress == Mode::Node {
                state_bytes(settings.spec.unexpected_limit)
            } else {
                0
            }),
        }
    });
    let started = nisa.num_ranks().saturating_sub(settings.reserve) as usize;
    Layout::with_reserve(sizes, started, settings.spec.ring_bytes, bytes_max)
}

/// Returns the random seed of this process for hash tables. The standard library gets it from the
/// system.
pub(crate) fn seed() -> Seed {
    static SEED: OnceLock<Seed> = OnceLock::new();
    *SEED.get_or_init(|| {
        let random = RandomState::new();
        Seed::new(random.hash_one(0u8), random.hash_one(1u8))
    })
}

/// Splits the area of an instance into two ranges: the counters, and the bitmap of ended actions.
pub fn split_instance(sizes: StateSizes, area: &Range<usize>) -> (Range<usize>, Range<usize>) {
    let counters = area.start..area.start + sizes.counters * size_of::<u16>();
    let finished = counters.end.next_multiple_of(size_of::<u64>());
    (counters, finished..finished + sizes.finished * size_of::<u64>())
}

/// Returns true if some byte of memory may derive from the clock. The interpreter then finds these
/// bytes, and the comparison with the expected values must leave them out.
pub fn has_time(nisa: &Nisa) -> bool {
    (0..nisa.num_sections()).any(|section| {
        let mut records = nisa.section_by_id(section).records();
        records.any(|(_, record)| matches!(record.operation(), Operation::Wtime { .. }))
    })
}
