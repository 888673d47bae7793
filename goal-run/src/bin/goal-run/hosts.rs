//! The arguments for jobs on several hosts.

use super::key::{self, KeyFileError};
use clap::{ArgGroup, Args};
use goal_eth::DriverKind;
use goal_run::hosts::{PORT, Plan, PlanError, RankList};
use goal_run::launcher::Hosts;
use goal_run::limits::{BURST_MAX, INITIAL_BURST_MIN};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The most bytes of a peers file.
const PEERS_BYTES_MAX: u64 = 1 << 20;

/// The arguments that name other hosts. The same command runs on each host.
#[derive(Args)]
#[command(next_help_heading = "Several hosts")]
#[command(group(ArgGroup::new("others").args(["peers", "discover"]).requires_all(["interface", "key"])))]
pub(crate) struct HostsArguments {
    /// Interface that leads to the other hosts (goal-run info lists them)
    #[arg(long, value_name = "NAME", requires = "others")]
    interface: Option<String>,
    /// File with the hosts: a line for each, the MAC of its interface and maybe its ranks (0-3,8),
    /// blocks in the order of lines otherwise
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
    /// Find the other hosts by asking all of the network
    #[arg(long, conflicts_with = "peers", requires = "who")]
    discover: bool,
    /// How many hosts there are: blocks of ranks in the order of their MACs
    #[arg(long, value_name = "N", group = "who", requires = "discover", value_parser = clap::value_parser!(u32).range(1..))]
    hosts: Option<u32>,
    /// The ranks of this host (0-3,8); the others say theirs
    #[arg(long, value_name = "RANKS", group = "who", requires = "discover", value_parser = RankList::parse)]
    here: Option<RankList>,
    /// File with the key that all hosts have (goal-run key makes one)
    #[arg(long, value_name = "FILE", requires = "others")]
    key: Option<PathBuf>,
    /// Leave the data between ranks without proof of its sender, as on a network that nobody else
    /// can send to; on all hosts or on none
    #[arg(long, requires = "others")]
    unauthenticated_data: bool,
    /// Driver of the ranks' frames: packet sockets, or sockets of AF_XDP if they can be opened
    #[arg(long, value_enum, default_value_t, requires = "others")]
    driver: DriverKind,
    /// Packets that a rank may send to one on another host before the first is acknowledged
    /// [default: 16]
    #[arg(long, value_name = "N", requires = "others", value_parser = clap::value_parser!(u16).range(i64::from(INITIAL_BURST_MIN)..=i64::from(BURST_MAX)))]
    pub(crate) initial_burst: Option<u16>,
    /// Most packets in flight to a rank from one on another host [default: 256]
    #[arg(long, value_name = "N", requires = "others", value_parser = clap::value_parser!(u16).range(i64::from(INITIAL_BURST_MIN)..=i64::from(BURST_MAX)))]
    pub(crate) burst: Option<u16>,
    /// Port where launchers hear each other, the same on all hosts
    #[arg(long, value_name = "N", default_value_t = PORT, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
}

impl HostsArguments {
    /// Returns true if the job has other hosts.
    pub(crate) fn are_named(&self) -> bool {
        self.peers.is_some() || self.discover
    }

    /// Returns the other hosts; `None` if all ranks are on this one. `leaders` are the given
    /// options that only the leader honours.
    pub(crate) fn hosts(
        &self,
        keeps_memory: bool,
        leaders: Vec<&'static str>,
    ) -> Result<Option<Hosts>, HostsFault> {
        let plan = match (&self.peers, self.hosts, &self.here) {
            (Some(path), ..) => peers(path)?,
            (None, Some(count), _) => Plan::count(count),
            (None, None, Some(here)) => Plan::here(here.clone()),
            (None, None, None) => return Ok(None),
        };
        // The command line requires both if it names hosts.
        let (Some(interface), Some(key)) = (&self.interface, &self.key) else { return Ok(None) };
        Ok(Some(Hosts {
            driver: self.driver,
            port: self.port,
            authenticates_data: !self.unauthenticated_data,
            keeps_memory,
            name: option,
            leaders,
            ..Hosts::new(interface.clone(), key::read(key)?, plan)
        }))
    }
}

/// Returns the option that gives a setting which must be the same on all hosts.
fn option(setting: &'static str) -> &'static str {
    match setting {
        "repeat" => "--repeat",
        "window" => "--window",
        "record" => "--verify",
        "eager_limit" => "--eager-limit",
        "unexpected_limit" => "--unexpected-limit",
        "ring_bytes" => "--ring",
        "initial_burst" => "--initial-burst",
        "burst" => "--burst",
        "calc" => "--calc",
        "offload" => "--offload",
        "unauthenticated_data" => "--unauthenticated-data",
        setting => setting,
    }
}

/// A file about other hosts that can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostsFault {
    #[error(transparent)]
    Key(#[from] KeyFileError),
    #[error("{}: {fault}", path.display())]
    Peers {
        path: PathBuf,
        #[source]
        fault: PeersFault,
    },
}

/// The reason why a file is no list of hosts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeersFault {
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("more than {PEERS_BYTES_MAX} bytes are no list of hosts")]
    TooLong,
    #[error(transparent)]
    Plan(#[from] PlanError),
}

fn peers(path: &Path) -> Result<Plan, HostsFault> {
    let read = || {
        let mut text = String::new();
        let mut file = File::open(path)?.take(PEERS_BYTES_MAX + 1);
        match file.read_to_string(&mut text)? as u64 > PEERS_BYTES_MAX {
            true => Err(PeersFault::TooLong),
            false => Ok(Plan::peers(&text)?),
        }
    };
    read().map_err(|fault| HostsFault::Peers { path: path.to_owned(), fault })
}
