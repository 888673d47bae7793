//! Defines the errors of hosts that do not find each other.

use super::plan::Fault;
use goal_esp::wire::Mac;
use goal_job::host::Host;

/// The reason why the hosts of a job do not find each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DiscoveryError {
    /// The distribution of ranks is wrong.
    #[error(transparent)]
    Plan(#[from] Fault),
    /// This host is not in the list of hosts.
    #[error("this host's interface has the address {0}, which is not among the peers")]
    NotListed(Mac),
    /// The job has fewer ranks than hosts.
    #[error("there can't be {hosts} hosts: the program has {ranks} ranks")]
    TooFewRanks {
        /// The number of hosts.
        hosts: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// The user's list of this host's ranks names a rank twice.
    #[error("rank {0} is named twice")]
    NamedTwice(u32),
    /// This host has no rank.
    #[error("no rank is on this host, {0}")]
    NoRank(Mac),
    /// More hosts answered than the job has.
    #[error(
        "{seen} hosts are there, {expected} were expected: beside this one there are {}",
        listed(others)
    )]
    TooManyHosts {
        /// The number of hosts that are there, including this one.
        seen: u32,
        /// The number of hosts that the job has.
        expected: u32,
        /// The other hosts.
        others: Vec<Mac>,
    },
    /// A host runs a program with another number of ranks.
    #[error("host {host} runs a program of {theirs} ranks, here it has {ours}")]
    OtherProgram {
        /// The host.
        host: Host,
        /// Its number of ranks.
        theirs: u32,
        /// The number of ranks here.
        ours: u32,
    },
    /// A host that is not in the list takes part.
    #[error("host {0} takes part, which is not among the peers")]
    NotAPeer(Mac),
    /// A host has a rank that the program does not have.
    #[error("host {host} has rank {rank}, and the program has {ranks} ranks")]
    NoSuchRank {
        /// The host.
        host: Host,
        /// The rank.
        rank: u32,
        /// The number of ranks of the program.
        ranks: u32,
    },
    /// This host and another one have the same rank.
    #[error("both this host, {here}, and host {host} have rank {rank}")]
    AlsoHere {
        /// This host.
        here: Mac,
        /// The other host.
        host: Mac,
        /// The rank.
        rank: u32,
    },
    /// Two other hosts have the same rank.
    #[error("both host {first} and host {second} have rank {rank}")]
    Both {
        /// A host.
        first: Host,
        /// Another host.
        second: Host,
        /// The rank.
        rank: u32,
    },
    /// A host has a rank that the list of hosts gives to another host.
    #[error(
        "host {host} has rank {rank}, which should be on {owner}: do all hosts have the same peers?"
    )]
    WrongOwner {
        /// The host.
        host: Mac,
        /// The rank.
        rank: u32,
        /// The host that should have it.
        owner: Mac,
    },
    /// Launchers were started for different numbers of launchers.
    #[error("launcher {host} was started for {theirs} launchers, the leader for {ours}")]
    OtherSize {
        /// The launcher that differs from the leader.
        host: Host,
        /// The number of launchers that this launcher was started for.
        theirs: u32,
        /// The number of launchers that the leader was started for.
        ours: u32,
    },
    /// The number of a launcher is too high.
    #[error("there is no launcher {number}: the {size} launchers are numbered from 0 on")]
    NoSuchLauncher {
        /// The number.
        number: u32,
        /// The number of launchers.
        size: u32,
    },
    /// Two launchers have the same number.
    #[error("two launchers have the number {0}: each needs one of its own")]
    SameNumber(u32),
    /// Rank 0 is not on launcher 0, which leads.
    #[error("rank 0 must be on launcher 0, which leads: see the ranks of launcher {0}")]
    LeaderElsewhere(u32),
    /// The place where launchers meet is of no use.
    #[error("{0}")]
    Rendezvous(String),
}

pub(super) fn listed(hosts: &[Mac]) -> String {
    hosts.iter().map(Mac::to_string).collect::<Vec<_>>().join(", ")
}
