//! The interface of transports to ranks on other hosts, and code that their streams share.
//!
//! [`Fabric`] is one rank's end of a transport to ranks on other hosts. The name is libfabric's
//! word for a network. This project has fabrics over ESP on Ethernet, over TCP and over MPI. A
//! program that embeds `goal-run` may bring its own.
//!
//! On every network, a stream between two ranks consists of chunks. [`chunk`] defines the bytes of
//! a chunk. [`message`] puts chunks into packets and takes them out. [`translate`] converts a
//! message's header to a chunk and back. [`Room`] divides a rank's room for unexpected messages
//! among its senders. [`Credit`] counts the bytes of unexpected messages that two ranks may send
//! each other.
//!
//! This crate does no IO and reads no clock.
//!
//! Threat: the rank at the other end has the key of the job, and may send any bytes. If it sends a
//! chunk that does not belong to the connection, or more bytes than it was granted, a
//! [`StreamFault`] ends the connection.

pub mod chunk;
mod credit;
mod fabric;
mod fault;
pub mod harness;
pub mod limits;
pub mod message;
mod terms;
pub mod translate;

pub use credit::{Credit, Overrun, Room};
pub use fabric::{Exchanged, Fabric};
pub use fault::StreamFault;
pub use terms::Terms;

use goal_engine::kept_bytes;
use goal_engine::transport::{Header, Kind};

/// Returns the number of bytes that a message may take of its receiver's room for unexpected
/// messages. It is 0 for kinds that carry no unexpected payload.
pub fn kept(header: &Header) -> u64 {
    match header.kind() {
        Kind::Eager | Kind::Long => kept_bytes(header.size),
        Kind::Rts | Kind::Cts | Kind::Data | Kind::Fin | Kind::Part => 0,
    }
}
