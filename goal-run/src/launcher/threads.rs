//! Ranks as threads of this process.

use super::LaunchError;
use super::options::Window;
use super::outcome::End;
use super::supervise::{Fallen, Supervisor, stop};
use crate::rank::{self, Settings};
use crate::shm::Segment;
use goal_asm::Nisa;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A rank's loop needs little; only what is touched takes memory.
const STACK_BYTES: usize = 512 << 10;

/// Runs all ranks; returns when the last thread has ended.
pub(super) fn run(
    segment: &Segment,
    nisa: &Arc<Nisa>,
    settings: &Settings,
    window: Option<&Window>,
    supervisor: Supervisor<'_>,
) -> Result<End, LaunchError> {
    let fallen: Mutex<Vec<Fallen>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut start = || {
            for rank in 0..segment.num_ranks() {
                let fallen = &fallen;
                let section = window.map(|window| window.section(rank));
                let body = move || {
                    // The segment keeps what a rank that panicked left; nobody else looks at its engine.
                    let run = AssertUnwindSafe(|| rank::run(segment, nisa, rank, section, settings));
                    if catch_unwind(run).is_err() {
                        fallen
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push((rank, "panicked".to_owned()));
                        segment.gate().call_launcher();
                    }
                };
                let builder = thread::Builder::new().name(format!("rank {rank}")).stack_size(STACK_BYTES);
                threads.push(builder.spawn_scoped(scope, body)?);
            }
            Ok::<_, std::io::Error>(())
        };
        let started = start();
        let end = started
            .map(|()| supervisor.watch(&mut || fallen.lock().unwrap_or_else(PoisonError::into_inner).pop()));
        stop(segment, None, || threads.iter().all(|thread| thread.is_finished()));
        Ok(end?)
    })
}
