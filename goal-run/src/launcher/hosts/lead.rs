//! What the leader does while the ranks run, and at the end.

use super::left::{self, Areas};
use super::{LaunchError, Place, Session, lost};
use crate::hosts::{Event, Message, Rounds};
use crate::launcher::hosts::post::random;
use crate::launcher::outcome::End;
use crate::launcher::supervise::{Fallen, Quiet, Sight, Supervisor, TICK};
use crate::monitor::Pending;
use crate::rank::now_ns;
use crate::trace;
use goal_esp::wire::Mac;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Between two looks before all ranks have begun.
const START_TICK: Duration = Duration::from_millis(1);

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
}

impl<'s, 'a> Leader<'s, 'a> {
    pub(super) fn new(session: &'s mut Session<'a>, place: &'s Place<'s>) -> Result<Self, LaunchError> {
        let all = session.all();
        let mut others = all.clone();
        others.remove(&session.me);
        let rounds = Rounds::new(all.into_iter().collect(), u64::from_ne_bytes(random()?));
        let (ready, finished) = (BTreeSet::new(), BTreeSet::new());
        Ok(Self { session, place, others, rounds, ready, finished, told: BTreeMap::new() })
    }

    fn tell_all(&self, message: &Message) {
        for &host in &self.others {
            self.session.post.send(host, message.clone());
        }
    }

    /// Returns when the job has ended or cannot.
    pub(super) fn lead(&mut self, fallen: &mut dyn FnMut() -> Option<Fallen>) -> Ending {
        let Place { segment, here, .. } = *self.place;
        let supervisor = Supervisor::new(self.place);
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
            match supervisor.look(self.finished == self.others, fallen) {
                Some(Sight::Failed(_)) => return Ending::Failed,
                Some(Sight::Fallen(rank, how)) => return Ending::Died(rank, how),
                Some(Sight::NotStarted(why)) => return Ending::Refused(why),
                Some(Sight::Interrupted(signal)) => return Ending::Interrupted(signal),
                Some(Sight::Finished) => return Ending::Complete,
                None => {}
            }
            if supervisor.is_late() {
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

    /// Ends the job everywhere; the ranks of this host have ended. How it ended, with what all ranks left.
    ///
    /// # Errors
    /// Where a host has refused: the others are still to be told.
    pub(super) fn gather(mut self, ending: Ending) -> Result<End, LaunchError> {
        let lost_then = if matches!(ending, Ending::Refused(_)) { None } else { self.collect(&ending) };
        let Place { nisa, options, segment, .. } = *self.place;
        let window = options.window.as_ref();
        let pending = |rest| Pending::of_job(segment, nisa, window, &options.engine, rest);
        Ok(match (ending, lost_then) {
            (Ending::Lost(end), _) | (Ending::Complete, Some(Ending::Lost(end))) => end,
            (Ending::Complete, _) => End::Complete,
            (Ending::Failed, _) => End::Failed(
                (0..nisa.num_ranks()).filter_map(|rank| segment.failure_of_failed(rank)).collect(),
            ),
            (Ending::Stuck, _) => End::Stuck(pending(true)),
            (Ending::TimedOut, _) => End::TimedOut(pending(false)),
            (Ending::Interrupted(signal), _) => End::Interrupted(signal),
            (Ending::Refused(why), _) => return Err(LaunchError::Hosts(why)),
            (Ending::Died(rank, how), _) => {
                let pending = Pending::of_rank(segment, nisa, window, rank);
                End::Died { rank, how, pending }
            }
        })
    }

    /// Ends the job everywhere and gathers what the ranks left. The first host that is lost meanwhile.
    fn collect(&mut self, ending: &Ending) -> Option<Ending> {
        let Place { settings, segment, .. } = *self.place;
        let is_complete = matches!(ending, Ending::Complete);
        let areas = Areas {
            memory: self.session.hosts.keeps_memory || settings.record,
            matches: settings.record && is_complete,
            instance: matches!(ending, Ending::Stuck | Ending::Died(..) | Ending::TimedOut),
            trace: settings.trace_events > 0,
        };
        self.tell_all(&Message::End { is_complete, areas: areas.list() });
        let mut lost_then = None;
        while self.others.iter().any(|host| !self.told.contains_key(host)) {
            match self.session.event(TICK) {
                Some(Event::Message(host, Message::Left { rank, area, offset }, bytes)) => {
                    let is_its = self.session.ranks_of(host).contains(&rank);
                    if !is_its || !left::keep(segment, rank, area, offset, &bytes) {
                        lost_then.get_or_insert(self.lost(host, "it told what no rank can have left"));
                    }
                }
                Some(Event::Message(host, Message::Told { opened_ns }, _)) => {
                    self.told.insert(host, opened_ns);
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
        lost_then
    }
}

impl Ending {
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Ending::Complete)
    }
}
