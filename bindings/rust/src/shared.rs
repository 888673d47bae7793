//! Defines the state of the group that all threads of this process share, and the engine lock.
//!
//! One lock, the engine lock, guards the rank's engine and its runs ([`RankCore`]). If several
//! threads wait for runs, one of them works and sleeps while it holds the lock. The others sleep
//! until this thread wakes them, because their runs have ended or because it stops waiting. A
//! thread that wants the lock counts itself in [`SharedGroup::wanted`] and wakes the holder. The
//! holder then passes the lock to the other thread, and takes it again later.
//!
//! The lock is biased to the thread that joined the group, until another thread takes it: see
//! [`BiasedMutex`].
//!
//! A panic while the lock is held ends the job: the engine may be in the middle of an action.

use crate::biased::{BiasedMutex, Held};
use crate::communicator::{Communicator, Communicators, SHADOW};
use crate::error::{Error, ErrorCode, Result};
use crate::heap::Heap;
use crate::offload::Offload;
use crate::process::{GroupState, is_fork, of_fork};
use crate::progress::{RankCore, TEST, is_fatal};
use crate::report::{name_collectives, waits_for};
use crate::returned::{take_free, take_left};
use crate::slots::{Due, Ticket};
use crate::thread::{self, Common, is_in_function};
use goal_job::Mode;
use goal_rank::program::{Attached, is_of_library};
use parking_lot::{Condvar, Mutex};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};
use std::time::Duration;

/// The time between two attempts to wake a thread that sleeps with the engine lock.
const WAKE_AGAIN: Duration = Duration::from_micros(100);

/// The state of the group in this process.
pub(crate) struct SharedGroup {
    pub(crate) attached: Attached,
    pub(crate) world: Communicator,
    pub(crate) communicators: Mutex<Communicators>,
    pub(crate) heap: Heap,
    /// This rank's schedules in the kernel; `None` if the kernels of the job run no schedules.
    pub(crate) offload: Option<Offload>,
    /// The state behind the engine lock: the rank's engine and its runs.
    pub(crate) core: BiasedMutex<RankCore>,
    /// The number of threads that want the engine lock while another thread waits with it.
    pub(crate) wanted: AtomicU32,
    /// The mode of progress, as its number in [`Mode::ALL`].
    pub(crate) mode: AtomicU8,
    /// True while a thread waits for a run with the engine lock. It changes only under the engine
    /// lock.
    pub(crate) has_waiter: AtomicBool,
    /// True if functions wait for ends of runs. A thread that releases the engine lock stores it.
    pub(crate) is_watched: AtomicBool,
    /// True if the rank's thread has made progress, and nobody has yet looked for ended runs since.
    pub(crate) has_missed: AtomicBool,
    /// Notified when the thread that waits with the engine lock stops waiting, or when runs of
    /// other threads have ended.
    pub(crate) turned: Condvar,
}

impl std::fmt::Debug for SharedGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}", self.attached.rank(), self.attached.size())
    }
}

impl SharedGroup {
    /// Returns the mode of progress.
    #[inline]
    pub(crate) fn mode(&self) -> Mode {
        Mode::ALL[usize::from(self.mode.load(Ordering::Relaxed))]
    }

    /// Stores the mode of progress.
    pub(crate) fn set_mode(&self, mode: Mode) {
        let number = Mode::ALL.iter().position(|&other| other == mode);
        self.mode.store(number.unwrap_or(0) as u8, Ordering::Relaxed);
    }
}

impl SharedGroup {
    /// Makes a communicator by `make`. Before that, frees the numbers of communicators that nobody
    /// uses any more.
    pub(crate) fn make_communicator(
        &'static self,
        make: impl FnOnce(&mut Communicators) -> Result<Communicator>,
    ) -> Result<Communicator> {
        self.tidy();
        make(&mut self.communicators.lock())
    }

