//! Completion events of a rank's runs in the kernel, for threads that sleep. An event tells that a
//! run has ended, or that a run needs the rank's process.

use crate::layout::{FRAME_LENGTH, PartEntry, StatusEntry};
use crate::look::{Look, Unfinished};
use crate::rank::{Rank, SLEEP_MAX};
use crate::sys::Mapping;
use rustix::net::{RecvFlags, recv};
use std::mem::offset_of;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The answer to a thread that wants to sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announced {
    /// No run is in progress.
    Nothing,
    /// A run has ended, or needs the process. The thread must not sleep.
    Due,
    /// The descriptor becomes readable when a run ends or hands an action over. The thread must
    /// look again after this time, because the event may get lost, or because a computation ends.
    Sleep(Duration),
}

/// A run in progress.
#[derive(Debug, Clone, Copy)]
struct Active {
    part: u32,
    epoch: u32,
    /// The number of actions of the part that the process has taken, ever.
    taken: u64,
    /// The time at which the process must give back an action that it has taken; `None` if there is
    /// no such action.
    returns: Option<Instant>,
}

/// The last observed progress of the runs, by which silent runs are found.
#[derive(Debug, Clone, Copy)]
struct Heard {
    /// The sum of `PartEntry::arrivals` over the parts of all runs in progress.
    arrivals: u64,
    /// The time of the last change of `arrivals`. A look that finds losses of frames of this host
    /// sets this time too.
    since: Instant,
    /// The number of requests that the host's kernel had answered, and the time of this count;
    /// `None` before the first count.
    answered: Option<(u64, Instant)>,
}

/// The runs of a rank that are in progress, and their completion events.
#[derive(Debug)]
pub struct CompletionEvents {
    pub(crate) status: Arc<Mapping>,
    pub(crate) parts: Mapping,
    pub(crate) socket: Arc<OwnedFd>,
    look: Look,
    active: Mutex<Vec<Active>>,
    /// The length of `active`, to be read without the lock.
    count: AtomicUsize,
    /// The last observed progress; `None` if it must be observed anew.
    heard: Mutex<Option<Heard>>,
    /// The answer of [`CompletionEvents::is_silent`] that a caller has noted: [`UNWATCHED`],
    /// [`SILENT`] or [`HEARD`].
    noted: AtomicU8,
}

/// No caller watches if runs are silent.
const UNWATCHED: u8 = 0;
/// The caller has noted that the runs are silent.
const SILENT: u8 = 1;
/// The caller has noted that the runs are not silent.
const HEARD: u8 = 2;

/// The time without a message after which a run counts as silent. Lost frames are requested every
/// 32 ticks at least. So a message that was sent arrives within this time, unless the network
/// fails.
const SILENCE: Duration = Duration::from_secs(5);
/// The time between two looks at the requests that the host's kernel has answered.
const LOOK: Duration = Duration::from_secs(1);

impl CompletionEvents {
    pub(crate) fn new(
        status: Arc<Mapping>,
        parts: Mapping,
        socket: Arc<OwnedFd>,
        look: Look,
    ) -> Self {
        let (active, count, heard) = (Mutex::default(), AtomicUsize::new(0), Mutex::new(None));
        Self { status, parts, socket, look, active, count, heard, noted: AtomicU8::new(UNWATCHED) }
    }

