//! Names the reasons why a job on several hosts does not start.

use crate::hosts::DiscoveryError;
use crate::launcher::error::LaunchError;
use goal_job::host::Host;
use std::io;
use std::time::Duration;

/// The reason why a job on several hosts does not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostsError {
    /// Two hosts contradict each other, or a host contradicts the distribution of ranks.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// This host has no free port for a rank.
    #[error("no port is free: {0}")]
    Port(#[source] io::Error),
    /// This host has no free port of TCP for a rank.
    #[error("no rank can listen: {0}")]
    Listen(#[source] goal_tcp::ListenError),
    /// The hosts are not ready in time.
    #[error("after {} s: {missing}", patience.as_secs_f64())]
    Late {
        /// The time for which this host has waited.
        patience: Duration,
        /// The hosts or ranks that are missing, and what may help.
        missing: String,
    },
    /// A host was started with another option or program than the leader.
    #[error("host {host} has {name} {theirs}, the leader {leader} has {ours}")]
    Differs {
        /// The host.
        host: Host,
        /// The leader.
        leader: Host,
        /// The name of the option, as [`OptionNames`](super::OptionNames) states it.
        name: String,
        /// The value on the host.
        theirs: String,
        /// The value on the leader.
        ours: String,
    },
    /// The launcher of a host refuses to start the job.
    #[error("{host}: {why}")]
    Refused {
        /// The host, perhaps with its ranks.
        host: String,
        /// The reason that it gave.
        why: String,
    },
    /// The leader has ended the job, for this reason.
    #[error("{0}")]
    Ended(String),
    /// A host can't be reached any more.
    #[error("{host} is lost: {why}")]
    Lost {
        /// The host with its ranks.
        host: String,
        /// The reason.
        why: String,
    },
    /// The launcher of a host has ended.
    #[error("{0} ended")]
    Gone(String),
}

impl From<HostsError> for LaunchError {
    fn from(error: HostsError) -> Self {
        Self::Hosts(error.into())
    }
}
