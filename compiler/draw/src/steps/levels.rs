//! The step of each action: the longest chain of actions before it, over all ranks.

use goal_lang::{ANY, Action};
use goal_opt::whole::{Run, Trace, Vertex, Whole};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The steps of a program's actions.
pub(super) struct Levels {
    /// A run without data.
    pub(super) trace: Trace,
    /// By vertex, the other end of a message, also of one that the run does not receive.
    pub(super) partner: Vec<Vertex>,
    /// By vertex, the step in which the action is drawn.
    pub(super) level: Vec<u32>,
    /// By vertex, the action that decides the step.
    cause: Vec<Vertex>,
}

impl Levels {
    /// Runs a program without data, and finds the steps of its actions. Takes linear time.
    pub(super) fn new(whole: &Whole<'_>, eager_limit: u64) -> Self {
        let trace = Run::new(whole).finish(eager_limit);
        let partner = partners(whole, &trace);
        let mut search = Search::new(whole, &trace);
        search.run();
        let Search { level, cause, .. } = search;
        Self { trace, partner, level, cause }
    }

    /// Returns the longest chain of actions, the first one first.
    pub(super) fn longest_chain(&self, whole: &Whole<'_>) -> Vec<Vertex> {
        let ended = whole.vertices().filter(|&vertex| self.trace.has_ended(vertex));
        // Of equal ends, the one of the lowest rank.
        let last = ended.max_by_key(|vertex| (self.level[vertex.index()], !vertex.0));
        let mut chain: Vec<Vertex> = last.into_iter().collect();
        while let Some(before) = chain.last().and_then(|vertex| self.cause[vertex.index()].some()) {
            chain.push(before);
        }
        chain.reverse();
        chain
    }
}

/// Returns the other ends of messages. Those that the run does not receive are paired in the order
/// of the text.
fn partners(whole: &Whole<'_>, trace: &Trace) -> Vec<Vertex> {
    let mut partner = trace.partner.clone();
    if trace.is_complete() {
        return partner;
    }
    let mut left: FxHashMap<(u32, u32, u32), VecDeque<Vertex>> = FxHashMap::default();
    for vertex in whole.vertices().filter(|vertex| partner[vertex.index()].some().is_none()) {
        if let &Action::Send { to, tag, .. } = whole.action(vertex) {
            left.entry((whole.rank(vertex), to, tag)).or_default().push_back(vertex);
        }
    }
    for vertex in whole.vertices().filter(|vertex| trace.partner[vertex.index()].some().is_none()) {
        let &Action::Recv { from, tag, .. } = whole.action(vertex) else { continue };
        if from == ANY || tag == ANY {
            continue;
        }
        let send = left.get_mut(&(from, whole.rank(vertex), tag)).and_then(VecDeque::pop_front);
        if let Some(send) = send {
            partner[vertex.index()] = send;
            partner[send.index()] = vertex;
        }
    }
    partner
}

/// The search for the longest chains, event by event. An action starts and ends. A receive ends
/// after its send has started, and the others end in the step in which they start.
struct Search<'w, 'p> {
    whole: &'w Whole<'p>,
    trace: &'w Trace,
    /// By vertex, the step of its end.
    level: Vec<u32>,
    cause: Vec<Vertex>,
    /// By vertex, the prerequisites that have not happened.
    missing: Vec<u32>,
    /// By vertex, what its end waits for: its start, and of a receive its send.
    missing_of_end: Vec<u8>,
    ready: VecDeque<(Vertex, bool)>,
}

impl<'w, 'p> Search<'w, 'p> {
    fn new(whole: &'w Whole<'p>, trace: &'w Trace) -> Self {
        let mut missing = vec![0; whole.len()];
        for vertex in whole.vertices() {
            for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
                missing[waiter.index()] += 1;
            }
        }
        let waits = |vertex: Vertex| {
            whole.is_recv(vertex) && trace.partner[vertex.index()].some().is_some()
        };
        Self {
            whole,
            trace,
            level: vec![0; whole.len()],
            cause: vec![Vertex::NONE; whole.len()],
            missing_of_end: whole.vertices().map(|vertex| 1 + u8::from(waits(vertex))).collect(),
            ready: whole
                .vertices()
                .filter(|vertex| missing[vertex.index()] == 0)
                .map(|vertex| (vertex, false))
                .collect(),
            missing,
        }
    }

    fn run(&mut self) {
        let mut blocked = Vec::new();
        while let Some((vertex, is_end)) = self.ready.pop_front() {
            match is_end {
                false => self.start(vertex),
                true if self.trace.has_ended(vertex) => self.end(vertex),
                true => blocked.push(vertex),
            }
        }
        // Only the dependencies of its rank give a place to an action that never ends.
        let is_left = |vertex: &Vertex| self.missing_of_end[vertex.index()] > 0;
        let left: Vec<Vertex> = self.whole.vertices().filter(is_left).collect();
        for vertex in left {
            // A receive that started waits for its message no more.
            let missing = &mut self.missing_of_end[vertex.index()];
            let has_started = self.missing[vertex.index()] == 0;
            *missing = u8::from(!has_started);
            if has_started {
                blocked.push(vertex);
            }
        }
        self.ready.extend(blocked.into_iter().map(|vertex| (vertex, true)));
        while let Some((vertex, is_end)) = self.ready.pop_front() {
            match is_end {
                false => self.start(vertex),
                true => self.end(vertex),
            }
        }
    }

    /// Raises the step of an action to one that another action asks for.
    fn raise(&mut self, vertex: Vertex, level: u32, cause: Vertex) {
        if level > self.level[vertex.index()] {
            self.level[vertex.index()] = level;
            self.cause[vertex.index()] = cause;
        }
    }

    fn start(&mut self, vertex: Vertex) {
        let whole = self.whole;
        let level = self.level[vertex.index()];
        for waiter in whole.irequires(vertex) {
            let cause = self.cause[vertex.index()];
            self.raise(waiter, level, cause);
            self.meet(waiter);
        }
        if let Some(receive) = self.trace.partner[vertex.index()].some()
            && !whole.is_recv(vertex)
        {
            self.raise(receive, level + 1, vertex);
            self.meet_end(receive);
        }
        self.meet_end(vertex);
    }

    fn end(&mut self, vertex: Vertex) {
        let level = self.level[vertex.index()] + 1;
        for waiter in self.whole.requires(vertex) {
            self.raise(waiter, level, vertex);
            self.meet(waiter);
        }
    }

    fn meet(&mut self, waiter: Vertex) {
        let missing = &mut self.missing[waiter.index()];
        *missing -= 1;
        if *missing == 0 {
            self.ready.push_back((waiter, false));
        }
    }

    fn meet_end(&mut self, vertex: Vertex) {
        let missing = &mut self.missing_of_end[vertex.index()];
        *missing = missing.saturating_sub(1);
        if *missing == 0 {
            self.ready.push_back((vertex, true));
        }
    }
}
