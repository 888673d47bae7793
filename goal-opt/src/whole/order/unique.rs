//! Which messages every run matches in the same way.
//!
//! The messages of a source and tag are received in order, so where their sends start one after the other, and their
//! receives too, each send has its receive. A wildcard spoils this for all that it may take, unless there is only one
//! message that it can.

use super::{BodyOrder, Ordered};
use crate::whole::{Trace, Vertex, Whole};
use goal_lang::{ANY, Action};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A send or a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    destination: u32,
    source: u32,
    tag: u32,
    is_recv: bool,
    /// Ascends along the order of starts in the body.
    position: u32,
    vertex: Vertex,
}

/// By vertex, the other end of its message where every run that receives it matches the two; [`Vertex::NONE`] for the rest.
/// Linear in actions and dependencies but for sorting the messages.
pub fn unique_partners(whole: &Whole<'_>, trace: &Trace) -> Vec<Vertex> {
    let mut orders = Vec::new();
    orders.resize_with(whole.program.bodies.len(), || None);
    let mut ends = ends(whole);
    ends.sort_unstable_by_key(|end| (end.destination, end.source, end.tag, end.is_recv, end.vertex));
    let mut partners = vec![Vertex::NONE; whole.len()];
    let mut messages = Messages { whole, orders };
    for rank in chunks(&ends, |end| end.destination) {
        let rank = &mut ends[rank];
        let wild = rank.iter().any(|end| end.source == ANY || (end.is_recv && end.tag == ANY));
        let unique: Vec<Vertex> = if wild { messages.of_wild_rank(rank) } else { messages.of_channels(rank) };
        for vertex in unique {
            if let Some(partner) = trace.partner[vertex.index()].some() {
                partners[vertex.index()] = partner;
                partners[partner.index()] = vertex;
            }
        }
    }
    partners
}

fn ends(whole: &Whole<'_>) -> Vec<End> {
    let end = |vertex| {
        let rank = whole.rank(vertex);
        let (destination, source, tag, is_recv) = match *whole.action(vertex) {
            Action::Send { to, tag, .. } => (to, rank, tag, false),
            Action::Recv { from, tag, .. } => (rank, from, tag, true),
            _ => return None,
        };
        Some(End { destination, source, tag, is_recv, position: 0, vertex })
    };
    whole.vertices().filter_map(end).collect()
}

/// The ranges of neighbours with the same key.
fn chunks<K: PartialEq>(ends: &[End], key: impl Fn(&End) -> K) -> Vec<Range<usize>> {
    let mut start = 0;
    let lengths = ends.chunk_by(|a, b| key(a) == key(b)).map(<[End]>::len);
    lengths.map(|length| (start, start += length).0..start).collect()
}

struct Messages<'w, 'p> {
    whole: &'w Whole<'p>,
    orders: Vec<Option<BodyOrder<'p>>>,
}

impl<'p> Messages<'_, 'p> {
    /// The receives with a certain send among all ends at a rank without wildcards.
    fn of_channels(&mut self, rank: &mut [End]) -> Vec<Vertex> {
        let mut unique = Vec::new();
        for channel in chunks(rank, |end| (end.source, end.tag)) {
            unique.extend(self.of_channel(&mut rank[channel]));
        }
        unique
    }

    /// The receives of a channel, if both its sends and its receives start one after the other.
    fn of_channel<'a>(&mut self, channel: &'a mut [End]) -> impl Iterator<Item = Vertex> + use<'a> {
        let sends = channel.partition_point(|end| !end.is_recv);
        let (sends, recvs) = channel.split_at_mut(sends);
        let in_order = self.in_order(sends) && self.in_order(recvs);
        recvs.iter().filter(move |_| in_order).map(|recv| recv.vertex)
    }

    /// The same for a rank with wildcards, where a channel's messages may be taken by other receives.
    fn of_wild_rank(&mut self, rank: &mut [End]) -> Vec<Vertex> {
        // How many sends there are by source and tag, either of which may be any, and how many receives with a wildcard.
        let mut sends: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut wild: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for end in rank.iter() {
            if !end.is_recv {
                let keys = [(end.source, end.tag), (ANY, end.tag), (end.source, ANY), (ANY, ANY)];
                keys.into_iter().for_each(|key| *sends.entry(key).or_default() += 1);
            } else if end.source == ANY || end.tag == ANY {
                *wild.entry((end.source, end.tag)).or_default() += 1;
            }
        }
        let is_single = |end: &End| sends.get(&(end.source, end.tag)) == Some(&1);
        let mut unique: Vec<Vertex> =
            rank.iter().filter(|end| end.is_recv && is_single(end)).map(|end| end.vertex).collect();
        let any_source = wild.keys().any(|&(source, _)| source == ANY);
        let mut pairs = rank.to_vec();
        pairs.sort_unstable_by_key(|end| (end.source, end.is_recv, end.vertex));
        for pair in chunks(&pairs, |end| end.source) {
            if !any_source {
                unique.extend(self.of_channel(&mut pairs[pair]));
            }
        }
        for channel in chunks(rank, |end| (end.source, end.tag)) {
            let channel = &mut rank[channel];
            let (source, tag) = (channel[0].source, channel[0].tag);
            let rivals = [(ANY, tag), (source, ANY), (ANY, ANY)];
            if source != ANY && tag != ANY && !rivals.iter().any(|rival| wild.contains_key(rival)) {
                unique.extend(self.of_channel(channel));
            }
        }
        unique
    }

    /// Whether some ends of messages at one rank start one after the other.
    fn in_order(&mut self, ends: &mut [End]) -> bool {
        let [first, _, ..] = ends else { return true };
        let rank = self.whole.rank(first.vertex);
        let body = self.whole.program.ranks[rank as usize].body;
        let program = self.whole.program;
        let order =
            self.orders[body.index()].get_or_insert_with(|| BodyOrder::new(&program.bodies[body.index()]));
        let id = |vertex: Vertex| self.whole.id(vertex);
        ends.iter_mut().for_each(|end| end.position = order.position(id(end.vertex)));
        ends.sort_unstable_by_key(|end| end.position);
        ends.windows(2)
            .all(|pair| order.starts_before(id(pair[0].vertex), id(pair[1].vertex)) == Ordered::Yes)
    }
}
