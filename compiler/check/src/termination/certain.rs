//! A proof that a program ends in every order: the set of events that certainly happen is derived
//! from the dependencies and from counts of messages.
//!
//! - An action certainly starts if everything that it waits for certainly happens.
//! - A receive that certainly starts also ends if c fitting messages certainly come, and other
//!   receives may take fewer than c of them before it. (If the receive stayed without a message,
//!   each of the c messages would have gone to another receive: one posted earlier, or one that
//!   takes a kept message earlier.)
//! - Let a send that waits for its receive certainly start. It also ends if c fitting receives
//!   certainly start, and other sends may get fewer than c of them before it.
//!
//! If all events are in the set, the program ends in every order. If not, nothing is known.

use super::facts::{Competition, Completion, Envelope, Facts, takers};
use crate::order::Order;
use goal_lang::ActionKind;
use goal_opt::whole::{Event, Ordered, Vertex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The most competing actions that are compared in pairs. Of more actions, the proof only uses
/// whether all of them start one after the other.
const PAIRS_OF_MAX: usize = 64;
/// The number of times that waiting sends may be examined again, for each action of the program.
const LOOKS_PER_ACTION: u64 = 64;

/// Returns true if the proof succeeds: the program ends in every order.
pub(super) fn always_ends(facts: &Facts<'_, '_>, order: &mut Order<'_, '_>) -> bool {
    if !sizes_agree(facts) {
        return false;
    }
    let mut needs = vec![0; facts.whole.len()];
    for competition in facts.competitions.values() {
        recv_needs(competition, order, &mut needs);
        send_needs(facts, competition, order, &mut needs);
    }
    Certain::new(facts, needs).run()
}

/// Returns true if every competing message has the size of all receives that may take it.
fn sizes_agree(facts: &Facts<'_, '_>) -> bool {
    facts.competitions.values().all(|competition| {
        let mut sizes: FxHashMap<Envelope, u64> = FxHashMap::default();
        let is_even = competition.recvs.iter().all(|(&envelope, recvs)| {
            let size = facts.whole.message_size(recvs[0]);
            sizes.insert(envelope, size);
            recvs.iter().all(|&recv| facts.whole.message_size(recv) == size)
        });
        is_even
            && competition.sends.iter().all(|(&envelope, sends)| {
                let wanted = takers(envelope).into_iter().filter_map(|taker| sizes.get(&taker));
                wanted
                    .into_iter()
                    .all(|&size| sends.iter().all(|&send| facts.whole.message_size(send) == size))
            })
    })
}

/// Sets in `needs`, for each receive, the number of fitting messages after which the receive
/// certainly gets one. This is the number of receives that may take one of them before it, and one
/// for itself.
fn recv_needs(competition: &Competition, order: &mut Order<'_, '_>, needs: &mut [u64]) {
    let mut rivals: FxHashMap<Envelope, FxHashSet<Envelope>> = FxHashMap::default();
    for &sent in competition.sends.keys() {
        let known: Vec<Envelope> = takers(sent)
            .into_iter()
            .filter(|taker| competition.recvs.contains_key(taker))
            .collect();
        for &envelope in &known {
            rivals.entry(envelope).or_default().extend(&known);
        }
    }
    for (envelope, recvs) in &competition.recvs {
        let rivals: Vec<Vertex> = match rivals.get(envelope) {
            Some(rivals) => {
                rivals.iter().flat_map(|rival| &competition.recvs[rival]).copied().collect()
            }
            None => recvs.clone(),
        };
        let after = after(order, recvs, &rivals);
        for (&recv, after) in recvs.iter().zip(after) {
            needs[recv.index()] = rivals.len() as u64 - after;
        }
    }
}

/// Sets in `needs`, for each send, the number of fitting receives after which the send certainly
/// gets one. Only messages of the same rank arrive in an order.
fn send_needs(
    facts: &Facts<'_, '_>,
    competition: &Competition,
    order: &mut Order<'_, '_>,
    needs: &mut [u64],
) {
    let mut totals: FxHashMap<Envelope, u64> = FxHashMap::default();
    for (&sent, sends) in &competition.sends {
        for taker in takers(sent) {
            *totals.entry(taker).or_default() += sends.len() as u64;
        }
    }
    for (&sent, sends) in &competition.sends {
        if sends.iter().all(|&send| facts.completion(send) == Completion::AtStart) {
            continue;
        }
        let total = |taker: Envelope| match competition.recvs.contains_key(&taker) {
            true => totals.get(&taker).copied().unwrap_or(0),
            false => 0,
        };
        let own = sends.len() as u64;
        let [_, of_tag, of_source, of_all] = takers(sent);
        let rivals = match (total(of_all), total(of_tag), total(of_source)) {
            (0, 0, 0) => own,
            (0, one, 0) | (0, 0, one) => one,
            (0, one, other) => one + other - own,
            (all, ..) => all,
        };
        let after = after(order, sends, sends);
        for (&send, after) in competition.sends[&sent].iter().zip(after) {
            needs[send.index()] = rivals - after;
        }
    }
}

/// Returns, for each action of `some`, the number of actions of `all` that certainly start after
/// it. Returns 0 for each if `all` has more than [`PAIRS_OF_MAX`] actions and they do not start one
/// after the other.
fn after(order: &mut Order<'_, '_>, some: &[Vertex], all: &[Vertex]) -> Vec<u64> {
    let starts = |order: &mut Order<'_, '_>, first: Vertex, second: Vertex| {
        order.happens_before(Event::Start(first), Event::Start(second)) == Ordered::Yes
    };
    if all.len() <= PAIRS_OF_MAX {
        let count = |&first: &Vertex| {
            all.iter().filter(|&&second| first != second && starts(order, first, second)).count()
                as u64
        };
        return some.iter().map(count).collect();
    }
    let mut chain = all.to_vec();
    chain.sort_unstable_by_key(|&vertex| order.position(Event::Start(vertex)));
    if !chain.windows(2).all(|pair| starts(order, pair[0], pair[1])) {
        return vec![0; some.len()];
    }
    let places: FxHashMap<Vertex, u64> = chain.iter().rev().copied().zip(0..).collect();
    some.iter().map(|vertex| places[vertex]).collect()
}

/// The set of certain events under construction.
struct Certain<'s, 'a, 'p> {
    facts: &'s Facts<'a, 'p>,
    needs: Vec<u64>,
    missing: Vec<u32>,
    has_started: Vec<bool>,
    has_ended: Vec<bool>,
    ended: usize,
    /// Actions that certainly start and whose consequences are not derived yet.
    todo: Vec<Vertex>,
    /// By destination and envelope of receives, the numbers of messages and of receives that
    /// certainly come.
    pools: FxHashMap<(u32, Envelope), Pool>,
    /// By destination, the sends that certainly start and wait for their receive.
    sends: FxHashMap<u32, Vec<Vertex>>,
    changed: FxHashSet<u32>,
    looks: u64,
}

