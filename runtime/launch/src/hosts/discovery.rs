//! Searches for the other hosts of a job and for the addresses of all ranks. The search uses
//! broadcast questions and their answers.
//!
//! A launcher answers for its host. Once it knows its own ranks, its answer names all of them, if
//! possible in one datagram. It asks until it has found the ranks of all hosts.
//!
//! Threat: a host with the key may answer anything. An answer that contradicts earlier ones ends
//! the search with an error that names the host. No answer makes the memory grow. Answers without
//! the key are dropped before they get here, and old answers have another nonce.

use super::error::{DiscoveryError, listed};
use super::plan::{self, Distribution, Plan, named, ranges};
use goal_esp::auth::Address;
use goal_esp::wire::{Mac, Message, PortRun, Ports};
use std::collections::BTreeSet;

/// The most hosts with another key that a text for the user names.
const CALLERS_MAX: usize = 8;
/// The shortest and the longest time between two questions, in nanoseconds.
const PAUSE_MIN_NS: u64 = 5_000_000;
const PAUSE_MAX_NS: u64 = 100_000_000;

/// One launcher's knowledge of the hosts and ranks of the job.
#[derive(Debug)]
pub(crate) struct Discovery {
    job: u64,
    nonce: u64,
    me: Mac,
    plan: Distribution,
    /// The other hosts that have answered.
    hosts: BTreeSet<Mac>,
    /// Some of the hosts with another key. Anybody can pretend to be such a host, so the set is
    /// limited.
    callers: BTreeSet<Mac>,
    /// The host that each rank should be on. `None` if this is not known.
    owners: Option<Vec<Mac>>,
    /// The address of each rank. An entry is `None` until it is known.
    addresses: Vec<Option<Address>>,
    /// The ranks of this host. `None` until they are known.
    mine: Option<Vec<u32>>,
    /// The ports of this host's ranks, encoded for answers.
    own_ports: Vec<u8>,
    /// The time of the next question, and the pause after it.
    ask_ns: u64,
    pause_ns: u64,
}

impl Discovery {
    /// Returns the search of the host with the interface `me`, for a job of `ranks` ranks. Each run
    /// on a host needs a higher `nonce` than earlier runs.
    ///
    /// # Errors
    /// [`DiscoveryError`] if the plan does not fit the job or this host.
    pub(crate) fn new(
        job: u64,
        nonce: u64,
        me: Mac,
        ranks: u32,
        Plan(plan): Plan,
    ) -> Result<Self, DiscoveryError> {
        let (owners, here) = match &plan {
            Distribution::Peers(peers) => {
                if !peers.iter().any(|peer| peer.mac == me) {
                    return Err(DiscoveryError::NotListed(me));
                }
                (Some(plan::owners(peers, ranks)?), None)
            }
            Distribution::Count(count) if *count > ranks => {
                return Err(DiscoveryError::TooFewRanks { hosts: *count, ranks });
            }
            Distribution::Count(_) => (None, None),
            Distribution::Here(list) => {
                let mut here = list.of(ranks)?;
                here.sort_unstable();
                if let Some(twice) = here.windows(2).find(|pair| pair[0] == pair[1]) {
                    return Err(DiscoveryError::NamedTwice(twice[0]));
                }
                (None, Some(here))
            }
        };
        let mut discovery = Self {
            job,
            nonce,
            me,
            plan,
            hosts: BTreeSet::new(),
            callers: BTreeSet::new(),
            owners: None,
            addresses: vec![None; ranks as usize],
            mine: here,
            own_ports: Vec::new(),
            ask_ns: 0,
            pause_ns: PAUSE_MIN_NS,
        };
        match owners {
            Some(owners) => discovery.assign(owners)?,
            None => discovery.assign_when_all_seen()?,
        }
        Ok(discovery)
    }

    pub(super) fn ranks(&self) -> u32 {
        self.addresses.len() as u32
    }

