//! Identifies the hosts of a job, and locates its ranks on them.

use goal_esp::auth::Address;
use goal_esp::wire::Mac;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

/// A host of a job, as another host knows it. In a job over TCP, hosts are equal if their launchers
/// have the same number. The address does not matter.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Host {
    /// The address of the host's interface, in a job over Ethernet.
    Mac([u8; 6]),
    /// The number of the host's launcher, and the address at which this host reaches the launcher,
    /// in a job over TCP.
    Launcher(u32, IpAddr),
}

impl Host {
    /// Returns the Ethernet address of the host's interface.
    ///
    /// # Panics
    /// In a job over TCP.
    pub fn mac(self) -> Mac {
        match self {
            Host::Mac(mac) => Mac(mac),
            Host::Launcher(..) => unreachable!("a host of a job over Ethernet"),
        }
    }
}

impl Host {
    fn identity(&self) -> (Option<[u8; 6]>, u32) {
        match *self {
            Host::Mac(mac) => (Some(mac), 0),
            Host::Launcher(number, _) => (None, number),
        }
    }
}

impl PartialEq for Host {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Host {}

impl PartialOrd for Host {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Host {
    fn cmp(&self, other: &Self) -> Ordering {
        self.identity().cmp(&other.identity())
    }
}

impl Hash for Host {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl From<Mac> for Host {
    fn from(mac: Mac) -> Self {
        Host::Mac(mac.0)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Mac(mac) => Mac(*mac).fmt(f),
            Host::Launcher(number, address) => write!(f, "{number} at {address}"),
        }
    }
}

/// The host of a rank, and the port of the rank on this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Location {
    /// The host.
    pub host: Host,
    /// The port of EDP or TCP.
    pub port: u16,
}

impl Location {
    /// Returns the rank's address on Ethernet.
    ///
    /// # Panics
    /// In a job over TCP.
    pub fn ethernet(self) -> Address {
        Address { mac: self.host.mac(), port: self.port }
    }

    /// Returns the address of the rank's TCP socket.
    ///
    /// # Panics
    /// In a job over Ethernet.
    pub fn socket(self) -> SocketAddr {
        match self.host {
            Host::Launcher(_, address) => SocketAddr::new(address, self.port),
            Host::Mac(_) => unreachable!("a host of a job over TCP"),
        }
    }
}

impl From<Address> for Location {
    fn from(Address { mac, port }: Address) -> Self {
        Self { host: mac.into(), port }
    }
}
