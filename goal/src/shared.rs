//! The state of the group in this process, whichever thread calls.
//!
//! The rank's end of the job lies behind one lock. A thread that waits for a run sleeps with the
//! lock; another thread that wants it says so in [`Shared::wanted`] and wakes the sleeper, which
//! then lets it pass. Of several threads that wait one works, and the others sleep until it tells
//! them that their runs have ended, or that it has stopped.

use crate::communicator::{Communicator, Communicators};
use crate::error::{Error, ErrorCode, Result};
use crate::heap::Heap;
use crate::progress::{Core, error_of, is_fatal, no_run};
use crate::slots::{Slots, Ticket};
use goal_run::job::Mode;
use goal_run::program::Attached;
use goal_run::progress::Interrupted;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

/// The time between two attempts to wake a thread that sleeps with the core.
const WAKE_AGAIN: Duration = Duration::from_micros(100);

/// A thread that has called this library.
struct Caller(&'static Shared);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.callers.fetch_sub(1, Ordering::SeqCst);
        // A thread that sleeps may be the only one from now on. It wakes up, and says that the
        // rank waits.
        drop(self.0.lock_slowly());
    }
}

thread_local! {
    static CALLER: OnceCell<Caller> = const { OnceCell::new() };
}

/// The state of the group in this process.
pub(crate) struct Shared {
    pub(crate) attached: Attached,
    pub(crate) world: Communicator,
    pub(crate) communicators: Mutex<Communicators>,
    pub(crate) heap: Heap,
    /// The rank's end of the job and its instances.
    pub(crate) core: Mutex<Core>,
    /// The number of threads that want the core while another thread waits with it.
    pub(crate) wanted: AtomicU32,
    /// The mode of progress, as its number in [`Mode::ALL`].
    pub(crate) mode: AtomicU8,
    /// True if the rank's thread found the core taken when it had made progress.
    pub(crate) has_missed: AtomicBool,
    /// The threads that have called this library and have not ended.
    pub(crate) callers: AtomicU32,
    /// Notified when a thread that waited with the core lets others have it.
    pub(crate) turned: Condvar,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}", self.attached.rank(), self.attached.size())
    }
}

impl Shared {
    /// Returns how schedules make progress.
    #[inline]
    pub(crate) fn mode(&self) -> Mode {
        Mode::ALL[usize::from(self.mode.load(Ordering::Relaxed))]
    }

    /// Notes how schedules make progress.
    pub(crate) fn set_mode(&self, mode: Mode) {
        let number = Mode::ALL.iter().position(|&other| other == mode);
        self.mode.store(number.unwrap_or(0) as u8, Ordering::Relaxed);
    }
}

