//! PMI-1 over an inherited socket: lines of `key=value` pairs, a request and an answer at a time.
//!
//! The protocol is that of MPICH's Hydra (`doc/wiki/design/PMI.md` there) as Flux's RFC 13 writes
//! it down. Slurm's plugin `pmi2` speaks it too, if the first request asks for version 1, so PMI-2
//! is not needed.
//!
//! Threat: the other end of `PMI_FD` is the launcher's proxy, which runs as the same user or as
//! root. It, or whatever the descriptor is instead, may send anything, at any time, or nothing.
//! Lines have bounded lengths, an answer must belong to the request, nothing may follow it, and
//! each wait has a deadline. Values come from other ranks: their sizes are checked before memory is
//! taken for them, and they are decoded strictly.

mod blob;
mod channel;
mod client;
mod descriptor;
mod mapping;
mod message;
#[cfg(test)]
mod tests;

pub(crate) use client::Client;
pub(crate) use descriptor::{is_socket, take};
