//! Tables of all partners, found before the simulation: a message finds its receive by an index.

use super::line::Shape;
use super::store::{Arrival, Delivery, Slot, Store};
use crate::channels::NONE;
use crate::source::{Actions, Source};
use crate::workload::{Kind, Record};
use std::ops::Range;

/// The bit of a partner that is a channel. Others are slots.
const CHANNEL: u32 = 1 << 31;

/// A channel with several messages, which meet their receives in the order in which both start.
#[derive(Debug, Clone, Copy)]
struct Channel {
    first_slot: u32,
    receives: u32,
}

/// The partners of all sends and receives.
#[derive(Debug)]
pub(super) struct Tables {
    /// By action: its slot if no other message has its ranks and tag, or its channel. [`NONE`] if
    /// nobody has a partner for it, if it is no message, or if the receiver has wildcards.
    partners: Vec<u32>,
    channels: Vec<Channel>,
    /// By slot, the number of the receive that comes there if receives start in the order of the
    /// text. [`NONE`] for a message without one.
    expected: Vec<u32>,
    /// By rank, the first slot and the first channel; one more entry for the end.
    firsts: Vec<[u32; 2]>,
}

/// A message: its channel among those of its receiver, and its action.
type Entry = (u64, u32);

impl Tables {
    /// Finds the partners. `firsts` has the number of each rank's first action, and one more entry
    /// for the end.
    ///
    /// Linear in actions but for sorting the messages of each rank, which mostly lie in order.
    pub(super) fn new<S: Source>(source: &S, firsts: &[u32], shapes: &[Shape]) -> Self {
        let ranks = source.num_ranks() as usize;
        let mut sends = Sends::new(source, firsts);
        let mut tables = Self {
            partners: vec![NONE; firsts[ranks] as usize],
            channels: Vec::new(),
            expected: Vec::new(),
            firsts: Vec::with_capacity(ranks + 1),
        };
        let mut receives: Vec<Entry> = Vec::new();
        for rank in 0..ranks {
            tables.mark();
            let incoming = sends.to(rank);
            if shapes[rank].has_wildcard {
                continue;
            }
            receives.clear();
            for (position, record) in source.rank(rank as u32).records() {
                if record.kind == Kind::Recv {
                    receives.push((key(record.peer, record.tag), firsts[rank] + position));
                }
            }
            // Actions ascend already, so equal keys keep the order of the text.
            incoming.sort();
            receives.sort();
            tables.pair(incoming, &receives);
        }
        tables.mark();
        tables
    }

    fn mark(&mut self) {
        self.firsts.push([self.expected.len() as u32, self.channels.len() as u32]);
    }

    /// Adds the messages and the receives of a rank, both sorted.
    fn pair(&mut self, mut sends: &[Entry], mut receives: &[Entry]) {
        while let (Some(&(key, send)), Some(&(other, receive))) = (sends.first(), receives.first())
        {
            if key < other {
                sends = &sends[1..];
                continue;
            }
            if other < key {
                receives = &receives[1..];
                continue;
            }
            let len = |of: &[Entry]| of.iter().take_while(|&&(other, _)| other == key).count();
            let (num_sends, num_receives) = (len(sends), len(receives));
            let slot = self.expected.len() as u32;
            if (num_sends, num_receives) == (1, 1) {
                self.partners[send as usize] = slot;
                self.partners[receive as usize] = slot;
                self.expected.push(receive);
            } else {
                let channel = self.channels.len() as u32 | CHANNEL;
                for &(_, action) in sends[..num_sends].iter().chain(&receives[..num_receives]) {
                    self.partners[action as usize] = channel;
                }
                self.channels.push(Channel { first_slot: slot, receives: num_receives as u32 });
                self.expected.extend(receives[..num_receives].iter().map(|&(_, action)| action));
            }
            (sends, receives) = (&sends[num_sends..], &receives[num_receives..]);
        }
    }
}

fn key(peer: u32, tag: u32) -> u64 {
    u64::from(peer) << 32 | u64::from(tag)
}

/// All sends by their receiver.
struct Sends {
    entries: Vec<Entry>,
    /// By receiver, the end of its sends. Those of a rank begin where those before it end.
    ends: Vec<u32>,
}

