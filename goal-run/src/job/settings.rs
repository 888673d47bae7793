//! The settings of a job, and the layout of its segment.

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

/// How the schedules of a rank make progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// In calls of the rank itself
    #[default]
    Caller,
    /// In a thread for each rank, which sleeps while there is nothing to do
    Thread,
    /// Through any rank of the host that waits
    Node,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Caller, Mode::Thread, Mode::Node];

    /// Returns the name of the mode on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Caller => "caller",
            Mode::Thread => "thread",
            Mode::Node => "node",
        }
    }
}

/// The settings of a job, the same for all of its ranks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// [`Options::eager_limit`].
    pub eager_limit: u64,
    /// [`Options::unexpected_limit`].
    pub unexpected_limit: u64,
    /// The factor that scales the time of `calc` actions; `None` skips them.
    pub calc: Option<f64>,
    /// The number of instances to run, at least 1.
    pub repeat: u64,
    /// True if each rank compares its memory with what the program expects after every instance.
    pub check: bool,
    /// True if each rank records which receive took which message.
    pub record: bool,
    /// The number of trace records that are kept of each rank; 0 traces nothing.
    pub trace_events: u64,
    /// True if there are more ranks than processors, so that a waiting rank should not keep one
    /// busy.
    pub crowded: bool,
    /// The window that schedules are run through; `None` holds them whole.
    pub window: Option<WindowSettings>,
    /// The transports that carry messages.
    pub paths: Paths,
    /// How schedules make progress while their ranks compute.
    pub progress: Mode,
    /// How a rank waits.
    pub wait: Wait,
    /// The hosts of the ranks; `None` if all are on this host.
    pub network: Option<Network>,
}

/// A window over a section.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct WindowSettings {
    /// The number of actions in the window.
    pub size: u32,
    /// Limits on the memory for reading ahead.
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

    /// Returns true if `rank` is on this host.
    pub fn is_here(&self, rank: u32) -> bool {
        self.network.as_ref().is_none_or(|network| network.is_here(rank))
    }

    /// Returns the number of ranks on this host, of `ranks` in the job.
    pub fn num_here(&self, ranks: u32) -> u32 {
        self.network.as_ref().map_or(ranks, Network::num_here)
    }

    /// Returns the number of parties at the start gate of this host: its ranks and, if there are
    /// other hosts, its launcher, which arrives when the ranks of all hosts are ready.
    pub(crate) fn awaited(&self, ranks: u32) -> u32 {
        self.num_here(ranks) + u32::from(self.network.is_some())
    }

    /// Returns the sizes of the state of an instance on `rank`.
    pub(crate) fn state_sizes(&self, nisa: &Nisa, rank: u32) -> StateSizes {
        match self.window {
            Some(window) => StateSizes::in_window(window.size),
            None => StateSizes::of(nisa.section(rank)),
        }
    }

    /// Returns the options of the ranks' engines.
    pub(crate) fn engine(&self) -> Options {
        Options {
            eager_limit: self.eager_limit,
            unexpected_limit: self.unexpected_limit,
            calc: self.calc.map_or(Calc::Skip, Calc::Scaled),
            seed: crate::seed::seed(),
        }
    }
}

/// Returns the layout of a job's segment. For ranks on other hosts the leader has areas too, for
/// what it gathers from them at the end.
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
            engine: if_here(if settings.progress == Mode::Node {
                state_bytes(settings.unexpected_limit)
            } else {
                0
            }),
        }
    });
    Layout::new(sizes, bytes_max)
}

/// Splits the area of an instance into the counters and the bitmap of ended actions.
pub(crate) fn split_instance(
    sizes: StateSizes,
    area: &Range<usize>,
) -> (Range<usize>, Range<usize>) {
    let counters = area.start..area.start + sizes.counters * size_of::<u16>();
    let finished = counters.end.next_multiple_of(size_of::<u64>());
    (counters, finished..finished + sizes.finished * size_of::<u64>())
}

/// Returns true if some byte of memory may derive from the clock. The interpreter then tells which
/// bytes do, and the comparison with what ranks expect has to leave these out.
pub(crate) fn has_time(nisa: &Nisa) -> bool {
    (0..nisa.num_sections()).any(|section| {
        let mut records = nisa.section_by_id(section).records();
        records.any(|(_, record)| matches!(record.operation(), Operation::Wtime { .. }))
    })
}
