//! Checks of a whole program: faults that only all ranks together show.

mod analysis;
mod check;
mod datatypes;
mod deadlock;
mod endings;
mod groups;
mod limits;
mod matching;
mod options;
mod order;
mod pairing;
mod patterns;
mod places;
mod postcondition;
mod races;
mod ranges;
pub mod reduce;
mod termination;
#[cfg(test)]
mod tests;
mod timing;
mod waits;

pub use check::{check, check_into};
pub use options::{Collective, CollectiveKind, OptionNames, Options};
