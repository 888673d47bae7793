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
    /// All of them, the nearest first.
    pub const ALL: [Distance; 3] = [Distance::Own, Distance::Node, Distance::Network];

    /// The farthest distance between two ranks of a job with `ranks` ranks, on one host or on
    /// several.
    pub fn farthest(ranks: u32, has_hosts: bool) -> Self {
        match (ranks, has_hosts) {
            (_, true) => Distance::Network,
            (0 | 1, false) => Distance::Own,
            (_, false) => Distance::Node,
        }
    }
}

/// The way in which a receiver reads a payload that stays with its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ZeroCopy {
    /// Not at all.
    None,
    /// It reads the sender's memory, which is mapped.
    Mapped,
    /// The system copies them (UCX's `get_zcopy`).
    Copied,
}

/// Properties of a transport (UCX's `uct_iface_attr_t`). The figures are estimates of a machine of
/// 2020, for information and to order transports of the same priority.
#[derive(Debug)]
pub struct Plugin {
    /// Its name, as users write it.
    pub name: &'static str,
    /// A description in a few words.
    pub about: &'static str,
    /// The transport with the highest priority is chosen among those that reach a rank (pscom's
    /// plugin priorities); 0 turns it off.
    pub priority: u32,
    /// The nearest ranks that it reaches.
    pub nearest: Distance,
    /// The farthest ranks that it reaches.
    pub reach: Distance,
    /// True if it carries messages, not only payloads of messages that another transport carries.
    pub carries_messages: bool,
    /// The way in which it carries payloads that are too large for messages.
    pub zero_copy: ZeroCopy,
    /// Nanoseconds from a small message's start to its end.
    pub latency_ns: u32,
    /// Megabytes a second for large payloads.
    pub bandwidth_mb_s: u32,
    /// Checks that it can be used here. The error tells the user the reason.
    pub probe: fn() -> Result<(), Box<dyn Error + Send + Sync>>,
}

impl Plugin {
    /// Returns true if it reaches ranks at this distance.
    pub fn reaches(&self, distance: Distance) -> bool {
        (self.nearest..=self.reach).contains(&distance)
    }
}
