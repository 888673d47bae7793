//! Transports of messages to ranks on other hosts: their interface, and what their streams share.
//!
//! [`Fabric`] is one rank's end of such a transport, as libfabric calls a network. ESP on Ethernet
//! and TCP are fabrics of this project, and a program that embeds `goal-run` may bring its own:
//! its example `channels` has one. [`AsTransport`] lets an engine use one by itself.
//!
//! Streams between two ranks consist of the chunks of `goal-esp`. [`translate`] makes a chunk of a
//! message's header, and a header of a chunk. [`Room`] divides a rank's room for messages without
//! a receive among its senders, and [`Credit`] counts what two ranks may send each other.
//!
//! This crate does no IO and reads no clock.
//!
//! Threat: the rank at the other end has the key of the job, and may send any bytes. A chunk that
//! is none of this connection, and more bytes than were granted, are a [`StreamFault`], which ends
//! the connection.

mod credit;
mod fabric;
mod fault;
mod terms;
pub mod translate;
mod transport;

pub use credit::{Credit, Overrun, Room};
pub use fabric::{Exchanged, Fabric};
pub use fault::StreamFault;
pub use terms::Terms;
pub use transport::AsTransport;

use goal_engine::kept_bytes;
use goal_engine::transport::{Header, Kind};

/// Returns the bytes of its receiver's room that a message may take.
pub fn kept(header: &Header) -> u64 {
    match header.kind() {
        Kind::Eager | Kind::Long => kept_bytes(header.size),
        Kind::Rts | Kind::Cts | Kind::Data | Kind::Fin | Kind::Part => 0,
    }
}
