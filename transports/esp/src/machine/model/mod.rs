//! Model checking: every order of loss, duplication and reordering, on the state machines that the
//! endpoint runs.
//!
//! A model checker tries everything that can happen, in any order. Any frame in flight may arrive
//! once or several times, or may be lost. Any running timer may expire at any time. At most
//! `Network::frames_max` different frames are in flight; further frames are lost. In each state the
//! checker finds out that nothing was delivered twice or out of order. It also checks that
//! everything arrives from this state on, once no more frames are lost.

mod handshake;
mod network;
mod postponed;
mod transfer;
