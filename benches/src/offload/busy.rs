//! Processors: what computes on them, and which of them ranks are on.

use clap::ValueEnum;
use goal_job::binding::cores;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Threads that compute, one on each processor, until this is dropped.
pub(super) struct Busy {
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    /// Starts the threads.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn start() -> io::Result<Self> {
        let ends = Arc::new(AtomicBool::new(false));
        let mut busy = Self { ends, threads: Vec::new() };
        for processor in cores()? {
            let ends = busy.ends.clone();
            let compute = move || {
                bind(&[processor]).expect("the processor was there before");
                let mut x = 1.0f64;
                while !ends.load(Ordering::Relaxed) {
                    for _ in 0..1000 {
                        x = std::hint::black_box(x * 1.000_000_1 + 1e-9);
                    }
                }
            };
            busy.threads.push(std::thread::Builder::new().spawn(compute)?);
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The processors that ranks, launchers and frames are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Placement {
    /// All are on one processor
    One,
    /// They are where the system puts them
    All,
}

impl Placement {
    /// Calls `act`, whose children are placed so.
    ///
    /// # Errors
    /// The system's error, or that of `act`.
    pub(super) fn hold<T>(self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if self == Self::All {
            return act();
        }
        let before = sched_getaffinity(Pid::from_raw(0))?;
        let last = cores()?.pop().ok_or_else(|| io::Error::other("no processor"))?;
        bind(&[last])?;
        let result = act();
        sched_setaffinity(Pid::from_raw(0), &before)?;
        result
    }
}

/// Binds this thread, and what it starts, to processors.
fn bind(processors: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &processor in processors {
        set.set(processor as usize)?;
    }
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}
