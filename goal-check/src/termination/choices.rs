//! Finds the steps of a search that are choices.

use super::scene::{Completion, Envelope, Place, Scene, fits, stores, takers};
use super::state::Pair;
use crate::order::Order;
use goal_lang::{ANY, ActionId};
use goal_opt::whole::{Event, Ordered, Vertex};
use rustc_hash::FxHashMap;

/// Common properties of the ends of messages that stand for each other: is it a receive, rank,
/// destination, envelope, size, who waits, and which one it is where that makes a difference.
type Kind<'a> = (bool, u32, u32, Envelope, u64, &'a [ActionId], Option<Vertex>);

/// A bound on work, in actions that are looked at.
pub(super) struct Budget(pub(super) u64);

impl Budget {
    /// Takes `steps` from what is left. Returns false if there is less.
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
    pub(super) scene: &'s Scene<'a, 'p>,
    /// If true, it makes a difference which message a receive that stores its bytes takes. If
    /// false, only the end of the program counts.
    tells_data: bool,
    /// By vertex, the first of the actions that are interchangeable with it, if there are several.
    pub(super) alike: Vec<Option<Vertex>>,
    /// By vertex, the actions whose start before or after its own may make a difference.
    pub(super) rivals: FxHashMap<Vertex, Vec<Vertex>>,
    /// By send whose message a receive from any source may take, the sends of other ranks whose
    /// messages may arrive first.
    pub(super) contenders: FxHashMap<Vertex, Vec<Vertex>>,
    /// True if there are sends that may end before or after their message is taken.
    pub(super) has_undecided: bool,
    /// By vertex, the first action of its cluster: the actions whose choices influence each other.
    pub(super) cluster: Vec<Vertex>,
    /// By the first action of a cluster, all of its actions.
    pub(super) members: FxHashMap<Vertex, Vec<Vertex>>,
}

