//! Shares of the ranks on threads of their own. All threads simulate one window, and then exchange
//! what ranks of one share have done to those of another.

use super::parts::{Effect, Partner, Sent};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The number of looks for the other threads before a thread sleeps.
const LOOKS: u32 = 4000;

/// The window of a share that has nothing to do.
pub(super) const NO_WINDOW: u64 = u64::MAX;

/// The messages between shares. Each pair of a sending and a receiving share has a box.
#[derive(Debug)]
pub(super) struct Boxes<T> {
    pub(super) shares: usize,
    /// Ordered by sending share, then by receiving share.
    boxes: Vec<Mutex<Vec<T>>>,
}

impl<T> Boxes<T> {
    fn new(shares: usize) -> Self {
        Self { shares, boxes: (0..shares * shares).map(|_| Mutex::default()).collect() }
    }

    pub(super) fn at(&self, from: usize, to: usize) -> MutexGuard<'_, Vec<T>> {
        lock(&self.boxes[from * self.shares + to])
    }

    /// Gives each share its part, and returns the parts for share `number`, by the share that gives
    /// it. All shares do this once.
    pub(super) fn exchange(
        &self,
        number: usize,
        parts: Vec<Vec<T>>,
        barrier: &Barrier,
    ) -> Vec<Vec<T>> {
        for (to, part) in parts.into_iter().enumerate() {
            *self.at(number, to) = part;
        }
        barrier.wait();
        (0..self.shares).map(|from| std::mem::take(&mut *self.at(from, number))).collect()
    }
}

/// All that shares exchange. Windows and effects are there twice: one half is written while the
/// other is read.
#[derive(Debug)]
pub(super) struct Meeting {
    pub(super) barrier: Barrier,
    pub(super) sends: Boxes<Sent>,
    pub(super) partners: Boxes<Partner>,
    pub(super) effects: [Boxes<Effect>; 2],
    /// By share, its next window.
    pub(super) windows: [Vec<AtomicU64>; 2],
    pub(super) has_failed: [AtomicBool; 2],
    /// The actions that have ended.
    pub(super) ended: AtomicU64,
}

impl Meeting {
    pub(super) fn new(shares: usize) -> Self {
        Self {
            barrier: Barrier { threads: shares, ..Barrier::default() },
            sends: Boxes::new(shares),
            partners: Boxes::new(shares),
            effects: [Boxes::new(shares), Boxes::new(shares)],
            windows: [(); 2].map(|()| (0..shares).map(|_| AtomicU64::new(NO_WINDOW)).collect()),
            has_failed: Default::default(),
            ended: AtomicU64::new(0),
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

/// See [`Meeting::guard`].
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
pub(super) struct Barrier {
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
    pub(super) fn wait(&self) -> bool {
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
