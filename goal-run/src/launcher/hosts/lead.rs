//! What the leader does while the ranks run, and at the end.

use super::left::{self, Areas};
use super::{LaunchError, Place, Session, lost, ranges};
use crate::hosts::{Event, Message, Rounds};
use crate::launcher::crew::{Crew, Stopped};
use crate::launcher::hosts::post::random;
use crate::launcher::options::Stage;
use crate::launcher::outcome::End;
use crate::launcher::signals::attend;
use crate::launcher::supervise::{Quiet, Sight, Supervisor, TICK};
use crate::monitor::Pending;
use crate::rank::now_ns;
use crate::trace;
use goal_esp::wire::Mac;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Between two looks before all ranks have begun.
const START_TICK: Duration = Duration::from_millis(1);

/// Time between two pictures of how much has arrived.
const SHOW_TICK: Duration = Duration::from_millis(250);
/// How long a job that was interrupted, or whose time is up, gathers what ranks left; also one that got stuck or failed, if
/// its time is up by then.
const GATHER_LIMIT: Duration = Duration::from_secs(5);

/// Why the job ends.
#[derive(Debug)]
pub(super) enum Ending {
    Complete,
    Failed,
    Stuck,
    Died(u32, String),
    TimedOut,
    Interrupted(usize),
    /// A host is lost, in words.
    Lost(End),
    /// A host can't start its ranks, or can't go on with them; why, in words.
    Refused(String),
}

/// The leader.
pub(super) struct Leader<'s, 'a> {
    session: &'s mut Session<'a>,
    place: &'s Place<'s>,
    others: BTreeSet<Mac>,
    rounds: Rounds,
    ready: BTreeSet<Mac>,
    finished: BTreeSet<Mac>,
    /// The clocks of hosts when their gates opened, of those that have told all.
    told: BTreeMap<Mac, u64>,
    supervisor: Supervisor<'s>,
    /// The ranks that somebody has stopped, by their hosts.
    stopped: BTreeMap<Mac, Vec<Stopped>>,
}

/// How the gathering of what ranks left ended.
enum Gathered {
    /// All has come that will.
    All,
    /// A host was lost meanwhile; the first one.
    Lost(End),
    /// A launcher got a signal.
    Interrupted(usize),
    /// It took too long.
    Late,
}

impl<'s, 'a> Leader<'s, 'a> {
    pub(super) fn new(session: &'s mut Session<'a>, place: &'s Place<'s>) -> Result<Self, LaunchError> {
        let all = session.all();
        let mut others = all.clone();
        others.remove(&session.me);
        let rounds = Rounds::new(all.into_iter().collect(), u64::from_ne_bytes(random()?));
        let (ready, finished) = (BTreeSet::new(), BTreeSet::new());
        let (told, stopped) = (BTreeMap::new(), BTreeMap::new());
        let supervisor = Supervisor::new(place);
        Ok(Self { session, place, others, rounds, ready, finished, told, supervisor, stopped })
    }

    fn tell_all(&self, message: &Message) {
        for &host in &self.others {
            self.session.post.send(host, message.clone());
        }
    }

    /// Returns when the job has ended or cannot.
    pub(super) fn lead(&mut self, crew: &mut dyn Crew) -> Ending {
        let Place { segment, here, .. } = *self.place;
        let mut quiet = Quiet::new(self.place);
        let gate = segment.gate();
        let here = here.len() as u32;
        let mut has_begun = false;
        loop {
            let mut limit = if has_begun { TICK } else { START_TICK };
            while let Some(event) = self.session.event(limit) {
                if let Some(ending) = self.hear(event) {
                    return ending;
                }
                limit = Duration::ZERO;
            }
            if !has_begun && gate.ready() == here && self.ready == self.others {
                has_begun = true;
                self.tell_all(&Message::Go);
                gate.pass(here + 1, now_ns);
            }
            // While ranks of others run, those that have finished must live on: others may wait for what they sent.
            match self.supervisor.look(self.finished == self.others, crew) {
                Some(Sight::Failed(_)) => return Ending::Failed,
                Some(Sight::Fallen(rank, how)) => return Ending::Died(rank, how),
                Some(Sight::NotStarted(why)) => return Ending::Refused(why),
                Some(Sight::Interrupted(signal)) => return Ending::Interrupted(signal),
                Some(Sight::Finished) => return Ending::Complete,
                None => {}
            }
            if self.supervisor.is_late() {
                self.stopped.insert(self.session.me, crew.stopped());
                return Ending::TimedOut;
            }
            if self.is_stuck(&mut quiet) {
                return Ending::Stuck;
            }
        }
    }

