//! The program of the representatives, and the comparison of all ranks with them.

use super::classes::Classes;
use crate::channels::NONE;
use crate::workload::{Kind, Record, Workload, WorkloadBuilder};
use rustc_hash::FxHashMap;

/// A program with one rank a class.
#[derive(Debug)]
pub(super) struct Quotient {
    /// The program. Its peers are classes, and its tags are channels.
    pub(super) workload: Workload,
    /// By send, the rank that sends to the representative of the receiving class.
    pub(super) sources: Vec<u32>,
    /// By send, the position of its receive.
    receives: Vec<u32>,
    /// By message, the position of the first message of its rank that has its peer.
    firsts: Vec<u32>,
}

/// A message of a representative in its channel.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The number of the channel among all channels.
    channel: u32,
    /// The number among the messages of the channel, in the order of the text.
    number: u32,
}

impl Quotient {
    /// Makes the program. Returns `None` if a message of a representative has no receive, or if
    /// messages of different classes have one receive.
    pub(super) fn new(workload: &Workload, classes: &Classes) -> Option<Self> {
        let mut bases = Vec::with_capacity(classes.len() + 1);
        let mut len = 0;
        for &rank in &classes.representatives {
            bases.push(len);
            len += workload.actions(rank).len() as u32;
        }
        let mut channels = Vec::with_capacity(len as usize);
        let mut receives = vec![NONE; len as usize];
        let mut sources = vec![NONE; len as usize];
        let mut sends = vec![NONE; len as usize];
        let mut firsts = Vec::with_capacity(len as usize);
        let posted = Posted::new(workload, classes);
        let mut next_channel = 0;
        for (&rank, &base) in classes.representatives.iter().zip(&bases) {
            firsts.extend(firsts_of(workload, rank));
            channels.extend(places_of(workload, rank, &mut next_channel));
            for (action, send) in workload.actions(rank).zip(base..) {
                let record = workload.record(action);
                if record.kind != Kind::Send {
                    continue;
                }
                let number = channels[send as usize].number;
                let receive = posted.find(rank, record, number)?;
                let class = classes.of[record.peer as usize] as usize;
                let representative = classes.representatives[class];
                if receive >= workload.actions(representative).len() as u32 {
                    return None;
                }
                let met = (bases[class] + receive) as usize;
                if sends[met] != NONE {
                    return None;
                }
                sends[met] = send;
                receives[send as usize] = receive;
                let action = workload.actions(representative).start + receive;
                sources[send as usize] = workload.record(action).peer;
            }
        }
        let mut quotient = WorkloadBuilder::default();
        for (&rank, &base) in classes.representatives.iter().zip(&bases) {
            quotient.begin_rank();
            let actions = workload.actions(rank);
            let start = actions.start;
            for (action, at) in actions.zip(base..) {
                let mut record = *workload.record(action);
                let send = match record.kind {
                    Kind::Send => at,
                    Kind::Recv => sends[at as usize],
                    Kind::Calc | Kind::Local | Kind::Dummy => NONE,
                };
                if matches!(record.kind, Kind::Send | Kind::Recv) {
                    record.peer = classes.of[record.peer as usize];
                    record.tag = channels.get(send as usize)?.channel;
                }
                let of_rank = |waiter: &u32| waiter - start;
                quotient.push_record(
                    record,
                    workload.waiters(action).iter().map(of_rank),
                    workload.start_waiters(action).iter().map(of_rank),
                );
            }
            workload.roots(rank).iter().for_each(|root| quotient.push_root(root - start));
        }
        Some(Self { workload: quotient.finish().ok()?, sources, receives, firsts })
    }

    /// Compares each rank with the representative of its class. Returns false if a rank differs, or
    /// if a message meets a receive elsewhere than the message of the representative.
    pub(super) fn is_of_all(&self, workload: &Workload, classes: &Classes) -> bool {
        let mut sizes = vec![0_u32; classes.len()];
        classes.of.iter().for_each(|&class| sizes[class as usize] += 1);
        // Sends and receives at equal positions meet one to one if both classes have equal sizes.
        let meets_all = |class: u32| {
            let is_equal = |&action: &u32| {
                let record = self.workload.record(action);
                record.kind != Kind::Send || sizes[class as usize] == sizes[record.peer as usize]
            };
            self.workload.actions(class).all(|action| is_equal(&action))
        };
        if !(0..classes.len() as u32).all(meets_all) {
            return false;
        }
        let mut seen = vec![NONE; workload.num_ranks()];
        (0..workload.num_ranks() as u32).all(|rank| self.is_of(workload, classes, rank, &mut seen))
    }

