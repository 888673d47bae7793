//! A thread that makes the schedules of a rank go on while the rank does something else.

use super::member::{StartError, engine};
use super::{Interrupted, poll_now};
use crate::job::Job;
use crate::transport::{Ends, Sleeper};
use goal_engine::transport::Wakeup;
use goal_engine::within;
use goal_engine::{Engine, Failure, Waiting};
use goal_eth::{AnyDriver, now_ns};
use goal_shm::Endpoint;
use rustix::thread::futex::{self, Flags};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The rank acts for itself; the thread waits.
const HERE: u32 = 0;
/// The thread acts.
const AWAY: u32 = 1;
/// The thread ends.
const STOPPED: u32 = 2;

/// The longest sleep of a thread whose engine waits for room, which nobody announces.
const ROOM_SLEEP: Duration = Duration::from_micros(50);

/// Polls of a rank before it leaves the rest to the thread.
const POLLS_BEFORE_GOING: u32 = 8;

/// What a rank and its thread share.
///
/// The thread sleeps where the rank would: in its mailbox, whose bell the rank switches on when it
/// goes and off when it comes. So neither costs a system call.
pub(super) struct Driver<'a> {
    job: Job<'a>,
    rank: u32,
    engine: Mutex<Engine<'a, Ends<'a>>>,
    /// [`HERE`], [`AWAY`] or [`STOPPED`]: a futex.
    rank_is: AtomicU32,
    /// 1 while the thread sleeps in `rank_is`.
    waits: AtomicU32,
    /// Why the thread gave up; nobody can go on with the engine then. It is set while the engine is
    /// locked.
    fallen: OnceLock<Interrupted>,
}

/// The engine, locked.
pub(super) type Guard<'g, 'a> = MutexGuard<'g, Engine<'a, Ends<'a>>>;

impl<'a> Driver<'a> {
    /// # Errors
    /// The way to ranks on other hosts can't be opened.
    pub(super) fn new(
        job: Job<'a>,
        rank: u32,
        driver: Option<AnyDriver>,
    ) -> Result<Self, StartError> {
        let engine = Mutex::new(engine(job, rank, driver)?);
        Ok(Self {
            job,
            rank,
            engine,
            rank_is: AtomicU32::new(HERE),
            waits: AtomicU32::new(0),
            fallen: OnceLock::new(),
        })
    }

    /// Whether something has come from another host.
    pub(super) fn has_frame(&self) -> bool {
        let has_frame = |mut engine: Guard<'_, '_>| engine.transport().has_frame();
        self.job.settings.network.is_some() && self.engine().is_some_and(has_frame)
    }