    /// Asks all hosts whether their ranks can go on, where those of this one can't.
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

    /// What a host says; why the job ends, if that ends it.
    fn hear(&mut self, event: Event) -> Option<Ending> {
        match event {
            Event::Message(host, message, _) => match message {
                Message::Ready => {
                    self.ready.insert(host);
                }
                Message::Finished => {
                    self.finished.insert(host);
                }
                Message::Failed => return Some(Ending::Failed),
                Message::Died { rank, how } if self.session.ranks_of(host).contains(&rank) => {
                    return Some(Ending::Died(rank, how));
                }
                Message::Stopped(mut stopped) => {
                    let ranks = self.session.ranks_of(host);
                    stopped.retain(|one| ranks.contains(&one.rank));
                    self.stopped.insert(host, stopped);
                }
                Message::Interrupted { signal } => return Some(Ending::Interrupted(signal)),
                Message::Refused(why) => {
                    return Some(Ending::Refused(format!("{}: {why}", self.session.named(host))));
                }
                _ => {}
            },
            Event::Lost(host, why) => return Some(self.lost(host, &why)),
            Event::Finished(host) => return Some(self.lost(host, "its launcher ended")),
            Event::Replied(host, round, reply) if self.rounds.handle(host, round, reply) => {
                return Some(Ending::Stuck);
            }
            _ => {}
        }
        None
    }

    fn lost(&mut self, host: Mac, why: &str) -> Ending {
        self.others.remove(&host);
        Ending::Lost(lost(&self.session.named(host), why))
    }

    /// Ends the job everywhere; the ranks of this host have ended. How it ended, and which ranks left something that has not arrived,
    /// in words.
    ///
    /// # Errors
    /// Where a host has refused: the others are still to be told.
    pub(super) fn gather(mut self, ending: Ending) -> Result<(End, String), LaunchError> {
        let gathered = match &ending {
            Ending::Refused(why) => return Err(LaunchError::Hosts(why.clone())),
            ending => self.collect(ending),
        };
        let Place { nisa, segment, .. } = *self.place;
        let observed = self.place.observed();
        let known: Vec<u32> = (0..nisa.num_ranks()).filter(|&rank| self.is_known(rank)).collect();
        let missing = match gathered {
            Gathered::Interrupted(_) | Gathered::Late if known.len() < nisa.num_ranks() as usize => {
                let missing: Vec<u32> = (0..nisa.num_ranks()).filter(|&rank| !self.is_known(rank)).collect();
                ranges(&missing)
            }
            _ => String::new(),
        };
        let stopped = || self.stopped.values().flatten().copied().collect();
        let pending = |all_rest| match missing.is_empty() {
            true => Pending::of_job(&observed, all_rest, stopped()),
            false => Pending::of_some(&observed, &known, stopped()),
        };
        let end = match (ending, gathered) {
            (_, Gathered::Interrupted(signal)) | (Ending::Interrupted(signal), _) => End::Interrupted(signal),
            (Ending::Lost(end), _) | (Ending::Complete, Gathered::Lost(end)) => end,
            (Ending::TimedOut, _) | (Ending::Complete, Gathered::Late) => End::TimedOut(pending(false)),
            (Ending::Complete, Gathered::All) => End::Complete,
            (Ending::Failed, _) => End::Failed(
                (0..nisa.num_ranks()).filter_map(|rank| segment.failure_of_failed(rank)).collect(),
            ),
            (Ending::Stuck, _) => End::Stuck(pending(true)),
            (Ending::Refused(why), _) => return Err(LaunchError::Hosts(why)),
            (Ending::Died(rank, how), _) => {
                End::Died { rank, how, pending: Pending::of_rank(&observed, rank) }
            }
        };
        Ok((end, missing))
    }

