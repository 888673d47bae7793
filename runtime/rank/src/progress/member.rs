//! Lets a rank take part in a job. The rank's [`Member`] starts schedules, waits for them and
//! finishes them.

use super::counts::counts;
use super::engines::Engines;
use super::error::Interrupted;
use super::thread::Guard;
use super::watched::{Nap, Watched};
use super::{now_of, poll_now};
use crate::pause::Pause;
use crate::transport::RankTransport;
use goal_engine::transport::Wakeup;
use goal_engine::within;
use goal_engine::{
    Cause, Engine, Handle, Progress, Schedule, Storage, Underway, UserFunction, WORLD, Waiting,
};
use goal_job::threads::{others, sleep};
use goal_job::{Job, Origin, Stuck};
use goal_shm::{Claim, RankCounts, Segment};
use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The most ranks of a crowded job whose ranks also act for a waiting rank. In a larger job,
/// waiting ranks would act for each other instead of yielding the processor to ranks with work.
/// Measured on two processors: up to 6 ranks are faster with it, and 8 and more are slower.
const WAITING_LENT_MAX: u32 = 6;

/// The time between two looks of a group of one that waits for a message to itself.
const SINGLETON_POLL: Duration = Duration::from_micros(200);

/// A rank's member of a job. Between two calls its schedules make progress as the job's
/// [`Mode`](goal_job::Mode) says.
pub struct Member<'a> {
    pub(super) job: Job<'a>,
    pub(super) rank: u32,
    pub(super) pause: Pause,
    pub(super) engines: Engines<'a>,
    /// The words that the rank waits for besides its messages, in a call of the program.
    pub(super) watched: Vec<Watched<'a>>,
    /// The number of the launcher's last question that this member has answered.
    answered: u32,
    /// The claim to the rank, which is dropped after the engine.
    _claim: Claim,
}

impl<'a> Member<'a> {
    pub(super) fn new(job: Job<'a>, rank: u32, engines: Engines<'a>, claim: Claim) -> Self {
        let pause = Pause::new(job.settings.sharing(), job.settings.spec.wait);
        Self { job, rank, pause, engines, watched: Vec::new(), answered: 0, _claim: claim }
    }

    /// Calls `f` with the rank's engine. Returns `None`, without a call, if the job ended while
    /// another process used the engine, or if the thread of the rank has panicked.
    #[inline(always)]
    pub(crate) fn with<R>(
        &mut self,
        f: impl FnOnce(&mut Engine<'a, RankTransport<'a>>) -> R,
    ) -> Option<R> {
        self.engines.with(f)
    }

    /// Returns the reason why [`Member::with`] returned `None`.
    #[cold]
    pub(crate) fn gone(&self) -> Interrupted {
        let thread = self.engines.thread().and_then(|thread| thread.failure().cloned());
        thread.unwrap_or_else(|| why_stopped(self.job.segment))
    }

