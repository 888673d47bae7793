//! Finds the ranks that have certainly started when a rank has ended, from the messages that every
//! run matches alike.

use crate::postcondition::ranks::Ranks;
use goal_lang::Action;
use goal_opt::whole::{Vertex, Whole};
use std::rc::Rc;

/// Ranks that have certainly started; `None` for an empty set.
pub(super) type Started = Option<Rc<Ranks>>;

/// Returns, by rank, the ranks that have certainly started when all actions of the rank have ended;
/// `None` for a rank without actions.
///
/// A rank has started when one of its actions has started. The ranks known to have started are
/// passed on:
///
/// - from the start or the end of an action to the actions that wait for it,
/// - from the start of a send to the end of its receive. The sender learns nothing from the
///   receiver.
///
/// A receive without a partner adds nothing, as timing decides which message it takes. A set is
/// dropped when no action waits for it any more.
pub(super) fn started_ranks(whole: &Whole<'_>, partner: &[Vertex]) -> Vec<Started> {
    let mut flow = Flow {
        whole,
        partner,
        ranks: whole.program.num_ranks(),
        missing: vec![0; whole.len()],
        known: vec![None; whole.len()],
        has_started: vec![false; whole.len()],
        ready: Vec::new(),
        started: vec![None; whole.program.ranks.len()],
    };
    for vertex in whole.vertices() {
        for waiter in whole.requires(vertex).chain(whole.irequires(vertex)) {
            flow.missing[waiter.index()] += 1;
        }
    }
    let roots = whole.vertices().filter(|vertex| flow.missing[vertex.index()] == 0);
    flow.ready = roots.collect();
    flow.ready.reverse();
    while let Some(vertex) = flow.ready.pop() {
        flow.start(vertex);
    }
    flow.started
}

/// An abstract run that carries along the ranks that are known to have started.
struct Flow<'a> {
    whole: &'a Whole<'a>,
    /// By vertex of a send or receive, the matching receive or send, if every run matches these
    /// two. Otherwise [`Vertex::NONE`].
    partner: &'a [Vertex],
    ranks: u32,
    /// By vertex, the number of unmet dependencies of both kinds.
    missing: Vec<u32>,
    /// By vertex, the ranks known to have started. They are collected until the action starts, then
    /// kept until its message is received.
    known: Vec<Started>,
    has_started: Vec<bool>,
    ready: Vec<Vertex>,
    started: Vec<Started>,
}

impl Flow<'_> {
    /// Starts an action whose dependencies are met.
    fn start(&mut self, vertex: Vertex) {
        self.has_started[vertex.index()] = true;
        let rank = self.whole.rank(vertex);
        let own: Started = Some(Rc::new(Ranks::one(rank)));
        let known = union(self.known[vertex.index()].take(), &own, self.ranks);
        for waiter in self.whole.irequires(vertex) {
            self.release(waiter, &known);
        }
        let partner = self.partner[vertex.index()];
        match self.whole.action(vertex) {
            Action::Send { .. } => {
                if partner != Vertex::NONE && self.has_started[partner.index()] {
                    let received = union(self.known[partner.index()].take(), &known, self.ranks);
                    self.end(partner, &received);
                } else if partner != Vertex::NONE {
                    self.known[vertex.index()] = known.clone();
                }
                self.end(vertex, &known);
            }
            Action::Recv { .. }
                if partner != Vertex::NONE && !self.has_started[partner.index()] =>
            {
                self.known[vertex.index()] = known;
            }
            Action::Recv { .. } if partner != Vertex::NONE => {
                let received = union(self.known[partner.index()].take(), &known, self.ranks);
                self.end(vertex, &received);
            }
            _ => self.end(vertex, &known),
        }
    }

    /// Ends an action. `known` are the ranks that have started by then.
    fn end(&mut self, vertex: Vertex, known: &Started) {
        let mut is_last = true;
        for waiter in self.whole.requires(vertex) {
            is_last = false;
            self.release(waiter, known);
        }
        if is_last {
            let rank = self.whole.rank(vertex) as usize;
            self.started[rank] = union(self.started[rank].take(), known, self.ranks);
        }
    }

    /// Removes one unmet dependency of `waiter`, and adds the ranks that its prerequisite knows.
    fn release(&mut self, waiter: Vertex, known: &Started) {
        self.known[waiter.index()] = union(self.known[waiter.index()].take(), known, self.ranks);
        self.missing[waiter.index()] -= 1;
        if self.missing[waiter.index()] == 0 {
            self.ready.push(waiter);
        }
    }
}

/// Returns the union of two sets of ranks below `ranks`. If one set contains the other, returns
/// that set without a copy.
fn union(a: Started, b: &Started, ranks: u32) -> Started {
    match (a, b) {
        (None, b) => b.clone(),
        (a, None) => a,
        (Some(a), Some(b)) if Rc::ptr_eq(&a, b) => Some(a),
        (Some(a), Some(b)) => {
            let all = a.union(b, ranks);
            Some(if all == *a {
                a
            } else if all == **b {
                Rc::clone(b)
            } else {
                Rc::new(all)
            })
        }
    }
}
