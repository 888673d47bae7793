//! Detects that a job on several hosts is stuck, by Mattern's four counters.
//!
//! In a round the leader asks every host for the state of its ranks and two numbers. The numbers
//! count the messages that its ranks have sent to other hosts, and the messages that they have
//! taken. A round begins after all answers to the previous round have arrived. Assume that in two
//! rounds in a row no rank is active, both numbers stay equal, and as many messages were taken as
//! sent. Then no rank did anything between the rounds, and no message was on its way. So the job is
//! stuck.

use super::message::Reply;
use goal_esp::wire::State;
use goal_job::host::Host;
use std::collections::BTreeMap;

/// The time after which a host that has not answered is asked again, in nanoseconds.
const AGAIN_NS: u64 = 20_000_000;
/// The shortest and the longest time between two rounds while messages are on their way, in
/// nanoseconds. The time doubles while no answer changes, because lost frames are retransmitted
/// less and less often.
const PAUSE_MIN_NS: u64 = 1_000_000;
const PAUSE_MAX_NS: u64 = 50_000_000;

/// The leader's rounds.
#[derive(Debug)]
pub(crate) struct Rounds {
    round: u64,
    hosts: Vec<Host>,
    /// The answers of this round.
    replies: BTreeMap<Host, Reply>,
    /// Set while a round is not complete.
    is_open: bool,
    /// The answers of the previous round. `None` if a rank was active then, or a rank of the leader
    /// was active since.
    before: Option<BTreeMap<Host, Reply>>,
    ask_ns: u64,
    /// The time at which this round or the last one began, and the pause before the next one.
    begun_ns: u64,
    pause_ns: u64,
}

impl Rounds {
    /// Returns the rounds of a job on `hosts`. `first` is the number of the first round. It must be
    /// impossible to guess, so that recorded answers of earlier runs have other numbers.
    pub(crate) fn new(hosts: Vec<Host>, first: u64) -> Self {
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

    /// Removes a lost host, and gives up the current round.
    pub(crate) fn leave_out(&mut self, host: Host) {
        self.hosts.retain(|&other| other != host);
        (self.is_open, self.before) = (false, None);
    }

    /// Begins a round if the leader's own ranks rest. Gives the round up if they do not. Returns
    /// the number of the round and the hosts to ask now, which may include the leader's own.
    pub(crate) fn poll(&mut self, now_ns: u64, rests: bool) -> Option<(u64, Vec<Host>)> {
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

    /// Handles an answer. Returns true if it proves that the job is stuck.
    pub(crate) fn handle(&mut self, from: Host, round: u64, reply: Reply) -> bool {
        if !self.is_open || round != self.round || !self.hosts.contains(&from) {
            return false;
        }
        self.replies.entry(from).or_insert(reply);
        self.close()
    }

    /// Ends the round if all hosts have answered. Returns true if the job is stuck. A job whose
    /// ranks are all done is not stuck, as it is about to end.
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
