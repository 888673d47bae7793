//! Proofs of all algorithms by goal-check, their messages, and the choice among them.

mod decisions;
mod messages;
mod proofs;
