//! Every order of loss, duplication and reordering, on the machines that the protocol runs on.
//!
//! A model checker tries all that can happen: any frame on its way may arrive, arrive and stay on
//! its way, or be lost, in any order and without end; any timer may pass whenever it runs. At most
//! [`Network::frames_max`] different frames are on their way, what is sent beside them is lost. In
//! each state it checks that nothing was delivered twice or out of order, and that from then on,
//! once nothing is lost any more, everything arrives.

mod handshake;
mod network;
mod postponed;
mod transfer;