    /// Compares a rank with the representative of its class. `seen` has for each peer the last rank
    /// that had a message with it.
    fn is_of(&self, workload: &Workload, classes: &Classes, rank: u32, seen: &mut [u32]) -> bool {
        let class = classes.of[rank as usize];
        let representative = classes.representatives[class as usize];
        let (actions, model) = (workload.actions(rank), workload.actions(representative));
        let (start, model_start) = (actions.start, model.start);
        let copy = self.workload.actions(class);
        if actions.len() != model.len()
            || !are_equal(
                (workload.roots(rank), start),
                (workload.roots(representative), model_start),
            )
        {
            return false;
        }
        actions.zip(model).zip(copy).all(|((action, model), copy)| {
            let (record, of_model) = (workload.record(action), workload.record(model));
            let is_message = matches!(record.kind, Kind::Send | Kind::Recv);
            is_equal_action(record, of_model)
                && are_equal(
                    (workload.waiters(action), start),
                    (workload.waiters(model), model_start),
                )
                && are_equal(
                    (workload.start_waiters(action), start),
                    (workload.start_waiters(model), model_start),
                )
                && (!is_message || {
                    classes.of[record.peer as usize] == self.workload.record(copy).peer
                        && self.has_peer_of_first(workload, rank, action, copy, seen)
                        && (record.kind == Kind::Recv || self.meets(workload, rank, action, copy))
                })
        })
    }

    /// Returns true if a message has the peer of an earlier one exactly if the message of the
    /// representative has.
    fn has_peer_of_first(
        &self,
        workload: &Workload,
        rank: u32,
        action: u32,
        copy: u32,
        seen: &mut [u32],
    ) -> bool {
        let peer = workload.record(action).peer;
        let start = workload.actions(rank).start;
        let first = start + self.firsts[copy as usize];
        if first == action {
            std::mem::replace(&mut seen[peer as usize], rank) != rank
        } else {
            workload.record(first).peer == peer
        }
    }

    /// Returns true if the receive at the position at which the representative's message meets its
    /// receive is one for a message of `rank`.
    fn meets(&self, workload: &Workload, rank: u32, send: u32, copy: u32) -> bool {
        let sent = workload.record(send);
        let actions = workload.actions(sent.peer);
        let receive = actions.start + self.receives[copy as usize];
        actions.contains(&receive) && {
            let record = workload.record(receive);
            (record.kind, record.peer, record.tag) == (Kind::Recv, rank, sent.tag)
        }
    }
}

/// The receives of messages that representatives send.
#[derive(Debug)]
struct Posted {
    /// By sender, receiver, tag and number in this channel: the position.
    positions: FxHashMap<(u32, u32, u32, u32), u32>,
}

impl Posted {
    fn new(workload: &Workload, classes: &Classes) -> Self {
        let is_representative =
            |rank: u32| classes.representatives[classes.of[rank as usize] as usize] == rank;
        let mut receivers = vec![false; workload.num_ranks()];
        for &rank in &classes.representatives {
            for action in workload.actions(rank) {
                let record = workload.record(action);
                if record.kind == Kind::Send {
                    receivers[record.peer as usize] = true;
                }
            }
        }
        let (mut positions, mut lens) = (FxHashMap::default(), FxHashMap::default());
        for rank in (0..workload.num_ranks() as u32).filter(|&rank| receivers[rank as usize]) {
            lens.clear();
            for (action, position) in workload.actions(rank).zip(0..) {
                let Record { kind, peer, tag, .. } = *workload.record(action);
                if kind == Kind::Recv && is_representative(peer) {
                    let len = lens.entry((peer, tag)).or_insert(0);
                    positions.insert((peer, rank, tag, *len), position);
                    *len += 1;
                }
            }
        }
        Self { positions }
    }

    fn find(&self, rank: u32, send: &Record, number: u32) -> Option<u32> {
        self.positions.get(&(rank, send.peer, send.tag, number)).copied()
    }
}

/// Returns for each action of a rank its place, which is meaningless for one that is no send.
fn places_of(
    workload: &Workload,
    rank: u32,
    next_channel: &mut u32,
) -> impl Iterator<Item = Place> {
    let mut channels: FxHashMap<(u32, u32), Place> = FxHashMap::default();
    workload.actions(rank).map(move |action| {
        let record = workload.record(action);
        if record.kind != Kind::Send {
            return Place { channel: NONE, number: 0 };
        }
        let place = channels.entry((record.peer, record.tag)).or_insert_with(|| {
            *next_channel += 1;
            Place { channel: *next_channel - 1, number: 0 }
        });
        let found = *place;
        place.number += 1;
        found
    })
}

/// Returns for each action of a rank the position of the first message that has its peer.
fn firsts_of(workload: &Workload, rank: u32) -> impl Iterator<Item = u32> {
    let mut firsts: FxHashMap<u32, u32> = FxHashMap::default();
    workload.actions(rank).zip(0..).map(move |(action, position)| {
        let record = workload.record(action);
        match record.kind {
            Kind::Send | Kind::Recv => *firsts.entry(record.peer).or_insert(position),
            Kind::Calc | Kind::Local | Kind::Dummy => NONE,
        }
    })
}

/// Compares actions without peers. Those of computations have none.
fn is_equal_action(a: &Record, b: &Record) -> bool {
    let key = |record: &Record| {
        let Record { size, tag, missing, cpu, nic, kind, .. } = *record;
        (size, tag, missing, cpu, nic, kind)
    };
    key(a) == key(b)
}

/// Compares lists of actions of two ranks, each with its rank's first action.
fn are_equal((a, a_start): (&[u32], u32), (b, b_start): (&[u32], u32)) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(&a, &b)| a.wrapping_sub(a_start) == b.wrapping_sub(b_start))
}
