//! Channels whose messages are ordered by the layout alone.

use super::readiness::Readiness;
use crate::flow::Order;
use crate::pass::Context;
use crate::whole::{Vertex, Whole};
use goal_lang::{ANY, Action};
use rustc_hash::FxHashMap;

/// Channels whose order of messages is open: each of a source, a destination and a tag. Their sends
/// and receives are in pairs. The order is open only among messages that become ready together, at
/// both ends. There the n-th send of the layout is paired with the n-th receive.
pub(super) struct Open {
    channels: Vec<Vec<[Vertex; 2]>>,
    /// By vertex, true if it is a send or a receive of one of these channels.
    is_open: Vec<bool>,
}

impl Open {
    /// Pairs sends and receives that have no partner yet, and records the pairs in `partner`.
    /// Linear, except for the bounded searches of [`Order`].
    pub(super) fn pair(
        whole: &Whole<'_>,
        readiness: &mut Readiness,
        partner: &mut [Vertex],
        context: &Context<'_>,
    ) -> Self {
        let mut orders = Orders { whole, of: Vec::new() };
        orders.of.resize_with(whole.program.bodies.len(), || None);
        let mut open = Self { channels: Vec::new(), is_open: vec![false; whole.len()] };
        for [sends, recvs] in ends(whole, partner) {
            if sends.len() == recvs.len()
                && std::iter::zip(&sends, &recvs)
                    .all(|(&send, &recv)| whole.message_size(send) == whole.message_size(recv))
                && orders.fit(&sends, &recvs, readiness)
            {
                for (&send, &recv) in std::iter::zip(&sends, &recvs) {
                    (partner[send.index()], partner[recv.index()]) = (recv, send);
                    (open.is_open[send.index()], open.is_open[recv.index()]) = (true, true);
                }
                open.channels
                    .push(std::iter::zip(sends, recvs).map(|(send, recv)| [send, recv]).collect());
            }
        }
        if orders.of.iter().flatten().any(|order| order.is_exhausted) {
            context.note(
                "the search for what is ordered was cut short: some messages of one tag stay apart",
            );
        }
        open
    }

    /// Returns true if a send or a receive belongs to an open channel.
    pub(super) fn has(&self, vertex: Vertex) -> bool {
        self.is_open[vertex.index()]
    }

    /// Removes the channels with a send for which `is_fit` is false, and their pairs in `partner`.
    /// Returns true if there were any.
    pub(super) fn drop_unless(
        &mut self,
        partner: &mut [Vertex],
        is_fit: impl Fn(Vertex) -> bool,
    ) -> bool {
        let before = self.channels.len();
        let is_open = &mut self.is_open;
        self.channels.retain(|channel| {
            let fits = channel.iter().all(|&[send, _]| is_fit(send));
            if !fits {
                for vertex in channel.as_flattened() {
                    partner[vertex.index()] = Vertex::NONE;
                    is_open[vertex.index()] = false;
                }
            }
            fits
        });
        self.channels.len() < before
    }
}

/// Returns the sends and the receives without a partner, by channel, in the order of the layout.
/// Leaves out messages of a rank to itself, and messages to ranks that receive with wildcards.
fn ends(whole: &Whole<'_>, partner: &[Vertex]) -> Vec<[Vec<Vertex>; 2]> {
    let wild = wild_ranks(whole);
    let mut numbers: FxHashMap<(u32, u32, u32), usize> = FxHashMap::default();
    let mut channels: Vec<[Vec<Vertex>; 2]> = Vec::new();
    for vertex in whole.vertices().filter(|vertex| partner[vertex.index()] == Vertex::NONE) {
        let (source, destination, tag, side) = match *whole.action(vertex) {
            Action::Send { to, tag, .. } => (whole.rank(vertex), to, tag, 0),
            Action::Recv { from, tag, .. } => (from, whole.rank(vertex), tag, 1),
            _ => continue,
        };
        if source != destination && !wild[destination as usize] {
            let number = *numbers.entry((source, destination, tag)).or_insert(channels.len());
            if number == channels.len() {
                channels.push(Default::default());
            }
            channels[number][side].push(vertex);
        }
    }
    channels
}

/// By rank, true if it has a receive with a wildcard.
pub(super) fn wild_ranks(whole: &Whole<'_>) -> Vec<bool> {
    let mut wild = vec![false; whole.program.ranks.len()];
    for vertex in whole.vertices() {
        if let Action::Recv { from, tag, .. } = *whole.action(vertex) {
            wild[whole.rank(vertex) as usize] |= from == ANY || tag == ANY;
        }
    }
    wild
}

struct Orders<'w, 'p> {
    whole: &'w Whole<'p>,
    /// By body, the order of its actions; `None` until it is needed.
    of: Vec<Option<Order<'p>>>,
}

impl Orders<'_, '_> {
    /// Returns true if the messages of a channel fall into the same classes at both ends. The
    /// messages of a class become ready together, and all of them start before the messages of the
    /// next class.
    fn fit(&mut self, sends: &[Vertex], recvs: &[Vertex], readiness: &mut Readiness) -> bool {
        let mut class = 0;
        for i in 1..sends.len() {
            let mut same = |ends: &[Vertex]| {
                readiness.of(self.whole, ends[i - 1]) == readiness.of(self.whole, ends[i])
            };
            if same(sends) && same(recvs) {
                continue;
            }
            if !self.start_before(&sends[class..i], sends[i])
                || !self.start_before(&recvs[class..i], recvs[i])
            {
                return false;
            }
            class = i;
        }
        true
    }

    /// Returns true if all actions of `earlier` start before `later` does.
    fn start_before(&mut self, earlier: &[Vertex], later: Vertex) -> bool {
        let whole = self.whole;
        let body = whole.program.ranks[whole.rank(later) as usize].body;
        let order = self.of[body.index()].get_or_insert_with(|| Order::new(whole.body(later)));
        earlier.iter().all(|&vertex| order.starts_before(whole.id(vertex), whole.id(later)))
    }
}
