//! The hosts of a test bench and the switch between them.

use crate::Faults;

/// The device between the hosts.
#[derive(Debug, Clone, Copy)]
pub enum Switch {
    /// No device: two hosts, joined by a wire.
    Wire,
    /// A bridge of the kernel.
    Bridge,
    /// A program with these faults. They repeat from the seed as far as the order of frames does.
    Faulty(Faults, u64),
}

/// The hosts of a test bench and their connection.
#[derive(Debug, Clone, Copy)]
pub struct Wiring {
    /// The number of hosts.
    pub hosts: usize,
    /// The longest frame in bytes, behind Ethernet's header.
    pub mtu: usize,
    /// The device between them.
    pub switch: Switch,
}

impl Wiring {
    /// Returns hosts on a bridge, with frames of up to 1500 bytes.
    pub fn bridge(hosts: usize) -> Self {
        Self { hosts, mtu: 1500, switch: Switch::Bridge }
    }
}

/// Returns the name of the switch's end of a host's wire.
pub(crate) fn port_name(host: usize) -> String {
    format!("p{host}")
}