impl<'s, 'a, 'p> Choices<'s, 'a, 'p> {
    /// Returns `None` if the budget is too small to find the choices.
    pub(super) fn find(
        scene: &'s Scene<'a, 'p>,
        order: &mut Order<'_, '_>,
        budget: &mut Budget,
        tells_data: bool,
    ) -> Option<Self> {
        let whole = scene.whole;
        let is_undecided = |send| scene.completion(send) == Completion::Either;
        let mut choices = Self {
            scene,
            tells_data,
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

    fn competing(&self) -> impl Iterator<Item = Vertex> + use<'s, 'a, 'p> {
        let scene = self.scene;
        scene
            .whole
            .vertices()
            .filter(|&vertex| scene.end(vertex).is_some() && !scene.is_fixed[vertex.index()])
    }

    /// Returns true if a receive keeps the bytes of its message, or a message may come to one that
    /// does.
    fn is_stored(&self, vertex: Vertex, destination: u32) -> bool {
        let whole = self.scene.whole;
        let stores = |recv: &Vertex| stores(whole.action(*recv));
        match whole.is_recv(vertex) {
            true => stores(&vertex),
            false => self
                .scene
                .places
                .get(&destination)
                .is_some_and(|place| place.recvs.values().flatten().any(stores)),
        }
    }

    fn find_alike(&mut self) {
        let mut first: FxHashMap<Kind<'_>, Vertex> = FxHashMap::default();
        for vertex in self.competing() {
            let whole = self.scene.whole;
            let Some((rank, envelope)) = self.scene.end(vertex) else { continue };
            let waiters = whole.body(vertex).requires.row(whole.id(vertex));
            let size = self.scene.whole.message_size(vertex);
            let itself =
                self.tells_data.then_some(vertex).filter(|&vertex| self.is_stored(vertex, rank));
            let key =
                (whole.is_recv(vertex), whole.rank(vertex), rank, envelope, size, waiters, itself);
            let first = *first.entry(key).or_insert(vertex);
            if first != vertex {
                self.alike[vertex.index()] = Some(first);
                self.alike[first.index()] = Some(first);
            }
        }
    }

    /// Finds the messages whose arrival is a choice.
    fn find_contenders(&mut self, order: &mut Order<'_, '_>, budget: &mut Budget) -> Option<()> {
        let scene = self.scene;
        for place in scene.places.values() {
            if self.is_even(place) {
                continue;
            }
            let wild: Vec<_> = place.recvs.keys().copied().filter(|recv| recv.0 == ANY).collect();
            let sends: Vec<Vertex> = place.sends.values().flatten().copied().collect();
            for &send in sends.iter().filter(|_| !wild.is_empty()) {
                let (_, sent) = scene.end(send)?;
                for &other in &sends {
                    if !budget.spend(1) {
                        return None;
                    }
                    let (_, came) = scene.end(other)?;
                    let is_contended = came.0 != sent.0
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

    /// Returns true if a message has certainly arrived when a send starts: it was received, or its
    /// own send waited for that. That its send has ended says nothing otherwise.
    fn arrives_before(&self, order: &mut Order<'_, '_>, send: Vertex, other: Vertex) -> bool {
        let waits = self.scene.completion(send) == Completion::AtMatch;
        let recv = self.scene.partner[send.index()].some();
        let mut arrived = waits.then_some(send).into_iter().chain(recv);
        arrived
            .any(|end| order.happens_before(Event::End(end), Event::Start(other)) == Ordered::Yes)
    }

    /// Returns true if the order in which messages arrive at a place makes no difference: its
    /// receives stand for each other, and nobody waits for the end of a send there.
    fn is_even(&self, place: &Place) -> bool {
        let whole = self.scene.whole;
        let mut recvs = place.recvs.values().flatten();
        let first = recvs.next().and_then(|recv| self.alike[recv.index()]);
        let size = |vertex: &Vertex| self.scene.whole.message_size(*vertex);
        let nobody_waits = |&send: &Vertex| {
            self.scene.completion(send) == Completion::AtStart
                || whole.body(send).requires.row(whole.id(send)).is_empty()
        };
        first.is_some_and(|first| {
            recvs.all(|recv| self.alike[recv.index()] == Some(first))
                && place
                    .sends
                    .values()
                    .flatten()
                    .all(|send| size(send) == size(&first) && nobody_waits(send))
        })
    }

    /// Finds the starts that are choices.
    fn find_rivals(&mut self, order: &mut Order<'_, '_>, budget: &mut Budget) -> Option<()> {
        let scene = self.scene;
        let mut groups: FxHashMap<(bool, u32, u32), Vec<Vertex>> = FxHashMap::default();
        for vertex in scene.whole.vertices() {
            let Some((rank, _)) = scene.end(vertex) else { continue };
            if scene.places.contains_key(&rank) {
                let is_recv = scene.whole.is_recv(vertex);
                groups.entry((is_recv, scene.whole.rank(vertex), rank)).or_default().push(vertex);
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

    /// Joins what may change each other's choices: rivals, what is received at one rank through
    /// overlapping envelopes, and messages of a pair of ranks that wait behind each other.
    fn find_clusters(&mut self) {
        let scene = self.scene;
        let mut joined = Joined(std::mem::take(&mut self.cluster));
        for (&one, others) in self.rivals.iter().chain(&self.contenders) {
            others.iter().for_each(|&other| joined.join(one, other));
        }
        let mut streams: FxHashMap<Pair, Vertex> = FxHashMap::default();
        for (&rank, place) in &scene.places {
            for (&sent, sends) in &place.sends {
                let takers = takers(sent).into_iter().filter_map(|taker| place.recvs.get(&taker));
                for &end in takers.flatten().chain(sends) {
                    joined.join(sends[0], end);
                }
                joined.join(*streams.entry((sent.0, rank)).or_insert(sends[0]), sends[0]);
            }
        }
        let competing: Vec<Vertex> = self.competing().collect();
        let with_choices = self.rivals.keys().chain(self.contenders.keys()).copied();
        let mut all: Vec<Vertex> = competing.into_iter().chain(with_choices).collect();
        all.sort_unstable();
        all.dedup();
        for vertex in all {
            self.members.entry(joined.root(vertex)).or_default().push(vertex);
        }
        self.cluster = scene.whole.vertices().map(|vertex| joined.root(vertex)).collect();
    }

    /// Returns true if it may make a difference which of two sends to the same destination, or
    /// which of two receives, starts first.
    fn may_matter(&self, one: Vertex, other: Vertex) -> bool {
        let scene = self.scene;
        let alike = |vertex: Vertex| self.alike[vertex.index()];
        if alike(one).is_some() && alike(one) == alike(other) {
            return false;
        }
        let (Some((rank, a)), Some((_, b))) = (scene.end(one), scene.end(other)) else {
            return false;
        };
        let is_open = |vertex: Vertex| !scene.is_fixed[vertex.index()];
        if scene.whole.is_recv(one) {
            let overlap = |a: u32, b: u32| a == b || a == ANY || b == ANY;
            return is_open(one) && is_open(other) && overlap(a.0, b.0) && overlap(a.1, b.1);
        }
        let takes_both =
            || scene.places[&rank].recvs.keys().any(|&recv| fits(recv, a) && fits(recv, b));
        let is_contended = |send: Vertex| self.contenders.contains_key(&send);
        is_contended(one) || is_contended(other) || (is_open(one) && is_open(other) && takes_both())
    }
}

/// Actions joined into clusters.
struct Joined(Vec<Vertex>);

impl Joined {
    fn root(&mut self, mut vertex: Vertex) -> Vertex {
        while self.0[vertex.index()] != vertex {
            self.0[vertex.index()] = self.0[self.0[vertex.index()].index()];
            vertex = self.0[vertex.index()];
        }
        vertex
    }

    fn join(&mut self, a: Vertex, b: Vertex) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b).index()] = a.min(b);
    }
}

fn is_ordered(order: &mut Order<'_, '_>, first: Vertex, second: Vertex) -> bool {
    order.happens_before(Event::Start(first), Event::Start(second)) == Ordered::Yes
}
