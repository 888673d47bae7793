//! The program of the representatives, and the comparison of all ranks with them.

use super::classes::Classes;
use crate::channels::NONE;
use crate::source::{Actions, Source};
use crate::workload::{Kind, Record, Workload, WorkloadBuilder};
use rustc_hash::FxHashMap;

/// The number of actions of representatives that is too large for a model.
const ACTIONS_END: usize = 1 << 31;

/// A program with one rank a class.
#[derive(Debug)]
pub(super) struct Quotient {
    /// The program. Its peers are classes, and its tags are channels.
    pub(super) workload: Workload,
    /// By send, the rank that sends to the representative of the receiving class.
    pub(super) sources: Vec<u32>,
    /// By action, its tag in the program of all ranks.
    tags: Vec<u32>,
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
    pub(super) fn new(source: &impl Source, classes: &Classes) -> Option<Self> {
        let mut bases = Vec::with_capacity(classes.len());
        let (mut channels, mut firsts) = (Vec::new(), Vec::new());
        let mut next_channel = 0;
        for &rank in &classes.representatives {
            bases.push(firsts.len() as u32);
            firsts.extend(firsts_of(source, rank));
            channels.extend(places_of(source, rank, &mut next_channel));
            if firsts.len() >= ACTIONS_END {
                return None;
            }
        }
        let mut receives = vec![NONE; firsts.len()];
        let mut sources = vec![NONE; firsts.len()];
        let mut sends = vec![NONE; firsts.len()];
        let posted = Posted::new(source, classes);
        for (&rank, &base) in classes.representatives.iter().zip(&bases) {
            for (position, record) in source.rank(rank).records() {
                if record.kind != Kind::Send {
                    continue;
                }
                let send = base + position;
                let receive = posted.find(rank, &record, channels[send as usize].number)?;
                let class = classes.of[record.peer as usize] as usize;
                let receiver = classes.representatives[class];
                if receive >= source.rank(receiver).count() {
                    return None;
                }
                let met = &mut sends[(bases[class] + receive) as usize];
                if std::mem::replace(met, send) != NONE {
                    return None;
                }
                receives[send as usize] = receive;
                sources[send as usize] = source.rank(receiver).record(receive).peer;
            }
        }
        let (mut quotient, mut tags) = (WorkloadBuilder::default(), Vec::new());
        for (&rank, &base) in classes.representatives.iter().zip(&bases) {
            quotient.begin_rank();
            let of = source.rank(rank);
            for (position, mut record) in of.records() {
                tags.push(record.tag);
                if record.is_message() {
                    let at = base + position;
                    let send = if record.kind == Kind::Send { at } else { sends[at as usize] };
                    record.peer = classes.of[record.peer as usize];
                    record.tag = channels.get(send as usize)?.channel;
                }
                let (waiters, start_waiters) = (of.waiters(position), of.start_waiters(position));
                quotient.push(record, waiters, start_waiters);
            }
            of.roots().for_each(|root| quotient.push_root(root));
        }
        Some(Self { workload: quotient.finish().ok()?, sources, tags, receives, firsts })
    }

    /// Compares each rank with the representative of its class. Returns false if a rank differs, or
    /// if a message meets a receive elsewhere than the message of the representative.
    pub(super) fn is_of_all(&self, source: &impl Source, classes: &Classes) -> bool {
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
        let mut seen = vec![NONE; classes.of.len()];
        (0..source.num_ranks()).all(|rank| self.is_of(source, classes, rank, &mut seen))
    }

    /// Compares a rank with the representative of its class. `seen` has for each peer the last rank
    /// that had a message with it.
    fn is_of(&self, source: &impl Source, classes: &Classes, rank: u32, seen: &mut [u32]) -> bool {
        let class = classes.of[rank as usize];
        let (of, of_class) = (source.rank(rank), self.workload.rank(class));
        of.count() == of_class.count()
            && of.roots().eq(of_class.roots())
            && of.records().zip(self.workload.actions(class)).all(|((at, record), copy)| {
                let model = self.workload.record(copy);
                self.is_equal(&record, copy)
                    && of.waiters(at).eq(of_class.waiters(at))
                    && of.start_waiters(at).eq(of_class.start_waiters(at))
                    && (!record.is_message() || {
                        classes.of[record.peer as usize] == model.peer
                            && self.has_peer_of_first(source, rank, (at, record.peer), copy, seen)
                            && (record.kind == Kind::Recv
                                || self.meets(source, rank, &record, copy))
                    })
            })
    }

    /// Compares an action with the representative's, without peers. Those of computations have
    /// none.
    fn is_equal(&self, record: &Record, copy: u32) -> bool {
        let key = |record: &Record| {
            let Record { size, missing, cpu, nic, kind, .. } = *record;
            (size, missing, cpu, nic, kind)
        };
        key(record) == key(self.workload.record(copy)) && record.tag == self.tags[copy as usize]
    }

    /// Returns true if a message has the peer of an earlier one exactly if the message of the
    /// representative has.
    fn has_peer_of_first(
        &self,
        source: &impl Source,
        rank: u32,
        (position, peer): (u32, u32),
        copy: u32,
        seen: &mut [u32],
    ) -> bool {
        let first = self.firsts[copy as usize];
        if first == position {
            std::mem::replace(&mut seen[peer as usize], rank) != rank
        } else {
            source.rank(rank).record(first).peer == peer
        }
    }

    /// Returns true if the receive at the position at which the representative's message meets its
    /// receive is one for a message of `rank`.
    fn meets(&self, source: &impl Source, rank: u32, send: &Record, copy: u32) -> bool {
        let receive = self.receives[copy as usize];
        receive < source.rank(send.peer).count() && {
            let record = source.rank(send.peer).record(receive);
            (record.kind, record.peer, record.tag) == (Kind::Recv, rank, send.tag)
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
    fn new(source: &impl Source, classes: &Classes) -> Self {
        let is_representative =
            |rank: u32| classes.representatives[classes.of[rank as usize] as usize] == rank;
        let mut receivers = vec![false; classes.of.len()];
        for &rank in &classes.representatives {
            for (_, record) in source.rank(rank).records() {
                if record.kind == Kind::Send {
                    receivers[record.peer as usize] = true;
                }
            }
        }
        let (mut positions, mut lens) = (FxHashMap::default(), FxHashMap::default());
        for rank in (0..source.num_ranks()).filter(|&rank| receivers[rank as usize]) {
            lens.clear();
            for (position, Record { kind, peer, tag, .. }) in source.rank(rank).records() {
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

/// Returns the place of each action of a rank. Only those of sends have a meaning.
fn places_of(
    source: &impl Source,
    rank: u32,
    next_channel: &mut u32,
) -> impl Iterator<Item = Place> {
    let mut channels: FxHashMap<(u32, u32), Place> = FxHashMap::default();
    source.rank(rank).records().map(move |(_, record)| {
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
fn firsts_of(source: &impl Source, rank: u32) -> impl Iterator<Item = u32> {
    let mut firsts: FxHashMap<u32, u32> = FxHashMap::default();
    source.rank(rank).records().map(move |(position, record)| {
        if record.is_message() { *firsts.entry(record.peer).or_insert(position) } else { NONE }
    })
}
