//! Mode `thread`: a thread makes the schedules of a rank progress while the rank computes.
//!
//! While the thread runs, it takes the processor from the rank. A wakeup of the thread costs as
//! much as the frame that it handles. So the rank wakes the thread only for work that nothing else
//! wakes it for. Between the packets of one message the thread does not sleep.

mod sleep;
#[cfg(test)]
mod tests;

use super::error::Interrupted;
use super::poll_now;
use super::watched::{self, Watched};
use crate::equip::fail_by;
use crate::transport::RankTransport;
use goal_engine::transport::Wakeup;
use goal_engine::within;
use goal_engine::{Engine, Failure, Progress, Waiting};
use goal_eth::now_ns;
use goal_job::Job;
use goal_shm::UNSEEN_MAX;
use rustix::thread::futex::{self, Flags};
use sleep::{Sleep, WakeSources};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// State: the rank uses its engine itself, and the thread is parked.
const RECLAIMED: u32 = 0;
/// State: the thread uses the rank's engine.
const RELEASED: u32 = 1;
/// State: the thread ends as soon as it sees this.
const STOPPED: u32 = 2;

/// The longest sleep of the thread while its engine waits for room at a peer. Room wakes nobody.
const ROOM_SLEEP: Duration = Duration::from_micros(50);

/// The longest time in nanoseconds for which the thread polls for the next packet of a message that
/// has begun to arrive. It is about the time of a sleep and a wakeup.
const NEXT_PACKET_NS: u64 = 10_000;

/// The most polls of a rank before it leaves its engine to the thread.
const POLLS_BEFORE_RELEASE: u32 = 8;

/// The state that a rank shares with its thread.
///
/// The bell of the rank's mailbox wakes the thread. The rank arms the bell when it releases its
/// engine, and disarms it when it reclaims the engine. So neither takes a system call.
pub(super) struct ProgressThread<'a> {
    job: Job<'a>,
    rank: u32,
    engine: Mutex<Engine<'a, RankTransport<'a>>>,
    /// [`RECLAIMED`], [`RELEASED`] or [`STOPPED`]. The thread waits on it as a futex.
    state: AtomicU32,
    /// 1 while the thread may be waiting on `state`.
    is_parked: AtomicU32,
    /// The time in nanoseconds at which the thread's last sleep ends without a wakeup. Written with
    /// the engine locked.
    wakes_ns: AtomicU64,
    /// The reason why the thread gave up, after which the engine can't be used. Set with the engine
    /// locked.
    failure: OnceLock<Interrupted>,
    /// The function that the thread calls after a poll that did something or failed. The engine is
    /// not locked then.
    on_progress: OnceLock<OnProgress>,
    /// The words that the thread waits for, besides messages.
    watched: Mutex<Vec<Watched<'a>>>,
}

/// The state of the watched words. The thread, or the rank for it, has armed the bell for them.
#[derive(PartialEq, Eq)]
enum Nap {
    /// Whoever writes one of them rings the bell.
    Rings,
    /// Whoever writes one of them rings the bell, once [`UNSEEN_MAX`] has passed.
    RingsLater,
    /// One of them has come.
    HasCome,
}

/// A function that the thread of a rank calls. It may take the engine from the thread.
pub(super) type OnProgress = Arc<dyn Fn() + Send + Sync>;

/// The next act of the thread after a step.
enum Step {
    /// The thread does the next step.
    On,
    /// The thread calls [`ProgressThread::on_progress`], then does the next step.
    Tell,
    /// The thread gave up: it calls [`ProgressThread::on_progress`], then ends.
    TellAndEnd,
    /// The thread ends.
    End,
}

/// The locked engine of a rank.
pub(super) type Guard<'g, 'a> = MutexGuard<'g, Engine<'a, RankTransport<'a>>>;

impl<'a> ProgressThread<'a> {
    /// Creates the state from the engine of `rank`.
    pub(super) fn new(job: Job<'a>, rank: u32, engine: Engine<'a, RankTransport<'a>>) -> Self {
        Self {
            job,
            rank,
            engine: Mutex::new(engine),
            state: AtomicU32::new(RECLAIMED),
            is_parked: AtomicU32::new(0),
            wakes_ns: AtomicU64::new(u64::MAX),
            failure: OnceLock::new(),
            on_progress: OnceLock::new(),
            watched: Mutex::default(),
        }
    }

