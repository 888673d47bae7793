//! Does the leader's work while the ranks run.
//!
//! Threat: another host's launcher has the key, and may send any message. Its messages count for
//! its own ranks only. The leader writes their memory only into the areas of these ranks, and does
//! not use impossible numbers. The launcher may lie about its own ranks. In a job that goes on
//! after losses, it may say that its ranks can't reach ranks of other hosts. Then those ranks are
//! lost: in each generation, one for each rank of the launcher. A host with the key can end the job
//! anyway, so this gives it no more power.

use super::post::{EVENTS_MAX, random};
use super::session::Session;
use super::survival::Survival;
use crate::hosts::{LauncherMessage, LinkEvent, Rounds};
use crate::launcher::error::LaunchError;
use crate::launcher::forwarded::Forwarded;
use crate::launcher::losses::QuiescentState;
use crate::launcher::pace::Pace;
use crate::launcher::rank_set::Place;
use crate::launcher::rank_set::RankSet;
use crate::launcher::shutdown::{Drain, request_late_reports, request_reports};
use crate::launcher::supervise::{Observation, Quiet, Standing, Supervisor, text_on_standstill};
use crate::monitor::Stopped;
use crate::outcome::End;
use goal_eth::now_ns;
use goal_job::host::Host;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The time between two checks before all ranks have begun.
const START_TICK: Duration = Duration::from_millis(1);

/// The reason why the leader ends the job.
#[derive(Debug)]
pub(super) enum Ending {
    Complete,
    Failed,
    Stuck,
    Died(u32, String, Option<u8>),
    TimedOut,
    Interrupted(usize),
    /// A host is lost.
    Lost(End),
    /// A host can't start its ranks or go on with them, for this reason.
    Refused(String),
}

/// The leader's state while the ranks run.
pub(super) struct Leader<'s, 'a> {
    pub(super) session: &'s mut Session<'a>,
    pub(super) place: &'s Place<'s>,
    pub(super) others: BTreeSet<Host>,
    pub(super) rounds: Rounds,
    pub(super) ready: BTreeSet<Host>,
    pub(super) finished: BTreeSet<Host>,
    /// The hosts whose ranks are processes of a program and have all come to their end.
    pub(super) at_end: BTreeSet<Host>,
    /// The hosts that have sent all memory of their ranks. The value is the time at which these
    /// ranks began, by the host's clock in nanoseconds.
    pub(super) told: BTreeMap<Host, u64>,
    pub(super) supervisor: Supervisor<'s>,
    /// The ranks that are stopped by a signal, by their hosts.
    pub(super) stopped: BTreeMap<Host, Vec<Stopped>>,
    /// The signals that launchers of other hosts got. They are passed on to all ranks.
    signalled: Vec<(Host, i32)>,
    /// The hosts on which nothing moves, with a line of text for each of their ranks.
    standing: BTreeMap<Host, Vec<String>>,
    /// True once the user was told of the standstill.
    has_told_standing: bool,
    /// True once all ranks have begun.
    pub(super) has_begun: bool,
    pub(super) survival: Survival,
}

impl<'s, 'a> Leader<'s, 'a> {
    pub(super) fn new(
        session: &'s mut Session<'a>,
        place: &'s Place<'s>,
    ) -> Result<Self, LaunchError> {
        let all = session.all();
        let mut others = all.clone();
        others.remove(&session.me);
        let rounds = Rounds::new(all.into_iter().collect(), u64::from_ne_bytes(random()?));
        let (ready, finished, at_end) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (told, stopped) = (BTreeMap::new(), BTreeMap::new());
        let supervisor = Supervisor::new(place);
        Ok(Self {
            session,
            place,
            others,
            rounds,
            ready,
            finished,
            at_end,
            told,
            supervisor,
            stopped,
            signalled: vec![],
            standing: BTreeMap::new(),
            has_told_standing: false,
            has_begun: false,
            survival: Survival::default(),
        })
    }

    pub(super) fn tell_all(&self, message: &LauncherMessage) {
        for &host in &self.others {
            self.session.post.send(host, message.clone());
        }
    }

    /// Watches the job until it has ended or can't go on. Programs whose ranks wait have then
    /// written down what they wait for, and still run.
    pub(super) fn lead(&mut self, rank_set: &mut dyn RankSet) -> Ending {
        let ending = self.watch(rank_set);
        match ending {
            _ if !self.place.settings.are_programs() => {}
            Ending::Stuck => request_reports(self.place.segment, self.place.here),
            Ending::TimedOut => request_late_reports(self.place.segment, self.place.here),
            _ => {}
        }
        // The hosts are told before the ranks of this host are awaited. These ranks may have to
        // close their connections with ranks of other hosts.
        self.tell_end(&ending);
        ending
    }