    fn active(&self) -> MutexGuard<'_, Vec<Active>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn word(&self, part: u32, field: usize) -> &std::sync::atomic::AtomicU32 {
        self.status.word(part as usize * size_of::<StatusEntry>() + field)
    }

    fn is_due_at(&self, run: Active) -> bool {
        let word = |field| self.word(run.part, field).load(Ordering::SeqCst);
        let handed = run.part as usize * size_of::<StatusEntry>() + offset_of!(StatusEntry, handed);
        word(offset_of!(StatusEntry, done)) == run.epoch
            || word(offset_of!(StatusEntry, error)) != 0
            || self.status.long(handed).load(Ordering::SeqCst) != run.taken
            || run.returns.is_some_and(|time| time <= Instant::now())
    }

    /// Returns what the last run of a part waits for; `None` if it has ended.
    pub fn unfinished(&self, part: u32) -> Option<Unfinished> {
        self.look.part(part)
    }

    /// Notes that a rank has started a run of its part.
    pub fn started(&self, rank: &Rank) {
        let (part, epoch, taken) = (rank.part(), rank.epoch(), rank.taken());
        let mut active = self.active();
        active.push(Active { part, epoch, taken, returns: None });
        self.count.store(active.len(), Ordering::Release);
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Notes that a rank has taken the actions that were handed over. `returns` is the time at
    /// which it must give back the next one.
    pub fn served(&self, rank: &Rank, returns: Option<Instant>) {
        let mut active = self.active();
        if let Some(run) = active.iter_mut().find(|run| run.part == rank.part()) {
            (run.taken, run.returns) = (rank.taken(), returns);
        }
    }

    /// Notes that the caller knows that a part's run has ended. The run then counts as in progress
    /// no more.
    pub fn settled(&self, part: u32) {
        let mut active = self.active();
        active.retain(|run| run.part != part);
        self.count.store(active.len(), Ordering::Release);
    }

    /// Returns true if no run is in progress.
    pub fn is_idle(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Returns true if a run needs the process. A run needs the process if it has ended and is not
    /// settled. It also does if an action waits to be taken, or is due to be given back.
    pub fn is_due(&self) -> bool {
        !self.is_idle() && self.active().iter().any(|&run| self.is_due_at(run))
    }

    /// Asks for a frame to the socket when a run ends or hands an action over. The caller may then
    /// sleep as the answer says, and must call [`disarm`](Self::disarm) afterwards.
    pub fn announce(&self) -> Announced {
        if self.is_idle() {
            return Announced::Nothing;
        }
        let active = self.active();
        for run in active.iter() {
            // Sequentially consistent with the test behind it, as the engine's side is.
            self.word(run.part, offset_of!(StatusEntry, waiting)).swap(1, Ordering::SeqCst);
        }
        if active.iter().any(|&run| self.is_due_at(run)) {
            return Announced::Due;
        }
        let returns = active.iter().filter_map(|run| run.returns).min();
        let left = returns.map(|time| time.saturating_duration_since(Instant::now()));
        Announced::Sleep(left.map_or(SLEEP_MAX, |left| left.min(SLEEP_MAX)))
    }

    /// Ends [`announce`](Self::announce), and discards the frames that came.
    pub fn disarm(&self) {
        for run in self.active().iter() {
            self.word(run.part, offset_of!(StatusEntry, waiting)).store(0, Ordering::Release);
        }
        let mut frame = [0; FRAME_LENGTH];
        let receive = |frame: &mut [u8]| recv(&self.socket, frame, RecvFlags::DONTWAIT);
        while receive(&mut frame).is_ok_and(|(_, len)| len > 0) {}
    }

    /// Returns true if the runs in progress are silent: none of them waits for this process, and no
    /// message has come for some seconds. Then the ranks that should send messages have probably
    /// not started their runs. Runs are not silent while other hosts keep requesting lost frames of
    /// this host, because then the network is at fault. Only calls of this function notice
    /// messages, so callers must repeat the call.
    pub fn is_silent(&self) -> bool {
        if self.is_idle() {
            return false;
        }
        let arrivals = |run: &Active| {
            let at = run.part as usize * size_of::<PartEntry>() + offset_of!(PartEntry, arrivals);
            u64::from(self.parts.word(at).load(Ordering::Relaxed))
        };
        let active = self.active();
        let works = active.iter().any(|run| run.returns.is_some());
        let sum = active.iter().map(arrivals).fold(0u64, u64::wrapping_add);
        drop(active);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let Some(last) = heard.as_mut().filter(|last| last.arrivals == sum && !works) else {
            *heard = Some(Heard { arrivals: sum, since: now, answered: None });
            return false;
        };
        // A look at all sends takes long, so it is rare.
        if last.answered.map_or(last.since, |(_, at)| at) + LOOK <= now {
            let answered = self.look.answered();
            if last.answered.is_some_and(|(before, _)| before != answered) {
                last.since = now;
            }
            last.answered = Some((answered, now));
        }
        last.since.elapsed() >= SILENCE
    }

    /// Returns the answer of [`is_silent`](Self::is_silent), and notes that the caller knows it.
    /// Until [`unwatch`](Self::unwatch), [`is_news`](Self::is_news) reports a change of the answer.
    pub fn watch_silence(&self) -> bool {
        let is_silent = self.is_silent();
        self.noted.store(if is_silent { SILENT } else { HEARD }, Ordering::Relaxed);
        is_silent
    }

    /// Ends [`watch_silence`](Self::watch_silence).
    pub fn unwatch(&self) {
        self.noted.store(UNWATCHED, Ordering::Relaxed);
    }

    /// Returns true if the answer of [`is_silent`](Self::is_silent) differs from the one that the
    /// caller has noted.
    pub fn is_news(&self) -> bool {
        match self.noted.load(Ordering::Relaxed) {
            UNWATCHED => false,
            noted => (noted == SILENT) != self.is_silent(),
        }
    }
}

impl AsFd for CompletionEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