    /// Sets the function that the thread calls after a poll that did something. If the thread has
    /// one already, `f` is ignored.
    pub(super) fn call_on_progress(&self, f: OnProgress) {
        let _ = self.on_progress.set(f);
    }

    /// Sets the words that the thread waits for.
    pub(super) fn watch(&self, watched: Vec<Watched<'a>>) {
        let is_none = watched.is_empty();
        let mut known = self.watched();
        // If the thread sleeps, it sleeps until one of the words that it knows has come.
        if *known == watched {
            return;
        }
        *known = watched;
        drop(known);
        // The thread may sleep, and nobody would wake it for these words. After the rank has
        // reclaimed the engine, `release` sees to them.
        if !is_none && self.state.load(Ordering::SeqCst) == RELEASED {
            self.job.segment.mailbox(self.rank).disarm_and_wake();
        }
    }

    fn watched(&self) -> MutexGuard<'_, Vec<Watched<'a>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets writers of the watched words ring the bell, which is armed.
    fn nap(&self) -> Nap {
        let watched = self.watched();
        if watched.is_empty() {
            return Nap::Rings;
        }
        let is_ordered = watched::enter(self.job.segment, self.rank, &watched);
        match watched.iter().any(Watched::has_come) {
            true => Nap::HasCome,
            false if is_ordered => Nap::Rings,
            false => Nap::RingsLater,
        }
    }

    /// Forgets the words that have come. Returns true if there was one.
    fn take_come(&self) -> bool {
        self.watched().extract_if(.., |watched| watched.has_come()).count() > 0
    }

    /// Returns the engine. The thread must have ended.
    pub(super) fn into_engine(self) -> Engine<'a, RankTransport<'a>> {
        self.engine.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the rank's fabrics have work, such as a frame from another host. Also if a
    /// run in the kernel has ended.
    pub(super) fn has_frame(&self) -> bool {
        let has_frame = |mut engine: Guard<'_, '_>| engine.transport().has_frame();
        self.job.settings.network.is_some() && self.engine().is_some_and(has_frame)
    }

    /// Returns true if something has arrived from another host, or if a run in the kernel has
    /// ended. Asks the system.
    pub(super) fn has_arrived(&self) -> bool {
        let has_arrived = |mut engine: Guard<'_, '_>| engine.transport().has_arrived();
        self.job.settings.network.is_some() && self.engine().is_some_and(has_arrived)
    }

    /// Arms the bell for a sleep of the rank. Returns the sources that can wake the rank; `None` if
    /// a message has come or the thread gave up.
    pub(super) fn arm(&self) -> Option<WakeSources<'a>> {
        let mut engine = self.engine()?;
        let is_armed = engine.transport().arm();
        is_armed.then(|| self.wake_sources(&mut engine))
    }

