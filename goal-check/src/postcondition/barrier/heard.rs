//! Who has certainly started when a rank has ended, as messages tell whose matching is the same in
//! every run.

use crate::postcondition::ranks::Ranks;
use goal_lang::Action;
use goal_opt::whole::{Vertex, Whole};
use std::rc::Rc;

/// Ranks that are known to have started.
pub(super) type Heard = Option<Rc<Ranks>>;

/// By rank, which ranks have certainly started when all its actions have ended; `None` where it has
/// none.
///
/// A rank has started when one of its actions has. An action knows what those knew that it waits
/// for, and the end of a receive also what the start of its send knew; nothing flows back to a
/// sender. Knowledge of actions that nobody waits for any more is dropped. A receive without a
/// partner learns nothing: what it takes is up to timing.
pub(super) fn heard(whole: &Whole<'_>, partner: &[Vertex]) -> Vec<Heard> {
    let mut flow = Flow {
        whole,
        partner,
        ranks: whole.program.num_ranks(),
        missing: vec![0; whole.len()],
        known: vec![None; whole.len()],
        has_started: vec![false; whole.len()],
        ready: Vec::new(),
        heard: vec![None; whole.program.ranks.len()],
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
    flow.heard
}

struct Flow<'a> {
    whole: &'a Whole<'a>,
    /// By vertex, the other end of its message where every run matches them.
    partner: &'a [Vertex],
    ranks: u32,
    /// By vertex, dependencies of both kinds that are not met yet.
    missing: Vec<u32>,
    /// By vertex, what it knows: gathered until it starts, kept until its message is received.
    known: Vec<Heard>,
    has_started: Vec<bool>,
    ready: Vec<Vertex>,
    heard: Vec<Heard>,
}

impl Flow<'_> {
    fn start(&mut self, vertex: Vertex) {
        self.has_started[vertex.index()] = true;
        let rank = self.whole.rank(vertex);
        let own: Heard = Some(Rc::new(Ranks::one(rank)));
        let known = union(self.known[vertex.index()].take(), &own, self.ranks);
        for waiter in self.whole.irequires(vertex) {
            self.tell(waiter, &known);
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

    fn end(&mut self, vertex: Vertex, known: &Heard) {
        let mut is_last = true;
        for waiter in self.whole.requires(vertex) {
            is_last = false;
            self.tell(waiter, known);
        }
        if is_last {
            let rank = self.whole.rank(vertex) as usize;
            self.heard[rank] = union(self.heard[rank].take(), known, self.ranks);
        }
    }

    fn tell(&mut self, waiter: Vertex, known: &Heard) {
        self.known[waiter.index()] = union(self.known[waiter.index()].take(), known, self.ranks);
        self.missing[waiter.index()] -= 1;
        if self.missing[waiter.index()] == 0 {
            self.ready.push(waiter);
        }
    }
}

/// The ranks of both, of `ranks` in all. Shared where one has all of the other.
fn union(a: Heard, b: &Heard, ranks: u32) -> Heard {
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
