//! The order of the starts and the ends of actions that holds in every run.

#[cfg(test)]
mod tests;

use goal_lang::{Action, ActionKind};
use goal_opt::limits::ORDER_STEPS_MAX;
use goal_opt::reach::Reach;
use goal_opt::whole::{Event, Ordered, TooLarge, Trace, UniqueMatches, Vertex, Whole, event_graph};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// The order of all events of a program that follows from both kinds of dependencies and from
/// messages.
///
/// A message orders the start of its send before the end of its receive, but only if every run
/// matches the two. All questions together have a bound on the work.
pub(crate) struct Order<'w, 'p> {
    whole: &'w Whole<'p>,
    /// By vertex of a send or receive, the matching receive or send, if every run matches these
    /// two. Otherwise [`Vertex::NONE`].
    partner: Rc<Vec<Vertex>>,
    reach: Reach,
    /// The number of events and edges that [`may_hold_up`](Self::may_hold_up) may still visit.
    steps_left: u64,
}

impl<'w, 'p> Order<'w, 'p> {
    /// Returns the order that holds if every message goes to the receive that took it in `trace`.
    /// Other runs may match messages differently.
    ///
    /// # Errors
    /// If 32 bits are too few to number events and dependencies.
    pub(crate) fn from_run(whole: &'w Whole<'p>, trace: &Trace) -> Result<Self, TooLarge> {
        let partner = Rc::new(trace.partner.clone());
        let reach = event_graph(whole, &partner, &[])?;
        let mut order = Self { whole, partner, reach, steps_left: 0 };
        order.reset_bounds();
        Ok(order)
    }

    /// Returns the order that follows from the messages of `unique` and from `implied`. In a pair
    /// of `implied`, the send starts before the receive ends. If `unique` has a graph and `implied`
    /// is empty, that graph is used.
    fn from_whole(
        whole: &'w Whole<'p>,
        unique: &mut UniqueMatches,
        implied: &[[Vertex; 2]],
    ) -> Result<Self, TooLarge> {
        let partner = Rc::clone(&unique.partner);
        let reach = match unique.reach.take() {
            Some(reach) if implied.is_empty() => reach,
            _ => event_graph(whole, &partner, implied)?,
        };
        let mut order = Self { whole, partner, reach, steps_left: 0 };
        order.reset_bounds();
        Ok(order)
    }

    /// Resets the bounds on the work of questions.
    fn reset_bounds(&mut self) {
        self.steps_left = ORDER_STEPS_MAX;
        self.reach.renew();
    }

    /// Returns the receive of a send, or the send of a receive, if every run matches these two.
    pub(crate) fn partner(&self, vertex: Vertex) -> Option<Vertex> {
        self.partner[vertex.index()].some()
    }

    /// Returns all actions in an order in which their accesses to memory may happen. Of several
    /// that may be next, the one with the lowest number in its body comes first.
    pub(crate) fn sequence(&self) -> Vec<Vertex> {
        let (graph, mut missing) = (self.reach.graph(), self.reach.indegrees());
        let id = |node: u32| self.whole.id(Vertex(node / 2)).0;
        let ready = (0..).zip(&missing).filter(|&(_, &missing)| missing == 0).map(|(node, _)| node);
        let mut ready: BinaryHeap<Reverse<(u32, u32)>> =
            ready.map(|node| Reverse((id(node), node))).collect();
        let mut sequence = Vec::with_capacity(self.whole.len());
        while let Some(Reverse((_, node))) = ready.pop() {
            let vertex = Vertex(node / 2);
            // A send may read its buffer from its start on, a receive may write as late as its end.
            let is_start = node == Event::Start(vertex).node();
            if is_start == (self.whole.action(vertex).kind() == ActionKind::Send) {
                sequence.push(vertex);
            }
            for &next in graph.row(node) {
                missing[next as usize] -= 1;
                if missing[next as usize] == 0 {
                    ready.push(Reverse((id(next), next)));
                }
            }
        }
        sequence
    }

    /// Returns true if `first` comes before `second` when messages above `eager_limit` bytes wait
    /// for their receives. Returns false, too, if the bound on the work is reached.
    pub(crate) fn may_hold_up(&mut self, first: Event, second: Event, eager_limit: u64) -> bool {
        let (mut seen, mut todo) = (FxHashSet::default(), vec![first.node()]);
        while let Some(node) = todo.pop() {
            if node == second.node() {
                return true;
            }
            if !seen.insert(node) {
                continue;
            }
            let next = self.reach.graph().row(node);
            let Some(left) = self.steps_left.checked_sub(1 + next.len() as u64) else {
                return false;
            };
            self.steps_left = left;
            todo.extend(next);
            let vertex = Vertex(node / 2);
            let is_start = node == Event::Start(vertex).node();
            if let Some(send) =
                self.partner(vertex).filter(|_| is_start && self.whole.is_recv(vertex))
                && let Action::Send { payload, .. } = *self.whole.action(send)
                && self.whole.body(send).payload_size(payload) > eager_limit
            {
                todo.push(Event::End(send).node());
            }
        }
        false
    }

    /// Returns a number that is smaller than the number of every event that happens after `event`.
    pub(crate) fn position(&self, event: Event) -> u32 {
        self.reach.position(event.node())
    }

