//! Small programs out of large ones that show the same fault: delta debugging (A. Zeller, R.
//! Hildebrandt: Simplifying and Isolating Failure-Inducing Input, 2002) on ranks, messages,
//! actions, dependencies, memory and numbers.
//!
//! What is interesting is the caller's to say. Every candidate is a valid program; how it behaves
//! is not looked at, so programs that never end are reduced like all others.

mod actions;
mod memory;
mod messages;
mod numbers;
mod ranks;
mod reducer;
#[cfg(test)]
mod tests;

pub use reducer::Verdict;

use goal_lang::{Debug, Program};
use reducer::Reducer;

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
    let mut reducer = Reducer::new(program, verdict);
    let mut before = None;
    while before != Some(reducer.accepted) && !reducer.stopped {
        before = Some(reducer.accepted);
        round(&mut reducer);
    }
    Some(Reduced { program: reducer.best, is_minimal: !reducer.stopped })
}

/// Each kind of part once, those first that take most with them.
fn round(reducer: &mut Reducer<'_>) {
    ranks::reduce(reducer);
    ranks::unshare(&mut reducer.best, UNSHARED_MAX);
    messages::reduce(reducer);
    actions::reduce(reducer);
    messages::without_memory(reducer);
    actions::reduce_dependencies(reducer);
    memory::reduce(reducer);
    numbers::reduce(reducer);
    memory::compact(reducer);
}
