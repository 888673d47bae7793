//! Makes small programs that show the same fault as large ones, by delta debugging (A. Zeller, R.
//! Hildebrandt: Simplifying and Isolating Failure-Inducing Input, 2002) on ranks, messages,
//! actions, dependencies, memory and numbers.
//!
//! The caller decides if a candidate is interesting. Every candidate is a valid program. The
//! reduction does not execute it, so programs that never end are reduced like all others.

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

/// The result of a reduction.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The smallest interesting program.
    pub program: Program,
    /// True if no single rank, message, action, dependency or value in memory can be removed.
    pub is_minimal: bool,
}

/// The most actions of all ranks with which ranks that share a body get copies of it. With a copy,
/// each rank can lose actions alone.
const UNSHARED_MAX: u64 = 1 << 20;

/// Makes a valid program smaller while `verdict` finds it interesting. Returns `None` if the
/// program itself is not interesting.
///
/// Parts are removed in halves, quarters and so on down to single ones, until a whole round changes
/// nothing: then no part can be removed alone. The dependencies of a removed action are passed on
/// to the actions that wait for it. Labels are kept, places in a text are dropped. The same program
/// and verdicts give the same result. No candidate is judged twice.
///
/// A candidate costs time linear in the program. The number of candidates is logarithmic in the
/// removed parts and linear in the remaining ones.
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

/// Tries to remove each kind of part. Begins with the kinds whose removal takes most other parts
/// with it.
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
