//! One launcher's part in a job on several hosts, from the search for the others to the verdict.

use super::concern::{concerns, is_heard};
use super::ended::{Others, Verdict};
use super::error::HostsError;
use super::options::Hosts;
use super::post::Post;
use crate::hosts::{Discovery, Event, Message, ranges};
use crate::launcher::Options;
use crate::launcher::error::LaunchError;
use crate::launcher::signals::attend;
use goal_asm::Nisa;
use goal_esp::auth::Address;
use goal_esp::wire::Mac;
use goal_eth::{Interface, Port};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The time for which hosts wait for each other if no time was set.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest time between two checks for signals and timeouts.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// The state of one launcher's part.
pub(super) struct Session<'a> {
    pub(super) nisa: &'a Arc<Nisa>,
    pub(super) options: &'a Options,
    pub(super) hosts: &'a Hosts,
    pub(super) post: Post,
    pub(super) me: Mac,
    /// The ranks of this host.
    pub(super) mine: Vec<u32>,
    /// The claims to their ports.
    claims: Vec<Port>,
    /// The address of each rank; empty until all are known.
    addresses: Vec<Address>,
    /// Events that arrived too early and are handled later.
    early: VecDeque<Event>,
    pub(super) started: Instant,
    /// The other hosts with a stream to this one.
    pub(super) connected: BTreeSet<Mac>,
    /// The outcome that the leader told this host.
    pub(super) decided: Option<Verdict>,
    /// The reason why processes run what kernels were asked to run, if they were.
    pub(super) not_in_kernel: Option<String>,
    /// The time at which this launcher told the leader of a signal, after its ranks had ended.
    signalled: Option<Instant>,
}

impl<'a> Session<'a> {
    /// Begins the search for the other hosts.
    pub(super) fn open(
        nisa: &'a Arc<Nisa>,
        options: &'a Options,
        hosts: &'a Hosts,
    ) -> Result<Self, LaunchError> {
        let post = Post::open(hosts, &hosts.key, |me, nonce| {
            Discovery::new(hosts.key.job(), nonce, me, nisa.num_ranks(), hosts.plan.clone())
                .map_err(HostsError::from)
                .map_err(LaunchError::from)
        })?;
        let me = post.interface().mac.expect("an interface of Ethernet has an address");
        Ok(Self {
            nisa,
            options,
            hosts,
            post,
            me,
            mine: vec![],
            claims: vec![],
            addresses: vec![],
            early: VecDeque::new(),
            started: Instant::now(),
            connected: BTreeSet::new(),
            decided: None,
            not_in_kernel: None,
            signalled: None,
        })
    }

    pub(super) fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Returns the host of rank 0. The addresses must be known.
    pub(super) fn leader(&self) -> Mac {
        self.addresses[0].mac
    }

    /// Returns all hosts.
    pub(super) fn all(&self) -> BTreeSet<Mac> {
        self.addresses.iter().map(|address| address.mac).collect()
    }

    /// Describes a host with its ranks.
    pub(super) fn named(&self, host: Mac) -> String {
        with_ranks(host, &self.ranks_of(host))
    }

    /// Returns the ranks of a host.
    pub(super) fn ranks_of(&self, host: Mac) -> Vec<u32> {
        (0..)
            .zip(&self.addresses)
            .filter(|(_, address)| address.mac == host)
            .map(|(rank, _)| rank)
            .collect()
    }

    /// Returns the next event, if there is one within `limit` and it concerns this launcher.
    pub(super) fn event(&mut self, limit: Duration) -> Option<Event> {
        let event = self.early.pop_front().or_else(|| self.post.event(limit))?;
        if !concerns(&event, self.me, &self.addresses) {
            return None;
        }
        match &event {
            Event::Connected(host) => {
                self.connected.insert(*host);
            }
            Event::Lost(host, _) | Event::Finished(host) => {
                self.connected.remove(host);
            }
            _ => {}
        }
        Some(event)
    }

    /// Checks that the job may still start. `missing` describes the hosts that are missing.
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
        let patience = self.options.timeout.unwrap_or(PATIENCE);
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
                Some(Event::Mine(ranks)) => {
                    self.claims = ranks
                        .iter()
                        .map(|_| Port::any(self.post.interface()))
                        .collect::<Result<_, _>>()
                        .map_err(HostsError::Port)?;
                    self.post.claimed(self.claims.iter().map(Port::number).collect());
                    self.mine = ranks;
                }
                Some(Event::Missing(missing)) if told == missing => {}
                Some(Event::Missing(missing)) => {
                    (self.options.tell)(&format!("waiting: {missing}; {}", self.way_out()));
                    told = missing;
                }
                Some(Event::Contradiction(error)) => return Err(HostsError::from(error).into()),
                Some(Event::Found(addresses)) => {
                    self.connected.retain(|&host| is_heard(host, self.me, &addresses));
                    self.addresses = addresses;
                    self.early = later;
                    return Ok(());
                }
                Some(other) => later.push_back(other),
            }
        }
    }

    /// Returns advice for a host that is not found.
    fn way_out(&self) -> String {
        let own = self.post.interface();
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
            if let Some(Event::Missing(missing)) = self.event(LOOK) {
                return missing;
            }
        }
        "not all hosts were found".to_owned()
    }

    /// Returns the other hosts, which wait for the outcome.
    pub(super) fn part(self) -> Others {
        Others { post: self.post, hosts: self.connected }
    }

    /// Returns true if the outcome is known, the leader is lost, or this launcher got a signal,
    /// which it reports to the leader.
    pub(super) fn is_over(&mut self) -> bool {
        while self.decided.is_none()
            && let Some(event) = self.event(Duration::ZERO)
        {
            self.note(event);
        }
        self.tell_signal();
        self.decided.is_some() || self.signalled.is_some()
    }

    /// Notes the outcome if an event states it.
    fn note(&mut self, event: Event) {
        let lost =
            |text| Verdict { status: DIED, report: None, errors: vec![text], here: String::new() };
        let decided = match event {
            Event::Message(_, Message::Verdict { status, report, errors }, _) => {
                Verdict { status, report: Some(report), errors, here: String::new() }
            }
            Event::Lost(_, why) => lost(format!("{} is lost: {why}", self.named(self.leader()))),
            Event::Finished(_) => {
                lost(format!("{} ended without a report", self.named(self.leader())))
            }
            _ => return,
        };
        self.decided.get_or_insert(decided);
    }

    /// Tells the leader once of a signal that this launcher got.
    fn tell_signal(&mut self) {
        let Some(signal) = attend(self.options, true) else { return };
        if self.signalled.is_none() {
            self.signalled = Some(Instant::now());
            self.post.send(self.leader(), Message::Interrupted { signal });
        }
    }

    /// Waits for the outcome that the leader tells.
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

/// Describes a host with its ranks.
fn with_ranks(host: Mac, ranks: &[u32]) -> String {
    format!("host {host} with rank{} {}", if ranks.len() == 1 { "" } else { "s" }, ranges(ranks))
}
