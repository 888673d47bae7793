//! Model checking: every order of loss, duplication and reordering, on the state machines that the
//! endpoint runs.
//!
//! A model checker tries everything that can happen: any frame in flight may arrive, arrive and
//! stay in flight, or be lost, in any order and any number of times; any timer may expire whenever
//! it runs. At most `Network::frames_max` different frames are in flight; frames sent beside them
//! are lost. In each state it checks that nothing was delivered twice or out of order, and that
//! everything arrives from there once no more frames are lost.

mod handshake;
mod network;
mod postponed;
mod transfer;
