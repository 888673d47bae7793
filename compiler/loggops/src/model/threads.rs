//! Shares of the ranks on threads of their own. All threads simulate one window, and then exchange
//! what ranks of one share have done to those of another.

use super::hooks::{Noise, Observer};
use super::share::{Effect, Share};
use super::store::Store;
use crate::source::Source;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How often a thread looks for the others before it sleeps.
const LOOKS: u32 = 4000;

/// The window of a share that has nothing to do.
const NO_WINDOW: u64 = u64::MAX;

/// What threads exchange. Each part is there twice: one is written while the other is read.
#[derive(Debug)]
pub(super) struct Exchange {
    shares: usize,
    /// By half, sending share and receiving share.
    effects: Vec<Mutex<Vec<Effect>>>,
    /// By half and share, its next window.
    windows: Vec<AtomicU64>,
    has_failed: [AtomicBool; 2],
    barrier: Barrier,
}

impl Exchange {
    pub(super) fn new(shares: usize) -> Self {
        Self {
            shares,
            effects: (0..2 * shares * shares).map(|_| Mutex::default()).collect(),
            windows: (0..2 * shares).map(|_| AtomicU64::new(NO_WINDOW)).collect(),
            has_failed: Default::default(),
            barrier: Barrier { threads: shares, ..Barrier::default() },
        }
    }

    fn effects(&self, half: usize, from: usize, to: usize) -> MutexGuard<'_, Vec<Effect>> {
        lock(&self.effects[(half * self.shares + from) * self.shares + to])
    }

    /// Simulates all windows of a share.
    pub(super) fn run<P: Source, N: Noise, O: Observer, S: Store>(
        &self,
        number: usize,
        share: &mut Share<'_, P, N, O, S>,
    ) {
        let mut ranks = Vec::new();
        for half in [0, 1].into_iter().cycle() {
            let window = share.next_window().unwrap_or(NO_WINDOW);
            self.windows[half * self.shares + number].store(window, Ordering::Relaxed);
            if share.fault.is_some() {
                self.has_failed[half].store(true, Ordering::Relaxed);
            }
            for to in 0..self.shares {
                std::mem::swap(&mut *self.effects(half, number, to), &mut share.outgoing[to]);
            }
            share.outgoing_min = u64::MAX;
            let go_on = self.barrier.wait() && !self.has_failed[half].load(Ordering::Relaxed);
            let windows = &self.windows[half * self.shares..(half + 1) * self.shares];
            let window = windows.iter().map(|window| window.load(Ordering::Relaxed)).min();
            let Some(window) = window.filter(|&window| go_on && window != NO_WINDOW) else {
                return;
            };
            for from in 0..self.shares {
                let mut effects = self.effects(half, from, number);
                share.apply(&effects);
                effects.clear();
            }
            share.simulate_window(window, &mut ranks);
        }
    }

    /// Returns what lets the other threads end if the present one panics.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(&self.barrier)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// See [`Exchange::guard`].
pub(super) struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_broken.store(true, Ordering::Relaxed);
            self.0.open();
        }
    }
}

/// Threads that wait for each other look for a while, and then sleep. That of the standard library
/// sleeps at once, which takes longer than most windows.
#[derive(Debug, Default)]
struct Barrier {
    threads: usize,
    /// The threads that wait.
    waiting: AtomicUsize,
    /// The number of times that all were there.
    times: AtomicUsize,
    is_broken: AtomicBool,
    sleepers: Mutex<()>,
    opened: Condvar,
}

impl Barrier {
    /// Waits for all threads. Returns false if one has panicked.
    fn wait(&self) -> bool {
        let times = self.times.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.open();
        } else {
            self.sleep(times);
        }
        !self.is_broken.load(Ordering::Relaxed)
    }

    fn open(&self) {
        let sleepers = lock(&self.sleepers);
        self.times.fetch_add(1, Ordering::AcqRel);
        drop(sleepers);
        self.opened.notify_all();
    }

    /// Waits until [`open`](Self::open) was called more than `times` times.
    fn sleep(&self, times: usize) {
        let is_open = || self.times.load(Ordering::Acquire) != times;
        for _ in 0..LOOKS {
            if is_open() {
                return;
            }
            std::hint::spin_loop();
        }
        let mut sleepers = lock(&self.sleepers);
        while !is_open() {
            sleepers = self.opened.wait(sleepers).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