    fn watch(&mut self, rank_set: &mut dyn RankSet) -> Ending {
        let Place { segment, here, settings, .. } = *self.place;
        let are_programs = settings.are_programs();
        let (mut has_left, mut tail) = (false, Drain::default());
        let (mut quiet, pace) = (Quiet::new(self.place), Pace::new());
        let start_barrier = segment.start_barrier();
        let here = here.len() as u32;
        loop {
            let mut limit = if self.has_begun { pace.tick(segment) } else { START_TICK };
            for _ in 0..EVENTS_MAX {
                let Some(event) = self.session.event(limit) else { break };
                if let Some(ending) = self.hear(event) {
                    return ending;
                }
                limit = Duration::ZERO;
            }
            if !self.has_begun && start_barrier.ready() == here && self.ready == self.others {
                self.has_begun = true;
                self.tell_all(&LauncherMessage::Go);
                start_barrier.pass(here + 1, now_ns);
            }
            if self.is_survived()
                && let Some(ending) = self.tend(rank_set)
            {
                return ending;
            }
            if are_programs && self.supervisor.have_finished() && self.at_end == self.others {
                if !std::mem::replace(&mut has_left, true) {
                    self.tell_all(&LauncherMessage::GoOn);
                }
                tail.release(segment, self.place.here);
            }
            if are_programs
                && !self.has_begun
                && let Some(ending) = self.departed(rank_set)
            {
                return ending;
            }
            // Finished ranks must stay while ranks of other hosts run, which may wait for
            // retransmissions.
            match self.supervisor.look(self.finished == self.others, rank_set) {
                Some(Observation::Failed(_)) => return Ending::Failed,
                Some(Observation::Exited(rank, how, status)) => {
                    return Ending::Died(rank, how, status);
                }
                Some(Observation::Lost(rank, how)) => self.survival.lose(rank, how),
                Some(Observation::NotStarted(why)) => return Ending::Refused(why),
                Some(Observation::Interrupted(signal)) => return Ending::Interrupted(signal),
                Some(Observation::Finished) => return Ending::Complete,
                None => {}
            }
            for signal in self.supervisor.take_forwarded() {
                self.tell_all(&LauncherMessage::Forward { signal });
            }
            for (from, signal) in std::mem::take(&mut self.signalled) {
                self.supervisor.forward(signal, rank_set);
                for &host in self.others.iter().filter(|&&host| host != from) {
                    self.session.post.send(host, LauncherMessage::Forward { signal });
                }
            }
            if self.supervisor.is_late() {
                self.stopped.insert(self.session.me, rank_set.stopped());
                return Ending::TimedOut;
            }
            if !has_left && (self.is_stuck(&mut quiet) || self.stands(&mut quiet)) {
                return Ending::Stuck;
            }
        }
    }

    /// Returns the end of the job if all ranks of a host have exited without attaching, while other
    /// ranks wait for them.
    fn departed(&self, rank_set: &mut dyn RankSet) -> Option<Ending> {
        let Place { segment, here, .. } = *self.place;
        let is_attached = |rank: u32| segment.status(rank).process_state.process().is_some();
        let here_attached = here.iter().copied().find(|&rank| is_attached(rank));
        let of_host = |host: &Host| self.session.ranks_of(*host).first().copied();
        let waiting = here_attached.or_else(|| self.ready.iter().find_map(of_host))?;
        let has_gone = |host: &&Host| !self.ready.contains(host);
        let gone = self.finished.iter().filter(has_gone).find_map(of_host);
        let mut all_gone = || here_attached.is_none() && rank_set.have_finished(false);
        let gone = gone.or_else(|| all_gone().then(|| here[0]))?;
        let how = format!("exited and never attached to the job, and rank {waiting} waits for it");
        Some(Ending::Died(gone, how, None))
    }

    /// Asks all hosts for the state of their ranks if no rank of this host can go on. Returns true
    /// if the job is stuck.
    fn is_stuck(&mut self, quiet: &mut Quiet<'_>) -> bool {
        let asked = self.rounds.poll(now_ns(), quiet.rests());
        let Some((round, hosts)) = asked else { return false };
        let mut is_stuck = false;
        for host in hosts {
            if host == self.session.me {
                is_stuck |= self.rounds.handle(host, round, quiet.reply());
            } else {
                self.session.post.probe(host, round);
            }
        }
        is_stuck
    }

