//! Every state that some order leads to, but for orders that make no difference.
//!
//! A step whose order against all others makes no difference is taken at once: a persistent set of one step (Godefroid, Partial-Order
//! Methods for the Verification of Concurrent Systems, LNCS 1032). What is left are choices: which of two sends of a rank to the
//! same destination starts first, which of two receives that fit the same messages, and which of two messages of different
//! ranks arrives first that the same receive may take.
//!
//! Ends of messages that nothing can tell apart, as they have the same size, envelope and dependents, stand for each other.

use super::scene::{Completion, Envelope, Place, Scene, fits, takers};
use super::state::{Pair, State};
use crate::whole::order::is_recv;
use crate::whole::{Event, Order, Ordered, Trace, Vertex};
use goal_lang::{ANY, ActionId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the search found out.
pub(super) enum Found {
    /// Every order ends. The messages that the same receive takes in all of them: send and receive.
    Ends(Vec<[Vertex; 2]>),
    Hangs(Box<Trace>),
    SizesDiffer(Box<Trace>, Vertex),
    /// The bound on the work was reached.
    Unknown,
}

/// Looks at states until one is stuck, all were seen, or `steps_max` actions were looked at.
pub(super) fn search(
    scene: &Scene<'_, '_>,
    trace: &Trace,
    order: &mut Order<'_, '_>,
    steps_max: u64,
) -> Found {
    let Some(mut search) = Search::new(scene, order, steps_max) else { return Found::Unknown };
    let length = scene.whole.len();
    let into_trace = |state: State| Box::new(state.into_trace(trace.has_wildcards, trace.least_eager_limit));
    let mut visited: FxHashSet<(u64, u64)> = FxHashSet::default();
    let mut open = vec![State::new(scene.whole)];
    while let Some(mut state) = open.pop() {
        if !search.pay(1 + length as u64 / 4) || !search.settle(&mut state) {
            return Found::Unknown;
        }
        if let Some(recv) = state.differs {
            return Found::SizesDiffer(into_trace(state), recv);
        }
        if !visited.insert(state.fingerprint(&search.alike)) {
            continue;
        }
        let arrivals: Vec<Pair> = state.streams.keys().copied().collect();
        if state.ready.is_empty() && arrivals.is_empty() && state.ended.len() < length {
            return Found::Hangs(into_trace(state));
        }
        if search.has_undecided {
            for send in state.undecided(scene) {
                let mut next = state.clone();
                next.end_early(scene.whole, send);
                open.push(next);
            }
        }
        let cluster = search.closed_cluster(&state);
        let is_looked_at =
            |vertex: Vertex| cluster.is_none_or(|cluster| search.cluster[vertex.index()] == cluster);
        let starts: Vec<usize> = (0..state.ready.len()).filter(|&at| is_looked_at(state.ready[at])).collect();
        let arrivals: Vec<Pair> =
            arrivals.into_iter().filter(|pair| is_looked_at(state.streams[pair][0])).collect();
        for at in starts {
            let mut next = state.clone();
            let vertex = next.ready.swap_remove(at);
            next.start(scene, vertex);
            search.note(&next, vertex);
            open.push(next);
        }
        for pair in arrivals {
            let mut next = state.clone();
            let send = next.streams[&pair][0];
            next.arrive(scene, pair);
            search.note(&next, send);
            open.push(next);
        }
    }
    Found::Ends(search.partners())
}

/// What ends of messages that stand for each other have in common: is it a receive, rank, destination, envelope, size, who waits.
type Kind<'a> = (bool, u32, u32, Envelope, u64, &'a [ActionId]);

/// Which steps are choices, and what the search saw so far.
struct Search<'s, 'a, 'p> {
    scene: &'s Scene<'a, 'p>,
    /// By vertex, the first of those that stand for each other, where there are several.
    alike: Vec<Option<Vertex>>,
    /// By vertex, the actions whose start before or after its own may make a difference.
    rivals: FxHashMap<Vertex, Vec<Vertex>>,
    /// By send whose message a receive from any source may take, the sends of other ranks that may arrive in its place.
    contenders: FxHashMap<Vertex, Vec<Vertex>>,
    has_undecided: bool,
    /// By vertex, the first of those that its choices have to do with.
    cluster: Vec<Vertex>,
    members: FxHashMap<Vertex, Vec<Vertex>>,
    /// By receive, the send whose message it took so far; `None` inside where there are several.
    taken: FxHashMap<Vertex, Option<Vertex>>,
    steps_left: u64,
}

