//! EDP and ESP: datagrams and reliable streams straight on Ethernet, for switched networks, after
//! the thesis *ESPGOAL* (2011), chapters 3 and 4.2.
//!
//! The crate does no IO, reads no clock, draws no random numbers and has no `unsafe`: whoever calls
//! it hands in frames, the time and randomness, and takes frames out. So the same state machines
//! run on a network card, in a simulation that repeats itself from a seed, and in a model checker
//! that tries every order of loss, duplication and reordering.
//!
//! `docs/esp.md` describes the protocol. Start at [`wire`] for its bytes.

pub mod auth;
pub mod datagram;
pub mod endpoint;
pub mod harness;
pub mod limits;
pub mod machine;
pub mod message;
pub mod seq;
pub mod sim;
pub mod transfer;
pub mod wire;
