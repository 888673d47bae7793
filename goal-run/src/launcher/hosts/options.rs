//! Options for a job on several hosts.

use crate::hosts::{Key, PORT, Plan};
use goal_eth::DriverKind;

/// The other hosts of a job.
#[derive(Debug, Clone)]
pub struct Hosts {
    /// Name of this host's interface.
    pub interface: String,
    /// The driver of its ranks. Launchers always use packet sockets, as they send few frames.
    pub driver: DriverKind,
    /// The port of launchers.
    pub port: u16,
    /// The key that all hosts of the job have.
    pub key: Key,
    /// Set if all data between ranks is authenticated. It must be the same on all hosts.
    pub authenticates_data: bool,
    /// The distribution of ranks among the hosts.
    pub plan: Plan,
    /// Set if the leader must get the memory of all ranks in any case, as for
    /// [`Outcome::dump`](crate::outcome::Outcome::dump).
    pub keeps_memory: bool,
    /// Returns the name under which the user knows a setting, for messages about settings that
    /// differ between hosts. The argument is the name of a field of
    /// [`Options`](crate::launcher::Options) or of its engine's options, or
    /// `unauthenticated_data`.
    pub name: fn(&'static str) -> &'static str,
    /// Options that were given and that only the leader follows.
    pub leaders: Vec<&'static str>,
}

impl Hosts {
    /// Returns the hosts of a `plan`, reached through an interface, with a `key` that all of them
    /// have. All other fields have their defaults.
    pub fn new(interface: String, key: Key, plan: Plan) -> Self {
        Self {
            interface,
            driver: DriverKind::default(),
            port: PORT,
            key,
            authenticates_data: true,
            plan,
            keeps_memory: false,
            name: |setting| setting,
            leaders: vec![],
        }
    }
}
