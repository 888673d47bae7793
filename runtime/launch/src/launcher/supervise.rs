//! Watches the ranks of this host until the job ends.

use super::error::LaunchError;
use super::losses;
use super::options::Stage;
use super::pace::{Pace, TICK};
use super::rank_set::{Exited, Place, RankSet};
use super::shutdown::{Drain, request_late_reports, request_reports, request_texts, wake};
use super::signals::{if_suspended, stop_here};
use crate::hosts::Reply;
use crate::monitor::{
    Change, Exchanged, Observed, Pending, Standstill, Started, Stopped, Watch, signal_name,
};
use crate::outcome::End;
use goal_esp::wire;
use goal_job::Mode;
use goal_job::threads::sleep;
use goal_shm::{Segment, State};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The time between two slow looks, at stopped ranks and at the stage of the job.
const SLOW_TICK: Duration = Duration::from_millis(250);

/// What a launcher finds when it looks at the ranks of its host.
pub(super) enum Observation {
    /// Ranks have failed. Each text is the failure of one rank.
    Failed(Vec<String>),
    /// All ranks have finished.
    Finished,
    /// This launcher got a signal.
    Interrupted(usize),
    /// A rank ended before the job. The text says how. The number is the exit status of the
    /// launcher, if it follows from the rank's.
    Exited(u32, String, Option<u8>),
    /// A rank ended before the job, and the job can go on without it. All of its processes are
    /// gone. The text says how it ended.
    Lost(u32, String),
    /// A rank could not start, for this reason.
    NotStarted(String),
}

