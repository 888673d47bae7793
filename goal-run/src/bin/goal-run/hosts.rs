//! Defines the arguments for jobs on several hosts.

use super::fleet::{HostList, ListedHost};
use super::key::{self, KeyFileError};
use super::spec::after;
use clap::{ArgGroup, Args};
use goal_eth::DriverKind;
use goal_job::limits::FAULT_TIMEOUT_S;
use goal_launch::hosts::{PORT, Plan, PlanError, RankList};
use goal_launch::{Ethernet, Hosts, Meeting, Rendezvous};
use goal_run::named;
use std::fs::File;
use std::io::{self, Read};
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// The longest silence in seconds that a user may ask for: a day.
const FAULT_TIMEOUT_S_MAX: i64 = 24 * 60 * 60;
/// The most bytes of a peers file.
const PEERS_BYTES_MAX: u64 = 1 << 20;

/// The arguments that name other hosts. The same command runs on each host.
#[derive(Args)]
#[command(next_help_heading = "Several hosts")]
#[command(group(ArgGroup::new("others").args(["peers", "discover"]).requires_all(["interface", "key"])))]
#[command(group(ArgGroup::new("meeting").args(["peers", "discover", "rendezvous"])))]
#[command(group(ArgGroup::new("tcp").args(["rendezvous", "hosts"]).multiple(true)))]
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
    /// With --discover: how many hosts there are, with blocks of ranks in the order of their MACs.
    /// Otherwise: the hosts on which ssh starts launchers that meet over TCP, this one first, with
    /// blocks of ranks or as many as they have slots (localhost,node1,node2:8)
    #[arg(long, value_name = "N|HOSTS", group = "who", value_parser = HostList::parse)]
    hosts: Option<HostList>,
    /// Command that starts a launcher on a host of --hosts, which gets the host and a command for
    /// its shell as arguments [default: ssh -x -o BatchMode=yes -o ConnectTimeout=10]
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    pub(crate) ssh: Option<String>,
    /// Name of this host, whose launcher was started by that of another host
    #[arg(long, value_name = "NAME", requires = "rendezvous", hide = true)]
    pub(crate) started_as: Option<String>,
    /// The ranks of this host (0-3,8); the others say theirs
    #[arg(long, value_name = "RANKS", group = "who", requires = "meeting", value_parser = RankList::parse)]
    here: Option<RankList>,
    /// Place where launchers meet over TCP: the host of launcher 0, and a free port of it
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "others", requires_all = ["rank", "size", "key"])]
    rendezvous: Option<String>,
    /// Number of this launcher, from 0 on; that with the number 0 has rank 0
    #[arg(long, value_name = "R", requires = "rendezvous")]
    rank: Option<u32>,
    /// Number of launchers: blocks of ranks in the order of their numbers
    #[arg(long, value_name = "N", requires = "rendezvous", value_parser = clap::value_parser!(u32).range(1..))]
    size: Option<u32>,
    /// Address at which others reach the ranks of this host [default: that of the connection with
    /// launcher 0]
    #[arg(long, value_name = "ADDRESS", requires = "tcp")]
    pub(crate) address: Option<IpAddr>,
    /// Ports for the ranks of this host, as a firewall lets them through [default: any]
    #[arg(long, value_name = "FIRST-LAST", requires = "tcp", value_parser = ports)]
    pub(crate) ports: Option<RangeInclusive<u16>>,
    /// Seconds of silence after which a host counts as lost, the same on all hosts
    #[arg(long, value_name = "SECONDS", requires = "tcp", default_value_t = FAULT_TIMEOUT_S, value_parser = clap::value_parser!(u32).range(1..=FAULT_TIMEOUT_S_MAX))]
    fault_timeout: u32,
    /// Encrypt all connections of TCP by TLS 1.3; on all hosts or on none
    #[arg(long, requires = "tcp")]
    pub(crate) tls: bool,
    /// File with the key that all hosts have (goal-run key makes one); - is standard input. With
    /// names in --hosts there is a new one for each job
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Leave the data between ranks without proof of its sender, as on a network that nobody else
    /// can send to; on all hosts or on none
    #[arg(long, requires = "others")]
    unauthenticated_data: bool,
    /// Driver of the ranks' frames: packet sockets, or sockets of AF_XDP if they can be opened
    #[arg(long, value_parser = named::<DriverKind>(), default_value = "packet", requires = "others")]
    driver: DriverKind,
    /// Port where launchers hear each other, the same on all hosts
    #[arg(long, value_name = "N", default_value_t = PORT, value_parser = clap::value_parser!(u16).range(1..), display_order = after("burst"))]
    port: u16,
}

