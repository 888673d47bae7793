//! The best program so far, and the search for parts that can be removed.

use goal_lang::Program;
use goal_opt::verify;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// The caller's verdict on a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The candidate still shows the fault.
    Interesting,
    /// The candidate doesn't show the fault.
    Uninteresting,
    /// The candidate doesn't show the fault, and the reduction must stop.
    Stop,
}

/// The state of a reduction.
pub(super) struct Reducer<'a> {
    pub(super) best: Program,
    pub(super) verdict: &'a mut dyn FnMut(&Program) -> Verdict,
    /// Hashes of all candidates so far.
    pub(super) seen: FxHashSet<u64>,
    pub(super) stopped: bool,
    /// The number of accepted candidates.
    pub(super) accepted: u64,
}

impl<'a> Reducer<'a> {
    /// A reducer of an interesting program.
    pub(super) fn new(program: Program, verdict: &'a mut dyn FnMut(&Program) -> Verdict) -> Self {
        let seen = FxHashSet::from_iter([hash(&program)]);
        Self { best: program, verdict, seen, stopped: false, accepted: 0 }
    }

    /// Removes as many of `parts` parts of the best program as possible. Tries all together, then
    /// halves of the rest, and so on down to single parts, the last parts first. `without` makes
    /// the program without the parts that are true in its argument. It returns `None` if there is
    /// no such program.
    pub(super) fn take_away(
        &mut self,
        parts: usize,
        without: impl Fn(&Program, &[bool]) -> Option<Program>,
    ) {
        let program = self.best.clone();
        let mut gone = vec![false; parts];
        let mut left: Vec<usize> = (0..parts).collect();
        let mut size = parts;
        while size > 0 && !left.is_empty() {
            for chunk in left.rchunks(size) {
                if self.stopped {
                    return;
                }
                chunk.iter().for_each(|&part| gone[part] = true);
                let went =
                    without(&program, &gone).is_some_and(|candidate| self.attempt(candidate));
                if !went {
                    chunk.iter().for_each(|&part| gone[part] = false);
                }
            }
            left.retain(|&part| !gone[part]);
            size = if size == 1 { 0 } else { size.div_ceil(2).min(left.len()) };
        }
    }

    /// Makes a candidate the best program if it is valid, new and interesting. Returns true if it
    /// did.
    pub(super) fn attempt(&mut self, candidate: Program) -> bool {
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

/// A hash of everything but debug information.
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