/// The state of a launcher that watches the ranks of its host.
pub(super) struct Supervisor<'a> {
    place: &'a Place<'a>,
    /// The total time for which this process was stopped. The time limit does not count it.
    suspended: Duration,
    /// The time of the last slow look.
    looked_slowly: Instant,
    /// The ranks that were stopped at the last slow look, and the ranks that were reported as
    /// stopped.
    stopped: Vec<Stopped>,
    told: Vec<Stopped>,
    /// The signals that were passed on here, for the launchers of other hosts.
    forwarded: Vec<i32>,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(place: &'a Place<'a>) -> Self {
        let now = Instant::now();
        let (stopped, told, forwarded) = (vec![], vec![], vec![]);
        let suspended = Duration::ZERO;
        Self { place, suspended, looked_slowly: now, stopped, told, forwarded }
    }

    /// Watches the ranks of a job on one host. Returns when the job has ended or can't go on.
    ///
    /// # Errors
    /// A rank could not start.
    pub(super) fn watch(mut self, rank_set: &mut dyn RankSet) -> Result<End, LaunchError> {
        let segment = self.place.segment;
        let mut quiet = Quiet::new(self.place);
        let observed = self.place.observed();
        let of_rank = |rank| match self.place.settings.are_programs() {
            true => Pending::of_ended_program(),
            false => Pending::of_rank(&observed, rank),
        };
        let (mut tail, mut pace) = (Drain::default(), Pace::new());
        loop {
            // The number changes while a job grows.
            let ranks = segment.num_members();
            match self.place.settings.are_programs() && self.have_finished() {
                true => {
                    rank_set.dismiss();
                    tail.release(segment, self.place.present());
                }
                false => {
                    segment.start_barrier().wait_finished(ranks, pace.tick(segment));
                    if rank_set.grow() {
                        pace = Pace::new();
                    }
                }
            }
            losses::tend(self.place)?;
            match self.look(true, rank_set) {
                Some(Observation::Failed(failures)) => return Ok(End::Failed(failures)),
                Some(Observation::Finished) => return Ok(End::Complete),
                Some(Observation::Interrupted(signal)) => return Ok(End::Interrupted(signal)),
                Some(Observation::Exited(rank, how, status)) => {
                    rank_set.end_threads();
                    return Ok(End::Died { rank, how, status, pending: of_rank(rank) });
                }
                Some(Observation::Lost(rank, how)) => {
                    (self.place.options.tell)(&losses::text(rank, &how));
                    losses::note(self.place, rank, &how);
                }
                Some(Observation::NotStarted(why)) => return Err(LaunchError::Rank(why)),
                None => {}
            }
            if !segment.start_barrier().is_stopped() {
                if quiet.rests() {
                    return Ok(End::Stuck(self.stuck(&observed)));
                }
                if let Some(Standing::For(lines)) = quiet.stands() {
                    if self.place.settings.spec.stuck.ends {
                        return Ok(End::Stuck(self.stuck(&observed)));
                    }
                    (self.place.options.tell)(&text_on_standstill(&lines));
                }
            }
            if self.is_late() {
                let started = rank_set.started() as u32;
                rank_set.end_threads();
                let stopped = rank_set.stopped();
                let mut pending = match self.place.settings.are_programs() {
                    true => {
                        let ask = || request_late_reports(segment, &self.place.members());
                        Pending::of_running_programs(segment, self.place.present(), stopped, ask)
                    }
                    false => Pending::of_job(&observed, false, stopped),
                };
                pending.started = (started < ranks).then_some(Started { started, ranks });
                return Ok(End::TimedOut(pending));
            }
        }
    }

    /// Returns the report on a job that is stuck.
    fn stuck(&self, observed: &Observed<'_>) -> Pending {
        let Place { segment, settings, .. } = *self.place;
        if !settings.are_programs() {
            return Pending::of_job(observed, true, vec![]);
        }
        request_reports(segment, &self.place.members());
        Pending::of_stuck_programs(segment, self.place.present())
    }

    /// Looks at the ranks of this host. Returns what it found if that ends the job or is a lost
    /// rank. If `may_finish` is true, the end of all ranks comes before signals and before ranks
    /// that exit later. If a terminal asked for it, stops all ranks and this process, and returns
    /// after they were continued.
    pub(super) fn look(
        &mut self,
        may_finish: bool,
        rank_set: &mut dyn RankSet,
    ) -> Option<Observation> {
        let Place { options, .. } = *self.place;
        if let Some(failures) = self.failures() {
            return Some(Observation::Failed(failures));
        }
        if may_finish && rank_set.have_finished(self.have_passed()) {
            return Some(Observation::Finished);
        }
        // The flag is cleared, so that a second signal can end the work after the job.
        let signal = options.interrupted.swap(0, Ordering::SeqCst);
        if signal != 0 {
            return Some(Observation::Interrupted(signal));
        }
        for signal in options.forwarded.take() {
            self.forward(signal, rank_set);
            self.forwarded.push(signal);
        }
        match rank_set.exited() {
            Some(Exited::NotStarted(rank, why)) => {
                return Some(Observation::NotStarted(format!("rank {rank}: {why}")));
            }
            Some(Exited::Ended(rank, how, _))
                if losses::is_survived(self.place, rank) && rank_set.bury(rank) =>
            {
                return Some(Observation::Lost(rank, how));
            }
            // The rank may have failed after the check above. Its failure says more than its exit.
            Some(Exited::Ended(rank, how, status)) => {
                let exited = Observation::Exited(rank, how, status);
                return Some(self.failures().map_or(exited, Observation::Failed));
            }
            None => {}
        }
        let on_hosts = self.place.settings.network.is_some();
        if_suspended(options, on_hosts, || self.suspend(rank_set));
        if self.looked_slowly.elapsed() >= SLOW_TICK {
            self.looked_slowly = Instant::now();
            self.tell_stopped(rank_set.stopped());
            (options.show)(self.stage());
        }
        None
    }

    /// Passes a signal on to the ranks of this host.
    pub(super) fn forward(&self, signal: i32, rank_set: &mut dyn RankSet) {
        if !rank_set.forward(signal) {
            let name = signal_name(signal as usize);
            (self.place.options.tell)(&format!("{name} has no meaning for a schedule: ignored"));
        }
    }

    /// Returns the signals that were passed on here since the last call.
    pub(super) fn take_forwarded(&mut self) -> Vec<i32> {
        std::mem::take(&mut self.forwarded)
    }

    /// Stops the ranks and this process until another process continues this one.
    fn suspend(&mut self, rank_set: &mut dyn RankSet) {
        let since = Instant::now();
        rank_set.suspend();
        stop_here();
        rank_set.resume();
        self.suspended += since.elapsed();
    }

    /// Tells the user of each rank that is stopped at two slow looks in a row, but only once.
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

    /// Returns the ranks of this host that were stopped at the last slow look.
    pub(super) fn stopped(&self) -> &[Stopped] {
        &self.stopped
    }

    /// Returns the stage of the ranks of this host.
    fn stage(&self) -> Stage {
        let Place { segment, options, .. } = *self.place;
        let here = self.place.present();
        let (start_barrier, ranks) = (segment.start_barrier(), here.len() as u32);
        if !start_barrier.is_open() {
            return Stage::Preparing { ready: start_barrier.ready().min(ranks), ranks };
        }
        let instances =
            here.iter().map(|&rank| segment.status(rank).instance.load(Ordering::Relaxed));
        let instance = instances.min().unwrap_or(0).max(1);
        Stage::Running {
            instance,
            repeat: options.spec.repeat,
            finished: start_barrier.finished(),
            ranks,
        }
    }

    /// Returns true if the time is up.
    pub(super) fn is_late(&self) -> bool {
        self.place.is_late(self.suspended)
    }

    /// Returns true if all ranks of this host have called
    /// [`finish`](goal_shm::StartBarrier::finish).
    fn have_passed(&self) -> bool {
        self.place.segment.start_barrier().finished() == self.place.present().len() as u32
    }

    /// Returns true if all ranks of this host have called
    /// [`finish`](goal_shm::StartBarrier::finish). Lost ranks, and ranks that are not members of
    /// the job, need not.
    pub(super) fn have_finished(&self) -> bool {
        let Place { segment, settings, here, .. } = *self.place;
        match (settings.spec.survives, &settings.network) {
            (true, _) => here.iter().all(|&rank| {
                let status = segment.status(rank);
                status.is_lost() || status.has_finished()
            }),
            (false, Some(_)) => self.have_passed(),
            (false, None) => segment.start_barrier().finished() >= segment.num_members(),
        }
    }

    fn failures(&self) -> Option<Vec<String>> {
        let Place { segment, .. } = *self.place;
        let here = self.place.present();
        let texts: Vec<String> =
            here.iter().filter_map(|&rank| segment.failure_of_failed(rank)).collect();
        (!texts.is_empty()).then_some(texts)
    }
}

