//! Takes one launcher through a job on several hosts. It begins with the search for the other hosts
//! and ends with the verdict.

use super::concern::{concerns, is_heard};
use super::ended::{Others, Verdict};
use super::error::HostsError;
use super::options::{Hosts, Meeting, Obstacle, Rendezvous};
use super::post::Post;
use crate::hosts::{Discovery, LauncherMessage, LinkEvent, ranges};
use crate::launcher::Options;
use crate::launcher::error::LaunchError;
use crate::launcher::signals::attend;
use goal_asm::Nisa;
use goal_eth::{Interface, Port};
use goal_job::host::{Host, Location};
use goal_job::remote_sockets::RemoteSockets;
use goal_tcp::Listener;
use std::collections::{BTreeSet, VecDeque};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The time for which hosts wait for each other if no time was set.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest time between two checks for signals and timeouts.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// The state of one launcher in a job on several hosts.
pub(super) struct Session<'a> {
    pub(super) nisa: &'a Arc<Nisa>,
    pub(super) options: &'a Options,
    pub(super) hosts: &'a Hosts,
    pub(super) post: Post,
    pub(super) me: Host,
    /// The ranks of this host.
    pub(super) mine: Vec<u32>,
    /// The interface of Ethernet; `None` in a job over TCP.
    pub(super) interface: Option<Interface>,
    /// The claims to the ports of this host's ranks. Empty in a job over TCP.
    claims: Vec<Port>,
    /// True if ranks of several launchers share the processors of this machine.
    pub(super) is_crowded: bool,
    /// The listeners of this host's ranks. Empty in a job on Ethernet.
    listeners: Vec<Listener>,
    /// The location of each rank. Empty until all are known.
    locations: Vec<Location>,
    /// The events that came during the search for hosts and are handled after it.
    early: VecDeque<LinkEvent>,
    pub(super) started: Instant,
    /// The other hosts with a stream to this one.
    pub(super) connected: BTreeSet<Host>,
    /// The outcome of the job: the one that the leader has sent, or the loss of the leader. `None`
    /// until one of both has come.
    pub(super) decided: Option<Verdict>,
    /// The reason why processes run schedules that the kernels should run. `None` if the kernels
    /// run them or were not asked to.
    pub(super) not_in_kernel: Option<String>,
    /// The time at which this launcher told the leader of a signal that came after its ranks had
    /// ended. `None` if none came.
    signalled: Option<Instant>,
}

impl<'a> Session<'a> {
    /// Begins the search for the other hosts.
    pub(super) fn open(
        nisa: &'a Arc<Nisa>,
        options: &'a Options,
        hosts: &'a Hosts,
    ) -> Result<Self, LaunchError> {
        let ranks = nisa.num_ranks();
        let (post, me, interface) = match &hosts.meeting {
            Meeting::Ethernet(ethernet) => {
                let (post, interface) = Post::on_ethernet(ethernet, &hosts.key, |me, nonce| {
                    Discovery::new(hosts.key.job(), nonce, me, ranks, ethernet.plan.clone())
                        .map_err(HostsError::from)
                        .map_err(LaunchError::from)
                })?;
                let me = interface.mac.expect("an interface of Ethernet has an address");
                (post, me.into(), Some(interface))
            }
            Meeting::Tcp(rendezvous) => {
                let (post, me) = Post::at_rendezvous(rendezvous, &hosts.key, ranks)?;
                (post, me, None)
            }
        };
        Ok(Self {
            nisa,
            options,
            hosts,
            post,
            me,
            interface,
            mine: vec![],
            claims: vec![],
            is_crowded: false,
            listeners: vec![],
            locations: vec![],
            early: VecDeque::new(),
            started: Instant::now(),
            connected: BTreeSet::new(),
            decided: None,
            not_in_kernel: None,
            signalled: None,
        })
    }

    pub(super) fn locations(&self) -> &[Location] {
        &self.locations
    }

    /// Returns the host of rank 0. The locations of the ranks must be known.
    pub(super) fn leader(&self) -> Host {
        self.locations[0].host
    }

    /// Returns all hosts of the job.
    pub(super) fn all(&self) -> BTreeSet<Host> {
        self.locations.iter().map(|location| location.host).collect()
    }

    /// Returns the name of a host, followed by its ranks.
    pub(super) fn named(&self, host: Host) -> String {
        with_ranks(host, &self.ranks_of(host))
    }

