//! Ranks as threads of this process.

use super::supervise::{Fallen, stop};
use super::{LaunchError, Place};
use crate::rank;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// A rank's loop needs little; only what is touched takes memory.
const STACK_BYTES: usize = 512 << 10;

/// Runs all ranks of this host until `watch` returns, and then until the last thread has ended; what `watch` says.
pub(super) fn run<T>(
    place: &Place<'_>,
    watch: impl FnOnce(&mut dyn FnMut() -> Option<Fallen>) -> T,
) -> Result<T, LaunchError> {
    let Place { segment, nisa, settings, options, here } = *place;
    let fallen: Mutex<Vec<Fallen>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut start = || {
            for &rank in here {
                let fallen = &fallen;
                let section = options.window.as_ref().map(|window| window.section(rank));
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
        let end =
            started.map(|()| watch(&mut || fallen.lock().unwrap_or_else(PoisonError::into_inner).pop()));
        stop(segment, None, || threads.iter().all(|thread| thread.is_finished()));
        Ok(end?)
    })
}
