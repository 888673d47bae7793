//! Proofs of all algorithms by goal-check, their messages, the choice among them, and requests
//! that can't be met.

mod decisions;
mod messages;
mod proofs;
mod requests;
