//! What every rank of a job is told, and how much of the segment it takes.

use crate::network::Network;
use crate::trace;
use crate::transport::Paths;
use crate::wait::Wait;
use goal_asm::Nisa;
use goal_asm::nisa::{Operation, StreamLimits};
use goal_engine::{Calc, Options, StateSizes, state_bytes};
use goal_shm::{Layout, RankSizes, SegmentTooLarge};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Who makes the schedules of a rank go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The rank itself, whenever it calls
    #[default]
    Caller,
    /// A thread a rank, which sleeps while there is nothing to do
    Thread,
    /// Whichever rank waits
    Node,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Caller, Mode::Thread, Mode::Node];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Caller => "caller",
            Mode::Thread => "thread",
            Mode::Node => "node",
        }
    }
}

/// What every rank of a job is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// [`Options::eager_limit`].
    pub eager_limit: u64,
    /// [`Options::unexpected_limit`].
    pub unexpected_limit: u64,
    /// The factor of `calc` actions; `None` skips them.
    pub calc: Option<f64>,
    /// Instances to run, at least 1.
    pub repeat: u64,
    /// Whether memory is compared with what the program expects at the end of every instance.
    pub check: bool,
    /// Whether a record is kept of which receive took which message.
    pub record: bool,
    /// Records of what happened when that are kept of each rank; 0 records nothing.
    pub trace_events: u64,
    /// Whether there are more ranks than processors, so that a rank that waits should not keep one
    /// busy.
    pub crowded: bool,
    /// The window that schedules are run through; `None` where they are held whole.
    pub window: Option<WindowSettings>,
    /// The ways of messages.
    pub paths: Paths,
    /// Who makes schedules go on while their ranks do something else.
    pub progress: Mode,
    /// How a rank waits.
    pub wait: Wait,
    /// Where the ranks are; `None` where all are on this host.
    pub network: Option<Network>,
}

/// A window over a section.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct WindowSettings {
    /// Actions of the window.
    pub size: u32,
    /// What reading ahead may take.
    pub limits: StreamLimits,
}

impl Settings {
    /// Returns true if these can be the settings of a job with so many ranks.
    pub(crate) fn fits(&self, ranks: u32) -> bool {
        let has_places = self.network.as_ref().is_none_or(|network| {
            network.num_ranks() == ranks && network.bells.len() == network.num_here() as usize
        });
        let has_window = self.window.is_none_or(|window| window.size > 0);
        has_places && has_window && self.repeat > 0
    }

    /// Whether a rank is on this host.
    pub fn is_here(&self, rank: u32) -> bool {
        self.network.as_ref().is_none_or(|network| network.is_here(rank))
    }

    /// How many of a job's ranks are on this host.
    pub fn num_here(&self, ranks: u32) -> u32 {
        self.network.as_ref().map_or(ranks, Network::num_here)
    }

    /// Who passes the start gate of this host: its ranks and, where there are other hosts, its
    /// launcher, which comes when the ranks of all hosts are ready.
    pub(crate) fn awaited(&self, ranks: u32) -> u32 {
        self.num_here(ranks) + u32::from(self.network.is_some())
    }

    /// What the state of an instance of a rank's schedule needs.
    pub(crate) fn state_sizes(&self, nisa: &Nisa, rank: u32) -> StateSizes {
        match self.window {
            Some(window) => StateSizes::in_window(window.size),
            None => StateSizes::of(nisa.section(rank)),
        }
    }

    pub(crate) fn engine(&self) -> Options {
        Options {
            eager_limit: self.eager_limit,
            unexpected_limit: self.unexpected_limit,
            calc: self.calc.map_or(Calc::Skip, Calc::Scaled),
            seed: crate::seed::seed(),
        }
    }
}

/// Where everything of a job lies in its segment. Of ranks on other hosts there is what the leader
/// gets to know of them at the end.
///
/// # Errors
/// Where it would have more than `bytes_max` bytes.
pub fn layout(nisa: &Nisa, settings: &Settings, bytes_max: u64) -> Result<Layout, SegmentTooLarge> {
    let sizes = (0..nisa.num_ranks()).map(|rank| {
        let state = settings.state_sizes(nisa, rank);
        let (counters, finished) = split_instance(state, &(0..usize::MAX));
        let is_here = settings.is_here(rank);
        let if_told = |bytes| {
            if is_here || settings.network.as_ref().is_some_and(Network::leads) { bytes } else { 0 }
        };
        let if_here = |bytes| if is_here { bytes } else { 0 };
        RankSizes {
            memory: if_told(nisa.memory_size(rank)),
            scratch: if_here(nisa.scratch_size(rank)),
            instance: if_told(
                (counters.len().next_multiple_of(size_of::<u64>()) + finished.len()) as u64,
            ),
            trace: if_told(trace::area_bytes(settings.trace_events)),
            matches: if_told(if settings.record {
                (state.matches * size_of::<u64>()) as u64
            } else {
                0
            }),
            engine: if_here(if settings.progress == Mode::Node {
                state_bytes(settings.unexpected_limit)
            } else {
                0
            }),
        }
    });
    Layout::new(sizes, bytes_max)
}

/// The parts of an instance's area: the counters, and the bitmap of ended actions.
pub(crate) fn split_instance(
    sizes: StateSizes,
    area: &Range<usize>,
) -> (Range<usize>, Range<usize>) {
    let counters = area.start..area.start + sizes.counters * size_of::<u16>();
    let finished = counters.end.next_multiple_of(size_of::<u64>());
    (counters, finished..finished + sizes.finished * size_of::<u64>())
}

/// Whether some byte of the memory may derive from the clock, so that what a rank expects is
/// compared by the interpreter's account of which bytes do.
pub(crate) fn has_time(nisa: &Nisa) -> bool {
    (0..nisa.num_sections()).any(|section| {
        let mut records = nisa.section_by_id(section).records();
        records.any(|(_, record)| matches!(record.operation(), Operation::Wtime { .. }))
    })
}
