//! The hosts of a test bench and the switch between them.

use crate::Faults;

/// The network that connects the hosts.
#[derive(Debug, Clone, Copy)]
pub enum Switch {
    /// A wire between two hosts.
    Wire,
    /// A bridge of the Linux kernel.
    Bridge,
    /// A program with these faults and this seed. The faults repeat if frames come in the same
    /// order.
    Faulty(Faults, u64),
}

/// The hosts of a test bench and their connection.
#[derive(Debug, Clone, Copy)]
pub struct Wiring {
    /// The number of hosts.
    pub hosts: usize,
    /// The most bytes of a frame after the Ethernet header.
    pub mtu: usize,
    /// The network that connects the hosts.
    pub switch: Switch,
}

impl Wiring {
    /// Returns the wiring of `hosts` hosts on a bridge, with frames of up to 1500 bytes.
    pub fn bridge(hosts: usize) -> Self {
        Self { hosts, mtu: 1500, switch: Switch::Bridge }
    }
}

/// Returns the name of the switch's interface for a host.
pub(crate) fn port_name(host: usize) -> String {
    format!("p{host}")
}
