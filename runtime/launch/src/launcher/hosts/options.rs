//! Defines the options for a job on several hosts.

use crate::hosts::{Key, PORT, Plan, RankList};
use goal_eth::DriverKind;
use goal_tcp::Listener;
use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The other hosts of a job.
#[derive(Debug, Clone)]
pub struct Hosts {
    /// The network on which the hosts find and reach each other.
    pub meeting: Meeting,
    /// The key that all hosts of the job have.
    pub key: Key,
    /// Set if the leader must get the memory of all ranks in any case, as for
    /// [`Outcome::dump`](crate::outcome::Outcome::dump).
    pub keeps_memory: bool,
    /// Options that were given and that only the leader follows.
    pub leaders: Vec<&'static str>,
    /// The name of the fabric that each rank's program brings, in a job over TCP: see
    /// [`Wired::arrange_over`](crate::launcher::Wired::arrange_over). It must be the same on all
    /// hosts.
    pub fabric: Option<String>,
    /// Finds the reason that keeps another host from the job before it begins, if the caller knows
    /// one.
    pub obstacle: Option<Obstacle>,
}

/// Finds the reason that keeps another host from the job, such as the early end of its launcher.
#[derive(Clone)]
pub struct Obstacle(Arc<dyn Fn() -> Option<String> + Send + Sync>);

impl Obstacle {
    /// Returns an obstacle that calls `find` while hosts wait for each other. `find` returns a text
    /// for the user of each host, or `None` while nothing is known.
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
    /// The driver of its ranks. Launchers always use packet sockets, as they send few frames.
    pub driver: DriverKind,
    /// The port of launchers.
    pub port: u16,
    /// Set if all data between ranks is authenticated. It must be the same on all hosts.
    pub authenticates_data: bool,
    /// The distribution of ranks among the hosts.
    pub plan: Plan,
}

impl Ethernet {
    /// Returns the hosts of a `plan`, reached through an interface. All other fields have their
    /// defaults.
    pub fn new(interface: String, plan: Plan) -> Self {
        let driver = DriverKind::default();
        Self { interface, driver, port: PORT, authenticates_data: true, plan }
    }
}

/// Launchers that meet at an address of TCP, where the first of them listens. Each has a number.
#[derive(Debug, Clone)]
pub struct Rendezvous {
    /// The number of this launcher. That with the number 0 leads, and has rank 0.
    pub number: u32,
    /// The number of launchers.
    pub size: u32,
    /// The host, by its name or address, and the port, as `node0:7777` or `[fd00::1]:7777`; several
    /// are separated by commas.
    pub at: String,
    /// The ranks of this launcher. `None` gives each launcher a block of ranks, in the order of
    /// their numbers.
    pub here: Option<RankList>,
    /// The address at which other hosts reach the ranks of this one. By default it is the one that
    /// the launchers' own connection has here.
    pub address: Option<IpAddr>,
    /// The ports for the ranks of this host; 0 stands for any free one.
    pub ports: RangeInclusive<u16>,
    /// The port at which launcher 0 listens already.
    pub listener: Option<Arc<Listener>>,
    /// The seconds of silence after which a launcher, or the host of a rank, is lost; at least 1.
    /// It must be the same on all hosts.
    pub fault_timeout_s: u32,
    /// True if all connections are encrypted. It must be the same on all hosts.
    pub encrypts: bool,
}

impl Rendezvous {
    /// Returns a launcher's part in a meeting. All other fields have their defaults.
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
    /// Returns the hosts of a meeting with a `key` that all of them have. All other fields have
    /// their defaults.
    pub fn new(meeting: Meeting, key: Key) -> Self {
        Self { meeting, key, keeps_memory: false, leaders: vec![], fabric: None, obstacle: None }
    }

    /// Returns the Ethernet between the hosts, if they meet there.
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

    /// Returns the seconds of silence after which a host is lost, if the hosts meet over TCP.
    pub(super) fn fault_timeout_s(&self) -> Option<u32> {
        match &self.meeting {
            Meeting::Ethernet(_) => None,
            Meeting::Tcp(rendezvous) => Some(rendezvous.fault_timeout_s),
        }
    }
}
