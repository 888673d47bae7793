//! GOAL's messages over TCP.
//!
//! Start at [`TcpFabric`]: one rank's [`Fabric`](goal_fabric::Fabric), which opens a connection
//! with another rank when the first message is sent to it. [`handshake`] proves on every connection
//! that both ends have the key of the job, before anything else is read. Launchers use this
//! handshake for their own connections too. [`Listener`] is the port of a rank or a launcher.
//!
//! The streams consist of [chunks](goal_fabric::chunk), as in every fabric. So messages are matched
//! as on Ethernet, and the room for unexpected messages is limited as on Ethernet. TCP keeps the
//! order and repeats lost bytes.
//!
//! The cost of a receive does not depend on the number of connections. The fabric remembers which
//! connection was read after the current connection last time, and tries that connection first. If
//! it has no bytes, the kernel names the connections with bytes. One buffer serves all connections,
//! and a connection without bytes under way has no buffer of its own.
//!
//! Long payloads go through no buffer of the fabric. The system takes them from the sender's
//! memory. On the receiving side, the engine sees the header first and lends memory for one call.
//! The system then writes the payload to this memory.
//!
//! Threat: anyone who reaches the port may connect and send any bytes, or none. A connection that
//! does not prove the key in time is closed. The number of such pending connections is bounded.
//! Each pending connection holds no more than the bytes of a handshake, and with TLS the bounded
//! buffers of TLS. Bytes behind the handshake are protected as TCP protects them: from hosts that
//! are not on the path. Only TLS protects from hosts on the path.

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
pub mod pending;
mod poller;
mod sockets;
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