impl HostsArguments {
    /// Returns true if the job has several hosts.
    pub(crate) fn are_named(&self) -> bool {
        let is_listed = self.listed().is_some();
        self.peers.is_some() || self.discover || self.rendezvous.is_some() || is_listed
    }

    /// Returns the hosts on which launchers are to be started; the first is this host. Returns
    /// `None` without a list of names.
    pub(crate) fn listed(&self) -> Option<&[ListedHost]> {
        match &self.hosts {
            Some(HostList::Names(names)) if !self.discover => Some(names),
            _ => None,
        }
    }

    /// Returns `rendezvous` with the address, the ports and the timeout of this command line.
    pub(crate) fn rendezvous_with(&self, rendezvous: Rendezvous) -> Rendezvous {
        Rendezvous {
            address: self.address,
            ports: self.ports.clone().unwrap_or(0..=0),
            fault_timeout_s: self.fault_timeout,
            encrypts: self.tls,
            ..rendezvous
        }
    }

    /// Checks options that depend on the value of `--hosts`.
    fn check(&self) -> Result<(), HostsFault> {
        let has_tcp = self.rendezvous.is_some() || self.listed().is_some();
        let of_tcp = self.address.is_some() || self.ports.is_some();
        match (&self.hosts, &self.key) {
            (Some(HostList::Count(_)), _) if !self.discover => Err(HostsFault::Usage(
                "a number in --hosts is for --discover: add it, or name the hosts",
            )),
            (Some(HostList::Names(_)), _) if self.discover => Err(HostsFault::Usage(
                "--discover finds the hosts: give their number in --hosts, or leave --discover out",
            )),
            (_, Some(_)) if !self.are_named() => Err(HostsFault::Usage(
                "--key is for jobs on several hosts: give --rendezvous, --hosts, --peers or --discover",
            )),
            _ if of_tcp && !has_tcp => Err(HostsFault::Usage(
                "--address and --ports are for jobs over TCP: leave them out",
            )),
            _ => Ok(()),
        }
    }

    /// Returns the settings for a job on several hosts. Returns `None` if all ranks are on this
    /// host. Also returns `None` if `--hosts` names the hosts: then the fleet has the settings.
    /// `leaders` are the given options that only the leader follows.
    pub(crate) fn hosts(
        &self,
        keeps_memory: bool,
        leaders: Vec<&'static str>,
    ) -> Result<Option<Hosts>, HostsFault> {
        self.check()?;
        // If the leader has started this launcher, this launcher does not tell its user which
        // options only the leader follows.
        let leaders = if self.started_as.is_some() { vec![] } else { leaders };
        let hosts = |meeting, key: &Path| {
            let hosts = Hosts::new(meeting, key::read(key)?);
            Ok(Some(Hosts { keeps_memory, leaders: leaders.clone(), ..hosts }))
        };
        if let (Some(at), Some(number), Some(size), Some(key)) =
            (&self.rendezvous, self.rank, self.size, &self.key)
        {
            let meeting = Meeting::Tcp(Rendezvous {
                here: self.here.clone(),
                ..self.rendezvous_with(Rendezvous::new(number, size, at.clone()))
            });
            return hosts(meeting, key);
        }
        let plan = match (&self.peers, &self.hosts, &self.here) {
            (Some(path), ..) => peers(path)?,
            (None, Some(HostList::Count(count)), _) => Plan::count(*count),
            (None, _, Some(here)) => Plan::here(here.clone()),
            (None, _, None) => return Ok(None),
        };
        // clap requires both options if the command line names other hosts.
        let (Some(interface), Some(key)) = (&self.interface, &self.key) else { return Ok(None) };
        let meeting = Meeting::Ethernet(Ethernet {
            driver: self.driver,
            port: self.port,
            authenticates_data: !self.unauthenticated_data,
            ..Ethernet::new(interface.clone(), plan)
        });
        hosts(meeting, key)
    }
}

/// Parses a range of ports such as `20000-20100`, or one port.
fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let port = |text: &str| text.parse::<u16>().ok().filter(|&port| port > 0);
    let range = port(first).zip(port(last)).filter(|(first, last)| first <= last);
    range
        .map(|(first, last)| first..=last)
        .ok_or_else(|| "give ports such as 20000-20100".to_owned())
}

/// The reason why the options or files about other hosts can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostsFault {
    #[error("{0}")]
    Usage(&'static str),
    #[error(transparent)]
    Key(#[from] KeyFileError),
    #[error("{}: {fault}", path.display())]
    Peers {
        path: PathBuf,
        #[source]
        fault: PeersFault,
    },
}

/// The reason why a file is not a valid list of hosts.
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
