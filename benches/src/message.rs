//! The software of a message: a ping-pong of two engines that one thread polls in turn, so that no
//! cache line travels.

use crate::assemble::{assemble, engine_state};
use crate::engine::time;
use crate::mpi::Operation;
use goal_engine::{Engine, Options, Schedule, Storage};
use goal_shm::ShmTransport;
use goal_shm::{Layout, RankSizes, Segment};
use std::io;
use std::sync::Arc;

const RANKS: u32 = 2;

/// Two ranks of a ping-pong, in one segment.
pub(crate) struct Pair {
    segment: Segment,
    schedules: Vec<Arc<Schedule>>,
}

impl Pair {
    /// Messages of so many bytes.
    pub(crate) fn new(bytes: u64) -> io::Result<Self> {
        let nisa = Arc::new(assemble(&Operation::Pingpong.program(RANKS, bytes))?);
        let schedules: Vec<_> =
            (0..RANKS).map(|rank| Arc::new(Schedule::new(Arc::clone(&nisa), rank))).collect();
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

    /// Nanoseconds of so many instances, one after the other, on both ranks together.
    pub(crate) fn run(&self, instances: u32) -> f64 {
        let mut ranks: Vec<_> = (0..RANKS).map(|rank| self.rank(rank)).collect();
        time(|| {
            for _ in 0..instances {
                let handles: [_; RANKS as usize] = std::array::from_fn(|rank| {
                    let (engine, storage) = &mut ranks[rank];
                    engine.start(
                        &self.schedules[rank],
                        0,
                        storage.take().expect("an instance at a time"),
                    )
                });
                while !ranks.iter().zip(&handles).all(|((engine, _), handle)| engine.test(handle)) {
                    for (engine, _) in &mut ranks {
                        engine.poll(0).expect("a ping-pong does not fail");
                    }
                }
                for ((engine, storage), handle) in ranks.iter_mut().zip(handles) {
                    *storage = Some(engine.finish(handle));
                }
            }
        })
    }

    fn rank(&self, rank: u32) -> (Engine<ShmTransport<'_>>, Option<Storage>) {
        let at = self.segment.rank(rank);
        let split = at.instance.start + 8 * self.schedules[rank as usize].state_sizes().finished;
        let storage = Storage {
            memory: self.segment.region(&at.memory),
            scratch: self.segment.region(&at.scratch),
            finished: self.segment.cells(&(at.instance.start..split)),
            counters: self.segment.cells(&(split..at.instance.end)),
            matches: None,
        };
        (
            Engine::new(
                rank,
                ShmTransport::new(&self.segment, rank),
                Options::default(),
                engine_state(),
            ),
            Some(storage),
        )
    }
}