    fn wake_sources(&self, engine: &mut Engine<'a, RankTransport<'a>>) -> WakeSources<'a> {
        WakeSources {
            mailbox: self.job.segment.mailbox(self.rank),
            sleeper: engine.transport().sleeper(),
        }
    }

    /// Locks the engine for one bounded piece of work. Returns `None` if the thread gave up.
    pub(super) fn engine(&self) -> Option<Guard<'_, 'a>> {
        let engine = self.lock();
        self.failure.get().is_none().then_some(engine)
    }

    fn lock(&self) -> Guard<'_, 'a> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the reason why the thread gave up, if it has.
    pub(super) fn failure(&self) -> Option<&Interrupted> {
        self.failure.get()
    }

    /// Makes the thread give up: stores the reason `why` for the launcher and the rank, and wakes
    /// the rank. The thread calls this with the engine locked. The rank arms its bell under the
    /// same lock. So it either sees the reason before it sleeps, or this call wakes it.
    fn give_up(&self, why: Interrupted, _: &Guard<'_, '_>) {
        let (segment, rank) = (self.job.segment, self.rank);
        segment.fail(rank, &format!("rank {rank}: {why}"));
        let _ = self.failure.set(why);
        segment.mailbox(rank).disarm_and_wake();
    }

    /// Takes the engine back from the thread, which stops using it after its current poll.
    pub(super) fn reclaim(&self) {
        // Relaxed: while the rank lives, only the rank changes the state. The one exception is
        // `act`, which sets it to `RECLAIMED`.
        if self.state.load(Ordering::Relaxed) != RECLAIMED {
            // This store pairs with the load in `step` after the thread has armed the bell. Either
            // the thread sees `RECLAIMED` and does not sleep, or the bell is disarmed after it was
            // armed, which ends the sleep.
            self.state.store(RECLAIMED, Ordering::SeqCst);
            self.job.segment.mailbox(self.rank).disarm();
            watched::leave(self.job.segment, self.rank);
        }
    }

    /// Leaves the engine to the thread. Returns `None` if the thread gave up.
    ///
    /// # Errors
    /// The failure of an action.
    pub(super) fn release(&self) -> Option<Result<(), Failure>> {
        let mut engine = self.engine()?;
        let mut is_busy = true;
        // A few polls here cost less than waking the thread for work that is almost done.
        for _ in 0..POLLS_BEFORE_RELEASE {
            let progress = match poll_now(&mut engine) {
                Ok(progress) => progress,
                Err(failure) => return Some(Err(failure)),
            };
            let is_quiet = match progress.waiting {
                _ if progress.worked => false,
                // If the rank waits for nothing, nobody rings its bell. But frames may come from
                // other hosts.
                Waiting::Nothing
                    if self.job.settings.network.is_none() && self.watched().is_empty() =>
                {
                    true
                }
                Waiting::Messages | Waiting::Nothing => {
                    engine.transport().arm() && self.nap() == Nap::Rings
                }
                // No message ends these waits, so the thread has to poll.
                Waiting::Room | Waiting::Until { .. } => break,
            };
            if is_quiet {
                is_busy = false;
                break;
            }
        }
        // The thread may still sleep from an earlier release, and for longer than the streams now
        // allow.
        let until_ns = engine.transport().sleeper().and_then(|sleeper| sleeper.until_ns());
        let oversleeps =
            until_ns.is_some_and(|until_ns| until_ns < self.wakes_ns.load(Ordering::Relaxed));
        drop(engine);
        // SeqCst: this store and the load below pair with the store and the futex wait in `step`.
        // Either the thread's futex sees `RELEASED` and does not wait, or this rank sees
        // `is_parked` and wakes the thread.
        self.state.store(RELEASED, Ordering::SeqCst);
        if self.is_parked.load(Ordering::SeqCst) != 0 {
            let _ = futex::wake(&self.state, Flags::PRIVATE, 1);
        } else if is_busy || oversleeps {
            self.job.segment.mailbox(self.rank).disarm_and_wake();
        }
        Some(Ok(()))
    }

    /// Ends the thread.
    pub(super) fn stop(&self) {
        self.state.store(STOPPED, Ordering::SeqCst);
        let _ = futex::wake(&self.state, Flags::PRIVATE, 1);
        self.job.segment.mailbox(self.rank).disarm_and_wake();
    }

    /// Polls or sleeps once, on the thread.
    fn step(&self) -> Step {
        match self.state.load(Ordering::SeqCst) {
            STOPPED => return Step::End,
            RECLAIMED => {
                self.is_parked.store(1, Ordering::SeqCst);
                let _ = futex::wait(&self.state, Flags::PRIVATE, RECLAIMED, None);
                self.is_parked.store(0, Ordering::SeqCst);
                return Step::On;
            }
            _ => {}
        }
        let mut engine = self.lock();
        // If the rank has reclaimed the engine, only the rank may change the bell.
        if self.state.load(Ordering::SeqCst) != RELEASED {
            return Step::On;
        }
        // The engine stays locked while a panic is handled, so the rank never uses a broken one.
        let acted = catch_unwind(AssertUnwindSafe(|| within(|| self.act(&mut engine))));
        match acted.map_err(|panic| panicked(&*panic)).and_then(|acted| Ok(acted?)) {
            Err(why) => {
                self.give_up(why, &engine);
                return Step::TellAndEnd;
            }
            Ok(None) => return Step::Tell,
            Ok(Some(sleep)) => {
                drop(engine);
                // The rank may reclaim the engine after this load. It then disarms the bell, so
                // that the sleep returns at once.
                if self.state.load(Ordering::SeqCst) == RELEASED {
                    sleep.sleep();
                }
            }
        }
        Step::On
    }

    /// Polls the released engine. Returns the sleep for the thread if there is nothing left to do;
    /// `None` otherwise.
    fn act(&self, engine: &mut Engine<'a, RankTransport<'a>>) -> Option<Sleep<'a>> {
        let mailbox = self.job.segment.mailbox(self.rank);
        mailbox.disarm();
        watched::leave(self.job.segment, self.rank);
        // To drain a bell takes the ring away from every sleeper that has not looked yet. So the
        // thread drains the bell only here, with the engine released. The rank drains it only with
        // the engine reclaimed. So neither drains it while the other may sleep.
        mailbox.bell().drain();
        let mut progress = poll_now(engine);
        if progress.as_ref().is_ok_and(|progress| !progress.worked)
            && engine.transport().is_receiving()
        {
            progress = self.poll_for_packet(engine, progress);
        }
        if let Err(failure) = &progress {
            // This stores the failure for the launcher. The rank gets the same failure from its
            // next poll.
            fail_by(&self.job, engine, self.rank, failure);
        }
        let Ok(progress) = progress else {
            // This parks the thread. A plain store could overwrite `STOPPED`.
            self.state
                .compare_exchange(RELEASED, RECLAIMED, Ordering::SeqCst, Ordering::SeqCst)
                .ok();
            return None;
        };
        // A completion event and a watched word count as progress here, so that the program's
        // functions are called.
        if self.take_come() | progress.worked || engine.transport().has_event() {
            return None;
        }
        let limit = match progress.waiting {
            Waiting::Messages | Waiting::Nothing => None,
            Waiting::Room | Waiting::Until { room: true, .. } => Some(ROOM_SLEEP),
            Waiting::Until { time_ns, .. } => {
                Some(Duration::from_nanos(time_ns.saturating_sub(now_ns())))
            }
        };
        if !engine.transport().arm() {
            return None;
        }
        let limit = match self.nap() {
            Nap::Rings => limit,
            Nap::RingsLater => limit.into_iter().chain([UNSEEN_MAX]).min(),
            // The next step tells the program.
            Nap::HasCome => return None,
        };
        let sleep = Sleep { sources: self.wake_sources(engine), limit };
        // Relaxed: the lock orders it.
        self.wakes_ns.store(sleep.ends_ns(), Ordering::Relaxed);
        Some(sleep)
    }

    /// Polls the released engine whenever a frame arrives. Ends when a poll has done something, the
    /// rank has reclaimed the engine or [`NEXT_PACKET_NS`] have passed. Returns the result of the
    /// last poll; `progress` if there was none.
    fn poll_for_packet(
        &self,
        engine: &mut Engine<'a, RankTransport<'a>>,
        mut progress: Result<Progress, Failure>,
    ) -> Result<Progress, Failure> {
        let until_ns = now_ns() + NEXT_PACKET_NS;
        while progress.as_ref().is_ok_and(|progress| !progress.worked)
            && self.state.load(Ordering::Relaxed) == RELEASED
            && now_ns() < until_ns
        {
            if engine.transport().has_arrived() {
                progress = poll_now(engine);
            } else {
                std::hint::spin_loop();
            }
        }
        progress
    }
}

