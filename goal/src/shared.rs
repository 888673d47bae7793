//! The state of the group in this process, whichever thread calls.
//!
//! The rank's end of the job lies behind one lock. Of several threads that wait for runs one works
//! and sleeps with the lock; the others sleep until it tells them that their runs have ended, or
//! that it has stopped. A thread that wants the lock says so in [`Shared::wanted`] and wakes the
//! sleeper, which hands the lock over and takes it again.
//!
//! A panic while the lock is held ends the job: the engine may be in the middle of an action.

use crate::communicator::{Communicator, Communicators};
use crate::error::{Error, ErrorCode, Result};
use crate::heap::Heap;
use crate::progress::{Core, STUCK_HERE, error_of, is_fatal, no_run};
use crate::slots::{Due, Ticket};
use crate::thread::{self, Common, callers, count, is_in_function};
use goal_run::job::Mode;
use goal_run::program::Attached;
use goal_run::progress::Interrupted;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

/// The time between two attempts to wake a thread that sleeps with the core.
const WAKE_AGAIN: Duration = Duration::from_micros(100);

/// The most attempts to wake a thread that sleeps with the core, after another one has ended.
const WAKE_MAX: u32 = 20;

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
    ///
    /// # Errors
    /// The thread executes a registered function, whose caller has the core.
    #[inline]
    pub(crate) fn hold(&'static self) -> Result<Held> {
        if is_in_function() {
            let text =
                "a registered function can't call this library, which is executing a schedule";
            return Err(Error::new(ErrorCode::Unsupported, text));
        }
        count(self);
        let core = self.core.try_lock().unwrap_or_else(|| self.lock_slowly());
        Ok(Held { shared: self, core: Some(core) })
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
        let mut core = self.hold()?;
        let mut result = f(&mut core);
        if let Err(error) = &mut result
            && is_fatal(error.code())
        {
            self.note_failure(&mut core, error);
        }
        self.release(core);
        result
    }

    /// Gives the core back, and calls the functions of runs that have ended.
    #[inline]
    pub(crate) fn release(&'static self, mut core: Held) {
        if core.slots.watched.is_empty() && core.due.is_empty() {
            drop(core.into_guard());
            return;
        }
        // An error is for the next call, which meets it too.
        let _ = core.reap();
        let due = std::mem::take(&mut core.due);
        drop(core.into_guard());
        thread::call(self, due);
        self.look_again();
    }

    /// Called by the rank's thread after it has made progress, or has met a failure.
    pub(crate) fn after_progress(&'static self) {
        thread::exempt();
        // If the core is taken, its owner looks at this when it has given the core back.
        self.has_missed.store(true, Ordering::SeqCst);
        self.look_again();
    }

    /// Calls the functions of runs whose end the rank's thread has brought about.
    fn look_again(&'static self) {
        while self.has_missed.load(Ordering::SeqCst) {
            let Some(core) = self.core.try_lock() else { return };
            let mut core = Held { shared: self, core: Some(core) };
            self.has_missed.store(false, Ordering::SeqCst);
            let failure = match core.reap() {
                Err(error) => Some(error),
                Ok(()) if core.slots.watched.is_empty() => None,
                Ok(()) if self.attached.is_over() => core.met(),
                Ok(()) => None,
            };
            if let Some(mut error) = failure.filter(|error| is_fatal(error.code())) {
                self.note_failure(&mut core, &mut error);
            }
            let due = std::mem::take(&mut core.due);
            drop(core.into_guard());
            thread::call(self, due);
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
            let mut core = self.hold()?;
            let looked = core.first_ended(tickets).and_then(|ended| {
                // Functions of other runs are called first; they may do anything.
                if ended.is_some() || !core.due.is_empty() {
                    return Ok(ended);
                }
                if core.has_waiter {
                    self.park(&mut core, tickets);
                    return Ok(None);
                }
                core.has_waiter = true;
                let worked = self.work(&mut core, tickets, call);
                core.has_waiter = false;
                // One of the others works from now on.
                self.turned.notify_all();
                worked.map(|()| None)
            });
            let looked = looked.map_err(|mut error| {
                if is_fatal(error.code()) {
                    self.note_failure(&mut core, &mut error);
                }
                error
            });
            self.release(core);
            if let Some(at) = looked? {
                return Ok(at);
            }
        }
    }

    /// Sleeps while another thread waits with the core, until it says that one of these runs has
    /// ended, or that it has stopped.
    fn park(&'static self, core: &mut Held, tickets: &[Ticket]) {
        core.parked.extend(tickets);
        core.sleepers += 1;
        self.turned.wait(core.guard());
        core.sleepers -= 1;
        for ticket in tickets {
            if let Some(at) = core.parked.iter().position(|parked| parked == ticket) {
                core.parked.swap_remove(at);
            }
        }
    }

    /// Works and sleeps with the core until one of these runs has ended, or a function is due.
    /// Hands the core over to threads that want it, or whose runs have ended.
    fn work(&'static self, core: &mut Held, tickets: &[Ticket], call: &str) -> Result<()> {
        loop {
            // The rank waits if every thread does that has called this library.
            let waiting = core.sleepers + 1;
            let all_wait = || waiting >= callers();
            let waits = all_wait();
            if waits {
                self.attached.waits(call);
            }
            let wanted = || self.wanted.load(Ordering::Relaxed) > 0;
            let worked = core.work_until(tickets, || wanted() || !waits && all_wait());
            self.attached.computes();
            if let Err(interrupted) = worked {
                return Err(match interrupted {
                    Interrupted::Stuck => core.describe_waiting(call),
                    other => error_of(&other),
                });
            }
            core.reap()?;
            let others = core.unpark_ended()?;
            if others {
                self.turned.notify_all();
            }
            if core.has_one_ended(tickets)? || !core.due.is_empty() {
                return Ok(());
            }
            if others || wanted() {
                MutexGuard::unlocked_fair(core.guard(), std::thread::yield_now);
            }
        }
    }

    /// Keeps the error that ended the job, which later calls return too. The launcher reports it.
    #[cold]
    fn note_failure(&self, core: &mut Core, error: &mut Error) {
        if core.give_up(error) && error.code() != ErrorCode::Stopped {
            let (rank, text) = (self.attached.rank(), error.to_string());
            self.attached.fail(&match text.strip_prefix(STUCK_HERE) {
                Some(waits) => format!("rank {rank} {waits}"),
                None => format!("rank {rank}: {text}"),
            });
        }
    }
}

