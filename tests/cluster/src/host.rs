//! Describes one host of a test bench.

use crate::namespace::Namespace;
use goal_esp::sim::Network;
use goal_esp::wire::Mac;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;

/// The name of the interface on each host.
pub const INTERFACE: &str = "v0";

/// A host: a network namespace with one interface.
pub struct Host {
    number: usize,
    pub(crate) namespace: Namespace,
}

impl Host {
    pub(crate) fn new(number: usize, namespace: Namespace) -> Self {
        Self { number, namespace }
    }

    /// Returns the MAC address of the host's interface.
    pub fn mac(&self) -> Mac {
        Network::mac(self.number)
    }

    /// Returns the IP address of the host, for protocols that are measured besides ESP.
    pub fn ip(&self) -> Ipv4Addr {
        let number = self.number as u16 + 1;
        Ipv4Addr::new(10, 77, (number >> 8) as u8, number as u8)
    }

    /// Returns the path of the host's network namespace, for `nsenter --net=`. It is valid while
    /// this process lives.
    pub fn namespace(&self) -> PathBuf {
        self.namespace.path()
    }

    /// Returns a command that runs `program` on the host. The program is killed when the thread
    /// that starts it ends.
    pub fn command(&self, program: &str) -> Command {
        self.namespace.command(program)
    }

    /// Calls `f` in the host's namespace, in a new thread. Sockets that it opens stay on the host.
    ///
    /// # Errors
    /// The error of the system.
    ///
    /// # Panics
    /// If `f` panics.
    pub fn call<T: Send>(&self, f: impl FnOnce() -> T + Send) -> io::Result<T> {
        self.namespace.call(f)
    }
}