/// Runs the thread of a rank until it ends. A panic fails the rank. While the thread calls a
/// function of the program, it holds no reference to the state. So a rank that changes its mode or
/// leaves never waits for the program.
pub(super) fn run_thread(mut shared: Arc<ProgressThread<'_>>) {
    loop {
        let step = catch_unwind(AssertUnwindSafe(|| shared.step()));
        let (tells, ends) = match step {
            Ok(Step::On) => continue,
            Ok(Step::End) => return,
            Ok(Step::Tell) => (true, false),
            Ok(Step::TellAndEnd) => (true, true),
            Err(panic) => {
                shared.give_up(panicked(&*panic), &shared.lock());
                (true, true)
            }
        };
        let told = shared.on_progress.get().filter(|_| tells).cloned();
        if let Some(on_progress) = told {
            let state = Arc::downgrade(&shared);
            drop(shared);
            let called = catch_unwind(AssertUnwindSafe(|| on_progress()));
            let Some(again) = state.upgrade() else { return };
            if let Err(panic) = called {
                again.give_up(panicked(&*panic), &again.lock());
                return;
            }
            shared = again;
        }
        if ends {
            return;
        }
    }
}

/// Returns [`Interrupted::Panicked`] with the text of a panic.
fn panicked(panic: &(dyn Any + Send)) -> Interrupted {
    let texts = (panic.downcast_ref::<String>().map(String::as_str), panic.downcast_ref::<&str>());
    let text = texts.0.or(texts.1.copied()).unwrap_or("it did not say why");
    Interrupted::Panicked(text.to_owned())
}
