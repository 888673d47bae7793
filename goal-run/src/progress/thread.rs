//! A thread that makes the schedules of a rank go on while the rank does something else.

use super::member::{StartError, engine};
use crate::engine::{Engine, Failure, Waiting};
use crate::rank::{Job, now_ns};
use crate::shm::Endpoint;
use crate::transport::esp::{AnyDriver, Sleeper};
use crate::transport::{Ends, Wakeup};
use rustix::thread::futex::{self, Flags};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
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
/// The thread sleeps where the rank would: in its mailbox, whose bell the rank switches on when it goes and off when it comes. So
/// neither costs a system call.
pub(super) struct Driver<'a> {
    job: Job<'a>,
    rank: u32,
    engine: Mutex<Engine<Ends<'a>>>,
    /// [`HERE`], [`AWAY`] or [`STOPPED`]: a futex.
    rank_is: AtomicU32,
    /// 1 while the thread sleeps in `rank_is`.
    waits: AtomicU32,
}

impl<'a> Driver<'a> {
    /// # Errors
    /// The way to ranks on other hosts can't be opened.
    pub(super) fn new(job: Job<'a>, rank: u32, driver: Option<AnyDriver>) -> Result<Self, StartError> {
        let engine = Mutex::new(engine(job, rank, driver)?);
        Ok(Self { job, rank, engine, rank_is: AtomicU32::new(HERE), waits: AtomicU32::new(0) })
    }

    /// Whether something has come from another host.
    pub(super) fn has_frame(&self) -> bool {
        self.job.settings.network.is_some() && self.engine().transport().has_frame()
    }

    /// Prepares to sleep; `None` if a message has come.
    pub(super) fn arm(&self) -> Option<Bed<'a>> {
        let mut engine = self.engine();
        let is_armed = engine.transport().arm();
        is_armed.then(|| self.bed(&mut engine))
    }

    fn bed(&self, engine: &mut Engine<Ends<'a>>) -> Bed<'a> {
        Bed { endpoint: self.job.segment.endpoint(self.rank), sleeper: engine.transport().sleeper() }
    }

    /// The engine, for one bounded piece of work.
    pub(super) fn engine(&self) -> MutexGuard<'_, Engine<Ends<'a>>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// The failure of an action.
    pub(super) fn go(&self) -> Result<(), Failure> {
        let mut engine = self.engine();
        let mut hands_over = true;
        // What is here, or coming, is better done now than by a thread that has to be woken.
        for _ in 0..POLLS_BEFORE_GOING {
            let progress = engine.poll(self.now())?;
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
            self.job.segment.endpoint(self.rank).rouse();
        }
        if self.waits.load(Ordering::SeqCst) != 0 {
            let _ = futex::wake(&self.rank_is, Flags::PRIVATE, 1);
        }
        Ok(())
    }

    pub(super) fn stop(&self) {
        self.rank_is.store(STOPPED, Ordering::SeqCst);
        let _ = futex::wake(&self.rank_is, Flags::PRIVATE, 1);
        self.job.segment.endpoint(self.rank).rouse();
    }

    fn now(&self) -> u64 {
        if self.job.asks_time { now_ns() } else { 0 }
    }
}

/// What a rank or its thread sleeps in, while the other one may have the engine.
pub(super) struct Bed<'a> {
    endpoint: Endpoint<'a>,
    sleeper: Option<Sleeper>,
}

impl Bed<'_> {
    /// Sleeps until somebody rings, `limit` passes or, where there are other hosts, something comes from them; switches the bell off.
    pub(super) fn wait(&self, limit: Option<Duration>) {
        self.doze(limit);
        self.endpoint.disarm();
    }

    /// The same, and leaves the bell as it is.
    fn doze(&self, limit: Option<Duration>) {
        match &self.sleeper {
            None => self.endpoint.doze(limit),
            Some(sleeper) => sleeper.sleep(self.endpoint.bell(), limit),
        }
    }
}

/// What the thread does. A failure is the rank's to find: its next poll says the same.
pub(super) fn drive(driver: &Driver<'_>) {
    let endpoint = driver.job.segment.endpoint(driver.rank);
    loop {
        match driver.rank_is.load(Ordering::SeqCst) {
            STOPPED => return,
            HERE => {
                driver.waits.store(1, Ordering::SeqCst);
                let _ = futex::wait(&driver.rank_is, Flags::PRIVATE, HERE, None);
                driver.waits.store(0, Ordering::SeqCst);
                continue;
            }
            _ => {}
        }
        let mut engine = driver.engine();
        // The bell is the rank's to switch from when it comes to when it goes.
        if driver.rank_is.load(Ordering::SeqCst) != AWAY {
            continue;
        }
        endpoint.disarm();
        let Ok(progress) = engine.poll(driver.now()) else {
            drop(engine);
            driver.rank_is.compare_exchange(AWAY, HERE, Ordering::SeqCst, Ordering::SeqCst).ok();
            continue;
        };
        if progress.worked {
            continue;
        }
        let limit = match progress.waiting {
            Waiting::Messages | Waiting::Nothing => None,
            Waiting::Room | Waiting::Until { room: true, .. } => Some(ROOM_SLEEP),
            Waiting::Until { time_ns, .. } => Some(Duration::from_nanos(time_ns.saturating_sub(now_ns()))),
        };
        let is_armed = engine.transport().arm();
        let bed = driver.bed(&mut engine);
        drop(engine);
        // The rank may have come in between, and switched the bell off: then this returns at once.
        if is_armed && driver.rank_is.load(Ordering::SeqCst) == AWAY {
            bed.doze(limit);
        }
    }
}
