//! The events of every run: the least set of starts and ends that follow from each other whatever
//! the order.
//!
//! An action certainly starts where all that it waits for certainly happens. A receive that
//! certainly starts certainly ends where more messages that fit it certainly come than other
//! receives may take before it: were it left, each of these messages would have gone to another
//! receive, one posted before it or one that takes what is kept before it. A send that waits for
//! its receive certainly ends where the same holds with sends and receives exchanged. So if
//! everything is in the set, the program ends in every order. If not, nothing is said.

use super::scene::{Completion, Envelope, Place, Scene, takers};
use crate::order::Order;
use goal_lang::{ANY, ActionKind};
use goal_opt::whole::{Event, Ordered, Vertex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Competing actions that are compared with each other in pairs; of more only a chain is looked
/// for.
const PAIRS_OF_MAX: usize = 64;
/// Sends looked at again, for each action, to see whether they now certainly end.
const LOOKS_PER_ACTION: u64 = 64;

/// Returns true if it is proved that everything ends in every order.
pub(super) fn always_ends(scene: &Scene<'_, '_>, order: &mut Order<'_, '_>) -> bool {
    if !sizes_agree(scene) {
        return false;
    }
    let mut needs = vec![0; scene.whole.len()];
    for place in scene.places.values() {
        recv_needs(place, order, &mut needs);
        send_needs(scene, place, order, &mut needs);
    }
    Certain::new(scene, needs).run()
}

/// Returns true if all messages that compete have the size of all receives that may take them.
fn sizes_agree(scene: &Scene<'_, '_>) -> bool {
    scene.places.values().all(|place| {
        let mut sizes: FxHashMap<Envelope, u64> = FxHashMap::default();
        let is_even = place.recvs.iter().all(|(&envelope, recvs)| {
            let size = scene.whole.message_size(recvs[0]);
            sizes.insert(envelope, size);
            recvs.iter().all(|&recv| scene.whole.message_size(recv) == size)
        });
        is_even
            && place.sends.iter().all(|(&envelope, sends)| {
                let wanted = takers(envelope).into_iter().filter_map(|taker| sizes.get(&taker));
                wanted
                    .into_iter()
                    .all(|&size| sends.iter().all(|&send| scene.whole.message_size(send) == size))
            })
    })
}

/// By receive, how many messages that fit it have to come for it to get one: as many as the
/// receives that may come before it, itself included.
fn recv_needs(place: &Place, order: &mut Order<'_, '_>, needs: &mut [u64]) {
    let mut rivals: FxHashMap<Envelope, FxHashSet<Envelope>> = FxHashMap::default();
    for &sent in place.sends.keys() {
        let known: Vec<Envelope> =
            takers(sent).into_iter().filter(|taker| place.recvs.contains_key(taker)).collect();
        for &envelope in &known {
            rivals.entry(envelope).or_default().extend(&known);
        }
    }
    for (envelope, recvs) in &place.recvs {
        let rivals: Vec<Vertex> = match rivals.get(envelope) {
            Some(rivals) => rivals.iter().flat_map(|rival| &place.recvs[rival]).copied().collect(),
            None => recvs.clone(),
        };
        let after = after(order, recvs, &rivals);
        for (&recv, after) in recvs.iter().zip(after) {
            needs[recv.index()] = rivals.len() as u64 - after;
        }
    }
}

/// By send, how many receives that fit it have to start for it to get one. Only sends of one rank
/// arrive in an order.
fn send_needs(scene: &Scene<'_, '_>, place: &Place, order: &mut Order<'_, '_>, needs: &mut [u64]) {
    let mut totals: FxHashMap<Envelope, u64> = FxHashMap::default();
    for (&sent, sends) in &place.sends {
        for taker in takers(sent) {
            *totals.entry(taker).or_default() += sends.len() as u64;
        }
    }
    for (&sent @ (source, tag), sends) in &place.sends {
        if sends.iter().all(|&send| scene.completion(send) == Completion::AtStart) {
            continue;
        }
        let total = |taker: Envelope| match place.recvs.contains_key(&taker) {
            true => totals.get(&taker).copied().unwrap_or(0),
            false => 0,
        };
        let own = sends.len() as u64;
        let rivals = match (total((ANY, ANY)), total((ANY, tag)), total((source, ANY))) {
            (0, 0, 0) => own,
            (0, one, 0) | (0, 0, one) => one,
            (0, one, other) => one + other - own,
            (all, ..) => all,
        };
        let after = after(order, sends, sends);
        for (&send, after) in place.sends[&sent].iter().zip(after) {
            needs[send.index()] = rivals - after;
        }
    }
}

/// By one of `some`, how many of `all` certainly start after it.
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

/// The set under construction.
struct Certain<'s, 'a, 'p> {
    scene: &'s Scene<'a, 'p>,
    needs: Vec<u64>,
    missing: Vec<u32>,
    has_started: Vec<bool>,
    has_ended: Vec<bool>,
    ended: usize,
    /// Actions that certainly start, and whose consequences are not drawn yet.
    todo: Vec<Vertex>,
    /// By destination and envelope of receives.
    pools: FxHashMap<(u32, Envelope), Pool>,
    /// By destination, sends that start and wait for their receive; and the destinations where that
    /// may have changed.
    sends: FxHashMap<u32, Vec<Vertex>>,
    changed: FxHashSet<u32>,
    looks: u64,
}