impl Shared {
    /// Takes the core, and asks a thread that sleeps with it to let go.
    #[inline]
    pub(crate) fn lock(&'static self) -> MutexGuard<'static, Core> {
        // A thread that ends makes no more calls that count.
        let _ = CALLER.try_with(|caller| {
            if caller.get().is_none() {
                self.callers.fetch_add(1, Ordering::SeqCst);
                let _ = caller.set(Caller(self));
            }
        });
        self.core.try_lock().unwrap_or_else(|| self.lock_slowly())
    }

    #[cold]
    fn lock_slowly(&'static self) -> MutexGuard<'static, Core> {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        let core = loop {
            // The sleeper may have looked at `wanted` before and sleep only now, so it is woken
            // until the core is there.
            self.attached.wake();
            if let Some(core) = self.core.try_lock_for(WAKE_AGAIN) {
                break core;
            }
        };
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        core
    }

    /// Calls `f` with the core, and then the functions of runs that have ended.
    #[inline]
    pub(crate) fn with<R>(&'static self, f: impl FnOnce(&mut Core) -> Result<R>) -> Result<R> {
        let mut core = self.lock();
        let mut result = f(&mut core);
        if let Err(error) = &mut result
            && is_fatal(error.code())
        {
            self.note_failure(&mut core, error);
        }
        self.unlock(core);
        result
    }

    /// Gives the core back, and calls the functions of runs that have ended.
    #[inline]
    fn unlock(&'static self, mut core: MutexGuard<'static, Core>) {
        if !core.parked.is_empty() {
            self.turned.notify_all();
        }
        if core.slots.watched.is_empty() && core.due.is_empty() {
            return;
        }
        // An error is for the next call, which meets it too.
        let _ = core.reap();
        let due = std::mem::take(&mut core.due);
        drop(core);
        due.into_iter().for_each(|on_end| on_end());
        self.look_again();
    }

    /// Called by the rank's thread after it has made progress.
    pub(crate) fn after_progress(&'static self) {
        // If the core is taken, its owner looks at this when it has given the core back.
        self.has_missed.store(true, Ordering::SeqCst);
        self.look_again();
    }

    /// Calls the functions of runs whose end the rank's thread has brought about.
    fn look_again(&'static self) {
        while self.has_missed.load(Ordering::SeqCst) {
            let Some(mut core) = self.core.try_lock() else { return };
            self.has_missed.store(false, Ordering::SeqCst);
            let _ = core.reap();
            let due = std::mem::take(&mut core.due);
            if !core.parked.is_empty() {
                self.turned.notify_all();
            }
            drop(core);
            due.into_iter().for_each(|on_end| on_end());
        }
    }

    /// Returns true if a run has ended. Makes a bounded amount of progress if it has not.
    ///
    /// # Errors
    /// There was no such run, or the job can't go on.
    #[inline]
    pub(crate) fn test(&'static self, ticket: Ticket) -> Result<bool> {
        self.with(|core| core.test(ticket))
    }

    /// Waits until a run has ended. `call` is the name of the call for reports.
    ///
    /// # Errors
    /// There was no such run, or the job can't go on.
    pub(crate) fn wait(&'static self, ticket: Ticket, call: &str) -> Result<()> {
        self.wait_any(&[ticket], call).map(drop)
    }

    /// Waits until one of several runs has ended, and returns its place among them.
    ///
    /// # Errors
    /// There is no run, there was no such run, or the job can't go on.
    pub(crate) fn wait_any(&'static self, tickets: &[Ticket], call: &str) -> Result<usize> {
        if tickets.is_empty() {
            return Err(no_run());
        }
        loop {
            let mut core = self.lock();
            match core.first_ended(tickets) {
                Ok(Some(at)) => {
                    self.unlock(core);
                    return Ok(at);
                }
                Ok(None) if core.has_waiter => {
                    core.parked.extend(tickets);
                    core.sleepers += 1;
                    self.turned.wait(&mut core);
                    core.sleepers -= 1;
                    for ticket in tickets {
                        if let Some(at) = core.parked.iter().position(|parked| parked == ticket) {
                            core.parked.swap_remove(at);
                        }
                    }
                    continue;
                }
                Ok(None) => {}
                Err(mut error) => {
                    if is_fatal(error.code()) {
                        self.note_failure(&mut core, &mut error);
                    }
                    self.unlock(core);
                    return Err(error);
                }
            }
            core.has_waiter = true;
            // The rank waits if every thread does that has called this library.
            let waiting = core.sleepers + 1;
            if waiting >= self.callers.load(Ordering::SeqCst) {
                self.attached.waits(call);
            }
            let worked = core.work_until(tickets, &self.wanted);
            core.has_waiter = false;
            let result = match worked {
                Ok(()) => core.reap().and_then(|()| {
                    let mut numbers = tickets.iter().map(|&ticket| Slots::number(ticket));
                    numbers.try_for_each(|number| core.settle(number).map(drop))
                }),
                Err(interrupted) => {
                    let mut error = error_of(&interrupted);
                    if interrupted == Interrupted::Stuck {
                        error = core.describe_waiting(call);
                    }
                    self.note_failure(&mut core, &mut error);
                    Err(error)
                }
            };
            self.attached.computes();
            self.turned.notify_all();
            let is_wanted = self.wanted.load(Ordering::Relaxed) > 0;
            let due = std::mem::take(&mut core.due);
            if is_wanted {
                MutexGuard::unlock_fair(core);
                std::thread::yield_now();
            } else {
                drop(core);
            }
            due.into_iter().for_each(|on_end| on_end());
            self.look_again();
            result?;
        }
    }

    /// Keeps the error that ended the job, which later calls return too. The launcher reports it.
    #[cold]
    fn note_failure(&self, core: &mut Core, error: &mut Error) {
        if core.failure.is_none() {
            if error.code() != ErrorCode::Stopped {
                self.attached.fail(&format!("rank {}: {error}", self.attached.rank()));
            }
            core.failure = Some(error.clone());
        }
    }
}