/// Returns the text for the user on a job in which nothing moves but which goes on. `lines` has a
/// line for each rank.
pub(super) fn text_on_standstill(lines: &[String]) -> String {
    format!(
        "nothing moves, and the job goes on: a thread outside the library, or a loop that tests, may still act \
         (--stuck end or GOAL_STUCK=end ends it):\n  {}",
        lines.join("\n  ")
    )
}

/// A change of the observation that nothing moves on this host.
pub(super) enum Standing {
    /// Nothing has moved for a while. Each line says what one rank does.
    For(Vec<String>),
    /// Ranks move again.
    Over,
}

/// Finds out if the ranks of this host can go on.
pub(super) struct Quiet<'a> {
    place: &'a Place<'a>,
    watch: Watch,
    standstill: Standstill,
    /// The beginning of the standstill in which ranks were last asked for their threads, the time
    /// of the next question, and the pause after it.
    asked_since: Instant,
    ask_next: Instant,
    ask_pause: Duration,
}

/// The shortest and the longest time between two questions to ranks about their threads.
const ASK_MIN: Duration = Duration::from_millis(1);
const ASK_MAX: Duration = Duration::from_secs(1);

impl<'a> Quiet<'a> {
    pub(super) fn new(place: &'a Place<'a>) -> Self {
        let watch = Watch::new(place.options.spec.progress == Mode::Node, place.members());
        let watch = match place.settings.are_programs() {
            true => watch.of_programs().in_kernel(place.settings.in_kernel.is_some()),
            false => watch,
        };
        let standstill = Standstill::new(place.settings.spec.stuck.after);
        let now = Instant::now();
        Self { place, watch, standstill, asked_since: now, ask_next: now, ask_pause: ASK_MIN }
    }

