//! Finds the steps whose order may make a difference. The search tries every order of these and
//! takes all other steps at once.

use super::facts::{Competition, Completion, Envelope, Facts, fits, stores, takers};
use super::state::Pair;
use crate::disjoint::DisjointSets;
use crate::order::Order;
use goal_lang::{ANY, ActionId};
use goal_opt::whole::{Event, Ordered, Vertex};
use rustc_hash::FxHashMap;

/// The properties of a send or a receive. Two with the same properties are interchangeable.
#[derive(PartialEq, Eq, Hash)]
struct Kind<'a> {
    is_recv: bool,
    rank: u32,
    destination: u32,
    envelope: Envelope,
    /// The size of the message in bytes.
    size: u64,
    /// The actions that wait for the end of the send or receive.
    waiters: &'a [ActionId],
    /// The action itself, if it matters which of several takes part. Then it is interchangeable
    /// with no other.
    itself: Option<Vertex>,
}

/// The number of actions that a search may still visit.
pub(super) struct Budget(pub(super) u64);

impl Budget {
    /// Takes `steps` from the budget. Returns false if less is left.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        match self.0.checked_sub(steps) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => false,
        }
    }
}

/// The steps of a search whose order may make a difference.
pub(super) struct Choices<'s, 'a, 'p> {
    pub(super) facts: &'s Facts<'a, 'p>,
    /// True if it makes a difference which message a receive takes that stores its bytes. If false,
    /// only the end of the program counts.
    records_data: bool,
    /// By vertex, the first of the actions that are interchangeable with it; `None` if there is no
    /// other.
    pub(super) alike: Vec<Option<Vertex>>,
    /// By vertex, its rivals. A run may end differently if a rival starts before the vertex, or
    /// after it.
    pub(super) rivals: FxHashMap<Vertex, Vec<Vertex>>,
    /// By send, the sends of other ranks whose messages may arrive before its own message, if the
    /// same receive from any source may take both.
    pub(super) contenders: FxHashMap<Vertex, Vec<Vertex>>,
    /// True if there are sends that may end before or after their message is taken.
    pub(super) has_undecided: bool,
    /// By vertex, the first action of its cluster. A cluster has the actions whose choices
    /// influence each other.
    pub(super) cluster: Vec<Vertex>,
    /// By the first action of a cluster, all of its actions.
    pub(super) members: FxHashMap<Vertex, Vec<Vertex>>,
}

impl<'s, 'a, 'p> Choices<'s, 'a, 'p> {
    /// Finds the choices of a program. Returns `None` if the budget is too small for that.
    pub(super) fn find(
        facts: &'s Facts<'a, 'p>,
        order: &mut Order<'_, '_>,
        budget: &mut Budget,
        records_data: bool,
    ) -> Option<Self> {
        let whole = facts.whole;
        let is_undecided = |send| facts.completion(send) == Completion::Either;
        let mut choices = Self {
            facts,
            records_data,
            alike: vec![None; whole.len()],
            rivals: FxHashMap::default(),
            contenders: FxHashMap::default(),
            has_undecided: whole.vertices().any(is_undecided),
            cluster: whole.vertices().collect(),
            members: FxHashMap::default(),
        };
        choices.find_alike();
        choices.find_contenders(order, budget)?;
        choices.find_rivals(order, budget)?;
        choices.find_clusters();
        Some(choices)
    }