impl Common for Shared {
    /// Lets a thread that sleeps with the core look at the number of callers again. The thread that
    /// has the core may be this one, which exits from within a call, so this does not insist.
    fn has_left(&'static self) {
        for _ in 0..WAKE_MAX {
            if self.core.try_lock().is_some() {
                return;
            }
            self.attached.wake();
            std::thread::sleep(WAKE_AGAIN);
        }
    }

    fn keep(&'static self, due: VecDeque<Due>) {
        self.core.lock().due.extend(due);
    }
}

/// The core, taken by this thread.
pub(crate) struct Held {
    shared: &'static Shared,
    core: Option<MutexGuard<'static, Core>>,
}

impl Held {
    fn guard(&mut self) -> &mut MutexGuard<'static, Core> {
        self.core.as_mut().expect("it is held")
    }

    fn into_guard(mut self) -> MutexGuard<'static, Core> {
        self.core.take().expect("it is held")
    }
}

impl Deref for Held {
    type Target = Core;

    #[inline]
    fn deref(&self) -> &Core {
        self.core.as_ref().expect("it is held")
    }
}

impl DerefMut for Held {
    #[inline]
    fn deref_mut(&mut self) -> &mut Core {
        self.guard()
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        if let Some(core) = self.core.take() {
            abandon(self.shared, core);
        }
    }
}

/// Gives the core back after a panic, which ends the job.
#[cold]
fn abandon(shared: &Shared, mut core: MutexGuard<'static, Core>) {
    let text = "a fault of this library or of a registered function, in the middle of an action";
    shared.note_failure(&mut core, &mut Error::new(ErrorCode::Failed, text));
    core.has_waiter = false;
    shared.attached.computes();
    shared.turned.notify_all();
}
