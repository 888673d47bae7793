//! The transports that there are, and what each can do.

use super::{cma, esp, local, shm};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A transport by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Name {
    /// A queue in the rank's own memory.
    Local,
    /// The segment that all ranks of a job share.
    Shm,
    /// The memory of other processes.
    Cma,
    /// Streams straight on Ethernet.
    Esp,
}

/// How far a rank is from another one.
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

    /// Of ranks of a job with so many of them, on one host or on several.
    pub fn farthest(ranks: u32, has_hosts: bool) -> Self {
        match (ranks, has_hosts) {
            (_, true) => Distance::Network,
            (0 | 1, false) => Distance::Own,
            (_, false) => Distance::Node,
        }
    }
}

/// What carries messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Carrier {
    /// [`Name::Local`].
    Local,
    /// [`Name::Shm`].
    Shm,
    /// [`Name::Esp`].
    Esp,
}

/// How a receiver gets at a payload that stays with its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ZeroCopy {
    /// Not at all.
    None,
    /// It reads the bytes where they lie.
    Mapped,
    /// The system copies them (UCX's `get_zcopy`).
    Copied,
}

/// What a transport is and can do (UCX's `uct_iface_attr_t`). The figures are estimates of a
/// machine of 2020, for information and to order transports of the same priority.
#[derive(Debug)]
pub struct Plugin {
    /// Its name.
    pub name: Name,
    /// Its name, as users write it.
    pub text: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Among transports that reach a rank, that with the highest is chosen (pscom's plugin
    /// priorities); 0 turns it off.
    pub priority: u32,
    /// The nearest ranks that it reaches.
    pub nearest: Distance,
    /// The farthest ranks that it reaches.
    pub reach: Distance,
    /// Which way messages take that it carries; `None` where it carries none.
    pub carrier: Option<Carrier>,
    /// How it carries payloads that are too large for messages.
    pub zero_copy: ZeroCopy,
    /// Nanoseconds from a small message's start to its end.
    pub latency_ns: u32,
    /// Megabytes a second for large payloads.
    pub bandwidth_mb_s: u32,
    /// Whether it can be used here; in words why not.
    pub probe: fn() -> Result<(), String>,
}

/// All transports.
pub const PLUGINS: [&Plugin; 4] = [&local::PLUGIN, &shm::PLUGIN, &cma::PLUGIN, &esp::PLUGIN];

impl Plugin {
    /// Whether it reaches ranks at this distance.
    pub fn reaches(&self, distance: Distance) -> bool {
        (self.nearest..=self.reach).contains(&distance)
    }
}

impl Name {
    /// What is known of it.
    pub fn plugin(self) -> &'static Plugin {
        PLUGINS.into_iter().find(|plugin| plugin.name == self).expect("every name has its plugin")
    }

    /// The transport that users call so.
    pub(super) fn parse(text: &str) -> Option<Self> {
        PLUGINS.into_iter().find(|plugin| plugin.text == text).map(|plugin| plugin.name)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plugin().text)
    }
}