impl<'s, 'a, 'p> Search<'s, 'a, 'p> {
    /// `None` if finding the choices takes more than `steps_max`.
    fn new(scene: &'s Scene<'a, 'p>, order: &mut Order<'_, '_>, steps_max: u64) -> Option<Self> {
        let whole = scene.whole;
        let mut search = Self {
            scene,
            alike: vec![None; whole.len()],
            rivals: FxHashMap::default(),
            contenders: FxHashMap::default(),
            has_undecided: whole.vertices().any(|send| scene.completion(send) == Completion::Either),
            cluster: whole.vertices().collect(),
            members: FxHashMap::default(),
            taken: FxHashMap::default(),
            steps_left: steps_max,
        };
        search.find_alike();
        search.find_contenders(order)?;
        search.find_rivals(order)?;
        search.find_clusters();
        Some(search)
    }

    /// Pays for work; returns false if the bound is reached.
    fn pay(&mut self, steps: u64) -> bool {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                true
            }
            None => false,
        }
    }

    fn competing(&self) -> impl Iterator<Item = Vertex> + use<'s, 'a, 'p> {
        let scene = self.scene;
        scene
            .whole
            .vertices()
            .filter(|&vertex| scene.end(vertex).is_some() && !scene.is_fixed[vertex.index()])
    }

    fn find_alike(&mut self) {
        let mut first: FxHashMap<Kind<'_>, Vertex> = FxHashMap::default();
        for vertex in self.competing() {
            let whole = self.scene.whole;
            let Some((rank, envelope)) = self.scene.end(vertex) else { continue };
            let waiters = whole.body(vertex).requires.row(whole.id(vertex));
            let size = self.scene.size(vertex);
            let key = (is_recv(whole, vertex), whole.rank(vertex), rank, envelope, size, waiters);
            let first = *first.entry(key).or_insert(vertex);
            if first != vertex {
                self.alike[vertex.index()] = Some(first);
                self.alike[first.index()] = Some(first);
            }
        }
    }

    /// Finds the messages whose arrival is a choice.
    fn find_contenders(&mut self, order: &mut Order<'_, '_>) -> Option<()> {
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
                    if !self.pay(1) {
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

    /// Returns true if a message has certainly arrived when a send starts: it was received, or its own send waited for that. That
    /// its send has ended says nothing otherwise.
    fn arrives_before(&self, order: &mut Order<'_, '_>, send: Vertex, other: Vertex) -> bool {
        let waits = self.scene.completion(send) == Completion::AtMatch;
        let recv = self.scene.partner[send.index()].some();
        let mut arrived = waits.then_some(send).into_iter().chain(recv);
        arrived.any(|end| order.happens_before(Event::End(end), Event::Start(other)) == Ordered::Yes)
    }

    /// Returns true if the order in which messages arrive at a place makes no difference: its receives stand for each other, and
    /// nobody waits for the end of a send there.
    fn is_even(&self, place: &Place) -> bool {
        let whole = self.scene.whole;
        let mut recvs = place.recvs.values().flatten();
        let first = recvs.next().and_then(|recv| self.alike[recv.index()]);
        let size = |vertex: &Vertex| self.scene.size(*vertex);
        let nobody_waits = |&send: &Vertex| {
            self.scene.completion(send) == Completion::AtStart
                || whole.body(send).requires.row(whole.id(send)).is_empty()
        };
        first.is_some_and(|first| {
            recvs.all(|recv| self.alike[recv.index()] == Some(first))
                && place.sends.values().flatten().all(|send| size(send) == size(&first) && nobody_waits(send))
        })
    }

    /// Finds the starts that are choices.
    fn find_rivals(&mut self, order: &mut Order<'_, '_>) -> Option<()> {
        let scene = self.scene;
        let mut groups: FxHashMap<(bool, u32, u32), Vec<Vertex>> = FxHashMap::default();
        for vertex in scene.whole.vertices() {
            let Some((rank, _)) = scene.end(vertex) else { continue };
            if scene.places.contains_key(&rank) {
                let is_recv = is_recv(scene.whole, vertex);
                groups.entry((is_recv, scene.whole.rank(vertex), rank)).or_default().push(vertex);
            }
        }
        for group in groups.values() {
            for (at, &one) in group.iter().enumerate() {
                for &other in &group[at + 1..] {
                    if !self.pay(1) {
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

    /// Joins what may change each other's choices: rivals, what is received at one rank through overlapping envelopes, and messages
    /// of a pair of ranks that wait behind each other.
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

    /// A cluster with choices all of whose actions have started or may start. Nothing else has to do with its choices any more,
    /// so that they can be made before all others.
    fn closed_cluster(&self, state: &State) -> Option<Vertex> {
        let starts = state.ready.iter().copied();
        let arrivals = state.streams.values().map(|stream| stream[0]);
        let clusters = starts.chain(arrivals).map(|vertex| self.cluster[vertex.index()]);
        let is_closed = |cluster: &Vertex| {
            let members = self.members.get(cluster).map_or(&[][..], Vec::as_slice);
            members.iter().all(|&vertex| state.is_available(vertex))
        };
        clusters.into_iter().find(is_closed)
    }

    /// Returns true if it may make a difference which of two sends to the same destination, or which of two receives, starts
    /// first.
    fn may_matter(&self, one: Vertex, other: Vertex) -> bool {
        let scene = self.scene;
        let alike = |vertex: Vertex| self.alike[vertex.index()];
        if alike(one).is_some() && alike(one) == alike(other) {
            return false;
        }
        let (Some((rank, a)), Some((_, b))) = (scene.end(one), scene.end(other)) else { return false };
        let is_open = |vertex: Vertex| !scene.is_fixed[vertex.index()];
        if is_recv(scene.whole, one) {
            let overlap = |a: u32, b: u32| a == b || a == ANY || b == ANY;
            return is_open(one) && is_open(other) && overlap(a.0, b.0) && overlap(a.1, b.1);
        }
        let takes_both = || scene.places[&rank].recvs.keys().any(|&recv| fits(recv, a) && fits(recv, b));
        let is_contended = |send: Vertex| self.contenders.contains_key(&send);
        is_contended(one) || is_contended(other) || (is_open(one) && is_open(other) && takes_both())
    }

    /// Takes every step that is no choice, until only choices are left. Returns false if the bound on the work is reached.
    fn settle(&mut self, state: &mut State) -> bool {
        loop {
            if let Some(at) = state.ready.iter().position(|&vertex| self.start_is_free(state, vertex)) {
                let vertex = state.ready.swap_remove(at);
                if !self.pay(2 + at as u64) {
                    return false;
                }
                state.start(self.scene, vertex);
                self.note(state, vertex);
                continue;
            }
            let free = state.streams.iter().find(|(_, stream)| self.arrival_is_free(state, stream[0]));
            let Some((&pair, stream)) = free else { return true };
            let send = stream[0];
            if !self.pay(2 + state.ready.len() as u64) {
                return false;
            }
            state.arrive(self.scene, pair);
            self.note(state, send);
        }
    }

    fn start_is_free(&self, state: &State, vertex: Vertex) -> bool {
        self.rivals.get(&vertex).is_none_or(|rivals| rivals.iter().all(|&rival| state.has_started(rival)))
    }

    /// Returns true if no message that has not arrived may be taken by a receive that may take this one.
    fn arrival_is_free(&self, state: &State, send: Vertex) -> bool {
        let has_arrived = |&other: &Vertex| state.has_arrived(other);
        self.contenders.get(&send).is_none_or(|others| others.iter().all(has_arrived))
    }

    /// Keeps in mind who took whose message in a step at one end of it.
    fn note(&mut self, state: &State, vertex: Vertex) {
        let Some(other) = state.partner[vertex.index()].some() else { return };
        let recv = if is_recv(self.scene.whole, vertex) { vertex } else { other };
        let send = if recv == vertex { other } else { vertex };
        let known = self.taken.entry(recv).or_insert(Some(send));
        if *known != Some(send) {
            *known = None;
        }
    }

    /// The messages that the same receive took whenever it took one.
    fn partners(&self) -> Vec<[Vertex; 2]> {
        let is_single = |vertex: Vertex| self.alike[vertex.index()].is_none();
        let known = self.taken.iter().filter_map(|(&recv, &send)| Some([send?, recv]));
        known.filter(|&[send, recv]| is_single(send) && is_single(recv)).collect()
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
