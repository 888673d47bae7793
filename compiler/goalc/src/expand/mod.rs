//! Expands collective statements into messages.
//!
//! Each collective becomes the program that an algorithm of goal-collectives has for it, among the
//! ranks of its members. Only its messages and their order are kept: a statement names bytes and no
//! memory, so messages have sizes without addresses, and local operations become dummies.
//!
//! A few words of text can ask for a very large program. So the actions are counted before any body
//! is built, and more than `EXPANDED_ACTIONS_MAX` are refused.

mod algorithms;
mod body;
mod expanded;
mod plan;
mod program;
mod proof;
#[cfg(test)]
mod tests;

pub use algorithms::{AlgorithmError, AlgorithmRefusal, Algorithms};
pub use expanded::{Expanded, Expansions, Origin};
pub use plan::ExpandError;
pub use program::expand;
pub use proof::{Proofs, prove};
