//! Finds the messages that every run matches in the same way.
//!
//! Messages with the same source and tag are received in the order of their sends. So if the sends
//! start one after the other, and the receives too, each send has its receive. A receive with a
//! wildcard makes the messages that it may take uncertain, unless only one message fits it.

use super::body_order::BodyOrder;
use super::events::{Event, Ordered, event_graph};
use super::run::Trace;
use super::vertices::{Vertex, Whole};
use crate::reach::Reach;
use goal_lang::{ANY, Action};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;

/// Bound on the rounds of [`settle`].
const ROUNDS_MAX: usize = 8;

/// A send or a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    destination: u32,
    source: u32,
    tag: u32,
    is_recv: bool,
    /// A number that ascends along the order of starts in the body.
    position: u32,
    vertex: Vertex,
}

/// The messages that every run matches alike.
#[derive(Debug)]
pub struct UniqueMatches {
    /// By vertex of a send or receive, the matching receive or send, if every run that receives the
    /// message matches these two. Otherwise [`Vertex::NONE`].
    pub partner: Rc<Vec<Vertex>>,
    /// By vertex, true if no other send or receive can take the place of its partner: the two match
    /// whenever both start.
    pub is_fixed: Rc<Vec<bool>>,
    /// The graph of all events with these messages, if it was needed to find them.
    pub reach: Option<Reach>,
}

/// Returns, by vertex of a send or receive, the matching receive or send, if every run that
/// receives the message matches these two. Otherwise [`Vertex::NONE`]. Linear in actions and
/// dependencies but for sorting the messages.
pub fn unique_partners(whole: &Whole<'_>, trace: &Trace) -> Vec<Vertex> {
    UniqueMatches::new(whole, trace).partner.to_vec()
}

impl UniqueMatches {
    /// Finds the messages that every run matches alike. Linear in actions and dependencies but for
    /// sorting the messages.
    pub fn new(whole: &Whole<'_>, trace: &Trace) -> Self {
        let mut orders = Vec::new();
        orders.resize_with(whole.program.bodies.len(), || None);
        let mut ends = ends(whole);
        ends.sort_unstable_by_key(|end| {
            (end.destination, end.source, end.tag, end.is_recv, end.vertex)
        });
        let mut messages =
            Messages { whole, orders, unique: Vec::new(), single: Vec::new(), open: Vec::new() };
        for rank in chunks(&ends, |end| end.destination) {
            let rank = &mut ends[rank];
            match rank.iter().any(|end| end.source == ANY || (end.is_recv && end.tag == ANY)) {
                true => messages.of_wild_rank(rank),
                false => messages.of_channels(rank),
            }
        }
        let Messages { unique, single, mut open, .. } = messages;
        let mut partners = vec![Vertex::NONE; whole.len()];
        join(&mut partners, trace, &unique);
        join(&mut partners, trace, &single);
        let reach = settle(whole, trace, &mut open, &mut partners);
        let mut is_fixed = vec![false; whole.len()];
        for &recv in unique.iter().chain(open.iter().flat_map(|group| &group.recvs)) {
            if let Some(send) = trace.partner[recv.index()].some() {
                is_fixed[recv.index()] = true;
                is_fixed[send.index()] = true;
            }
        }
        Self { partner: Rc::new(partners), is_fixed: Rc::new(is_fixed), reach }
    }
}

/// Makes receives and their sends partners.
fn join(partners: &mut [Vertex], trace: &Trace, recvs: &[Vertex]) {
    for &recv in recvs {
        if let Some(send) = trace.partner[recv.index()].some() {
            partners[recv.index()] = send;
            partners[send.index()] = recv;
        }
    }
}

/// Decides which of the `open` groups of messages are unique. Only the order between ranks can make
/// these messages unique, as in a ping-pong. All groups are assumed to be unique. Groups that are
/// out of order under this assumption are dropped, until none is.
///
/// The groups that stay in `open` are unique. Proof: in any run, take the first start of a send or
/// receive that comes too early. Another start should come before it, and dependencies and messages
/// received until then order the two. These messages were matched as assumed.
///
/// Returns the graph of all events with the unique messages, if a group stays.
fn settle(
    whole: &Whole<'_>,
    trace: &Trace,
    open: &mut Vec<Group>,
    partners: &mut Vec<Vertex>,
) -> Option<Reach> {
    for _ in 0..ROUNDS_MAX {
        if open.is_empty() {
            return None;
        }
        let mut assumed = partners.clone();
        open.iter().for_each(|group| join(&mut assumed, trace, &group.recvs));
        let Ok(mut reach) = event_graph(whole, &assumed, &[]) else { break };
        let before = open.len();
        open.retain_mut(|group| {
            start_in_order(&mut reach, &mut group.sends)
                && start_in_order(&mut reach, &mut group.recvs)
        });
        if open.len() == before {
            *partners = assumed;
            return Some(reach);
        }
    }
    open.clear();
    None
}

