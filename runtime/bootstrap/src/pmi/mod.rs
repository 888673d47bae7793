//! Speaks PMI-1 over an inherited socket. Requests and answers are lines of `key=value` pairs, and
//! an answer follows each request.
//!
//! The protocol comes from MPICH's Hydra (`doc/wiki/design/PMI.md` in MPICH), and Flux's RFC 13
//! specifies it. Slurm's plugin `pmi2` speaks PMI-1 too, if the first request asks for version 1.
//! So PMI-2 is not needed.
//!
//! Threat: the other end of `PMI_FD` is the launcher's proxy, which runs as the same user or as
//! root. The proxy, or whatever the descriptor is instead, may send anything at any time, or
//! nothing. Lines have limited lengths, and each wait has a deadline. An answer must belong to the
//! request, and nothing may follow it. Values come from other ranks. Their sizes are checked before
//! memory is allocated for them, and they are decoded strictly.

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
