//! Small programs out of large ones that show the same fault: delta debugging (A. Zeller, R.
//! Hildebrandt: Simplifying and Isolating Failure-Inducing Input, 2002) on ranks, messages,
//! actions, dependencies, memory and numbers.
//!
//! What is interesting is the caller's to say. Every candidate is a valid program; how it behaves
//! is not looked at, so programs that never end are reduced like all others.

mod actions;
mod chunks;
mod memory;
mod messages;
mod numbers;
mod ranks;
#[cfg(test)]
mod tests;

use goal_lang::{Debug, Program};
use goal_opt::verify;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// What the caller says to a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It still shows what is looked for.
    Interesting,
    /// It doesn't.
    Uninteresting,
    /// It doesn't, and no other is to be tried.
    Stop,
}

/// A program that was made smaller.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The smallest one that was interesting.
    pub program: Program,
    /// Whether nothing more can be taken from it: no rank, message, action, dependency or value in
    /// memory alone.
    pub is_minimal: bool,
}

/// Actions of all ranks together up to which ranks that do the same get bodies of their own, so
/// that each can lose actions alone.
const UNSHARED_MAX: u64 = 1 << 20;

/// Makes a valid program smaller as long as `verdict` finds it interesting; `None` where the
/// program itself is not.
///
/// Parts are taken away in halves, quarters and so on down to single ones, rounds of this until one
/// changes nothing: what is left has no part that can go alone. An action that goes hands its
/// dependencies on to those that wait for it. Labels stay, places in a text are dropped. The same
/// program and verdicts give the same result, and no candidate is asked about twice.
///
/// A candidate costs time linear in the program; their number is logarithmic in what goes and
/// linear in what stays.
pub fn reduce(program: &Program, verdict: &mut dyn FnMut(&Program) -> Verdict) -> Option<Reduced> {
    let mut program = program.clone();
    for body in &mut program.bodies {
        body.debug = Debug { labels: std::mem::take(&mut body.debug.labels), ..Debug::default() };
    }
    if verdict(&program) != Verdict::Interesting {
        return None;
    }
    let seen = FxHashSet::from_iter([hash(&program)]);
    let mut reducer = Reducer { best: program, verdict, seen, stopped: false, accepted: 0 };
    let mut before = None;
    while before != Some(reducer.accepted) && !reducer.stopped {
        before = Some(reducer.accepted);
        reducer.round();
    }
    Some(Reduced { program: reducer.best, is_minimal: !reducer.stopped })
}

/// The smallest interesting program so far.
struct Reducer<'a> {
    best: Program,
    verdict: &'a mut dyn FnMut(&Program) -> Verdict,
    /// Hashes of all that was asked about.
    seen: FxHashSet<u64>,
    stopped: bool,
    /// How often something smaller was found.
    accepted: u64,
}

impl Reducer<'_> {
    /// Each kind of part once, those first that take most with them.
    fn round(&mut self) {
        ranks::reduce(self);
        ranks::unshare(&mut self.best, UNSHARED_MAX);
        messages::reduce(self);
        actions::reduce(self);
        messages::without_memory(self);
        actions::reduce_dependencies(self);
        memory::reduce(self);
        numbers::reduce(self);
        memory::compact(self);
    }

    /// Takes a candidate for the best program if it is valid, new and interesting.
    fn attempt(&mut self, candidate: Program) -> bool {
        if self.stopped || !self.seen.insert(hash(&candidate)) || verify(&candidate).is_err() {
            return false;
        }
        match (self.verdict)(&candidate) {
            Verdict::Interesting => {
                self.best = candidate;
                self.accepted += 1;
                true
            }
            Verdict::Uninteresting => false,
            Verdict::Stop => {
                self.stopped = true;
                false
            }
        }
    }
}

/// A hash of what a program does.
fn hash(program: &Program) -> u64 {
    let mut hasher = FxHasher::default();
    program.ranks.hash(&mut hasher);
    for body in &program.bodies {
        (&body.actions, &body.requires, &body.irequires, &body.pieces, body.scratch)
            .hash(&mut hasher);
    }
    program.images.hash(&mut hasher);
    hasher.finish()
}
