//! What happens before what in every run: the order of the starts and the ends of actions.

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

/// The order of all events of a program, by both kinds of dependencies and by messages.
///
/// A message orders the start of its send before the end of its receive, but only where no run can
/// match them otherwise. The work of all questions together is bounded.
pub(crate) struct Order<'w, 'p> {
    whole: &'w Whole<'p>,
    /// By vertex, the other end of its message where every run matches them; [`Vertex::NONE`] for
    /// the rest.
    partner: Rc<Vec<Vertex>>,
    reach: Reach,
    /// Events and edges that walks through messages that wait may still look at.
    steps_left: u64,
}

impl<'w, 'p> Order<'w, 'p> {
    /// The order where every message meets whom it met in one run, whether others may meet or not.
    ///
    /// # Errors
    /// If 32 bits are too few to number events and dependencies.
    pub(crate) fn of_run(whole: &'w Whole<'p>, trace: &Trace) -> Result<Self, TooLarge> {
        let partner = Rc::new(trace.partner.clone());
        let reach = event_graph(whole, &partner, &[])?;
        let mut order = Self { whole, partner, reach, steps_left: 0 };
        order.renew();
        Ok(order)
    }

    /// The same of messages that are known, whose graph is taken.
    fn of(
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
        order.renew();
        Ok(order)
    }

    /// Allows the questions to come as much work as a new order's.
    fn renew(&mut self) {
        self.steps_left = ORDER_STEPS_MAX;
        self.reach.renew();
    }

    /// The other end of a message, where every run matches the two.
    pub(crate) fn partner(&self, vertex: Vertex) -> Option<Vertex> {
        self.partner[vertex.index()].some()
    }

    /// All actions in an order in which they may happen: those whose accesses come before others'
    /// precede these. Where there is a choice, the action that comes first in its body is first.
    pub(crate) fn sequence(&self) -> Vec<Vertex> {
        let (graph, mut missing) = (self.reach.graph(), self.reach.indegrees());
        let id = |node: u32| self.whole.id(Vertex(node / 2)).0;
        let ready = (0..).zip(&missing).filter(|&(_, &missing)| missing == 0).map(|(node, _)| node);
        let mut ready: BinaryHeap<Reverse<(u32, u32)>> =
            ready.map(|node| Reverse((id(node), node))).collect();
        let mut sequence = Vec::with_capacity(self.whole.len());
        while let Some(Reverse((_, node))) = ready.pop() {
            let vertex = Vertex(node / 2);
            // A send reads from its start on, a receive may store as late as its end.
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

    /// Whether `first` comes before `second` where messages above `eager_limit` bytes wait for
    /// their receives; `false` too where the bound on the work of all these questions was too small
    /// to find out.
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

    /// Ascends from each event to those that happen after it.
    pub(crate) fn position(&self, event: Event) -> u32 {
        self.reach.position(event.node())
    }

    /// Whether one event happens before another, or is the same.
    pub(crate) fn happens_before(&mut self, first: Event, second: Event) -> Ordered {
        self.reach.reaches(first.node(), second.node()).into()
    }

    /// Whether `first` has done with its buffers before `second` begins with its own (paper II,
    /// Theorem 2: order matters only between accesses to the same data).
    ///
    /// A send has also done with its buffer when its receive has ended, and a receive doesn't touch
    /// its buffer before its send has started.
    pub(crate) fn accesses_before(&mut self, first: Vertex, second: Vertex) -> Ordered {
        let recv = self.partner(first).filter(|_| !self.whole.is_recv(first));
        self.any_before([Some(Event::End(first)), recv.map(Event::End)], second)
    }

    /// Whether `first` has started before `second` begins with its buffers.
    pub(crate) fn starts_before(&mut self, first: Vertex, second: Vertex) -> Ordered {
        self.any_before([Some(Event::Start(first)), None], second)
    }

    /// Whether one of `events` comes before an action begins with its buffers.
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

/// The order of all events for several checks in turn, found out for the first that asks.
pub(crate) struct SharedOrder<'w, 'p> {
    whole: &'w Whole<'p>,
    trace: &'w Trace,
    unique: Option<UniqueMatches>,
    /// Sends that have started when a receive has ended, whoever took whose message.
    implied: Vec<[Vertex; 2]>,
    /// Most work for questions, as a multiple of the usual.
    effort: u64,
    order: Option<Order<'w, 'p>>,
}

impl<'w, 'p> SharedOrder<'w, 'p> {
    pub(crate) fn new(whole: &'w Whole<'p>, trace: &'w Trace) -> Self {
        Self { whole, trace, unique: None, implied: Vec::new(), effort: 1, order: None }
    }

    /// The same where questions may come to so many times as much work.
    pub(crate) fn with_effort(self, effort: u64) -> Self {
        Self { effort, ..self }
    }

    /// As [`unique_partners`] has them.
    pub(crate) fn partners(&mut self) -> Rc<Vec<Vertex>> {
        Rc::clone(&self.unique().partner)
    }

    /// The order, with all the work that a new one allows.
    ///
    /// The first call is linear in actions and dependencies but for sorting the messages; the order
    /// has about 100 bytes an action.
    ///
    /// # Errors
    /// If 32 bits are too few to number events and dependencies.
    pub(crate) fn order(&mut self) -> Result<&mut Order<'w, 'p>, TooLarge> {
        let order = match self.order.take() {
            Some(mut order) => {
                order.renew();
                order
            }
            None => {
                let implied = std::mem::take(&mut self.implied);
                let order = Order::of(self.whole, self.unique(), &implied);
                self.implied = implied;
                let mut order = order?;
                order.reach.set_effort(self.effort);
                order
            }
        };
        Ok(self.order.insert(order))
    }

    /// By vertex, whether its message has the same other end in every run, whoever else is there.
    pub(crate) fn fixed(&mut self) -> Rc<Vec<bool>> {
        Rc::clone(&self.unique().is_fixed)
    }

    /// Takes note of sends that have started when a receive has ended: send and receive. Returns
    /// false if there are none.
    pub(crate) fn imply(&mut self, implied: Vec<[Vertex; 2]>) -> bool {
        if implied.is_empty() {
            return false;
        }
        self.implied.extend(implied);
        self.order = None;
        true
    }

    /// Takes note of messages that the same receive takes in every run: send and receive.
    pub(crate) fn learn(&mut self, partners: &[[Vertex; 2]]) {
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
