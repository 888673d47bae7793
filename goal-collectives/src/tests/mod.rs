//! Proofs of all algorithms by goal-check.

mod proofs;
