//! Defines the options for a job on several hosts.

use crate::hosts::{Key, PORT, Plan, RankList};
use goal_eth::DriverKind;
use goal_tcp::Listener;
use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The settings of a job on several hosts.
#[derive(Debug, Clone)]
pub struct Hosts {
    /// The network on which the hosts find and reach each other.
    pub meeting: Meeting,
    /// The key that all hosts of the job have.
    pub key: Key,
    /// True if the leader must always get the memory of all ranks, as
    /// [`Outcome::dump`](crate::outcome::Outcome::dump) needs it.
    pub keeps_memory: bool,
    /// The options that the user gave here, but that only the leader follows.
    pub leaders: Vec<&'static str>,
    /// The name of the fabric that each rank's program brings, in a job over TCP: see
    /// [`Wired::arrange_over`](crate::launcher::Wired::arrange_over). It must be the same on all
    /// hosts.
    pub fabric: Option<String>,
    /// Finds the reason why another host can't join the job before it begins. `None` if the caller
    /// knows no way to find one.
    pub obstacle: Option<Obstacle>,
}

/// A function that finds the reason why another host can't join the job, such as the early end of
/// its launcher.
#[derive(Clone)]
pub struct Obstacle(Arc<dyn Fn() -> Option<String> + Send + Sync>);

impl Obstacle {
    /// Returns an obstacle that calls `find` while hosts wait for each other. `find` returns a text
    /// for the user of each host, or `None` while no reason is known.
    pub fn new(find: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    pub(super) fn find(&self) -> Option<String> {
        (self.0)()
    }
}

impl fmt::Debug for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Obstacle")
    }
}

/// The network on which the hosts of a job find and reach each other.
#[derive(Debug, Clone)]
pub enum Meeting {
    /// By frames of Ethernet.
    Ethernet(Ethernet),
    /// By connections of TCP.
    Tcp(Rendezvous),
}

/// Hosts on one Ethernet.
#[derive(Debug, Clone)]
pub struct Ethernet {
    /// Name of this host's interface.
    pub interface: String,
    /// The driver of the ranks. Launchers always use packet sockets, as they send few frames.
    pub driver: DriverKind,
    /// The port of launchers.
    pub port: u16,
    /// Set if all data between ranks is authenticated. It must be the same on all hosts.
    pub authenticates_data: bool,
    /// The distribution of ranks among the hosts.
    pub plan: Plan,
}

impl Ethernet {
    /// Returns the description of an Ethernet with this interface and `plan`. All other fields have
    /// their defaults.
    pub fn new(interface: String, plan: Plan) -> Self {
        let driver = DriverKind::default();
        Self { interface, driver, port: PORT, authenticates_data: true, plan }
    }
}

/// A meeting of launchers over TCP. Each has a number, and the launcher with the number 0 listens.
#[derive(Debug, Clone)]
pub struct Rendezvous {
    /// The number of this launcher. The launcher with the number 0 leads, and has rank 0.
    pub number: u32,
    /// The number of launchers.
    pub size: u32,
    /// The address at which launcher 0 listens: a name or an address of its host, and a port.
    /// Examples are `node0:7777` and `[fd00::1]:7777`. Several are separated by commas.
    pub at: String,
    /// The ranks of this launcher. With `None`, each launcher has a block of ranks, in the order of
    /// the launchers' numbers.
    pub here: Option<RankList>,
    /// The address at which other hosts reach the ranks of this host. By default it is the address
    /// that the connections between the launchers have on this host.
    pub address: Option<IpAddr>,
    /// The ports at which the ranks of this host may listen; 0 stands for any free port.
    pub ports: RangeInclusive<u16>,
    /// The listener that launcher 0 uses. `None` if it must open one at `at`.
    pub listener: Option<Arc<Listener>>,
    /// The silence in seconds after which a launcher, or the host of a rank, counts as lost. It is
    /// at least 1, and must be the same on all hosts.
    pub fault_timeout_s: u32,
    /// True if all connections are encrypted. It must be the same on all hosts.
    pub encrypts: bool,
}

impl Rendezvous {
    /// Returns the description of the meeting for launcher `number` of `size`. All other fields
    /// have their defaults.
    pub fn new(number: u32, size: u32, at: String) -> Self {
        Self {
            number,
            size,
            at,
            here: None,
            address: None,
            ports: 0..=0,
            listener: None,
            encrypts: false,
            fault_timeout_s: goal_tcp::SILENCE_S,
        }
    }
}

impl Hosts {
    /// Returns the settings of a job whose hosts all have this `key`. All other fields have their
    /// defaults.
    pub fn new(meeting: Meeting, key: Key) -> Self {
        Self { meeting, key, keeps_memory: false, leaders: vec![], fabric: None, obstacle: None }
    }

    /// Returns the Ethernet on which the hosts meet. Returns `None` if they meet over TCP.
    pub(super) fn ethernet(&self) -> Option<&Ethernet> {
        match &self.meeting {
            Meeting::Ethernet(ethernet) => Some(ethernet),
            Meeting::Tcp(_) => None,
        }
    }

    /// Returns true if the hosts meet over TCP, with encrypted connections.
    pub(super) fn encrypts(&self) -> bool {
        matches!(&self.meeting, Meeting::Tcp(rendezvous) if rendezvous.encrypts)
    }

    /// Returns the silence in seconds after which a host counts as lost. Returns `None` on
    /// Ethernet, where it can't be chosen.
    pub(super) fn fault_timeout_s(&self) -> Option<u32> {
        match &self.meeting {
            Meeting::Ethernet(_) => None,
            Meeting::Tcp(rendezvous) => Some(rendezvous.fault_timeout_s),
        }
    }
}
