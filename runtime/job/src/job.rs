//! Combines the schedules, the settings and the memory that the ranks of a job share.
#![allow(unsafe_code)] // areas of the segment, used by one engine at a time

use crate::action_name::describe;
use crate::settings::{self, Settings, split_instance};
use crate::spec::calc_factor;
use crate::trace::{self, Omitted};
use goal_asm::Nisa;
use goal_engine::{Areas, Failure, Schedule, Seed, Storage};
use goal_shm::{Part, Segment, populate_read};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The segment, the schedules and the settings of a job, in one process.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The segment: the memory that the ranks of this host share.
    pub segment: &'a Segment,
    /// The schedules of all ranks.
    pub nisa: &'a Arc<Nisa>,
    /// The settings of all ranks.
    pub settings: &'a Settings,
}

impl<'a> Job<'a> {
    /// Creates a job from its parts.
    pub fn new(segment: &'a Segment, nisa: &'a Arc<Nisa>, settings: &'a Settings) -> Self {
        Self { segment, nisa, settings }
    }

    /// Returns the segment: the memory that the ranks of this host share.
    pub fn segment(&self) -> &'a Segment {
        self.segment
    }

    /// Returns the seed for the hash tables of schedules that this process decodes.
    pub fn seed(&self) -> Seed {
        settings::seed()
    }

    /// Returns the factor that scales the duration of `calc` actions; `None` if they take no time.
    pub fn calc(&self) -> Option<f64> {
        calc_factor(self.settings.spec.calc)
    }

    /// Writes the trace of the job as Chrome trace events, one JSON object. Returns the number of
    /// records that the trace leaves out. All ranks must have ended.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn write_trace(&self, out: &mut dyn Write) -> io::Result<Omitted> {
        trace::write(self.segment, self.nisa, out)
    }

    /// Decodes the schedule of `rank`, so that an engine can start it.
    pub fn schedule(&self, rank: u32) -> Arc<Schedule> {
        Arc::new(Schedule::new(Arc::clone(self.nisa), rank, settings::seed()))
    }

    /// Decodes the schedule of `rank` in another rank's process, which may act for `rank`.
    pub fn schedule_for_helper(&self, rank: u32) -> Arc<Schedule> {
        Arc::new(Schedule::for_helper(Arc::clone(self.nisa), rank, settings::seed()))
    }

    /// Returns the storage for the schedule of `rank`, which lies in the segment. Its memory has
    /// the present bytes of the segment, which are zeros in a new one. The caller stores the
    /// program's initial values by [`Storage::store_image`]. `expect` has no effect here.
    ///
    /// # Panics
    /// If this process still has another storage of the rank.
    pub fn storage(&self, rank: u32) -> Storage<'a> {
        let claim = self.segment.claim(rank, Part::Memory);
        let claim = claim.expect("one storage of a rank at a time");
        // SAFETY: the segment outlives `'a`. Other processes use the areas only while they hold the
        // rank's lock and act for it. The rank does not hold the lock meanwhile. In this process
        // the claim keeps the storage unique.
        unsafe { Storage::over(self.areas(rank), Some(Box::new(claim))) }
    }

    /// Makes the memory of `rank` resident, up to the limit in the settings, and maps its schedule.
    /// The rank calls this before it starts, on the processor to which it is bound. Otherwise the
    /// system allocates the memory page by page while the first instance runs.
    pub fn prefault(&self, rank: u32) {
        let Self { segment, nisa, settings, .. } = *self;
        let limit = settings.spec.prefault_bytes_max;
        let bytes = segment.populate(rank, limit);
        segment.status(rank).prefaulted.store(bytes, Ordering::Relaxed);
        if settings.window.is_none() {
            let section = nisa.section(rank).bytes();
            populate_read(
                &section[..section.len().min(usize::try_from(limit).unwrap_or(usize::MAX))],
            );
        }
    }

    /// Returns the areas of a rank's storage.
    ///
    /// # Safety
    /// The conditions of [`Storage::over`] hold. One engine at a time uses the areas: the rank's
    /// own engine, or an engine of another process that holds the rank's lock and acts for the
    /// rank. No engine uses them after the segment is dropped.
    pub unsafe fn areas(&self, rank: u32) -> Areas {
        let Self { segment, nisa, settings, .. } = *self;
        let areas = segment.rank(rank);
        let (counters, finished) =
            split_instance(settings.state_sizes(nisa, rank), &areas.instance);
        let buffers: Vec<u64> = nisa.buffers(rank).collect();
        // SAFETY: as the caller says.
        unsafe {
            let memory = segment.region(&areas.memory);
            Areas {
                memory,
                buffers: memory.split(&buffers),
                scratch: segment.region(&areas.scratch),
                counters: segment.cells(&counters),
                finished: segment.cells(&finished),
                matches: settings.record.then(|| segment.cells(&areas.matches)),
            }
        }
    }

    /// Stores the failure of an action of `rank` in the segment, for the launcher's report. The
    /// action belongs to the job's schedule.
    pub fn fail(&self, rank: u32, failure: &Failure) {
        self.segment.fail(rank, &describe(self.nisa, rank, failure, self.settings));
    }

    /// Stores the failure of an action of `rank` in the segment, for the launcher's report. The
    /// action belongs to a schedule in `nisa`, which a program has started.
    pub fn fail_in(&self, nisa: &Nisa, rank: u32, failure: &Failure) {
        self.segment.fail(rank, &describe(nisa, rank, failure, self.settings));
    }
}