/// Returns true if some actions start one after the other. Sorts them by their starts.
fn start_in_order(reach: &mut Reach, vertices: &mut [Vertex]) -> bool {
    let start = |vertex: &Vertex| Event::Start(*vertex).node();
    vertices.sort_unstable_by_key(|vertex| reach.position(start(vertex)));
    vertices.windows(2).all(|pair| reach.reaches(start(&pair[0]), start(&pair[1])) == Some(true))
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

/// The ranges of neighbouring ends with the same key.
fn chunks<K: PartialEq>(ends: &[End], key: impl Fn(&End) -> K) -> Vec<Range<usize>> {
    let mut start = 0;
    let lengths = ends.chunk_by(|a, b| key(a) == key(b)).map(<[End]>::len);
    lengths.map(|length| (start, start += length).0..start).collect()
}

struct Messages<'w, 'p> {
    whole: &'w Whole<'p>,
    orders: Vec<Option<BodyOrder<'p>>>,
    /// Receives that can match only one send, which can match no other receive.
    unique: Vec<Vertex>,
    /// Receives that only one message fits, although other receives may take this message.
    single: Vec<Vertex>,
    /// Groups whose ends are not ordered by dependencies within ranks.
    open: Vec<Group>,
}

/// Sends and receives that match in one way if both start one after the other.
struct Group {
    sends: Vec<Vertex>,
    recvs: Vec<Vertex>,
}

impl<'p> Messages<'_, 'p> {
    /// Handles all ends of messages to a rank without wildcards.
    fn of_channels(&mut self, rank: &mut [End]) {
        for channel in chunks(rank, |end| (end.source, end.tag)) {
            self.of_channel(&mut rank[channel]);
        }
    }

    /// Handles the ends of a channel, sends first.
    fn of_channel(&mut self, channel: &mut [End]) {
        let sends = channel.partition_point(|end| !end.is_recv);
        let (sends, recvs) = channel.split_at_mut(sends);
        let in_order = self.in_order(sends) && self.in_order(recvs);
        let recvs = recvs.iter().map(|recv| recv.vertex);
        if in_order {
            self.unique.extend(recvs);
        } else {
            let sends = sends.iter().map(|send| send.vertex).collect();
            self.open.push(Group { sends, recvs: recvs.collect() });
        }
    }

    /// Handles the ends of messages to a rank with wildcards, where other receives may take a
    /// channel's messages.
    fn of_wild_rank(&mut self, rank: &mut [End]) {
        // The number of sends by source and tag, also with [`ANY`] in place of either, and the
        // number of receives with wildcards.
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
        self.single
            .extend(rank.iter().filter(|end| end.is_recv && is_single(end)).map(|end| end.vertex));
        let any_source =
            |end: &End| wild.contains_key(&(ANY, ANY)) || wild.contains_key(&(ANY, end.tag));
        let mut pairs = rank.to_vec();
        pairs.sort_unstable_by_key(|end| (end.source, end.is_recv, end.vertex));
        for pair in chunks(&pairs, |end| end.source) {
            let pair = &mut pairs[pair];
            if pair[0].source != ANY && !pair.iter().any(|end| !end.is_recv && any_source(end)) {
                self.of_channel(pair);
            }
        }
        for channel in chunks(rank, |end| (end.source, end.tag)) {
            let channel = &mut rank[channel];
            let (source, tag) = (channel[0].source, channel[0].tag);
            let rivals = [(ANY, tag), (source, ANY), (ANY, ANY)];
            if source != ANY && tag != ANY && !rivals.iter().any(|rival| wild.contains_key(rival)) {
                self.of_channel(channel);
            }
        }
    }

    /// Returns true if some ends of messages at one rank start one after the other. Sorts them by
    /// their starts.
    fn in_order(&mut self, ends: &mut [End]) -> bool {
        let [first, _, ..] = ends else { return true };
        let rank = self.whole.rank(first.vertex);
        let body = self.whole.program.ranks[rank as usize].body;
        let program = self.whole.program;
        let order = self.orders[body.index()]
            .get_or_insert_with(|| BodyOrder::new(&program.bodies[body.index()]));
        let id = |vertex: Vertex| self.whole.id(vertex);
        ends.iter_mut().for_each(|end| end.position = order.position(id(end.vertex)));
        ends.sort_unstable_by_key(|end| end.position);
        ends.windows(2)
            .all(|pair| order.starts_before(id(pair[0].vertex), id(pair[1].vertex)) == Ordered::Yes)
    }
}
