//! Builds a test bench: hosts, and a switch between them.

use crate::namespace::Namespace;
use crate::switch::Forwarder;
use crate::wiring::{Switch, Wiring, port_name};
use crate::{Faults, Host, INTERFACE, Missing, sys};
use std::fmt::Write;

/// The test bench. Dropping it removes everything.
pub struct Cluster {
    hosts: Vec<Host>,
    /// The thread of the switch. It must be dropped before the namespace of its sockets.
    forwarder: Option<Forwarder>,
    switch: Namespace,
}

impl Cluster {
    /// Creates the test bench. Switches offloads off, so that frames are as on a real wire.
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

    /// Creates the test bench. If something is missing, prints a line that names it and `test`, and
    /// returns `None`.
    pub fn or_skip(test: &str, wiring: &Wiring) -> Option<Self> {
        Self::new(wiring).inspect_err(|missing| missing.report(test)).ok()
    }

    /// Returns the hosts.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Disconnects a host from the switch, or connects it again.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn plug(&self, host: usize, is_in: bool) -> Result<(), Missing> {
        let state = if is_in { "up" } else { "down" };
        self.switch.ip(&format!("link set {} {state}\n", port_name(host)))
    }

    /// Sets the most bytes of a frame that the switch carries on the port of a host. It drops
    /// longer frames without telling the host.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn narrow(&self, host: usize, mtu: usize) -> Result<(), Missing> {
        self.switch.ip(&format!("link set {} mtu {mtu}\n", port_name(host)))
    }

    /// Changes the faults of the switch. Does nothing if the switch is no program.
    pub fn set_faults(&self, faults: Faults) {
        if let Some(forwarder) = &self.forwarder {
            forwarder.set_faults(faults);
        }
    }
}
