//! Tables of all partners, found before the simulation: a message finds its receive by an index.
//!
//! Each share sorts the messages that its ranks receive. So each share first gets the sends to its
//! ranks from the others, and then gives them the partners of their sends.

use super::line::Shape;
use super::nodes::Nodes;
use super::parts::{Partner, Sent};
use super::program::Program;
use super::store::{Arrival, Delivery, Slot, Store};
use super::threads::Meeting;
use crate::channels::NONE;
use crate::source::{Actions, Source};
use crate::workload::{Kind, Record};

/// The bit of a partner that is a channel. Others are slots.
const CHANNEL: u32 = 1 << 31;

/// A channel with several messages, which meet their receives in the order in which both start.
#[derive(Debug, Clone, Copy)]
struct Channel {
    first_slot: u32,
    receives: u32,
    /// The numbers of messages delivered and of receives posted.
    counts: [u32; 2],
}

/// A message or a receive: source and tag, and the action.
type Entry = (u64, u32);

/// The messages and receives of a share that wait, and the partners of all.
#[derive(Debug)]
pub(super) struct Indexed {
    first_action: u32,
    /// By action of the share, its slot in the receiver's share. If other messages have its ranks
    /// and tag, its channel there. [`NONE`] if it has no partner, or if the receiver has wildcards.
    partners: Vec<u32>,
    channels: Vec<Channel>,
    places: Vec<Place>,
}

/// The place of a slot.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The number of the receive that comes there if receives start in the order of the text.
    expected: u32,
    /// The node of the receive or message that waits there, or [`EARLY`].
    waiting: u32,
}

/// No node: the expected receive waits, and was posted at time 0.
const EARLY: u32 = NONE - 1;

impl Place {
    fn new(expected: u32) -> Self {
        Self { expected, waiting: NONE }
    }
}

impl Indexed {
    /// Finds the partners of the messages that the share's ranks receive. Puts those of other
    /// shares' sends into `partners`, by share.
    ///
    /// Linear in actions but for sorting the messages of each rank, which mostly lie in order.
    fn pair_all<P: Source>(
        &mut self,
        program: &Program<'_, P>,
        shapes: &[Shape],
        incoming: &mut ByReceiver,
        partners: &mut [Vec<Partner>],
    ) {
        let mut receives: Vec<Entry> = Vec::new();
        for (at, (rank, shape)) in (incoming.first..).zip(shapes).enumerate() {
            if shape.has_wildcard {
                continue;
            }
            receives.clear();
            let first = program.firsts[rank as usize];
            for (position, record) in program.source.rank(rank).records() {
                if record.kind == Kind::Recv {
                    receives.push((key(record.peer, record.tag), first + position));
                }
            }
            let sends = incoming.to(at);
            // Actions ascend already, so equal keys keep the order of the text.
            sends.sort();
            receives.sort();
            self.pair(sends, &receives, |from, partner| {
                let share = program.share_of((from >> 32) as u32);
                partners[share].push(partner);
            });
        }
    }

    /// Adds the messages and the receives of a rank, both sorted. Calls `tell` with the source and
    /// the partner of each send of another share.
    fn pair(
        &mut self,
        mut sends: &[Entry],
        mut receives: &[Entry],
        mut tell: impl FnMut(u64, Partner),
    ) {
        while let (Some(&(key, _)), Some(&(other, receive))) = (sends.first(), receives.first()) {
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
            let slot = self.places.len() as u32;
            let partner = if (num_sends, num_receives) == (1, 1) {
                self.places.push(Place::new(receive));
                slot
            } else {
                let receives = &receives[..num_receives];
                self.places.extend(receives.iter().map(|&(_, action)| Place::new(action)));
                let receives = num_receives as u32;
                self.channels.push(Channel { first_slot: slot, receives, counts: [0; 2] });
                CHANNEL | (self.channels.len() as u32 - 1)
            };
            for &(_, send) in &sends[..num_sends] {
                match self.partners.get_mut(send.wrapping_sub(self.first_action) as usize) {
                    Some(own) => *own = partner,
                    None => tell(key, Partner { send, partner }),
                }
            }
            for &(_, receive) in &receives[..num_receives] {
                self.partners[(receive - self.first_action) as usize] = partner;
            }
            (sends, receives) = (&sends[num_sends..], &receives[num_receives..]);
        }
    }

    fn learn(&mut self, partners: &[Partner]) {
        for &Partner { send, partner } in partners {
            self.partners[(send - self.first_action) as usize] = partner;
        }
    }

    /// Returns the slot of a partner. `which` is 0 for a message and 1 for a receive.
    fn slot(&mut self, partner: u32, which: usize) -> Option<u32> {
        if partner & CHANNEL == 0 || partner == NONE {
            return Some(partner).filter(|&partner| partner != NONE);
        }
        let channel = &mut self.channels[(partner & !CHANNEL) as usize];
        let count = &mut channel.counts[which];
        *count += 1;
        (*count <= channel.receives).then(|| channel.first_slot + *count - 1)
    }
}

