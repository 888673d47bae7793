//! Watches over the ranks until the job ends.

use super::crew::{Crew, Fallen};
use super::options::Stage;
use super::signals::{if_suspended, stop_here};
use super::{LaunchError, Place};
use crate::hosts::Reply;
use crate::job::Mode;
use crate::monitor::{Pending, Stopped, Watch};
use crate::outcome::End;
use goal_esp::wire;
use goal_shm::{Segment, State};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time between two looks at the ranks: this much, and so much for each, since a look takes longer
/// the more there are.
pub(super) const TICK: Duration = Duration::from_millis(5);
const TICK_PER_RANK: Duration = Duration::from_micros(20);

/// Time between two looks at what changes slowly: ranks that somebody stopped, and how far the job
/// is.
const SLOW_TICK: Duration = Duration::from_millis(250);

/// What is seen at a look at the ranks of this host.
pub(super) enum Sight {
    /// Some have failed: one text a rank.
    Failed(Vec<String>),
    /// All have finished.
    Finished,
    /// This launcher got a signal.
    Interrupted(usize),
    /// One has ended by itself, and how.
    Fallen(u32, String),
    /// One could not start, in words.
    NotStarted(String),
}

/// Watches over the ranks of this host.
pub(super) struct Supervisor<'a> {
    place: &'a Place<'a>,
    /// Time for which this process was stopped, which the time limit does not count.
    suspended: Duration,
    looked_slowly: Instant,
    /// Ranks that were stopped at the last slow look, and those of them that people were told of.
    stopped: Vec<Stopped>,
    told: Vec<Stopped>,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(place: &'a Place<'a>) -> Self {
        let now = Instant::now();
        Self { place, suspended: Duration::ZERO, looked_slowly: now, stopped: vec![], told: vec![] }
    }

    /// Returns when the job has ended or cannot, where all ranks are here.
    ///
    /// # Errors
    /// A rank could not start.
    pub(super) fn watch(mut self, crew: &mut dyn Crew) -> Result<End, LaunchError> {
        let segment = self.place.segment;
        let ranks = segment.num_ranks();
        let tick = TICK + TICK_PER_RANK * ranks;
        let mut quiet = Quiet::new(self.place);
        let observed = self.place.observed();
        loop {
            segment.gate().wait_finished(ranks, tick);
            match self.look(true, crew) {
                Some(Sight::Failed(failures)) => return Ok(End::Failed(failures)),
                Some(Sight::Finished) => return Ok(End::Complete),
                Some(Sight::Interrupted(signal)) => return Ok(End::Interrupted(signal)),
                Some(Sight::Fallen(rank, how)) => {
                    return Ok(End::Died { rank, how, pending: Pending::of_rank(&observed, rank) });
                }
                Some(Sight::NotStarted(why)) => return Err(LaunchError::Rank(why)),
                None => {}
            }
            if quiet.rests() {
                return Ok(End::Stuck(Pending::of_job(&observed, true, vec![])));
            }
            if self.is_late() {
                let mut pending = Pending::of_job(&observed, false, crew.stopped());
                pending.started =
                    Some((crew.started() as u32, ranks)).filter(|(started, all)| started < all);
                return Ok(End::TimedOut(pending));
            }
        }
    }

    /// Looks at the ranks of this host. That all have finished is seen where it `counts`, and then
    /// before a signal and before ranks that end after that. Stops all where a terminal asks for
    /// that, and returns when they go on.
    pub(super) fn look(&mut self, counts: bool, crew: &mut dyn Crew) -> Option<Sight> {
        let Place { segment, options, here, .. } = *self.place;
        if let Some(failures) = self.failures() {
            return Some(Sight::Failed(failures));
        }
        if counts && segment.gate().finished() == here.len() as u32 {
            return Some(Sight::Finished);
        }
        // A further signal ends what is left to do then.
        let signal = options.interrupted.swap(0, Ordering::SeqCst);
        if signal != 0 {
            return Some(Sight::Interrupted(signal));
        }
        match crew.fallen() {
            Some(Fallen::NotStarted(rank, why)) => {
                return Some(Sight::NotStarted(format!("rank {rank}: {why}")));
            }
            // It may have failed after the look above.
            Some(Fallen::Ended(rank, how)) => {
                return Some(self.failures().map_or(Sight::Fallen(rank, how), Sight::Failed));
            }
            None => {}
        }
        let on_hosts = self.place.settings.network.is_some();
        if_suspended(options, on_hosts, || self.suspend(crew));
        if self.looked_slowly.elapsed() >= SLOW_TICK {
            self.looked_slowly = Instant::now();
            self.tell_stopped(crew.stopped());
            (options.show)(self.stage());
        }
        None
    }

    /// Stops the ranks and this process until it is continued.
    fn suspend(&mut self, crew: &mut dyn Crew) {
        let since = Instant::now();
        crew.suspend();
        stop_here();
        crew.resume();
        self.suspended += since.elapsed();
    }

    /// Names the ranks that stay stopped, each once.
    fn tell_stopped(&mut self, stopped: Vec<Stopped>) {
        self.told.retain(|told| stopped.contains(told));
        for &one in &stopped {
            if self.stopped.contains(&one) && !self.told.contains(&one) {
                (self.place.options.tell)(&format!(
                    "{one}; kill -CONT {} lets it go on",
                    one.process
                ));
                self.told.push(one);
            }
        }
        self.stopped = stopped;
    }

    /// The ranks of this host that were stopped a short while ago.
    pub(super) fn stopped(&self) -> &[Stopped] {
        &self.stopped
    }

    /// Returns the stage of the ranks of this host.
    fn stage(&self) -> Stage {
        let Place { segment, options, here, .. } = *self.place;
        let (gate, ranks) = (segment.gate(), here.len() as u32);
        if !gate.is_open() {
            return Stage::Preparing { ready: gate.ready().min(ranks), ranks };
        }
        let instances =
            here.iter().map(|&rank| segment.status(rank).instance.load(Ordering::Relaxed));
        let instance = instances.min().unwrap_or(0).max(1);
        Stage::Running { instance, repeat: options.repeat, finished: gate.finished(), ranks }
    }

    /// True if the time is up.
    pub(super) fn is_late(&self) -> bool {
        self.place.is_late(self.suspended)
    }

    fn failures(&self) -> Option<Vec<String>> {
        let Place { segment, here, .. } = *self.place;
        let texts: Vec<String> =
            here.iter().filter_map(|&rank| segment.failure_of_failed(rank)).collect();
        (!texts.is_empty()).then_some(texts)
    }
}

