//! The software of a message: a ping-pong of two engines that one thread polls in turn, so that no
//! cache line travels.
#![allow(unsafe_code)] // ends and areas of a segment

use crate::assemble::{assemble, engine_state};
use crate::engine::time;
use crate::mpi::Operation;
use goal_engine::Seed;
use goal_engine::{Areas, Engine, Handle, Options, Schedule, Storage};
use goal_shm::ShmTransport;
use goal_shm::{Layout, RankSizes, Segment};
use std::io;
use std::sync::Arc;

const RANKS: u32 = 2;

/// A rank's engine, its storage before the first start, and its instance.
type Rank<'a> = (Engine<'a, ShmTransport<'a>>, Option<Storage<'a>>, Option<Handle>);

/// Two ranks of a ping-pong, in one segment.
pub(crate) struct Pair {
    segment: Segment,
    schedules: Vec<Arc<Schedule>>,
}

impl Pair {
    /// Creates a pair that exchanges messages of `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> io::Result<Self> {
        let nisa = Arc::new(assemble(&Operation::Pingpong.program(RANKS, bytes))?);
        let schedules: Vec<_> = (0..RANKS)
            .map(|rank| Arc::new(Schedule::new(Arc::clone(&nisa), rank, Seed::default())))
            .collect();
        let sizes = schedules.iter().map(|schedule| {
            let sizes = schedule.state_sizes();
            RankSizes {
                memory: schedule.memory_size(),
                instance: (8 * sizes.finished + 2 * sizes.counters) as u64,
                ..RankSizes::default()
            }
        });
        let layout = Layout::new(sizes.collect::<Vec<_>>().into_iter(), u64::MAX)
            .map_err(io::Error::other)?;
        Ok(Self { segment: Segment::create(layout)?, schedules })
    }

    /// Returns the nanoseconds of `instances` instances, one after the other, on both ranks
    /// together.
    pub(crate) fn run(&self, instances: u32) -> f64 {
        let mut ranks: Vec<_> = (0..RANKS).map(|rank| self.rank(rank)).collect();
        time(|| {
            for _ in 0..instances {
                for (rank, (engine, storage, handle)) in ranks.iter_mut().enumerate() {
                    match (handle, storage.take()) {
                        (Some(handle), _) => engine.start_again(handle),
                        (first, storage) => {
                            let storage = storage.expect("it was not started before");
                            *first = Some(engine.start(&self.schedules[rank], 0, storage));
                        }
                    }
                }
                let has_ended = |engine: &Engine<'_, _>, handle: &Option<Handle>| {
                    handle.as_ref().is_some_and(|handle| engine.test(handle))
                };
                while !ranks.iter().all(|(engine, _, handle)| has_ended(engine, handle)) {
                    for (engine, ..) in &mut ranks {
                        engine.poll(0).expect("a ping-pong does not fail");
                    }
                }
            }
        })
    }

    fn rank(&self, rank: u32) -> Rank<'_> {
        let schedule = &self.schedules[rank as usize];
        // SAFETY: the pair's two engines use ends and areas of their own.
        let (ends, storage) = unsafe {
            (ShmTransport::new(&self.segment, rank), storage(&self.segment, rank, schedule))
        };
        (Engine::new(rank, ends, Options::default(), engine_state()), Some(storage), None)
    }
}

/// Returns the storage of a rank in a segment whose areas have room for the schedule's state.
///
/// # Safety
/// One storage of a rank is used at a time, and none after the segment is dropped.
pub(crate) unsafe fn storage<'a>(
    segment: &'a Segment,
    rank: u32,
    schedule: &Schedule,
) -> Storage<'a> {
    let at = segment.rank(rank);
    let split = at.instance.start + 8 * schedule.state_sizes().finished;
    // SAFETY: as the caller says.
    unsafe {
        let areas = Areas {
            memory: segment.region(&at.memory),
            buffers: Vec::new(),
            scratch: segment.region(&at.scratch),
            finished: segment.cells(&(at.instance.start..split)),
            counters: segment.cells(&(split..at.instance.end)),
            matches: None,
        };
        Storage::over(areas, None)
    }
}