fn key(peer: u32, tag: u32) -> u64 {
    u64::from(peer) << 32 | u64::from(tag)
}

/// Lists the sends of a share's ranks by the share of their receivers.
fn sends<P: Source>(program: &Program<'_, P>, number: usize) -> Vec<Vec<Sent>> {
    let mut sends = vec![Vec::new(); program.ends.len()];
    for from in program.ranks(number) {
        let first = program.firsts[from as usize];
        for (position, record) in program.source.rank(from).records() {
            if record.kind == Kind::Send {
                let Record { peer: to, tag, .. } = record;
                sends[program.share_of(to)].push(Sent { to, from, tag, action: first + position });
            }
        }
    }
    sends
}

/// The sends to the ranks of a share, by their receiver.
struct ByReceiver {
    /// The first rank of the share.
    first: u32,
    entries: Vec<Entry>,
    /// By rank of the share, the end of the sends to it.
    ends: Vec<u32>,
}

impl ByReceiver {
    /// Sorts sends by counting. `ranks` is the number of ranks of the share, from `first` on.
    fn new(parts: &[Vec<Sent>], first: u32, ranks: usize) -> Self {
        let mut ends = vec![0_u32; ranks];
        for send in parts.iter().flatten() {
            ends[(send.to - first) as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut entries = vec![(0, 0); sum as usize];
        for send in parts.iter().flatten() {
            let end = &mut ends[(send.to - first) as usize];
            entries[*end as usize] = (key(send.from, send.tag), send.action);
            *end += 1;
        }
        Self { first, entries, ends }
    }

    /// Returns the sends to a rank of the share.
    fn to(&mut self, at: usize) -> &mut [Entry] {
        let first = if at == 0 { 0 } else { self.ends[at - 1] };
        &mut self.entries[first as usize..self.ends[at] as usize]
    }
}

impl Store for Indexed {
    fn new<P: Source>(
        program: &Program<'_, P>,
        number: usize,
        shapes: &[Shape],
        meeting: &Meeting,
    ) -> Self {
        let ranks = program.ranks(number);
        let actions = program.actions(number);
        let incoming = meeting.sends.exchange(number, sends(program, number), &meeting.barrier);
        let mut incoming = ByReceiver::new(&incoming, ranks.start, ranks.len());
        let mut store = Self {
            first_action: actions.start,
            partners: vec![NONE; actions.len()],
            channels: Vec::new(),
            places: Vec::new(),
        };
        let mut partners = vec![Vec::new(); program.ends.len()];
        store.pair_all(program, shapes, &mut incoming, &mut partners);
        drop(incoming);
        for learnt in meeting.partners.exchange(number, partners, &meeting.barrier) {
            store.learn(&learnt);
        }
        store
    }

    #[inline]
    fn partner(&self, send: u32) -> u32 {
        self.partners[(send - self.first_action) as usize]
    }

    #[inline]
    fn is_known(&self, receive: u32) -> bool {
        self.partner(receive) & CHANNEL == 0
    }

    #[inline]
    fn deliver(&mut self, arrival: &Arrival, unlike: Option<impl Actions>) -> Option<Delivery> {
        let slot = self.slot(arrival.partner, 0)?;
        let receive = unlike.map(|_| self.places[slot as usize].expected - arrival.first);
        Some(Delivery { slot: Slot(slot), receive })
    }

    #[inline]
    fn post(&mut self, _: u32, receive: u32, _: &Record) -> Option<Slot> {
        self.slot(self.partner(receive), 1).map(Slot)
    }

    #[inline]
    fn peek(&self, slot: Slot, nodes: &Nodes) -> u32 {
        let Place { expected, waiting } = self.places[slot.0 as usize];
        match waiting {
            NONE => NONE,
            EARLY => expected,
            node => nodes.at(node).number,
        }
    }

    #[inline]
    fn keep_early(&mut self, slot: Slot, receive: u32) -> bool {
        let place = &mut self.places[slot.0 as usize];
        let can = place.waiting == NONE && place.expected == receive;
        if can {
            place.waiting = EARLY;
        }
        can
    }

    #[inline]
    fn early(&self, slot: Slot) -> Option<u32> {
        let Place { expected, waiting } = self.places[slot.0 as usize];
        (waiting == EARLY).then_some(expected)
    }

    #[inline]
    fn meet(&mut self, slot: Slot, node: u32) -> Option<u32> {
        let Place { waiting, .. } = &mut self.places[slot.0 as usize];
        if *waiting == NONE {
            *waiting = node;
            return None;
        }
        Some(*waiting)
    }
}