    /// True if all has arrived that a rank left.
    fn is_known(&self, rank: u32) -> bool {
        let host = self.session.addresses()[rank as usize].mac;
        host == self.session.me || self.told.contains_key(&host)
    }

    /// Ends the job everywhere and gathers what the ranks left, until all is there, a launcher gets a signal or the time is up.
    fn collect(&mut self, ending: &Ending) -> Gathered {
        let Place { settings, segment, options, .. } = *self.place;
        let is_complete = ending.is_complete();
        let areas = Areas {
            memory: self.session.hosts.keeps_memory || settings.record,
            matches: settings.record && is_complete,
            instance: matches!(ending, Ending::Stuck | Ending::Died(..) | Ending::TimedOut),
            trace: settings.trace_events > 0,
        };
        self.tell_all(&Message::End { is_complete, areas: areas.list() });
        let mut lost_then = None;
        let (since, mut bytes_so_far, mut shown) = (Instant::now(), 0, Instant::now());
        while self.others.iter().any(|host| !self.told.contains_key(host)) {
            let is_late = match ending {
                Ending::Complete => self.supervisor.is_late(),
                Ending::Interrupted(_) => since.elapsed() >= GATHER_LIMIT,
                _ => self.supervisor.is_late() && since.elapsed() >= GATHER_LIMIT,
            };
            if is_late {
                return Gathered::Late;
            }
            if let Some(signal) = attend(options, true) {
                return Gathered::Interrupted(signal);
            }
            if shown.elapsed() >= SHOW_TICK {
                shown = Instant::now();
                (options.show)(Stage::Gathering { bytes: bytes_so_far });
            }
            match self.session.event(TICK) {
                Some(Event::Message(host, Message::Left { rank, area, offset }, bytes)) => {
                    bytes_so_far += bytes.len() as u64;
                    let is_its = self.session.ranks_of(host).contains(&rank);
                    if !is_its || !left::keep(segment, rank, area, offset, &bytes) {
                        lost_then.get_or_insert(self.lost(host, "it told what no rank can have left"));
                    }
                }
                Some(Event::Message(host, Message::Told { opened_ns }, _)) => {
                    self.told.insert(host, opened_ns);
                }
                Some(Event::Message(_, Message::Interrupted { signal }, _)) => {
                    return Gathered::Interrupted(signal);
                }
                Some(Event::Lost(host, why)) => {
                    lost_then.get_or_insert(self.lost(host, &why));
                }
                Some(Event::Finished(host)) => {
                    lost_then.get_or_insert(self.lost(host, "its launcher ended"));
                }
                _ => {}
            }
        }
        // Their clocks are others.
        let own_ns = segment.gate().opened_ns.load(Ordering::SeqCst);
        for (&host, &opened_ns) in &self.told {
            for rank in self.session.ranks_of(host) {
                let ended_ns = &segment.status(rank).ended_ns;
                let took_ns = ended_ns.load(Ordering::SeqCst).saturating_sub(opened_ns);
                ended_ns.store(own_ns + took_ns, Ordering::SeqCst);
                trace::shift(segment, rank, own_ns.wrapping_sub(opened_ns));
            }
        }
        match lost_then {
            Some(Ending::Lost(end)) => Gathered::Lost(end),
            _ => Gathered::All,
        }
    }
}

impl Ending {
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Ending::Complete)
    }
}