/// The messages that certainly come for the receives of an envelope.
#[derive(Default)]
struct Pool {
    sends: u64,
    recvs: u64,
    /// Receives that start and need more messages, the one that needs fewest first.
    waiting: BinaryHeap<Reverse<(u64, Vertex)>>,
}

impl<'s, 'a, 'p> Certain<'s, 'a, 'p> {
    fn new(scene: &'s Scene<'a, 'p>, needs: Vec<u64>) -> Self {
        let whole = scene.whole;
        let mut missing = vec![0; whole.len()];
        for vertex in whole.vertices() {
            for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
                missing[waiter.index()] += 1;
            }
        }
        let mut pools: FxHashMap<(u32, Envelope), Pool> = FxHashMap::default();
        for (&rank, place) in &scene.places {
            pools.extend(place.recvs.keys().map(|&envelope| ((rank, envelope), Pool::default())));
        }
        Self {
            scene,
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

    fn run(mut self) -> bool {
        loop {
            while let Some(vertex) = self.todo.pop() {
                self.start(vertex);
            }
            let ranks = std::mem::take(&mut self.changed);
            for rank in ranks {
                self.look_at_sends(rank);
            }
            if self.todo.is_empty() {
                return self.ended == self.scene.whole.len();
            }
        }
    }

    fn start(&mut self, vertex: Vertex) {
        let whole = self.scene.whole;
        self.has_started[vertex.index()] = true;
        whole.irequires(vertex).for_each(|waiter| self.release(waiter));
        let is_send = whole.action(vertex).kind() == ActionKind::Send;
        if is_send && self.scene.completion(vertex) == Completion::AtStart {
            self.end(vertex);
        }
        let Some((rank, envelope)) = self.scene.end(vertex) else { return self.end(vertex) };
        if self.scene.is_fixed[vertex.index()] {
            let partner = self.scene.partner[vertex.index()];
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

    /// Ends the sends to a rank for which enough receives start.
    fn look_at_sends(&mut self, rank: u32) {
        let sends = self.sends.remove(&rank).unwrap_or_default();
        let Some(left) = self.looks.checked_sub(sends.len() as u64) else { return };
        self.looks = left;
        for send in sends {
            let Some((_, envelope)) = self.scene.end(send) else { continue };
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
            self.scene.whole.requires(vertex).for_each(|waiter| self.release(waiter));
        }
    }

    fn release(&mut self, vertex: Vertex) {
        self.missing[vertex.index()] -= 1;
        if self.missing[vertex.index()] == 0 {
            self.todo.push(vertex);
        }
    }
}