/// Whether the ranks of this host can go on.
pub(super) struct Quiet<'a> {
    place: &'a Place<'a>,
    watch: Watch,
}

impl<'a> Quiet<'a> {
    pub(super) fn new(place: &'a Place<'a>) -> Self {
        let watch = Watch::new(place.options.progress == Mode::Node, place.here.to_vec());
        Self { place, watch }
    }

    /// Reads all of them; whether none could go on since the reading before, unless a message comes
    /// from another host.
    pub(super) fn rests(&mut self) -> bool {
        self.watch.is_stuck(self.place.segment)
    }

    /// What they do now: two readings.
    pub(super) fn reply(&mut self) -> Reply {
        self.watch.rest(self.place.segment);
        match self.watch.rest(self.place.segment) {
            None => Reply { state: wire::State::Active, sent: 0, taken: 0 },
            Some(exchanged) => {
                let Place { segment, here, .. } = *self.place;
                let are_done = here.iter().all(|&rank| segment.status(rank).state() == State::Done);
                let state = if are_done { wire::State::Done } else { wire::State::Idle };
                Reply { state, sent: exchanged.sent, taken: exchanged.taken }
            }
        }
    }
}

/// Stops the ranks and wakes those that sleep until `ended` says that there is none left, or the
/// time is up.
pub(super) fn stop(segment: &Segment, limit: Option<Duration>, mut ended: impl FnMut() -> bool) {
    segment.gate().stop();
    let started = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        for rank in 0..segment.num_ranks() {
            segment.mailbox(rank).wake();
        }
        if ended() || limit.is_some_and(|limit| started.elapsed() >= limit) {
            return;
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(TICK);
    }
}
