//! Whether a job on several hosts is stuck: Mattern's four counters.
//!
//! In a round every host is asked what its ranks do, and how many messages they have sent to and
//! taken from other hosts. If a round finds nobody active, and the next one, begun when all answers
//! of the first were there, finds the same counts and as many messages taken as sent, then between
//! the two no rank did anything and no message was on its way: nothing will ever happen.

use super::link::Reply;
use goal_esp::wire::{Mac, State};
use std::collections::BTreeMap;

/// After which a host that has not answered is asked again.
const AGAIN_NS: u64 = 20_000_000;
/// The time from a round to the next one while messages are on their way: at first, and the
/// longest. It doubles where nothing else happens, as frames that get lost are sent again more and
/// more rarely.
const PAUSE_MIN_NS: u64 = 1_000_000;
const PAUSE_MAX_NS: u64 = 50_000_000;

/// The leader's rounds.
#[derive(Debug)]
pub struct Rounds {
    round: u64,
    hosts: Vec<Mac>,
    /// Answers of this round.
    replies: BTreeMap<Mac, Reply>,
    /// Whether a round is under way.
    is_open: bool,
    /// The answers of the round before, if it found nobody active and the leader's ranks have
    /// rested since.
    before: Option<BTreeMap<Mac, Reply>>,
    ask_ns: u64,
    /// When this round began, or the last one, and how long after that the next one may begin.
    begun_ns: u64,
    pause_ns: u64,
}

impl Rounds {
    /// Rounds among these hosts, which are all. Nobody can have guessed the number of the first, so
    /// that answers of earlier runs are none.
    pub fn new(hosts: Vec<Mac>, first: u64) -> Self {
        let replies = BTreeMap::new();
        Self {
            round: first,
            hosts,
            replies,
            is_open: false,
            before: None,
            ask_ns: 0,
            begun_ns: 0,
            pause_ns: 0,
        }
    }

    /// Begins a round if the leader's own ranks rest, gives up if they don't. The round that hosts
    /// are to be asked in, and which ones, the leader's own among them.
    pub fn poll(&mut self, now_ns: u64, rests: bool) -> Option<(u64, Vec<Mac>)> {
        if !rests {
            self.is_open = false;
            self.before = None;
            return None;
        }
        if !self.is_open {
            if now_ns < self.begun_ns + self.pause_ns {
                return None;
            }
            self.begun_ns = now_ns;
            self.round = self.round.wrapping_add(1);
            self.is_open = true;
            self.replies.clear();
            self.ask_ns = now_ns;
        }
        if now_ns < self.ask_ns {
            return None;
        }
        self.ask_ns = now_ns + AGAIN_NS;
        let silent =
            self.hosts.iter().copied().filter(|host| !self.replies.contains_key(host)).collect();
        Some((self.round, silent))
    }

    /// Takes an answer; whether it completes the proof that the job is stuck.
    pub fn handle(&mut self, from: Mac, round: u64, reply: Reply) -> bool {
        if !self.is_open || round != self.round || !self.hosts.contains(&from) {
            return false;
        }
        self.replies.entry(from).or_insert(reply);
        self.close()
    }

    /// Ends the round where all have answered; whether the job is stuck. One where all are done is
    /// about to end.
    fn close(&mut self) -> bool {
        if !self.hosts.iter().all(|host| self.replies.contains_key(host)) {
            return false;
        }
        self.is_open = false;
        let replies = std::mem::take(&mut self.replies);
        let is_active = replies.values().any(|reply| reply.state == State::Active);
        let are_done = replies.values().all(|reply| reply.state == State::Done);
        if is_active || are_done {
            (self.before, self.pause_ns) = (None, 0);
            return false;
        }
        let sum = |count: fn(&Reply) -> u64| replies.values().map(count).fold(0, u64::wrapping_add);
        let are_same = self.before.as_ref() == Some(&replies);
        let is_on_its_way = sum(|reply| reply.sent) != sum(|reply| reply.taken);
        self.pause_ns = match is_on_its_way {
            true if are_same => (2 * self.pause_ns).clamp(PAUSE_MIN_NS, PAUSE_MAX_NS),
            true => PAUSE_MIN_NS,
            false => 0,
        };
        self.before = Some(replies);
        are_same && !is_on_its_way
    }
}
