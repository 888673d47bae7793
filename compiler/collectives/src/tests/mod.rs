//! Proofs of all algorithms by goal-check, their messages and rounds, the choice among them,
//! requests that can't be met, and very many ranks.

mod decisions;
mod messages;
mod one_round;
mod proofs;
mod requests;
mod scale;
mod symmetric;
