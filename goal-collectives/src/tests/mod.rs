//! Proofs of all algorithms by goal-check, and the choice among them.

mod decisions;
mod proofs;