impl Sends {
    fn new<S: Source>(source: &S, firsts: &[u32]) -> Self {
        let ranks = source.num_ranks();
        let mut ends = vec![0_u32; ranks as usize + 1];
        for rank in 0..ranks {
            for (_, record) in source.rank(rank).records() {
                if record.kind == Kind::Send {
                    ends[record.peer as usize + 1] += 1;
                }
            }
        }
        for rank in 0..ranks as usize {
            ends[rank + 1] += ends[rank];
        }
        let mut entries = vec![(0, 0); ends[ranks as usize] as usize];
        for (rank, &first) in (0..ranks).zip(firsts) {
            for (position, record) in source.rank(rank).records() {
                if record.kind == Kind::Send {
                    let end = &mut ends[record.peer as usize];
                    entries[*end as usize] = (key(rank, record.tag), first + position);
                    *end += 1;
                }
            }
        }
        Self { entries, ends }
    }

    /// Returns the sends to a rank.
    fn to(&mut self, rank: usize) -> &mut [Entry] {
        let first = if rank == 0 { 0 } else { self.ends[rank - 1] };
        &mut self.entries[first as usize..self.ends[rank] as usize]
    }
}

/// What waits in a share of the ranks, by the tables.
#[derive(Debug)]
pub(super) struct Indexed<'t> {
    tables: &'t Tables,
    first_action: u32,
    first_slot: u32,
    first_channel: u32,
    /// By action of the share, the node of one whose dependencies are partly met.
    partly: Vec<u32>,
    /// By slot of the share, the node of the receive or message that waits there.
    waiting: Vec<u32>,
    /// By channel of the share, the numbers of messages delivered and of receives posted.
    counts: Vec<[u32; 2]>,
}

impl<'t> Indexed<'t> {
    pub(super) fn new(tables: &'t Tables, ranks: Range<u32>, actions: Range<u32>) -> Self {
        let [first, end] = [ranks.start, ranks.end].map(|rank| tables.firsts[rank as usize]);
        let len = |at: usize| (end[at] - first[at]) as usize;
        Self {
            tables,
            first_action: actions.start,
            first_slot: first[0],
            first_channel: first[1],
            partly: vec![NONE; actions.len()],
            waiting: vec![NONE; len(0)],
            counts: vec![[0; 2]; len(1)],
        }
    }

    /// Returns the slot of a partner. `which` is 0 for a message and 1 for a receive.
    fn slot(&mut self, partner: u32, which: usize) -> Option<u32> {
        if partner & CHANNEL == 0 || partner == NONE {
            return Some(partner).filter(|&partner| partner != NONE);
        }
        let channel = partner & !CHANNEL;
        let count = &mut self.counts[(channel - self.first_channel) as usize][which];
        let Channel { first_slot, receives } = self.tables.channels[channel as usize];
        *count += 1;
        (*count <= receives).then(|| first_slot + *count - 1)
    }
}

impl Store for Indexed<'_> {
    #[inline]
    fn take_partly(&mut self, action: u32) -> Option<u32> {
        let node = &mut self.partly[(action - self.first_action) as usize];
        Some(std::mem::replace(node, NONE)).filter(|&node| node != NONE)
    }

    #[inline]
    fn keep_partly(&mut self, action: u32, node: u32) {
        self.partly[(action - self.first_action) as usize] = node;
    }

    #[inline]
    fn partner(&self, send: u32) -> u32 {
        self.tables.partners[send as usize]
    }

    #[inline]
    fn is_known(&self, receive: u32) -> bool {
        self.tables.partners[receive as usize] & CHANNEL == 0
    }

    #[inline]
    fn deliver(&mut self, arrival: &Arrival, unlike: Option<impl Actions>) -> Option<Delivery> {
        let slot = self.slot(arrival.partner, 0)?;
        let receive =
            unlike.map(|_| self.tables.expected[slot as usize] - arrival.first);
        Some(Delivery { slot: Slot(slot), receive })
    }

    #[inline]
    fn post(&mut self, _: u32, receive: u32, _: &Record) -> Option<Slot> {
        self.slot(self.tables.partners[receive as usize], 1).map(Slot)
    }

    #[inline]
    fn meet(&mut self, slot: Slot, node: u32) -> Option<u32> {
        let waiting = &mut self.waiting[(slot.0 - self.first_slot) as usize];
        if *waiting == NONE {
            *waiting = node;
            return None;
        }
        Some(*waiting)
    }
}