    /// Returns the ranks of a host.
    pub(super) fn ranks_of(&self, host: Host) -> Vec<u32> {
        (0..)
            .zip(&self.locations)
            .filter(|(_, location)| location.host == host)
            .map(|(rank, _)| rank)
            .collect()
    }

    /// Returns the next event that concerns this launcher, or `None` if none comes within `limit`.
    pub(super) fn event(&mut self, limit: Duration) -> Option<LinkEvent> {
        let event = self.early.pop_front().or_else(|| self.post.event(limit))?;
        if !concerns(&event, self.me, &self.locations) {
            return None;
        }
        match &event {
            LinkEvent::Connected(host) => {
                self.connected.insert(*host);
            }
            LinkEvent::Lost(host, _) | LinkEvent::Finished(host) => {
                self.connected.remove(host);
            }
            _ => {}
        }
        Some(event)
    }

    /// Checks that the job may still start. `missing` returns a text on the hosts that are missing.
    ///
    /// # Errors
    /// [`LaunchError`] if this launcher got a signal or the time is up.
    pub(super) fn check(
        &mut self,
        missing: impl FnOnce(&mut Self) -> String,
    ) -> Result<(), LaunchError> {
        if let Some(signal) = attend(self.options, true) {
            return Err(LaunchError::Interrupted(signal));
        }
        if let Some(why) = self.hosts.obstacle.as_ref().and_then(Obstacle::find) {
            return Err(HostsError::Ended(why).into());
        }
        let patience = self.options.spec.timeout.unwrap_or(PATIENCE);
        if self.started.elapsed() < patience {
            return Ok(());
        }
        let missing = missing(self);
        Err(HostsError::Late { patience, missing }.into())
    }

    /// Finds the addresses of all ranks.
    pub(super) fn find(&mut self) -> Result<(), LaunchError> {
        let mut later = VecDeque::new();
        let mut told = String::new();
        loop {
            self.check(|session| format!("{}; {}", session.missing(), session.way_out()))?;
            match self.event(LOOK) {
                None => {}
                Some(LinkEvent::Mine(ranks)) => {
                    let ports = self.claim(ranks.len())?;
                    self.post.claimed(ports);
                    self.mine = ranks;
                }
                Some(LinkEvent::Crowded) => self.is_crowded = true,
                Some(LinkEvent::Missing(missing)) if told == missing => {}
                Some(LinkEvent::Missing(missing)) => {
                    (self.options.tell)(&format!("waiting: {missing}; {}", self.way_out()));
                    told = missing;
                }
                Some(LinkEvent::Contradiction(error)) => return Err(HostsError::from(error).into()),
                // Over TCP, launchers are connected before all of them are found. So a connection
                // may end here.
                Some(LinkEvent::Message(_, LauncherMessage::Refused(why), _))
                    if self.interface.is_none() =>
                {
                    return Err(HostsError::Ended(why).into());
                }
                Some(event @ (LinkEvent::Lost(..) | LinkEvent::Finished(_)))
                    if self.interface.is_none() =>
                {
                    self.check_event(event)?;
                }
                Some(LinkEvent::Found(addresses)) => {
                    self.connected.retain(|&host| is_heard(host, self.me, &addresses));
                    self.locations = addresses;
                    self.early = later;
                    return Ok(());
                }
                Some(other) => later.push_back(other),
            }
        }
    }

    /// Claims a port for each of the `ranks` ranks of this host, and returns the ports.
    fn claim(&mut self, ranks: usize) -> Result<Vec<u16>, LaunchError> {
        if let Some(interface) = &self.interface {
            let ports = (0..ranks).map(|_| Port::any(interface)).collect::<Result<_, _>>();
            self.claims = ports.map_err(HostsError::Port)?;
            return Ok(self.claims.iter().map(Port::number).collect());
        }
        let Meeting::Tcp(Rendezvous { address, ports, .. }) = &self.hosts.meeting else {
            return Ok(vec![]);
        };
        let listen = |_| match address {
            Some(address) => Listener::bind(*address, ports.clone()),
            // Listens at all addresses of this host, of IPv6 and IPv4.
            None => Listener::bind(Ipv6Addr::UNSPECIFIED.into(), ports.clone())
                .or_else(|_| Listener::bind(Ipv4Addr::UNSPECIFIED.into(), ports.clone())),
        };
        let listeners = (0..ranks).map(listen).collect::<Result<_, _>>();
        self.listeners = listeners.map_err(HostsError::Listen)?;
        Ok(self.listeners.iter().map(Listener::port).collect())
    }