    /// Decides if one event happens before another in every run. An event happens before itself.
    pub(crate) fn happens_before(&mut self, first: Event, second: Event) -> Ordered {
        self.reach.reaches(first.node(), second.node()).into()
    }

    /// Decides if `first` no longer uses its buffers when `second` begins to use its own (paper II,
    /// Theorem 2: order matters only between accesses to the same data).
    ///
    /// A send no longer uses its buffer when the send or its receive has ended. A receive does not
    /// touch its buffer before its send has started.
    pub(crate) fn accesses_before(&mut self, first: Vertex, second: Vertex) -> Ordered {
        let recv = self.partner(first).filter(|_| !self.whole.is_recv(first));
        self.any_before([Some(Event::End(first)), recv.map(Event::End)], second)
    }

    /// Decides if `first` has started when `second` begins to use its buffers.
    pub(crate) fn starts_before(&mut self, first: Vertex, second: Vertex) -> Ordered {
        self.any_before([Some(Event::Start(first)), None], second)
    }

    /// Decides if one of `events` comes before `second` begins to use its buffers.
    fn any_before(&mut self, events: [Option<Event>; 2], second: Vertex) -> Ordered {
        let send = self.partner(second).filter(|_| self.whole.is_recv(second));
        let starts = [Some(Event::Start(second)), send.map(Event::Start)];
        let mut verdict = Ordered::No;
        for end in events.into_iter().flatten() {
            for start in starts.into_iter().flatten() {
                match self.happens_before(end, start) {
                    Ordered::Yes => return Ordered::Yes,
                    Ordered::No => {}
                    Ordered::Unknown => verdict = Ordered::Unknown,
                }
            }
        }
        verdict
    }
}

/// The order of all events, shared by several checks and computed for the first one that asks.
pub(crate) struct SharedOrder<'w, 'p> {
    whole: &'w Whole<'p>,
    trace: &'w Trace,
    unique: Option<UniqueMatches>,
    /// Pairs of a send and a receive: when the receive has ended, the send has started, whichever
    /// messages the receives take.
    implied: Vec<[Vertex; 2]>,
    /// The bound on the work of questions, as a multiple of the default.
    effort: u64,
    order: Option<Order<'w, 'p>>,
}

impl<'w, 'p> SharedOrder<'w, 'p> {
    pub(crate) fn new(whole: &'w Whole<'p>, trace: &'w Trace) -> Self {
        Self { whole, trace, unique: None, implied: Vec::new(), effort: 1, order: None }
    }

    /// Sets the bound on the work of questions, as a multiple of the default.
    pub(crate) fn with_effort(self, effort: u64) -> Self {
        Self { effort, ..self }
    }

    /// Returns, by vertex of a send or receive, the matching receive or send, if every run matches
    /// these two. Otherwise [`Vertex::NONE`].
    pub(crate) fn partners(&mut self) -> Rc<Vec<Vertex>> {
        Rc::clone(&self.unique().partner)
    }

    /// Returns the order, with its bounds on work reset.
    ///
    /// The first call computes the order, in time linear in actions and dependencies but for
    /// sorting the messages. The order has about 100 bytes an action.
    ///
    /// # Errors
    /// If 32 bits are too few to number events and dependencies.
    pub(crate) fn order(&mut self) -> Result<&mut Order<'w, 'p>, TooLarge> {
        let order = match self.order.take() {
            Some(mut order) => {
                order.reset_bounds();
                order
            }
            None => {
                let implied = std::mem::take(&mut self.implied);
                let order = Order::from_whole(self.whole, self.unique(), &implied);
                self.implied = implied;
                let mut order = order?;
                order.reach.set_effort(self.effort);
                order
            }
        };
        Ok(self.order.insert(order))
    }

    /// Returns, by vertex, true if every run matches the send or receive with the same other end,
    /// and no other send or receive can take its place.
    pub(crate) fn fixed(&mut self) -> Rc<Vec<bool>> {
        Rc::clone(&self.unique().is_fixed)
    }

    /// Adds pairs of a send and a receive in which the send has always started when the receive has
    /// ended. Returns false if `implied` is empty.
    pub(crate) fn add_implied(&mut self, implied: Vec<[Vertex; 2]>) -> bool {
        if implied.is_empty() {
            return false;
        }
        self.implied.extend(implied);
        self.order = None;
        true
    }

    /// Adds messages that the same receive takes in every run, as pairs of send and receive.
    pub(crate) fn add_matches(&mut self, partners: &[[Vertex; 2]]) {
        let unique = self.unique();
        let is_new = |&&[send, _]: &&[Vertex; 2]| unique.partner[send.index()] == Vertex::NONE;
        let new: Vec<[Vertex; 2]> = partners.iter().filter(is_new).copied().collect();
        if new.is_empty() {
            return;
        }
        let partner = Rc::make_mut(&mut unique.partner);
        for [send, recv] in new {
            partner[send.index()] = recv;
            partner[recv.index()] = send;
        }
        unique.reach = None;
        self.order = None;
    }

    fn unique(&mut self) -> &mut UniqueMatches {
        self.unique.get_or_insert_with(|| UniqueMatches::new(self.whole, self.trace))
    }
}

impl std::fmt::Debug for Order<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Order").field("whole", &self.whole).finish_non_exhaustive()
    }
}