    /// Sets the host of each rank.
    fn assign(&mut self, owners: Vec<Mac>) -> Result<(), DiscoveryError> {
        let found =
            (0..).zip(&self.addresses).filter_map(|(rank, address)| Some((rank, (*address)?.mac)));
        for (rank, mac) in found {
            check_owner(&owners, rank, mac)?;
        }
        let mine: Vec<u32> =
            (0..self.ranks()).filter(|&rank| owners[rank as usize] == self.me).collect();
        if mine.is_empty() {
            return Err(DiscoveryError::NoRank(self.me));
        }
        self.mine = Some(mine);
        self.owners = Some(owners);
        Ok(())
    }

    /// Distributes the ranks among the hosts if the user gave only the number of hosts, and all of
    /// them have answered.
    fn assign_when_all_seen(&mut self) -> Result<(), DiscoveryError> {
        let Distribution::Count(expected) = self.plan else { return Ok(()) };
        let seen = self.hosts.len() as u32 + 1;
        if seen > expected {
            let others = self.hosts.iter().copied().collect();
            return Err(DiscoveryError::TooManyHosts { seen, expected, others });
        }
        if seen == expected && self.owners.is_none() {
            let mut hosts: Vec<Mac> = self.hosts.iter().copied().chain([self.me]).collect();
            hosts.sort_unstable();
            self.assign(plan::blocks(&hosts, self.ranks())?)?;
        }
        Ok(())
    }

    /// Returns the ranks of this host, ascending, or `None` if they are not known yet.
    pub(crate) fn mine(&self) -> Option<&[u32]> {
        self.mine.as_deref()
    }

    /// Sets the ports of the ranks of this host, in the order of the ranks.
    pub(crate) fn claimed(&mut self, ports: &[u16]) {
        let mut runs: Vec<PortRun> = Vec::new();
        for (&rank, &port) in self.mine.iter().flatten().zip(ports) {
            self.addresses[rank as usize] = Some(Address { mac: self.me, port });
            let follows = |run: &PortRun| {
                run.count < u16::MAX
                    && (rank - run.rank, u32::from(port))
                        == (run.count.into(), u32::from(run.port) + u32::from(run.count))
            };
            match runs.last_mut() {
                Some(run) if follows(run) => run.count += 1,
                _ => runs.push(PortRun { rank, port, count: 1 }),
            }
        }
        self.own_ports = Ports::emit(&runs);
    }