    /// Returns the change if the ranks of a program have stopped moving or move again. Nobody knows
    /// if they will move: some threads of a rank may wait while others compute.
    pub(super) fn stands(&mut self) -> Option<Standing> {
        let Place { segment, settings, .. } = *self.place;
        if !settings.are_programs() {
            return None;
        }
        let members = self.place.members();
        Some(match self.standstill.look(segment, &members)? {
            Change::Moves => Standing::Over,
            Change::Stands => {
                let question = request_texts(segment, &members);
                let mut lines = Pending::of_standstill(segment, &members, question);
                if lines.is_empty() {
                    // No line would mean to the leader that the ranks of this host move.
                    lines.push("no rank of a host is left".to_owned());
                }
                Standing::For(lines)
            }
        })
    }

    /// Asks ranks that rest whether other threads of theirs may act. Asks again only after a pause.
    fn ask(&mut self) {
        let now = Instant::now();
        if self.asked_since != self.standstill.since() {
            self.asked_since = self.standstill.since();
            (self.ask_next, self.ask_pause) = (now, ASK_MIN);
        }
        if self.watch.is_unsure() && now >= self.ask_next {
            self.ask_next = now + self.ask_pause;
            self.ask_pause = (2 * self.ask_pause).min(ASK_MAX);
            self.place.segment.start_barrier().ask();
            wake(self.place.segment, self.watch.ranks());
        }
    }

    /// Reads the status of all ranks. Returns true if, since the last reading, each of them could
    /// go on only after a message from another host.
    pub(super) fn rests(&mut self) -> bool {
        if self.are_all_lost() {
            return true;
        }
        // If the members of the job have changed, the watch begins anew.
        if self.place.settings.reserve > 0 || self.place.segment.rank_count().has_lost_some() {
            let members = self.place.members();
            if self.watch.ranks() != members {
                *self = Self::new(self.place);
            }
        }
        let is_stuck = self.watch.is_stuck(self.place.segment);
        self.ask();
        is_stuck
    }

    /// Returns true if all ranks of this host are lost.
    fn are_all_lost(&self) -> bool {
        let Place { segment, here, .. } = *self.place;
        here.iter().all(|&rank| segment.status(rank).is_lost())
    }

    /// Returns the state of this host's ranks now, from two readings in a row.
    pub(super) fn reply(&mut self) -> Reply {
        self.watch.rest(self.place.segment);
        let rest = self.watch.rest(self.place.segment);
        self.ask();
        match rest.or_else(|| self.are_all_lost().then(Exchanged::default)) {
            None => Reply { state: wire::State::Active, sent: 0, taken: 0 },
            Some(exchanged) => {
                let Place { segment, here, settings, .. } = *self.place;
                // A rank of a program also has the state done while it waits for a run in the
                // kernel. So it must have finalized too.
                let is_done = |&rank: &u32| {
                    let status = segment.status(rank);
                    let has_come = !settings.are_programs() || status.process_state.has_finalized();
                    status.is_lost() || status.state() == State::Done && has_come
                };
                let are_done = here.iter().all(is_done);
                let state = if are_done { wire::State::Done } else { wire::State::Idle };
                Reply { state, sent: exchanged.sent, taken: exchanged.taken }
            }
        }
    }
}

/// Tells the ranks to stop. Wakes sleeping ranks again and again, until `ended` returns true or the
/// time `limit` has passed.
pub(super) fn stop(segment: &Segment, limit: Option<Duration>, mut ended: impl FnMut() -> bool) {
    segment.start_barrier().stop();
    let started = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        for rank in 0..segment.num_ranks() {
            segment.mailbox(rank).wake();
        }
        if ended() || limit.is_some_and(|limit| started.elapsed() >= limit) {
            return;
        }
        sleep(pause);
        pause = (2 * pause).min(TICK);
    }
}
