//! Proofs of all algorithms by goal-check, their messages, the choice among them, requests that
//! can't be met, and very many ranks.

mod decisions;
mod messages;
mod proofs;
mod requests;
mod scale;
mod symmetric;