    /// Returns the remote sockets of this host's ranks, ascending by rank. They are empty on
    /// Ethernet.
    pub(super) fn remote_sockets(&mut self) -> Vec<RemoteSockets> {
        std::mem::take(&mut self.listeners).into_iter().map(RemoteSockets::Tcp).collect()
    }

    /// Returns advice for the user if a host is not found.
    fn way_out(&self) -> String {
        let Some(own) = &self.interface else {
            return "is goal-run started there, with the same --rendezvous, --size and --key?"
                .to_owned();
        };
        let has_no_carrier =
            |interface: &Interface| interface.index == own.index && !interface.has_carrier;
        match Interface::all().is_ok_and(|all| all.iter().any(has_no_carrier)) {
            true => {
                format!("{} has no carrier: is its cable plugged in, and the switch on?", own.name)
            }
            false => "is goal-run started there, with the same key and port, on the same network?"
                .to_owned(),
        }
    }

    fn missing(&mut self) -> String {
        self.post.tell_missing();
        let since = Instant::now();
        while since.elapsed() < LOOK * 10 {
            if let Some(LinkEvent::Missing(missing)) = self.event(LOOK) {
                return missing;
            }
        }
        "not all hosts were found".to_owned()
    }

    /// Returns the connections with the other hosts, which wait for the outcome.
    pub(super) fn part(self) -> Others {
        Others { post: self.post, hosts: self.connected }
    }

    /// Returns true if the outcome is known, the leader is lost, or this launcher got a signal.
    /// Reports the signal to the leader.
    pub(super) fn is_over(&mut self) -> bool {
        while self.decided.is_none()
            && let Some(event) = self.event(Duration::ZERO)
        {
            self.note(event);
        }
        self.tell_signal();
        self.decided.is_some() || self.signalled.is_some()
    }

    /// Notes the outcome of the job if the event has it, or if the leader is lost.
    fn note(&mut self, event: LinkEvent) {
        let lost =
            |text| Verdict { status: DIED, report: None, errors: vec![text], here: String::new() };
        let decided = match event {
            LinkEvent::Message(_, LauncherMessage::Verdict { status, report, errors }, _) => {
                Verdict { status, report: Some(report), errors, here: String::new() }
            }
            LinkEvent::Lost(_, why) => {
                lost(format!("{} is lost: {why}", self.named(self.leader())))
            }
            LinkEvent::Finished(_) => {
                lost(format!("{} ended without a report", self.named(self.leader())))
            }
            _ => return,
        };
        self.decided.get_or_insert(decided);
    }

    /// Tells the leader if this launcher got a signal, but only once.
    fn tell_signal(&mut self) {
        let Some(signal) = attend(self.options, true) else { return };
        if self.signalled.is_none() {
            self.signalled = Some(Instant::now());
            self.post.send(self.leader(), LauncherMessage::Interrupted { signal });
        }
    }

    /// Waits for the outcome that the leader sends. After a signal, waits for at most
    /// [`ANSWER_LIMIT`].
    pub(super) fn verdict(mut self) -> Verdict {
        let (plural, were) = if self.mine.len() == 1 { ("", "was") } else { ("s", "were") };
        let here =
            format!("rank{plural} {} of {} {were} here", ranges(&self.mine), self.nisa.num_ranks());
        loop {
            if let Some(decided) = self.decided.take() {
                return Verdict { here, ..decided };
            }
            let signal = self.options.interrupted.load(Ordering::SeqCst);
            if self.signalled.is_some_and(|since| since.elapsed() >= ANSWER_LIMIT) {
                let errors = vec![LaunchError::Interrupted(signal).to_string()];
                return Verdict { status: 128 + signal as u8, report: None, errors, here };
            }
            self.tell_signal();
            if let Some(event) = self.event(LOOK) {
                self.note(event);
            }
        }
    }
}

/// The time for which a launcher that got a signal waits for the leader's answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// The exit status of a job that a host refused.
pub(super) const REFUSED: u8 = 2;

/// The exit status of a job that lost a host.
pub(super) const DIED: u8 = 4;

/// Returns the name of a host, followed by its ranks if any are known.
fn with_ranks(host: Host, ranks: &[u32]) -> String {
    if ranks.is_empty() {
        return format!("host {host}");
    }
    format!("host {host} with rank{} {}", if ranks.len() == 1 { "" } else { "s" }, ranges(ranks))
}