    /// Frees the kept collectives, the engine's state and the numbers of communicators that nobody
    /// uses any more. The caller must hold no lock.
    pub(crate) fn tidy(&'static self) {
        if is_in_function() {
            return;
        }
        let left: FxHashSet<u64> = take_left().into_iter().collect();
        if !left.is_empty() {
            // The drop of a schedule takes the engine lock, and may end the last use of a
            // communicator. So it comes first, and without the lock.
            drop(self.with(|core| {
                core.recent.clear();
                Ok(core.kept.as_mut().map(|kept| kept.take_of(&left)))
            }));
        }
        let free = take_free();
        if free.is_empty() {
            return;
        }
        let spaces: Vec<u64> = free.iter().flat_map(|&number| [number, number | SHADOW]).collect();
        let _ = self.with(|core| {
            free.iter().for_each(|&number| core.links.leave(number));
            // After a loss there is no engine that knows these communicators.
            if let Ok((member, _)) = core.parts() {
                member.forget(&spaces);
            }
            Ok(())
        });
        self.communicators.lock().take_back(&free);
    }

    /// Wakes the rank's thread, if there is one, so that it looks at the runs in the kernel. No run
    /// had started there when the thread fell asleep.
    #[cold]
    pub(crate) fn look_at_kernel(&self) {
        if self.mode() == Mode::Thread {
            self.attached.wake();
        }
    }

    /// Takes the engine lock. Asks a thread that sleeps with the lock to pass it on.
    ///
    /// # Errors
    /// The process is a fork of the rank, or this thread executes a registered function, whose
    /// caller holds the lock.
    #[inline(always)]
    pub(crate) fn hold(&'static self) -> Result<HeldCore> {
        // A fork never owns the bias. A function that the library calls can't enter: the lock is
        // held meanwhile, or this thread is barred.
        if let Some(core) = self.core.enter() {
            return Ok(HeldCore::new(self, core));
        }
        self.hold_by_mutex()
    }

    /// Takes the engine lock as [`hold`](Self::hold) does, in a thread that does not own the bias.
    #[inline(never)]
    fn hold_by_mutex(&'static self) -> Result<HeldCore> {
        // This process has a group, so only a fork can be in this state.
        if GroupState::None.is() {
            return Err(of_fork());
        }
        if is_in_function() {
            return Err(in_function());
        }
        let core = self.core.try_lock().unwrap_or_else(|| self.lock_slowly());
        Ok(HeldCore::new(self, core))
    }

