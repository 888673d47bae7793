//! GOAL's messages over TCP.
//!
//! [`TcpFabric`] is one rank's end: a [`Fabric`](goal_fabric::Fabric) that opens a connection with
//! another rank when the first message is sent to it. Start there. [`handshake`] proves on every
//! connection that both ends have the key of the job, before anything else is read; launchers use
//! it for their own connections too. [`Listener`] is the port that a rank, or a launcher, is
//! reached at.
//!
//! The streams consist of the chunks of `goal-esp`, as those on Ethernet do, so messages are
//! matched, and unexpected ones are bounded, in the same way. TCP keeps the order and repeats what
//! was lost.
//!
//! The cost of a receive does not depend on the number of connections: the connection that was read
//! after this one the last time is read first, and otherwise the kernel tells which have bytes. One
//! buffer serves all connections. A connection without bytes on their way has
//! no buffer of its own. Long payloads go through no buffer: the system takes them from the
//! sender's memory, and writes them to the memory that the receiver's engine lends for one call,
//! when it has seen the header.
//!
//! Threat: anyone who reaches the port may connect and send any bytes, or none. A connection that
//! does not prove the key in time is closed; such connections are bounded in number and hold no
//! more than the bytes of a handshake, and with TLS its buffers, which it bounds. Bytes behind the
//! handshake are protected as TCP protects them: from hosts that are not on the way. Only TLS
//! protects from hosts that are.

pub mod channel;
mod conditions;
mod connection;
mod fabric;
pub mod handshake;
mod inbox;
mod info;
mod limits;
mod listener;
mod outbox;
mod poller;
mod sockets;
pub mod stranger;
#[cfg(test)]
mod tests;
mod touch;
mod wire;

pub use channel::{Channel, Tls};
pub use conditions::Conditions;
pub use fabric::TcpFabric;
pub use limits::{MESSAGE_MAX, SILENCE_S};
pub use listener::{ListenError, Listener};

use goal_engine::transport::{Distance, Plugin, ZeroCopy};

/// The properties of the transport.
pub const TCP: Plugin = Plugin {
    name: "tcp",
    about: "connections of TCP, to ranks on other hosts",
    priority: 10,
    nearest: Distance::Network,
    reach: Distance::Network,
    carries_messages: true,
    zero_copy: ZeroCopy::None,
    latency_ns: 6_000,
    bandwidth_mb_s: 3_000,
    probe: || Ok(()),
};
