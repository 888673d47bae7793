//! Visits every state that some order of events leads to, except for orders that make no
//! difference.
//!
//! A step whose order relative to all others makes no difference is taken at once: a persistent set
//! of one step (Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, LNCS
//! 1032). The rest are choices: which of two sends of a rank to the same destination starts first,
//! which of two receives that accept the same message starts first, and which of two messages of
//! different ranks that the same receive may take arrives first.
//!
//! Sends or receives with the same size, envelope and waiting actions are interchangeable: states
//! that differ only in which of them took part count as one.

use super::choices::{Budget, Choices};
use super::facts::Facts;
use super::state::{Pair, State, Step};
use crate::order::Order;
use goal_opt::whole::{Trace, Vertex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The result of the search.
pub(super) enum Found {
    Ends(Taken),
    Hangs(Box<Trace>),
    SizesDiffer(Box<Trace>, Vertex),
    /// The bound on the work was reached.
    Unknown,
}

/// The messages that receives took in some order.
pub(super) struct Taken {
    /// By receive, the sends whose messages it took. Instead of a send, one that is interchangeable
    /// with it may be listed.
    pub(super) sends: FxHashMap<Vertex, Vec<Vertex>>,
    /// By vertex, the first of the actions that are interchangeable with it; `None` if there is no
    /// other.
    alike: Vec<Option<Vertex>>,
}

impl Taken {
    /// Returns the messages that the same receive takes in every order, as pairs of send and
    /// receive. Leaves out interchangeable sends and receives.
    pub(super) fn always(&self) -> Vec<[Vertex; 2]> {
        let is_single = |vertex: Vertex| self.alike[vertex.index()].is_none();
        let known = self.sends.iter().filter_map(|(&recv, sends)| match sends[..] {
            [send] => Some([send, recv]),
            _ => None,
        });
        known.filter(|&[send, recv]| is_single(send) && is_single(recv)).collect()
    }
}

/// Visits states until one is stuck, all were visited, or `steps_max` actions were visited. With
/// `records_data`, the result lists for each receive that stores its bytes every message that it
/// takes in some order.
pub(super) fn search(
    facts: &Facts<'_, '_>,
    trace: &Trace,
    order: &mut Order<'_, '_>,
    steps_max: u64,
    records_data: bool,
) -> Found {
    let mut budget = Budget(steps_max);
    let Some(choices) = Choices::find(facts, order, &mut budget, records_data) else {
        return Found::Unknown;
    };
    let mut search = Search { choices, budget, taken: FxHashMap::default() };
    let length = facts.whole.len();
    let into_trace =
        |state: State| Box::new(state.into_trace(trace.has_wildcards, trace.least_eager_limit));
    let mut visited: FxHashSet<(u64, u64)> = FxHashSet::default();
    // Steps that are left to take, each with the state that it begins in. States are much larger
    // than steps, and a state may allow as many steps as the program has actions.
    let mut open: Vec<(Rc<State>, Option<Step>)> = vec![(Rc::new(State::new(facts.whole)), None)];
    while let Some((before, step)) = open.pop() {
        let mut state = Rc::unwrap_or_clone(before);
        if let Some(step) = step {
            state.take(facts, step);
        }
        if !search.budget.spend(1 + length as u64 / 4) || !search.take_free_steps(&mut state) {
            return Found::Unknown;
        }
        if let Some(recv) = state.differs {
            return Found::SizesDiffer(into_trace(state), recv);
        }
        if !visited.insert(state.fingerprint(&search.choices.alike)) {
            continue;
        }
        let arrivals: Vec<Pair> = state.streams.keys().copied().collect();
        if state.ready.is_empty() && arrivals.is_empty() && state.ended.len() < length {
            return Found::Hangs(into_trace(state));
        }
        let cluster = search.closed_cluster(&state);
        let is_considered = |vertex: Vertex| {
            cluster.is_none_or(|cluster| search.choices.cluster[vertex.index()] == cluster)
        };
        let mut steps: Vec<Step> = Vec::new();
        if search.choices.has_undecided {
            steps.extend(state.undecided(facts).map(Step::EndEarly));
        }
        let starts = (0..state.ready.len()).filter(|&at| is_considered(state.ready[at]));
        steps.extend(starts.map(|at| Step::Start(at as u32)));
        let arrivals = arrivals.into_iter().filter(|pair| is_considered(state.streams[pair][0]));
        steps.extend(arrivals.map(Step::Arrive));
        let state = Rc::new(state);
        for step in steps {
            if let Some(met) = state.match_of(facts, step) {
                search.record(met);
            }
            open.push((Rc::clone(&state), Some(step)));
        }
    }
    Found::Ends(Taken { sends: search.taken, alike: search.choices.alike })
}

/// The bookkeeping of a search.
struct Search<'s, 'a, 'p> {
    choices: Choices<'s, 'a, 'p>,
    budget: Budget,
    /// By receive, the sends whose messages it took in the states visited so far.
    taken: FxHashMap<Vertex, Vec<Vertex>>,
}

