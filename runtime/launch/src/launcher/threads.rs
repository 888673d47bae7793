//! Runs ranks as threads of this process.

use super::error::LaunchError;
use super::rank_set::{Exited, Place, RankSet};
use super::supervise::stop;
use crate::monitor::Stopped;
use goal_job::offload::RemoteEndpoint;
use goal_job::rights;
use goal_rank::schedule::{self, Resources};
use goal_shm::Segment;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

/// The stack size of a rank's thread in bytes. Only the pages that it touches take memory.
const STACK_BYTES: usize = 512 << 10;

/// The threads of a job's ranks. They stop and continue together with this process.
struct Threads<'a, 'scope> {
    segment: &'a Segment,
    exited: &'a Mutex<Vec<Exited>>,
    started: usize,
    /// The threads that were not joined yet.
    threads: Vec<ScopedJoinHandle<'scope, ()>>,
}

impl RankSet for Threads<'_, '_> {
    fn exited(&mut self) -> Option<Exited> {
        self.exited.lock().unwrap_or_else(PoisonError::into_inner).pop()
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
        // A join makes all writes of the thread visible, which `is_finished` does not. Each thread
        // has caught the panic of its rank.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Runs all ranks of this host as threads and calls `watch` meanwhile. When `watch` returns, stops
/// the ranks and waits for their threads. Returns the result of `watch`.
pub(super) fn run<T>(
    place: &Place<'_>,
    endpoints: Vec<RemoteEndpoint>,
    watch: impl FnOnce(&mut dyn RankSet) -> Result<T, LaunchError>,
) -> Result<T, LaunchError> {
    let Place { segment, nisa, settings, options, here, .. } = *place;
    let exited: Mutex<Vec<Exited>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let (mut threads, mut endpoints) = (Vec::new(), endpoints.into_iter());
        let mut start = || {
            for &rank in here {
                let exited = &exited;
                let section = options.window.as_ref().map(|window| window.section(rank));
                let endpoint = endpoints.next();
                let body = move || {
                    // All sockets are open. An error does no harm, as the launcher has given up its
                    // capabilities already.
                    let _ = rights::give_up();
                    // After a panic only the segment is read, which has plain words.
                    let run = AssertUnwindSafe(|| {
                        schedule::run(
                            segment,
                            nisa,
                            rank,
                            settings,
                            Resources { section, endpoint },
                        )
                    });
                    let fallen_rank = match catch_unwind(run) {
                        Ok(Ok(())) => return,
                        Ok(Err(error)) => Exited::NotStarted(rank, error.to_string()),
                        Err(_) => Exited::Ended(rank, "panicked".to_owned(), None),
                    };
                    exited.lock().unwrap_or_else(PoisonError::into_inner).push(fallen_rank);
                    segment.start_barrier().call_launcher();
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
        let mut threads = Threads { segment, exited: &exited, started: threads.len(), threads };
        let end = started.and_then(|()| watch(&mut threads));
        threads.end_threads();
        end
    })
}
