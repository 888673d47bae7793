//! One host.

use crate::namespace::Namespace;
use goal_esp::sim::Network;
use goal_esp::wire::Mac;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;

/// The name of each host's interface.
pub const INTERFACE: &str = "v0";

/// A network namespace with one interface.
pub struct Host {
    number: usize,
    pub(crate) namespace: Namespace,
}

impl Host {
    pub(crate) fn new(number: usize, namespace: Namespace) -> Self {
        Self { number, namespace }
    }

    /// Returns the address of its interface.
    pub fn mac(&self) -> Mac {
        Network::mac(self.number)
    }

    /// Returns its IP address, for protocols that are measured beside ESP.
    pub fn ip(&self) -> Ipv4Addr {
        let number = self.number as u16 + 1;
        Ipv4Addr::new(10, 77, (number >> 8) as u8, number as u8)
    }

    /// Returns the path of its network namespace while this process lives, as for `nsenter --net=`.
    pub fn namespace(&self) -> PathBuf {
        self.namespace.path()
    }

    /// Returns a command that runs `program` on the host. The command is killed when the thread
    /// that starts it ends.
    pub fn command(&self, program: &str) -> Command {
        self.namespace.command(program)
    }

    /// Calls `f` on the host, in a thread of its own. Sockets that it opens stay on the host.
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