impl Search<'_, '_, '_> {
    /// Finds a cluster with a possible step. All its actions have started or may start. No
    /// other action can influence the choices of such a cluster any more, so they can be made
    /// before all other choices.
    fn closed_cluster(&self, state: &State) -> Option<Vertex> {
        let starts = state.ready.iter().copied();
        let arrivals = state.streams.values().map(|stream| stream[0]);
        let clusters = starts.chain(arrivals).map(|vertex| self.choices.cluster[vertex.index()]);
        let is_closed = |cluster: &Vertex| {
            let members = self.choices.members.get(cluster).map_or(&[][..], Vec::as_slice);
            members.iter().all(|&vertex| state.is_available(vertex))
        };
        clusters.into_iter().find(is_closed)
    }

    /// Takes every step that is no choice, until only choices are left. Returns false if the bound
    /// on the work is reached.
    fn take_free_steps(&mut self, state: &mut State) -> bool {
        loop {
            if let Some(at) =
                state.ready.iter().position(|&vertex| self.start_is_free(state, vertex))
            {
                let vertex = state.ready.swap_remove(at);
                if !self.budget.spend(2 + at as u64) {
                    return false;
                }
                state.start(self.choices.facts, vertex);
                self.record_match(state, vertex);
                continue;
            }
            let free =
                state.streams.iter().find(|(_, stream)| self.arrival_is_free(state, stream[0]));
            let Some((&pair, stream)) = free else { return true };
            let send = stream[0];
            if !self.budget.spend(2 + state.ready.len() as u64) {
                return false;
            }
            state.arrive(self.choices.facts, pair);
            self.record_match(state, send);
        }
    }

    /// Returns true if the start of an action makes no difference to other actions: all rivals have
    /// started.
    fn start_is_free(&self, state: &State, vertex: Vertex) -> bool {
        self.choices
            .rivals
            .get(&vertex)
            .is_none_or(|rivals| rivals.iter().all(|&rival| state.has_started(rival)))
    }

    /// Returns true if all messages have arrived that contend with the message of `send` for a
    /// receive.
    fn arrival_is_free(&self, state: &State, send: Vertex) -> bool {
        let has_arrived = |&other: &Vertex| state.has_arrived(other);
        self.choices.contenders.get(&send).is_none_or(|others| others.iter().all(has_arrived))
    }

    /// Records the match that a step of `vertex`, a send or a receive, has made, if it made one.
    fn record_match(&mut self, state: &State, vertex: Vertex) {
        let Some(other) = state.partner[vertex.index()].some() else { return };
        let is_recv = self.choices.facts.whole.is_recv(vertex);
        self.record(if is_recv { [other, vertex] } else { [vertex, other] });
    }

    /// Records that a receive took the message of a send.
    fn record(&mut self, [send, recv]: [Vertex; 2]) {
        let sends = self.taken.entry(recv).or_default();
        if !sends.contains(&send) {
            sends.push(send);
        }
    }
}
