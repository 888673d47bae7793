//! Hosts on a switch.

use crate::namespace::Namespace;
use crate::switch::Forwarder;
use crate::{Faults, Host, INTERFACE, Missing, sys};
use std::fmt::Write;

/// What is between the hosts.
#[derive(Debug, Clone, Copy)]
pub enum Switch {
    /// None: two hosts, joined by their wire.
    Wire,
    /// A bridge of the kernel.
    Bridge,
    /// A program with these faults, which repeat from a seed as far as the order of frames does.
    Faulty(Faults, u64),
}

/// How hosts are joined.
#[derive(Debug, Clone, Copy)]
pub struct Wiring {
    /// How many.
    pub hosts: usize,
    /// Most bytes of a frame behind Ethernet's header.
    pub mtu: usize,
    /// What is between them.
    pub switch: Switch,
}

impl Wiring {
    /// Hosts on a bridge, with frames of 1500 bytes.
    pub fn bridge(hosts: usize) -> Self {
        Self { hosts, mtu: 1500, switch: Switch::Bridge }
    }
}

/// The test bench.
pub struct Cluster {
    hosts: Vec<Host>,
    /// Ends before the namespace of its sockets.
    forwarder: Option<Forwarder>,
    switch: Namespace,
}

/// The switch's end of a host's wire.
pub(crate) fn port_name(host: usize) -> String {
    format!("p{host}")
}

impl Cluster {
    /// Makes it. Segmentation is not left to the devices, so that frames are what they are on a
    /// wire.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn new(wiring: &Wiring) -> Result<Self, Missing> {
        let switch = Namespace::new()?;
        let host = |number| Ok(Host::new(number, Namespace::new()?));
        let hosts = (0..wiring.hosts).map(host).collect::<Result<Vec<_>, _>>()?;
        let mut ports: Vec<String> = (0..wiring.hosts).map(port_name).collect();
        let mtu = wiring.mtu;
        let end = |host: &Host| {
            let path = host.namespace.path();
            format!("{INTERFACE} mtu {mtu} address {} netns {}", host.mac(), path.display())
        };
        let mut lines = String::new();
        match (wiring.switch, hosts.as_slice()) {
            (Switch::Wire, [one, other]) => {
                let _ = writeln!(lines, "link add {} type veth peer {}", end(one), end(other));
                ports.clear();
            }
            (Switch::Wire, _) => return Err(Missing::new("a wire joins two hosts")),
            (Switch::Bridge, _) => {
                let _ = writeln!(lines, "link add b0 type bridge mcast_snooping 0 forward_delay 0");
                let _ = writeln!(lines, "link set b0 addrgenmode none up");
            }
            (Switch::Faulty(..), _) => {}
        }
        for (host, port) in hosts.iter().zip(&ports) {
            let _ = writeln!(lines, "link add {port} mtu {mtu} type veth peer {}", end(host));
            let _ = writeln!(lines, "link set {port} addrgenmode none");
            if matches!(wiring.switch, Switch::Bridge) {
                let _ = writeln!(lines, "link set {port} master b0");
            }
            let _ = writeln!(lines, "link set {port} up");
        }
        switch.ip(&lines)?;
        switch
            .call(|| ports.iter().try_for_each(|name| sys::no_offloads(name)))
            .and_then(|result| result)
            .map_err(Missing::new)?;
        for host in &hosts {
            let ip = host.ip();
            host.namespace.ip(&format!(
                "link set lo up\nlink set {INTERFACE} addrgenmode none up\naddr add {ip}/16 dev {INTERFACE}\n"
            ))?;
            host.call(|| sys::no_offloads(INTERFACE))
                .and_then(|result| result)
                .map_err(Missing::new)?;
        }
        let forwarder = match wiring.switch {
            Switch::Wire | Switch::Bridge => None,
            Switch::Faulty(faults, seed) => {
                Some(Forwarder::start(&switch, wiring, faults, seed).map_err(Missing::new)?)
            }
        };
        Ok(Self { hosts, forwarder, switch })
    }

    /// The same, or a line that says what is missing for the test of this name.
    pub fn or_skip(test: &str, wiring: &Wiring) -> Option<Self> {
        Self::new(wiring).inspect_err(|missing| missing.tell(test)).ok()
    }

    /// The hosts.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Pulls the plug of a host at the switch, or puts it in again.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn plug(&self, host: usize, is_in: bool) -> Result<(), Missing> {
        let state = if is_in { "up" } else { "down" };
        self.switch.ip(&format!("link set {} {state}\n", port_name(host)))
    }

    /// Most bytes of a frame that the port of a host carries at the switch, which drops longer
    /// ones; its interface is not told.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn narrow(&self, host: usize, mtu: usize) -> Result<(), Missing> {
        self.switch.ip(&format!("link set {} mtu {mtu}\n", port_name(host)))
    }

    /// Other faults from now on, where the switch has any.
    pub fn set_faults(&self, faults: Faults) {
        if let Some(forwarder) = &self.forwarder {
            forwarder.set_faults(faults);
        }
    }
}