    /// Checks whether nothing moves on this host. If nothing moves on any host, tells the user
    /// once. With `--stuck end`, returns true instead, which ends the job.
    fn stands(&mut self, quiet: &mut Quiet<'_>) -> bool {
        let me = self.session.me;
        match quiet.stands() {
            Some(Standing::For(lines)) => self.note_standstill(me, lines),
            Some(Standing::Over) => self.note_standstill(me, vec![]),
            None => {}
        }
        let mut hosts = self.others.iter().chain([&me]);
        if self.has_told_standing || !hosts.all(|host| self.standing.contains_key(host)) {
            return false;
        }
        if self.place.settings.spec.stuck.ends {
            return true;
        }
        self.has_told_standing = true;
        let lines: Vec<String> = self.standing.values().flatten().cloned().collect();
        (self.place.options.tell)(&text_on_standstill(&lines));
        false
    }

    /// Notes a line of text for each rank of a host on which nothing moves. No lines mean that its
    /// ranks move again.
    fn note_standstill(&mut self, host: Host, lines: Vec<String>) {
        self.has_told_standing = false;
        match lines.is_empty() {
            true => self.standing.remove(&host),
            false => self.standing.insert(host, lines),
        };
    }

    /// Handles an event. Returns the reason why the job must end, if any.
    fn hear(&mut self, event: LinkEvent) -> Option<Ending> {
        match event {
            // This host was lost, and the job goes on without it.
            LinkEvent::Message(host, ..)
            | LinkEvent::Replied(host, ..)
            | LinkEvent::Lost(host, _)
            | LinkEvent::Finished(host)
                if !self.others.contains(&host) => {}
            LinkEvent::Message(host, message, _) => match message {
                LauncherMessage::Ready => {
                    self.ready.insert(host);
                }
                LauncherMessage::Finished => {
                    self.finished.insert(host);
                }
                LauncherMessage::Failed => return Some(Ending::Failed),
                LauncherMessage::Died { rank, how, .. }
                    if self.is_survived() && self.session.ranks_of(host).contains(&rank) =>
                {
                    self.survival.lose(rank, how);
                }
                LauncherMessage::Unreachable { by, rank }
                    if self.is_survived() && self.session.ranks_of(host).contains(&by) =>
                {
                    self.survival.suspect(by, rank);
                }
                LauncherMessage::Regroups { regroups, mut sits_out } if self.is_survived() => {
                    let ranks = self.session.ranks_of(host);
                    sits_out.retain(|rank| ranks.contains(rank));
                    self.survival.stand(host, QuiescentState { regroups, sits_out });
                }
                LauncherMessage::Died { rank, how, status }
                    if self.session.ranks_of(host).contains(&rank) =>
                {
                    return Some(Ending::Died(rank, how, status));
                }
                LauncherMessage::AtEnd => {
                    self.at_end.insert(host);
                }
                LauncherMessage::Forward { signal } if Forwarded::has(signal) => {
                    self.signalled.push((host, signal));
                }
                LauncherMessage::Standstill(lines) => {
                    let most = self.session.ranks_of(host).len() + 1;
                    self.note_standstill(host, lines.into_iter().take(most).collect());
                }
                LauncherMessage::Stopped(mut stopped) => {
                    let ranks = self.session.ranks_of(host);
                    stopped.retain(|one| ranks.contains(&one.rank));
                    self.stopped.insert(host, stopped);
                }
                LauncherMessage::Interrupted { signal } => {
                    return Some(Ending::Interrupted(signal));
                }
                LauncherMessage::Refused(why) => {
                    return Some(Ending::Refused(format!("{}: {why}", self.session.named(host))));
                }
                _ => {}
            },
            LinkEvent::Lost(host, why) if self.is_survived() => self.go_on_without(host, &why),
            LinkEvent::Finished(host) if self.is_survived() => {
                self.go_on_without(host, "its launcher ended");
            }
            LinkEvent::Lost(host, why) => return Some(self.lost(host, &why)),
            LinkEvent::Finished(host) => return Some(self.lost(host, "its launcher ended")),
            LinkEvent::Replied(host, round, reply) if self.rounds.handle(host, round, reply) => {
                return Some(Ending::Stuck);
            }
            _ => {}
        }
        None
    }

    pub(super) fn lost(&mut self, host: Host, why: &str) -> Ending {
        self.others.remove(&host);
        Ending::Lost(lost(&self.session.named(host), why))
    }
}

impl Ending {
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Ending::Complete)
    }
}

/// Returns the end of a job that has lost a host.
fn lost(who: &str, why: &str) -> End {
    End::HostLost(format!("{who} is lost: {why}"))
}