    #[cold]
    fn lock_slowly(&'static self) -> Held<'static, RankCore> {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        let core = loop {
            // The thread with the lock may have looked at `wanted` before this thread raised it,
            // and fall asleep only now. So it is woken until this thread has the lock.
            self.attached.wake();
            if let Some(core) = self.core.try_lock_for(WAKE_AGAIN) {
                break core;
            }
        };
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        core
    }

    /// Calls `f` with the core under the engine lock. Then calls the functions for runs that have
    /// ended, without the lock.
    #[inline]
    pub(crate) fn with<R>(&'static self, f: impl FnOnce(&mut RankCore) -> Result<R>) -> Result<R> {
        let mut core = self.hold()?;
        let result = f(&mut core);
        self.release_after(core, result)
    }

    /// Releases the engine lock after a part of a call, and returns `result`. If `result` is an
    /// error that ends the job, keeps the error for later calls.
    #[inline]
    pub(crate) fn release_after<R>(
        &'static self,
        mut core: HeldCore,
        mut result: Result<R>,
    ) -> Result<R> {
        if let Err(error) = &mut result
            && is_fatal(error.code())
        {
            self.note_failure(&mut core, error);
        }
        self.release(core);
        result
    }

    /// Releases the engine lock, and calls the functions for runs that have ended. A thread that
    /// was woken because its run has ended gets the lock first. This thread can't take it again
    /// before, and sleep with it.
    #[inline]
    pub(crate) fn release(&'static self, core: HeldCore) {
        if core.slots.watched.is_empty() && core.due.is_empty() {
            core.into_guard().unlock_fair();
        } else {
            self.release_and_tell(core);
        }
    }

    /// Releases the engine lock if there are runs with functions for their ends, or if such
    /// functions are due. Calls the functions that are due.
    #[cold]
    fn release_and_tell(&'static self, mut core: HeldCore) {
        // An error is ignored here, because the next call gets it too.
        let _ = core.reap();
        let due = std::mem::take(&mut core.due);
        self.note_watched(&core);
        core.into_guard().unlock_fair();
        thread::call(self, due);
        self.look_again();
    }

    /// Notes if functions wait for ends of runs.
    #[cold]
    fn note_watched(&self, core: &RankCore) {
        // SeqCst: pairs with the accesses in `after_progress`. Either the rank's thread sees this,
        // or `look_again` of this thread sees that the rank's thread has made progress.
        self.is_watched.store(!core.slots.watched.is_empty(), Ordering::SeqCst);
    }

    /// Notes that the rank's thread has made progress or has failed, and looks for ended runs. The
    /// rank's thread calls this. It does not take the lock if no function waits for the end of a
    /// run, and no run in the kernel has to be looked at.
    pub(crate) fn after_progress(&'static self) {
        // If another thread holds the engine lock, it looks at this when it has released the lock.
        self.has_missed.store(true, Ordering::SeqCst);
        if self.offload.is_some() || self.is_watched.load(Ordering::SeqCst) {
            self.look_again();
        }
    }

    /// Calls the functions for runs that have ended by the progress of the rank's thread.
    fn look_again(&'static self) {
        // If this thread has just released the lock, others must see that before it looks. The
        // owner of a bias releases the lock by a store alone.
        fence(Ordering::SeqCst);
        while self.has_missed.load(Ordering::SeqCst) && !is_fork() {
            let Some(core) = self.core.try_lock() else { return };
            let mut core = HeldCore::new(self, core);
            self.has_missed.store(false, Ordering::SeqCst);
            // Runs that nobody watches come first, since peers read messages in their order.
            let advanced = core.advance_linked();
            let failure = match advanced.and_then(|()| core.reap()) {
                Err(error) => Some(error),
                Ok(()) if core.slots.watched.is_empty() => None,
                Ok(()) if self.attached.is_over() => core.met(),
                Ok(()) => None,
            };
            if let Some(mut error) = failure.filter(|error| is_fatal(error.code())) {
                self.note_failure(&mut core, &mut error);
            }
            let due = std::mem::take(&mut core.due);
            self.note_watched(&core);
            core.into_guard().unlock_fair();
            thread::call(self, due);
            fence(Ordering::SeqCst);
        }
    }

    /// Returns true if a run has ended. Makes a bounded amount of progress in either case, because
    /// a program may test an ended run until another one has ended.
    ///
    /// # Errors
    /// There was no such run, or it can't go on.
    #[inline]
    pub(crate) fn test(&'static self, ticket: Ticket) -> Result<bool> {
        let mut core = self.hold()?;
        match core.has_ended(ticket) {
            Ok(false) => {
                let tested = core.test_running(ticket);
                if matches!(tested, Ok(false)) {
                    self.tell_waits(&mut core);
                }
                self.release_after(core, tested)
            }
            // The program may wait for another run of this rank.
            Ok(true) if core.slots.may_run() => {
                let progressed = core.progress();
                let _ = self.release_after(core, progressed);
                Ok(true)
            }
            Ok(true) => self.release_after(core, Ok(true)),
            Err(error) => self.release_after(core, Err(error)),
        }
    }

    /// Makes a bounded amount of progress. If the job can't go on, calls the functions for the ends
    /// of runs with false. This call returns no error then, but the next call that needs the job
    /// does.
    pub(crate) fn progress(&'static self) -> Result<()> {
        let mut core = self.hold()?;
        let progressed = core.progress();
        self.tell_waits(&mut core);
        let _ = self.release_after(core, progressed);
        Ok(())
    }

    /// Tells the launcher what this rank waits for by its tests, if the launcher asks.
    #[inline]
    fn tell_waits(&self, core: &mut RankCore) {
        if self.attached.asks_text() {
            self.tell_waits_now(core);
        }
    }

    /// Tells the launcher what this rank waits for by its tests. Does nothing in a thread of the
    /// library, whose tests are not the program's.
    #[cold]
    fn tell_waits_now(&self, core: &mut RankCore) {
        if !is_of_library() {
            let threads = core.sleepers + 1;
            self.attached.tell_waits(&core.describe_waiting(TEST), threads);
        }
    }

    /// Keeps the error that ended the job, so that later calls return it too. Stores it for the
    /// report of the launcher.
    #[cold]
    fn note_failure(&self, core: &mut RankCore, error: &mut Error) {
        if error.code() == ErrorCode::Stopped
            && core.failure.is_none()
            && let Some(cause) = self.attached.failure()
        {
            *error = Error::new(ErrorCode::Stopped, format!("{error}: {cause}"));
        }
        *error = name_collectives(core, None, error.clone());
        // A job that survives the loss of a rank does not end, and its ranks know of the loss.
        let is_survived = error.code() == ErrorCode::Lost && self.attached.survives();
        // The ranks have regrouped since, so the error is about a run before that.
        if is_survived && !self.attached.is_broken() && !self.attached.has_lost_its_endpoint() {
            return;
        }
        if core.give_up(error) && !is_survived {
            let (rank, text) = (self.attached.rank(), error.to_string());
            match waits_for(&text) {
                Some(waits) => self.attached.fail(&format!("rank {rank} {waits}")),
                None if error.code() == ErrorCode::Stopped => {}
                None => self.attached.fail(&format!("rank {rank}: {text}")),
            }
        }
    }
}

impl Common for SharedGroup {
    fn keep(&'static self, due: VecDeque<Due>) {
        let mut core = self.core.lock();
        core.is_plain = false;
        core.due.extend(due);
    }
}

/// The core, with the engine lock held by this thread for a short call.
pub(crate) type Entered = Held<'static, RankCore>;

/// The core, with the engine lock held by this thread.
pub(crate) struct HeldCore {
    shared: &'static SharedGroup,
    core: Option<Held<'static, RankCore>>,
}

impl HeldCore {
    #[inline]
    fn new(shared: &'static SharedGroup, mut core: Held<'static, RankCore>) -> Self {
        // A thread that waits passes the lock on in the middle of its call.
        core.is_plain = false;
        Self { shared, core: Some(core) }
    }

