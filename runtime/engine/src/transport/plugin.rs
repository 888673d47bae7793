//! The description of a transport: name, priority, reach and abilities.

use serde::Serialize;
use std::error::Error;

/// The distance between two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// The rank itself.
    Own,
    /// Another rank of the job on the same node.
    Node,
    /// A rank on another node of the same network.
    Network,
}

impl Distance {
    /// All distances, the nearest first.
    pub const ALL: [Distance; 3] = [Distance::Own, Distance::Node, Distance::Network];

    /// Returns the farthest distance between two ranks of a job with `ranks` ranks, on one host or
    /// on several.
    pub fn farthest(ranks: u32, has_hosts: bool) -> Self {
        match (ranks, has_hosts) {
            (_, true) => Distance::Network,
            (0 | 1, false) => Distance::Own,
            (_, false) => Distance::Node,
        }
    }
}

/// The way in which a receiver gets a payload that stays in the sender's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ZeroCopy {
    /// The receiver can't read the payload; the sender sends it in messages.
    None,
    /// The receiver reads the sender's memory, which its process has mapped.
    Mapped,
    /// The system copies the payload from the sender's memory (UCX's `get_zcopy`).
    Copied,
}

/// Properties of a transport (UCX's `uct_iface_attr_t`). The figures are estimates of a machine of
/// 2020, for information and to order transports of the same priority.
#[derive(Debug)]
pub struct Plugin {
    /// The name of the transport, as users write it.
    pub name: &'static str,
    /// A description in a few words.
    pub about: &'static str,
    /// The priority. Of the transports that reach a rank, the one with the highest priority is
    /// chosen (pscom's plugin priorities). 0 turns the transport off.
    pub priority: u32,
    /// The distance of the nearest ranks that the transport reaches.
    pub nearest: Distance,
    /// The distance of the farthest ranks that the transport reaches.
    pub reach: Distance,
    /// True if the transport carries messages. False if it carries only payloads of messages that
    /// another transport carries.
    pub carries_messages: bool,
    /// The way in which the transport carries payloads that are too large for messages.
    pub zero_copy: ZeroCopy,
    /// The nanoseconds from the start of a small message to its end.
    pub latency_ns: u32,
    /// Megabytes a second for large payloads.
    pub bandwidth_mb_s: u32,
    /// Checks that the transport can be used on this machine. The error tells the user the reason.
    pub probe: fn() -> Result<(), Box<dyn Error + Send + Sync>>,
}

impl Plugin {
    /// Returns true if the transport reaches ranks at this distance.
    pub fn reaches(&self, distance: Distance) -> bool {
        (self.nearest..=self.reach).contains(&distance)
    }
}