    /// Prepares to sleep; `None` if a message has come, or the thread gave up.
    pub(super) fn arm(&self) -> Option<Bed<'a>> {
        let mut engine = self.engine()?;
        let is_armed = engine.transport().arm();
        is_armed.then(|| self.bed(&mut engine))
    }

    fn bed(&self, engine: &mut Engine<'a, Ends<'a>>) -> Bed<'a> {
        Bed {
            endpoint: self.job.segment.endpoint(self.rank),
            sleeper: engine.transport().sleeper(),
        }
    }

    /// The engine, for one bounded piece of work; `None` if the thread gave up.
    pub(super) fn engine(&self) -> Option<Guard<'_, 'a>> {
        let engine = self.lock();
        self.fallen.get().is_none().then_some(engine)
    }

    fn lock(&self) -> Guard<'_, 'a> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the thread gave up.
    pub(super) fn fallen(&self) -> Option<&Interrupted> {
        self.fallen.get()
    }

    /// The thread gives up: says so where the launcher and the rank find it, and wakes the rank.
    /// The engine is locked, so that a rank that goes to sleep has seen it or is woken.
    fn fall(&self, why: Interrupted, _: &Guard<'_, '_>) {
        let (segment, rank) = (self.job.segment, self.rank);
        segment.fail(rank, &format!("rank {rank}: {why}"));
        let _ = self.fallen.set(why);
        segment.endpoint(rank).disarm_and_wake();
    }

    /// The rank acts for itself.
    pub(super) fn come(&self) {
        if self.rank_is.load(Ordering::Relaxed) != HERE {
            self.rank_is.store(HERE, Ordering::SeqCst);
            self.job.segment.endpoint(self.rank).disarm();
        }
    }

    /// The rank does something else.
    ///
    /// # Errors
    /// The failure of an action. `None` if the thread panicked.
    pub(super) fn go(&self) -> Option<Result<(), Failure>> {
        let mut engine = self.engine()?;
        let mut hands_over = true;
        // What is here, or coming, is better done now than by a thread that has to be woken.
        for _ in 0..POLLS_BEFORE_GOING {
            let progress = match poll_now(&mut engine) {
                Ok(progress) => progress,
                Err(failure) => return Some(Err(failure)),
            };
            let is_quiet = match progress.waiting {
                _ if progress.worked => false,
                Waiting::Nothing => true,
                Waiting::Messages => engine.transport().arm(),
                // Time and room come without a message.
                Waiting::Room | Waiting::Until { .. } => break,
            };
            if is_quiet {
                hands_over = false;
                break;
            }
        }
        drop(engine);
        self.rank_is.store(AWAY, Ordering::SeqCst);
        // The thread may sleep until a time that is not the right one any more.
        if hands_over || self.job.settings.network.is_some() {
            self.job.segment.endpoint(self.rank).disarm_and_wake();
        }
        if self.waits.load(Ordering::SeqCst) != 0 {
            let _ = futex::wake(&self.rank_is, Flags::PRIVATE, 1);
        }
        Some(Ok(()))
    }

    pub(super) fn stop(&self) {
        self.rank_is.store(STOPPED, Ordering::SeqCst);
        let _ = futex::wake(&self.rank_is, Flags::PRIVATE, 1);
        self.job.segment.endpoint(self.rank).disarm_and_wake();
    }

    /// One turn of the thread. False when it is to end.
    fn turn(&self) -> bool {
        match self.rank_is.load(Ordering::SeqCst) {
            STOPPED => return false,
            HERE => {
                self.waits.store(1, Ordering::SeqCst);
                let _ = futex::wait(&self.rank_is, Flags::PRIVATE, HERE, None);
                self.waits.store(0, Ordering::SeqCst);
                return true;
            }
            _ => {}
        }
        let mut engine = self.lock();
        // The bell is the rank's to switch from when it comes to when it goes.
        if self.rank_is.load(Ordering::SeqCst) != AWAY {
            return true;
        }
        // The engine stays locked if this panics: nobody meets it half done.
        let acted = catch_unwind(AssertUnwindSafe(|| within(|| self.act(&mut engine))));
        match acted.map_err(|panic| panicked(&*panic)).and_then(|acted| Ok(acted?)) {
            Err(why) => {
                self.fall(why, &engine);
                return false;
            }
            Ok(None) => {}
            Ok(Some((bed, limit))) => {
                drop(engine);
                // The rank may have come in between, and switched the bell off: then this returns
                // at once.
                if self.rank_is.load(Ordering::SeqCst) == AWAY {
                    bed.doze(limit);
                }
            }
        }
        true
    }

    /// Acts for the rank, which is away. Where there is nothing left to do: what to sleep in, and
    /// for how long at most.
    fn act(&self, engine: &mut Engine<'a, Ends<'a>>) -> Option<(Bed<'a>, Option<Duration>)> {
        let endpoint = self.job.segment.endpoint(self.rank);
        endpoint.disarm();
        // The bell is made silent here and by the rank while it is not away, never by one while the
        // other may sleep: whoever makes it silent takes it from all who were woken and have not
        // looked yet. The rank arms it when this is over.
        endpoint.bell().drain();
        let progress = poll_now(engine);
        if let Err(failure) = &progress {
            // The job learns it now, the rank from its next poll, which says the same.
            self.job.fail(self.rank, failure);
        }
        let Ok(progress) = progress else {
            self.rank_is.compare_exchange(AWAY, HERE, Ordering::SeqCst, Ordering::SeqCst).ok();
            return None;
        };
        if progress.worked {
            return None;
        }
        let limit = match progress.waiting {
            Waiting::Messages | Waiting::Nothing => None,
            Waiting::Room | Waiting::Until { room: true, .. } => Some(ROOM_SLEEP),
            Waiting::Until { time_ns, .. } => {
                Some(Duration::from_nanos(time_ns.saturating_sub(now_ns())))
            }
        };
        let is_armed = engine.transport().arm();
        is_armed.then(|| (self.bed(engine), limit))
    }
}