    #[inline]
    pub(crate) fn guard(&mut self) -> &mut Held<'static, RankCore> {
        self.core.as_mut().expect("it is held")
    }

    #[inline]
    fn into_guard(mut self) -> Held<'static, RankCore> {
        let mut core = self.core.take().expect("it is held");
        let has_waiter = self.shared.has_waiter.load(Ordering::Relaxed);
        core.is_plain = !has_waiter && core.has_linked_runs_only();
        core
    }
}

impl Deref for HeldCore {
    type Target = RankCore;

    #[inline]
    fn deref(&self) -> &RankCore {
        self.core.as_ref().expect("it is held")
    }
}

impl DerefMut for HeldCore {
    #[inline]
    fn deref_mut(&mut self) -> &mut RankCore {
        self.guard()
    }
}

impl Drop for HeldCore {
    #[inline]
    fn drop(&mut self) {
        if let Some(core) = self.core.take() {
            abandon(self.shared, core);
        }
    }
}

#[cold]
fn in_function() -> Error {
    let text = "a registered function can't call this library, which is executing a schedule";
    Error::new(ErrorCode::Unsupported, text)
}

/// Releases the engine lock after a panic, and ends the job.
#[cold]
fn abandon(shared: &SharedGroup, mut core: Held<'static, RankCore>) {
    let text = "a fault of this library or of a registered function, in the middle of an action";
    shared.note_failure(&mut core, &mut Error::new(ErrorCode::Failed, text));
    shared.has_waiter.store(false, Ordering::Relaxed);
    shared.attached.computes();
    shared.turned.notify_all();
}
