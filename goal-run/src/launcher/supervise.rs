//! Watches over the ranks until the job ends.

use super::outcome::End;
use super::{LaunchError, Place};
use crate::hosts::Reply;
use crate::monitor::{Pending, Watch};
use crate::progress::Mode;
use crate::shm::{Segment, State};
use goal_esp::wire;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time between two looks at the ranks: this much, and so much for each, since a look takes longer the more there are.
pub(super) const TICK: Duration = Duration::from_millis(5);
const TICK_PER_RANK: Duration = Duration::from_micros(20);

/// A rank that ended by itself.
#[derive(Debug)]
pub(super) enum Fallen {
    /// It could not start; why.
    NotStarted(u32, String),
    /// It had started; how it ended.
    Ended(u32, String),
}

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

/// What is looked at.
pub(super) struct Supervisor<'a> {
    place: &'a Place<'a>,
    started: Instant,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(place: &'a Place<'a>) -> Self {
        Self { place, started: Instant::now() }
    }

    /// Returns when the job has ended or cannot, where all ranks are here; `fallen` tells of a rank that ended by itself.
    ///
    /// # Errors
    /// A rank could not start.
    pub(super) fn watch(self, fallen: &mut dyn FnMut() -> Option<Fallen>) -> Result<End, LaunchError> {
        let Place { nisa, segment, options, .. } = *self.place;
        let ranks = segment.num_ranks();
        let tick = TICK + TICK_PER_RANK * ranks;
        let mut quiet = Quiet::new(self.place);
        let window = options.window.as_ref();
        let pending = |rest| Pending::of_job(segment, nisa, window, &options.engine, rest);
        loop {
            segment.gate().wait_finished(ranks, tick);
            match self.look(true, fallen) {
                Some(Sight::Failed(failures)) => return Ok(End::Failed(failures)),
                Some(Sight::Finished) => return Ok(End::Complete),
                Some(Sight::Interrupted(signal)) => return Ok(End::Interrupted(signal)),
                Some(Sight::Fallen(rank, how)) => {
                    let pending = Pending::of_rank(segment, nisa, window, rank);
                    return Ok(End::Died { rank, how, pending });
                }
                Some(Sight::NotStarted(why)) => return Err(LaunchError::Rank(why)),
                None => {}
            }
            if quiet.rests() {
                return Ok(End::Stuck(pending(true)));
            }
            if self.is_late() {
                return Ok(End::TimedOut(pending(false)));
            }
        }
    }

    /// Looks at the ranks of this host. That all have finished is seen where it `counts`, and then before a signal and before ranks that end
    /// after that.
    pub(super) fn look(&self, counts: bool, fallen: &mut dyn FnMut() -> Option<Fallen>) -> Option<Sight> {
        let Place { segment, options, here, .. } = *self.place;
        if let Some(failures) = self.failures() {
            return Some(Sight::Failed(failures));
        }
        if counts && segment.gate().finished() == here.len() as u32 {
            return Some(Sight::Finished);
        }
        let signal = options.interrupted.load(Ordering::SeqCst);
        if signal != 0 {
            return Some(Sight::Interrupted(signal));
        }
        match fallen()? {
            Fallen::NotStarted(rank, why) => Some(Sight::NotStarted(format!("rank {rank}: {why}"))),
            // It may have failed after the look above.
            Fallen::Ended(rank, how) => Some(self.failures().map_or(Sight::Fallen(rank, how), Sight::Failed)),
        }
    }

    /// Whether the time is up.
    pub(super) fn is_late(&self) -> bool {
        self.place.options.timeout.is_some_and(|timeout| self.started.elapsed() >= timeout)
    }

    fn failures(&self) -> Option<Vec<String>> {
        let Place { segment, here, .. } = *self.place;
        let texts: Vec<String> = here.iter().filter_map(|&rank| segment.failure_of_failed(rank)).collect();
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

    /// Reads all of them; whether none could go on since the reading before, unless a message comes from another host.
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

/// Stops the ranks and wakes those that sleep until `ended` says that there is none left, or the time is up.
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