    /// Registers `call` as the function that `exec user FUNCTION` calls. Only this process can call
    /// it. So the rank makes progress as in mode `caller` while it runs a schedule that calls
    /// registered functions. Returns the function that had the number before.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn register(
        &mut self,
        function: u32,
        call: UserFunction,
    ) -> Result<Option<UserFunction>, Interrupted> {
        self.with(|engine| engine.register(function, call)).ok_or_else(|| self.gone())
    }

    /// Removes and returns all registered functions, each with its number, so that another member
    /// can register them.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn take_functions(&mut self) -> Result<Vec<(u32, UserFunction)>, Interrupted> {
        self.reclaim();
        self.with(|engine| engine.take_functions()).ok_or_else(|| self.gone())
    }

    /// Calls the registered function with the number `function` on bytes that belong to no
    /// instance.
    ///
    /// # Errors
    /// [`Interrupted`]. The inner error is the one of [`Engine::call`].
    pub fn call(
        &mut self,
        function: u32,
        a: &mut [u8],
        b: &mut [u8],
    ) -> Result<Result<(), Cause>, Interrupted> {
        self.with(|engine| engine.call(function, a, b)).ok_or_else(|| self.gone())
    }

    /// Starts the next instance of a schedule, and executes those of its actions that need not
    /// wait.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn start(
        &mut self,
        schedule: &Arc<Schedule>,
        storage: Storage<'a>,
    ) -> Result<Handle, Interrupted> {
        self.start_in(schedule, WORLD, storage)
    }

    /// Starts the next instance of a schedule in `communicator`, as [`Member::start`] does. All
    /// ranks of a communicator must start its instances in the same order. Instances may end, and
    /// be finished, in any order.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn start_in(
        &mut self,
        schedule: &Arc<Schedule>,
        communicator: u64,
        storage: Storage<'a>,
    ) -> Result<Handle, Interrupted> {
        self.reclaim();
        within(|| {
            let started = self.with(|engine| engine.start(schedule, communicator, storage));
            let handle = started.ok_or_else(|| self.gone())?;
            self.run_started()?;
            self.release()?;
            Ok(handle)
        })?
    }

    /// Starts an ended instance again on the same storage, and executes those of its actions that
    /// need not wait. See [`Engine::start_again`].
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn start_again(&mut self, handle: &mut Handle) -> Result<(), Interrupted> {
        self.reclaim();
        within(|| {
            self.with(|engine| engine.start_again(handle)).ok_or_else(|| self.gone())?;
            self.run_started()?;
            self.release()
        })?
    }

    /// Calls `f` with the memory of an instance that has ended.
    ///
    /// # Errors
    /// [`Interrupted`]; `f` was not called.
    pub fn with_memory<R>(
        &mut self,
        handle: &Handle,
        f: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R, Interrupted> {
        self.with(|engine| f(engine.memory_mut(handle))).ok_or_else(|| self.gone())
    }

    /// Returns true if an instance has ended. If it has not, makes a bounded amount of progress.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn test(&mut self, handle: &Handle) -> Result<bool, Interrupted> {
        if self.has_ended(handle)? {
            return Ok(true);
        }
        self.reclaim();
        within(|| {
            let progress = self.poll()?;
            self.note_test(progress.worked);
            self.release()?;
            if self.has_ended(handle)? {
                return Ok(true);
            }
            self.check_gate().map(|()| false)
        })?
    }

    /// Notes in the segment that a run has ended, so that the launcher sees that the job moves.
    #[inline]
    pub fn note_end(&self) {
        self.job.segment.status(self.rank).process_state.note_move();
    }

    /// Notes in the segment, for the launcher, that the program has tested a run, and if the test
    /// made progress. The polls of the library's threads are no tests.
    #[inline]
    pub fn note_test(&self, has_worked: bool) {
        let process_state = &self.job.segment.status(self.rank).process_state;
        match has_worked {
            true => process_state.note_move(),
            false => process_state.note_vain_test(),
        }
    }

    /// Returns an error if the job was stopped.
    #[inline]
    fn check_gate(&self) -> Result<(), Interrupted> {
        let segment = self.job.segment;
        if segment.start_barrier().is_stopped() { Err(why_stopped(segment)) } else { Ok(()) }
    }

    /// Waits until an instance has ended.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn wait(&mut self, handle: &Handle) -> Result<(), Interrupted> {
        // If the instance has ended, nothing has to be reclaimed, and the rank's thread need not be
        // woken again.
        if self.has_ended(handle)? {
            return Ok(());
        }
        self.reclaim();
        within(|| {
            while !self.has_ended(handle)? {
                let progress = self.step()?;
                if !progress.worked {
                    self.rest(progress.waiting)?;
                }
            }
            self.release()
        })?
    }

    /// Returns the actions of an instance that have started and not ended, in the order of the
    /// schedule: receives without their message, and sends that are under way. It serves a report
    /// about a rank that waits, and works even after the job was stopped.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn underway(&mut self, handle: &Handle) -> Result<Vec<Underway>, Interrupted> {
        self.with(|engine| engine.underway(handle)).ok_or_else(|| self.gone())
    }

    /// Returns true if some instance has not been finished; `None` if the engine can't be used any
    /// more.
    pub(crate) fn is_in_use(&mut self) -> Option<bool> {
        self.with(|engine| engine.is_in_use())
    }

    /// Releases an instance that has ended, and returns the storage that it worked on.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn finish(&mut self, handle: Handle) -> Result<Storage<'a>, Interrupted> {
        self.with(|engine| engine.finish(handle)).ok_or_else(|| self.gone())
    }

    /// Forgets communicators in which this rank will start no instance any more. See
    /// [`Engine::forget`].
    pub fn forget(&mut self, communicators: &[u64]) {
        self.with(|engine| {
            for &communicator in communicators {
                engine.forget(communicator);
            }
        });
    }

    /// Returns true if an instance has ended, and all messages to its peers on other hosts have
    /// left. Sends the messages that were written, but makes no other progress.
    ///
    /// # Errors
    /// [`Interrupted`].
    // Inlined into the loops that call it, so that the `Result` stays in registers.
    #[inline(always)]
    pub fn has_ended(&mut self, handle: &Handle) -> Result<bool, Interrupted> {
        let has_ended = |engine: &mut Engine<'a, RankTransport<'a>>| {
            engine.test(handle)
                && (!engine.transport().has_remote()
                    || !engine
                        .transport()
                        .kept_back()
                        .iter()
                        .any(|&to| engine.may_meet(handle, to)))
        };
        self.with(has_ended).ok_or_else(|| self.gone())
    }

    /// Makes a bounded amount of progress for this rank or, if there is nothing to do for it, for
    /// other ranks of its host. Returns true if there was something to do.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn advance(&mut self) -> Result<bool, Interrupted> {
        self.reclaim();
        within(|| {
            let worked = self.step()?.worked;
            self.release()?;
            if !worked {
                self.check_gate()?;
            }
            Ok(worked)
        })?
    }

    /// Polls the rank's engine. If the poll did nothing, makes progress for other ranks instead.
    ///
    /// # Errors
    /// [`Interrupted`].
    #[inline]
    pub(crate) fn step(&mut self) -> Result<Progress, Interrupted> {
        let mut progress = self.poll()?;
        if !progress.worked {
            progress.worked = match &mut self.engines {
                Engines::Node(node) => node.help(),
                Engines::Own(_) | Engines::Thread(_) | Engines::Lost => false,
            } || self.job.segment.help(self.rank, self.pause.has_waited());
        }
        if progress.worked {
            self.pause.reset();
        }
        Ok(progress)
    }

    /// Executes those actions of started instances that need not wait.
    #[inline(always)]
    fn run_started(&mut self) -> Result<(), Interrupted> {
        match &mut self.engines {
            Engines::Own(engine) => Ok(engine.run_started(now_of(engine))?),
            Engines::Thread(_) | Engines::Node(_) | Engines::Lost => self.poll().map(drop),
        }
    }

    #[inline(always)]
    fn poll(&mut self) -> Result<Progress, Interrupted> {
        let progress = match &mut self.engines {
            Engines::Node(node) => node.poll(),
            _ => self.with(poll_now),
        };
        Ok(progress.ok_or_else(|| self.gone())??)
    }

    /// Waits, after a step that did nothing, until there may be something to do.
    ///
    /// # Errors
    /// [`Interrupted`], but never [`Interrupted::Failed`].
    pub(crate) fn rest(&mut self, waiting: Waiting) -> Result<(), Interrupted> {
        if self.job.segment.start_barrier().question() != self.answered {
            self.answer();
        }
        if self.is_singleton_waiting_for_itself(waiting) {
            return self.rest_alone();
        }
        if self.pause.publishes_counts() {
            self.publish_counts();
        }
        let (segment, rank) = (self.job.segment, self.rank);
        let nap = Nap { segment, rank, watched: &self.watched };
        let waiting = nap.waiting(waiting);
        let status = || (segment.status(rank), segment.start_barrier());
        // Replaces the sleep of a rank that never sleeps. Returns when a sender disarms the
        // mailbox, or after this rank has done a chunk of another rank's task. Also returns when a
        // frame has come from another host, since a frame rings no bell.
        let look_for = |has_frame: &dyn Fn() -> bool| {
            let mailbox = segment.mailbox(rank);
            let goes_on = || {
                segment.start_barrier().is_stopped()
                    || has_frame()
                    || nap.has_come()
                    || segment.help(rank, true)
            };
            while mailbox.is_armed() && !goes_on() {
                thread::yield_now();
            }
            mailbox.disarm();
        };
        let mut loss = None;
        match &mut self.engines {
            Engines::Own(engine) => {
                let transport = engine.transport();
                if self.pause.publishes_room() {
                    transport.publish();
                }
                let has_message = || transport.has_message() || nap.has_come();
                if self.pause.should_sleep(waiting, has_message) && transport.arm() && nap.begin() {
                    let sleeper = RefCell::new(&mut *transport);
                    let wait = |limit| sleeper.borrow_mut().wait(limit);
                    let look = || look_for(&|| sleeper.borrow().has_arrived());
                    self.pause.sleep(status(), waiting, wait, look);
                    nap.end();
                }
                loss = transport.loss();
            }
            Engines::Lost => {}
            Engines::Thread(shared) => {
                let mailbox = self.job.segment.mailbox(self.rank);
                let has_message = || mailbox.has_message() || shared.has_frame() || nap.has_come();
                if self.pause.should_sleep(waiting, has_message)
                    && let Some(sleeper) = shared.arm()
                    && nap.begin()
                {
                    let look = || look_for(&|| shared.has_arrived());
                    self.pause.sleep(status(), waiting, |limit| sleeper.wait(limit), look);
                    nap.end();
                }
                let of_engine = |mut engine: Guard<'_, '_>| engine.transport().loss();
                loss = shared.engine().map(of_engine).ok_or_else(|| self.gone())?;
            }
            Engines::Node(node) => {
                let mailbox = self.job.segment.mailbox(self.rank);
                // While this rank waits without a processor, other ranks can act for it.
                if self.job.settings.crowded && segment.num_ranks() <= WAITING_LENT_MAX {
                    node.release();
                }
                let has_message = || mailbox.has_message() || nap.has_come();
                if self.pause.should_sleep(waiting, has_message) {
                    let may_sleep = node.prepare_sleep(|engine| engine.transport().arm());
                    if may_sleep == Some(true) && nap.begin() {
                        let look = || look_for(&|| false);
                        self.pause.sleep(status(), waiting, |limit| mailbox.wait(limit), look);
                        nap.end();
                    } else {
                        mailbox.disarm();
                    }
                    node.end_sleep();
                }
                node.reclaim();
            }
        }
        match loss {
            _ if segment.start_barrier().is_stopped() => Err(why_stopped(segment)),
            Some((rank, text)) => {
                if self.job.settings.spec.survives {
                    segment.status(self.rank).suspect(rank);
                    segment.start_barrier().call_launcher();
                }
                Err(Interrupted::Lost(text))
            }
            None => Ok(()),
        }
    }

    /// Returns true if the rank is a group of one and waits for a message in a call. Only another
    /// thread of this process could send such a message.
    fn is_singleton_waiting_for_itself(&self, waiting: Waiting) -> bool {
        self.job.settings.origin == Origin::Alone
            && waiting == Waiting::Messages
            && self.job.segment.status(self.rank).process_state.waits()
    }

    /// Waits a moment for another thread of this process. No other rank wakes a group of one, so it
    /// has to look again soon.
    ///
    /// # Errors
    /// [`Interrupted::Stuck`] if the process has no other thread. Also if the wait has taken the
    /// time `stuck` of the settings, and these say that such a wait ends.
    fn rest_alone(&mut self) -> Result<(), Interrupted> {
        let in_calls = self.job.segment.status(self.rank).process_state.in_calls();
        let Stuck { ends, after } = self.job.settings.spec.stuck;
        let is_late = self.pause.has_waited_alone(after);
        if others(in_calls) == Some(0) || is_late && ends {
            return Err(Interrupted::Stuck);
        }
        if is_late {
            let seconds = after.as_secs_f64();
            // An error is ignored: the process goes on waiting even if the line can't be written.
            let _ = writeln!(
                io::stderr(),
                "goal: this process has waited for itself for {seconds} s; its other threads may \
                 still act (GOAL_STUCK=end ends such a wait)"
            );
        }
        sleep(SINGLETON_POLL);
        Ok(())
    }

    /// Tells the launcher how many threads of this process are in no function of the library.
    #[cold]
    fn answer(&mut self) {
        self.answered = self.job.segment.start_barrier().question();
        let status = self.job.segment.status(self.rank);
        if status.process_state.waits() {
            status.process_state.answer(status.epoch(), others(status.process_state.in_calls()));
        }
    }

    /// Publishes the rank's counts for the launcher.
    pub(crate) fn publish_counts(&mut self) {
        let slept = self.pause.slept();
        let counts = self.with(|engine| {
            let rank_transport = engine.transport();
            let (fallen_back, unreadable) =
                (rank_transport.fallen_back(), rank_transport.unreadable());
            let counts = counts(engine.stats(), engine.depths(), slept);
            RankCounts { fallen_back, unreadable, ..counts }
        });
        if let Some(counts) = counts {
            self.job.segment.store_counts(self.rank, &counts);
        }
    }

    /// Keeps the rank's thread or other ranks from acting for this rank.
    #[inline]
    pub(crate) fn reclaim(&mut self) {
        self.engines.reclaim();
    }

    /// Lets the rank's thread or other ranks act for this rank, which computes from now on.
    #[inline]
    pub(super) fn release(&mut self) -> Result<(), Interrupted> {
        Ok(self.engines.release().ok_or_else(|| self.gone())??)
    }
}

/// Returns the reason why the launcher stopped the job.
#[cold]
fn why_stopped(segment: &Segment) -> Interrupted {
    let start_barrier = segment.start_barrier();
    if start_barrier.is_broken() {
        let generation = start_barrier.generation();
        let is_new = |&rank: &u32| {
            let status = segment.status(rank);
            status.is_missing_in(generation + 1) && !status.is_missing_in(generation)
        };
        let text = |rank| segment.failure(rank).filter(|text| !text.is_empty());
        let text = |rank| text(rank).unwrap_or_else(|| format!("rank {rank} is lost"));
        let texts: Vec<String> = segment.lost().filter(is_new).map(text).collect();
        return Interrupted::Lost(texts.join("; "));
    }
    match () {
        () if start_barrier.is_stuck() => Interrupted::Stuck,
        () if start_barrier.is_late() => Interrupted::Late,
        () => Interrupted::Stopped,
    }
}