/// The numbers of sends and receives that certainly start, for one envelope of receives.
#[derive(Default)]
struct Pool {
    sends: u64,
    recvs: u64,
    /// Receives that certainly start and need more messages, the one that needs fewest first.
    waiting: BinaryHeap<Reverse<(u64, Vertex)>>,
}

impl<'s, 'a, 'p> Certain<'s, 'a, 'p> {
    fn new(facts: &'s Facts<'a, 'p>, needs: Vec<u64>) -> Self {
        let whole = facts.whole;
        let mut missing = vec![0; whole.len()];
        for vertex in whole.vertices() {
            for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
                missing[waiter.index()] += 1;
            }
        }
        let mut pools: FxHashMap<(u32, Envelope), Pool> = FxHashMap::default();
        for (&rank, competition) in &facts.competitions {
            pools.extend(
                competition.recvs.keys().map(|&envelope| ((rank, envelope), Pool::default())),
            );
        }
        Self {
            facts,
            needs,
            todo: whole.vertices().filter(|vertex| missing[vertex.index()] == 0).collect(),
            missing,
            has_started: vec![false; whole.len()],
            has_ended: vec![false; whole.len()],
            ended: 0,
            pools,
            sends: FxHashMap::default(),
            changed: FxHashSet::default(),
            looks: LOOKS_PER_ACTION * whole.len() as u64,
        }
    }

    /// Derives events until nothing new follows. Returns true if all actions end.
    fn run(mut self) -> bool {
        loop {
            while let Some(vertex) = self.todo.pop() {
                self.start(vertex);
            }
            let ranks = std::mem::take(&mut self.changed);
            for rank in ranks {
                self.end_matched_sends(rank);
            }
            if self.todo.is_empty() {
                return self.ended == self.facts.whole.len();
            }
        }
    }

    /// Handles an action that certainly starts.
    fn start(&mut self, vertex: Vertex) {
        let whole = self.facts.whole;
        self.has_started[vertex.index()] = true;
        whole.irequires(vertex).for_each(|waiter| self.release(waiter));
        let is_send = whole.action(vertex).kind() == ActionKind::Send;
        if is_send && self.facts.completion(vertex) == Completion::AtStart {
            self.end(vertex);
        }
        let Some((rank, envelope)) = self.facts.end(vertex) else { return self.end(vertex) };
        if self.facts.is_fixed[vertex.index()] {
            let partner = self.facts.partner[vertex.index()];
            if self.has_started[partner.index()] {
                self.end(vertex);
                self.end(partner);
            }
        } else if whole.is_recv(vertex) {
            self.post(vertex, rank, envelope);
        } else {
            self.send(vertex, rank, envelope);
        }
    }

    /// Handles a competing receive that certainly starts: it ends if enough messages come.
    fn post(&mut self, recv: Vertex, rank: u32, envelope: Envelope) {
        let need = self.needs[recv.index()];
        let pool = self.pools.entry((rank, envelope)).or_default();
        pool.recvs += 1;
        self.changed.insert(rank);
        match pool.sends >= need {
            true => self.end(recv),
            false => pool.waiting.push(Reverse((need, recv))),
        }
    }

    /// Handles a competing send that certainly starts: receives that now have enough messages end.
    fn send(&mut self, send: Vertex, rank: u32, envelope: Envelope) {
        for taker in takers(envelope) {
            let Some(pool) = self.pools.get_mut(&(rank, taker)) else { continue };
            pool.sends += 1;
            let mut ended = Vec::new();
            while let Some(&Reverse((need, recv))) = pool.waiting.peek()
                && need <= pool.sends
            {
                pool.waiting.pop();
                ended.push(recv);
            }
            ended.into_iter().for_each(|recv| self.end(recv));
        }
        if !self.has_ended[send.index()] {
            self.sends.entry(rank).or_default().push(send);
            self.changed.insert(rank);
        }
    }

    /// Ends the waiting sends to a rank for which enough receives certainly start.
    fn end_matched_sends(&mut self, rank: u32) {
        let sends = self.sends.remove(&rank).unwrap_or_default();
        let Some(left) = self.looks.checked_sub(sends.len() as u64) else { return };
        self.looks = left;
        for send in sends {
            let Some((_, envelope)) = self.facts.end(send) else { continue };
            let pools =
                takers(envelope).into_iter().filter_map(|taker| self.pools.get(&(rank, taker)));
            let recvs: u64 = pools.map(|pool| pool.recvs).sum();
            match recvs >= self.needs[send.index()] {
                true => self.end(send),
                false => self.sends.entry(rank).or_default().push(send),
            }
        }
    }

    fn end(&mut self, vertex: Vertex) {
        if !std::mem::replace(&mut self.has_ended[vertex.index()], true) {
            self.ended += 1;
            self.facts.whole.requires(vertex).for_each(|waiter| self.release(waiter));
        }
    }

    fn release(&mut self, vertex: Vertex) {
        self.missing[vertex.index()] -= 1;
        if self.missing[vertex.index()] == 0 {
            self.todo.push(vertex);
        }
    }
}