/// What a rank or its thread sleeps in, while the other one may have the engine.
pub(super) struct Bed<'a> {
    endpoint: Endpoint<'a>,
    sleeper: Option<Sleeper>,
}

impl Bed<'_> {
    /// Sleeps until somebody rings, `limit` passes or, where there are other hosts, something comes
    /// from them; switches the bell off. This is the rank's way to sleep.
    pub(super) fn wait(&self, limit: Option<Duration>) {
        self.doze(limit);
        self.endpoint.bell().drain();
        self.endpoint.disarm();
    }

    /// The same, and leaves the bell as it is, for whoever else may sleep here. This is the
    /// thread's way.
    fn doze(&self, limit: Option<Duration>) {
        match &self.sleeper {
            None => self.endpoint.sleep_without_disarming(limit),
            Some(sleeper) => sleeper.sleep(self.endpoint.bell(), limit),
        }
    }
}

/// Runs the thread's turns. A panic fails the rank.
pub(super) fn drive(driver: &Driver<'_>) {
    let driven = catch_unwind(AssertUnwindSafe(|| while driver.turn() {}));
    if let Err(panic) = driven {
        driver.fall(panicked(&*panic), &driver.lock());
    }
}

/// Returns the error with the text of a panic.
fn panicked(panic: &(dyn Any + Send)) -> Interrupted {
    let texts = (panic.downcast_ref::<String>().map(String::as_str), panic.downcast_ref::<&str>());
    let text = texts.0.or(texts.1.copied()).unwrap_or("it did not say why");
    Interrupted::Panicked(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Bed;
    use crate::transport::Sleeper;
    use goal_shm::{Layout, RankSizes, Segment};
    use std::time::{Duration, Instant};

    /// The thread may have gone to bed when the rank came, and the rank sleeps too: one ring wakes
    /// both, in whichever order the system lets them look at the bell.
    #[test]
    fn one_ring_wakes_the_thread_and_the_rank() {
        const LIMIT: Duration = Duration::from_secs(5);
        let layout = Layout::new([RankSizes::default()].into_iter(), 1 << 30).unwrap();
        let mut segment = Segment::create(layout).unwrap();
        segment.create_bells(0..1).unwrap();
        let endpoint = segment.endpoint(0);
        let bed = || Bed { endpoint, sleeper: Some(Sleeper::of_bell()) };
        let (of_thread, of_rank) = (bed(), bed());
        for _ in 0..3 {
            assert!(endpoint.arm());
            assert!(segment.mailbox(0).wake(), "somebody sleeps");
            let began = Instant::now();
            // The thread looks first.
            of_thread.doze(Some(LIMIT));
            of_rank.wait(Some(LIMIT));
            assert!(began.elapsed() < LIMIT, "the rank slept on");
        }
        // The rank has made the bell silent.
        let began = Instant::now();
        of_thread.doze(Some(Duration::from_millis(20)));
        assert!(began.elapsed() >= Duration::from_millis(20), "somebody rings");
    }
}
