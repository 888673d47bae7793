//! Ranks as threads of this process.

use super::error::LaunchError;
use super::rank_set::{Crew, Fallen, Place};
use super::supervise::stop;
use crate::monitor::Stopped;
use goal_job::offload::Way;
use goal_job::rights;
use goal_rank::schedule::{self, Resources};
use goal_shm::Segment;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

/// Stack of a rank's thread. Only the pages that it touches take memory.
const STACK_BYTES: usize = 512 << 10;

/// The threads of a job. They stop and continue with this process.
struct Threads<'a, 'scope> {
    segment: &'a Segment,
    fallen: &'a Mutex<Vec<Fallen>>,
    started: usize,
    /// The threads that were not joined yet.
    threads: Vec<ScopedJoinHandle<'scope, ()>>,
}

impl Crew for Threads<'_, '_> {
    fn fallen(&mut self) -> Option<Fallen> {
        self.fallen.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn started(&self) -> usize {
        self.started
    }

    fn stopped(&mut self) -> Vec<Stopped> {
        vec![]
    }

    fn suspend(&mut self) {}

    fn resume(&mut self) {}

    fn end_threads(&mut self) {
        stop(self.segment, None, || self.threads.iter().all(ScopedJoinHandle::is_finished));
        // A join, unlike `is_finished`, makes all writes of the thread visible. A panic of a rank
        // was caught in its thread.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Runs all ranks of this host as threads, and `watch` meanwhile. After `watch` has returned, stops
/// the ranks, waits for their threads and returns the result of `watch`.
pub(super) fn run<T>(
    place: &Place<'_>,
    ways: Vec<Way>,
    watch: impl FnOnce(&mut dyn Crew) -> Result<T, LaunchError>,
) -> Result<T, LaunchError> {
    let Place { segment, nisa, settings, options, here, .. } = *place;
    let fallen: Mutex<Vec<Fallen>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let (mut threads, mut ways) = (Vec::new(), ways.into_iter());
        let mut start = || {
            for &rank in here {
                let fallen = &fallen;
                let section = options.window.as_ref().map(|window| window.section(rank));
                let way = ways.next();
                let body = move || {
                    // All sockets are open. A failure does no harm: the launcher has given up its
                    // rights already.
                    let _ = rights::give_up();
                    // After a panic only the segment is looked at, and it holds plain words.
                    let run = AssertUnwindSafe(|| {
                        schedule::run(segment, nisa, rank, settings, Resources { section, way })
                    });
                    let fallen_rank = match catch_unwind(run) {
                        Ok(Ok(())) => return,
                        Ok(Err(error)) => Fallen::NotStarted(rank, error.to_string()),
                        Err(_) => Fallen::Ended(rank, "panicked".to_owned(), None),
                    };
                    fallen.lock().unwrap_or_else(PoisonError::into_inner).push(fallen_rank);
                    segment.gate().call_launcher();
                };
                let builder =
                    thread::Builder::new().name(format!("rank {rank}")).stack_size(STACK_BYTES);
                let thread =
                    builder.spawn_scoped(scope, body).map_err(|cause| LaunchError::Refused {
                        kind: "thread",
                        started: threads.len(),
                        wanted: here.len(),
                        cause,
                    })?;
                threads.push(thread);
            }
            Ok(())
        };
        let started = start();
        let mut threads = Threads { segment, fallen: &fallen, started: threads.len(), threads };
        let end = started.and_then(|()| watch(&mut threads));
        threads.end_threads();
        end
    })
}