    /// The sends and receives whose other end is not fixed.
    fn competing(&self) -> impl Iterator<Item = Vertex> + use<'s, 'a, 'p> {
        let facts = self.facts;
        facts
            .whole
            .vertices()
            .filter(|&vertex| facts.end(vertex).is_some() && !facts.is_fixed[vertex.index()])
    }

    /// Returns true for a receive that stores the bytes of its message. Returns true for a send if
    /// any competing receive at `destination` stores bytes, since it may take the send's message.
    fn is_stored(&self, vertex: Vertex, destination: u32) -> bool {
        let whole = self.facts.whole;
        let stores = |recv: &Vertex| stores(whole.action(*recv));
        match whole.is_recv(vertex) {
            true => stores(&vertex),
            false => self
                .facts
                .competitions
                .get(&destination)
                .is_some_and(|competition| competition.recvs.values().flatten().any(stores)),
        }
    }

    /// Finds actions that are interchangeable.
    fn find_alike(&mut self) {
        let mut first: FxHashMap<Kind<'_>, Vertex> = FxHashMap::default();
        for vertex in self.competing() {
            let whole = self.facts.whole;
            let Some((rank, envelope)) = self.facts.end(vertex) else { continue };
            let waiters = whole.body(vertex).requires.row(whole.id(vertex));
            let size = self.facts.whole.message_size(vertex);
            let itself =
                self.records_data.then_some(vertex).filter(|&vertex| self.is_stored(vertex, rank));
            let kind = Kind {
                is_recv: whole.is_recv(vertex),
                rank: whole.rank(vertex),
                destination: rank,
                envelope,
                size,
                waiters,
                itself,
            };
            let first = *first.entry(kind).or_insert(vertex);
            if first != vertex {
                self.alike[vertex.index()] = Some(first);
                self.alike[first.index()] = Some(first);
            }
        }
    }

    /// Finds, for each send, the messages of other ranks whose arrival before or after its own may
    /// make a difference. Returns `None` if the budget is too small.
    fn find_contenders(&mut self, order: &mut Order<'_, '_>, budget: &mut Budget) -> Option<()> {
        let facts = self.facts;
        for competition in facts.competitions.values() {
            if self.is_indifferent_to_arrivals(competition) {
                continue;
            }
            let wild: Vec<_> =
                competition.recvs.keys().copied().filter(|recv| recv.source == ANY).collect();
            let sends: Vec<Vertex> = competition.sends.values().flatten().copied().collect();
            for &send in sends.iter().filter(|_| !wild.is_empty()) {
                let (_, sent) = facts.end(send)?;
                for &other in &sends {
                    if !budget.spend(1) {
                        return None;
                    }
                    let (_, came) = facts.end(other)?;
                    let is_contended = came.source != sent.source
                        && wild.iter().any(|&recv| fits(recv, sent) && fits(recv, came))
                        && !self.arrives_before(order, send, other);
                    if is_contended {
                        self.contenders.entry(send).or_default().push(other);
                    }
                }
            }
        }
        Some(())
    }

    /// Returns true if the message of `send` has certainly arrived when `other` starts: `other`
    /// comes after the receive of the message, or after the end of a send that waits for its
    /// receive. The end of an eager send proves nothing.
    fn arrives_before(&self, order: &mut Order<'_, '_>, send: Vertex, other: Vertex) -> bool {
        let waits = self.facts.completion(send) == Completion::AtMatch;
        let recv = self.facts.partner[send.index()].some();
        let mut arrived = waits.then_some(send).into_iter().chain(recv);
        arrived
            .any(|end| order.happens_before(Event::End(end), Event::Start(other)) == Ordered::Yes)
    }

    /// Returns true if the order in which the messages of a competition arrive makes no difference:
    /// all receives are interchangeable, all sizes are the same, and no action waits for the end of
    /// a send that ends with its receive.
    fn is_indifferent_to_arrivals(&self, competition: &Competition) -> bool {
        let whole = self.facts.whole;
        let mut recvs = competition.recvs.values().flatten();
        let first = recvs.next().and_then(|recv| self.alike[recv.index()]);
        let size = |vertex: &Vertex| self.facts.whole.message_size(*vertex);
        let has_no_waiter = |&send: &Vertex| {
            self.facts.completion(send) == Completion::AtStart
                || whole.body(send).requires.row(whole.id(send)).is_empty()
        };
        first.is_some_and(|first| {
            recvs.all(|recv| self.alike[recv.index()] == Some(first))
                && competition
                    .sends
                    .values()
                    .flatten()
                    .all(|send| size(send) == size(&first) && has_no_waiter(send))
        })
    }

    /// Finds pairs of starts whose order may make a difference. Returns `None` if the budget is too
    /// small.
    fn find_rivals(&mut self, order: &mut Order<'_, '_>, budget: &mut Budget) -> Option<()> {
        let facts = self.facts;
        let mut groups: FxHashMap<(bool, u32, u32), Vec<Vertex>> = FxHashMap::default();
        for vertex in facts.whole.vertices() {
            let Some((rank, _)) = facts.end(vertex) else { continue };
            if facts.competitions.contains_key(&rank) {
                let is_recv = facts.whole.is_recv(vertex);
                groups.entry((is_recv, facts.whole.rank(vertex), rank)).or_default().push(vertex);
            }
        }
        for group in groups.values() {
            for (at, &one) in group.iter().enumerate() {
                for &other in &group[at + 1..] {
                    if !budget.spend(1) {
                        return None;
                    }
                    if self.may_matter(one, other)
                        && !is_ordered(order, one, other)
                        && !is_ordered(order, other, one)
                    {
                        self.rivals.entry(one).or_default().push(other);
                        self.rivals.entry(other).or_default().push(one);
                    }
                }
            }
        }
        Some(())
    }

    /// Joins actions into clusters if their choices influence each other. These are rivals, sends
    /// and receives of one rank with overlapping envelopes, and messages of a pair of ranks, which
    /// wait behind each other.
    fn find_clusters(&mut self) {
        let facts = self.facts;
        let mut joined = DisjointSets::new(facts.whole.len());
        let mut join = |one: Vertex, other: Vertex| joined.join(one.index(), other.index());
        for (&one, others) in self.rivals.iter().chain(&self.contenders) {
            others.iter().for_each(|&other| join(one, other));
        }
        let mut streams: FxHashMap<Pair, Vertex> = FxHashMap::default();
        for (&rank, competition) in &facts.competitions {
            for (&sent, sends) in &competition.sends {
                let takers =
                    takers(sent).into_iter().filter_map(|taker| competition.recvs.get(&taker));
                for &end in takers.flatten().chain(sends) {
                    join(sends[0], end);
                }
                join(*streams.entry((sent.source, rank)).or_insert(sends[0]), sends[0]);
            }
        }
        let competing: Vec<Vertex> = self.competing().collect();
        let with_choices = self.rivals.keys().chain(self.contenders.keys()).copied();
        let mut all: Vec<Vertex> = competing.into_iter().chain(with_choices).collect();
        all.sort_unstable();
        all.dedup();
        for vertex in all {
            self.members.entry(Vertex::new(joined.root(vertex.index()))).or_default().push(vertex);
        }
        self.cluster =
            facts.whole.vertices().map(|vertex| Vertex::new(joined.root(vertex.index()))).collect();
    }

    /// Returns true if it may make a difference which of two sends to the same destination, or
    /// which of two receives of a rank, starts first.
    fn may_matter(&self, one: Vertex, other: Vertex) -> bool {
        let facts = self.facts;
        let alike = |vertex: Vertex| self.alike[vertex.index()];
        if alike(one).is_some() && alike(one) == alike(other) {
            return false;
        }
        let (Some((rank, a)), Some((_, b))) = (facts.end(one), facts.end(other)) else {
            return false;
        };
        let is_open = |vertex: Vertex| !facts.is_fixed[vertex.index()];
        if facts.whole.is_recv(one) {
            let overlap = |a: u32, b: u32| a == b || a == ANY || b == ANY;
            return is_open(one)
                && is_open(other)
                && overlap(a.source, b.source)
                && overlap(a.tag, b.tag);
        }
        let takes_both =
            || facts.competitions[&rank].recvs.keys().any(|&recv| fits(recv, a) && fits(recv, b));
        let is_contended = |send: Vertex| self.contenders.contains_key(&send);
        is_contended(one) || is_contended(other) || (is_open(one) && is_open(other) && takes_both())
    }
}

fn is_ordered(order: &mut Order<'_, '_>, first: Vertex, second: Vertex) -> bool {
    order.happens_before(Event::Start(first), Event::Start(second)) == Ordered::Yes
}