    /// Returns the question to all hosts. Returns `None` if it is too early, or none is needed.
    pub(crate) fn poll_question(&mut self, now_ns: u64) -> Option<Message<'static>> {
        if self.is_complete() || now_ns < self.ask_ns {
            return None;
        }
        self.ask_ns = now_ns + self.pause_ns;
        self.pause_ns = (2 * self.pause_ns).min(PAUSE_MAX_NS);
        Some(Message::Discovery { job: self.job, nonce: self.nonce })
    }

    /// Returns the time of the next question, or `None` if none is needed.
    pub(crate) fn poll_timeout(&self) -> Option<u64> {
        (!self.is_complete()).then_some(self.ask_ns)
    }

    /// Returns the answers to a question. There is one, unless the ports of this host's ranks need
    /// several datagrams. There is none for another job.
    pub(crate) fn answers(&self, job: u64, nonce: u64) -> impl Iterator<Item = Message<'_>> {
        let ranks = self.ranks();
        let lists = Ports::lists(&self.own_ports).filter(move |_| job == self.job);
        lists.map(move |ports| Message::Answer { job, nonce, ranks, ports })
    }

    /// Handles a message from the host `mac`, if it is an answer to this launcher's question.
    ///
    /// # Errors
    /// [`DiscoveryError`] if the answer contradicts what is known here.
    pub(crate) fn handle(&mut self, mac: Mac, message: &Message<'_>) -> Result<(), DiscoveryError> {
        let &Message::Answer { job, nonce, ranks, ports } = message else { return Ok(()) };
        if job != self.job || nonce != self.nonce {
            return Ok(());
        }
        if ranks != self.ranks() {
            let (theirs, ours) = (ranks, self.ranks());
            return Err(DiscoveryError::OtherProgram { host: mac.into(), theirs, ours });
        }
        if let Distribution::Peers(peers) = &self.plan
            && !peers.iter().any(|peer| peer.mac == mac)
        {
            return Err(DiscoveryError::NotAPeer(mac));
        }
        self.hosts.insert(mac);
        self.assign_when_all_seen()?;
        for (rank, port) in ports.iter().flat_map(PortRun::ranks) {
            self.place(rank, Address { mac, port })?;
        }
        Ok(())
    }

    /// Notes the address of a rank on another host.
    fn place(&mut self, rank: u32, address: Address) -> Result<(), DiscoveryError> {
        let host = address.mac;
        let Some(known) = self.addresses.get(rank as usize) else {
            return Err(DiscoveryError::NoSuchRank {
                host: host.into(),
                rank,
                ranks: self.ranks(),
            });
        };
        if self.mine.as_ref().is_some_and(|mine| mine.binary_search(&rank).is_ok()) {
            return Err(DiscoveryError::AlsoHere { here: self.me, host, rank });
        }
        if let Some(known) = known.filter(|known| known.mac != host) {
            return Err(DiscoveryError::Both {
                first: known.mac.into(),
                second: host.into(),
                rank,
            });
        }
        if let Some(owners) = &self.owners {
            check_owner(owners, rank, host)?;
        }
        self.addresses[rank as usize] = Some(address);
        Ok(())
    }

    /// Returns true if the addresses of all ranks are known.
    pub(crate) fn is_complete(&self) -> bool {
        self.addresses.iter().all(Option::is_some)
    }

    /// Returns the addresses of all ranks, or `None` if some are not known yet.
    pub(crate) fn addresses(&self) -> Option<Vec<Address>> {
        self.addresses.iter().copied().collect()
    }

    /// Returns true if a host has answered.
    pub(crate) fn is_host(&self, mac: Mac) -> bool {
        self.hosts.contains(&mac)
    }

    /// Notes a host whose datagram was authenticated with another key.
    pub(crate) fn hear_caller(&mut self, host: Mac) {
        if self.callers.len() < CALLERS_MAX {
            self.callers.insert(host);
        }
    }

    /// Returns a text on the hosts or ranks that have not been found.
    pub(crate) fn missing(&self) -> String {
        let mut text = self.lacking();
        if !self.callers.is_empty() {
            let all: Vec<Mac> = self.callers.iter().copied().collect();
            text.push_str(&format!("; frames with another key were heard from {}", listed(&all)));
        }
        text
    }

    fn lacking(&self) -> String {
        if let (Distribution::Count(count), None) = (&self.plan, &self.owners) {
            return format!("{} of {count} hosts are there", self.hosts.len() + 1);
        }
        let lacking: Vec<u32> =
            (0..self.ranks()).filter(|&rank| self.addresses[rank as usize].is_none()).collect();
        let Some(owners) = &self.owners else { return format!("{} not found", named(&lacking)) };
        let hosts: BTreeSet<Mac> = lacking.iter().map(|&rank| owners[rank as usize]).collect();
        let of_host = |host: &Mac| {
            let ranks: Vec<u32> =
                lacking.iter().copied().filter(|&rank| owners[rank as usize] == *host).collect();
            format!("{host} (ranks {})", ranges(&ranks))
        };
        format!("not found: {}", hosts.iter().map(of_host).collect::<Vec<_>>().join(", "))
    }
}

fn check_owner(owners: &[Mac], rank: u32, host: Mac) -> Result<(), DiscoveryError> {
    let owner = owners[rank as usize];
    if owner == host { Ok(()) } else { Err(DiscoveryError::WrongOwner { host, rank, owner }) }
}
