//! Who is there, and where each rank takes frames: questions to all of the network, and answers.
//!
//! A launcher answers for its host, and once it knows its ranks, for all of them in one datagram.
//! It asks until it has found all.
//!
//! Threat: a host that has the key may answer anything. What goes together with nothing ends the
//! search with an error that names the host, and no answer makes this grow. Answers of those
//! without the key, and old ones, don't get here or have another nonce.

use super::plan::{self, Plan, named, ranges};
use goal_esp::auth::Address;
use goal_esp::wire::{Mac, Message, PortRun, Ports};
use std::collections::BTreeSet;

/// Most hosts with another key that are named.
const STRANGERS_MAX: usize = 8;
/// Between two questions, at first and at most.
const PAUSE_MIN_NS: u64 = 5_000_000;
const PAUSE_MAX_NS: u64 = 100_000_000;

/// One launcher's view of who is there.
#[derive(Debug)]
pub struct Discovery {
    job: u64,
    nonce: u64,
    me: Mac,
    plan: Plan,
    /// The other hosts that have answered.
    hosts: BTreeSet<Mac>,
    /// Hosts that have another key: some of them, as anybody can claim to be one.
    strangers: BTreeSet<Mac>,
    /// Which host each rank should be on, where that is known.
    owners: Option<Vec<Mac>>,
    /// Where each rank takes frames.
    addresses: Vec<Option<Address>>,
    /// The ranks of this host, once they are known.
    mine: Option<Vec<u32>>,
    /// Where they take frames, as answers have it.
    own_ports: Vec<u8>,
    /// When to ask next, and the pause after that.
    ask_ns: u64,
    pause_ns: u64,
}

impl Discovery {
    /// The view of the host with the interface `me`, of a job of `ranks` ranks. No other run of the
    /// host has this `nonce`, and earlier ones had lower ones.
    ///
    /// # Errors
    /// What can't be of the plan, in words.
    pub fn new(job: u64, nonce: u64, me: Mac, ranks: u32, plan: Plan) -> Result<Self, String> {
        let (owners, here) = match &plan {
            Plan::Peers(peers) => {
                if !peers.iter().any(|peer| peer.mac == me) {
                    return Err(format!(
                        "this host's interface has the address {me}, which is not among the peers"
                    ));
                }
                (Some(plan::owners(peers, ranks)?), None)
            }
            Plan::Count(count) if *count > ranks => {
                return Err(format!("there can't be {count} hosts: the program has {ranks} ranks"));
            }
            Plan::Count(_) => (None, None),
            Plan::Here(list) => {
                let mut here = list.of(ranks)?;
                here.sort_unstable();
                if let Some(twice) = here.windows(2).find(|pair| pair[0] == pair[1]) {
                    return Err(format!("rank {} is named twice", twice[0]));
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
            strangers: BTreeSet::new(),
            owners: None,
            addresses: vec![None; ranks as usize],
            mine: here,
            own_ports: Vec::new(),
            ask_ns: 0,
            pause_ns: PAUSE_MIN_NS,
        };
        match owners {
            Some(owners) => discovery.assign(owners)?,
            None => discovery.see_all()?,
        }
        Ok(discovery)
    }

    pub(super) fn ranks(&self) -> u32 {
        self.addresses.len() as u32
    }

    fn assign(&mut self, owners: Vec<Mac>) -> Result<(), String> {
        let found =
            (0..).zip(&self.addresses).filter_map(|(rank, address)| Some((rank, (*address)?.mac)));
        for (rank, mac) in found {
            check_owner(&owners, rank, mac)?;
        }
        let mine: Vec<u32> =
            (0..self.ranks()).filter(|&rank| owners[rank as usize] == self.me).collect();
        if mine.is_empty() {
            return Err(format!("no rank is on this host, {}", self.me));
        }
        self.mine = Some(mine);
        self.owners = Some(owners);
        Ok(())
    }

    /// Deals the ranks out where all hosts have been seen and nobody has said which has which.
    fn see_all(&mut self) -> Result<(), String> {
        let Plan::Count(count) = self.plan else { return Ok(()) };
        let seen = self.hosts.len() as u32 + 1;
        if seen > count {
            let hosts: Vec<String> = self.hosts.iter().map(Mac::to_string).collect();
            return Err(format!(
                "{seen} hosts are there, --hosts says {count}: beside this one there are {}",
                hosts.join(", ")
            ));
        }
        if seen == count && self.owners.is_none() {
            let mut hosts: Vec<Mac> = self.hosts.iter().copied().chain([self.me]).collect();
            hosts.sort_unstable();
            self.assign(plan::blocks(&hosts, self.ranks())?)?;
        }
        Ok(())
    }

    /// The ranks of this host, ascending; `None` until that is known.
    pub fn mine(&self) -> Option<&[u32]> {
        self.mine.as_deref()
    }

    /// The ranks of this host take frames at these ports, in their order.
    pub fn claimed(&mut self, ports: &[u16]) {
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

    /// What to ask all hosts, if it is time to.
    pub fn poll_question(&mut self, now_ns: u64) -> Option<Message<'static>> {
        if self.is_complete() || now_ns < self.ask_ns {
            return None;
        }
        self.ask_ns = now_ns + self.pause_ns;
        self.pause_ns = (2 * self.pause_ns).min(PAUSE_MAX_NS);
        Some(Message::Discovery { job: self.job, nonce: self.nonce })
    }

    /// When to ask next; `None` if that is not needed.
    pub fn poll_timeout(&self) -> Option<u64> {
        (!self.is_complete()).then_some(self.ask_ns)
    }

    /// The answers to a question: one, unless the ports of this host's ranks are in very many
    /// pieces.
    pub fn answers(&self, job: u64, nonce: u64) -> impl Iterator<Item = Message<'_>> {
        let ranks = self.ranks();
        let lists = Ports::lists(&self.own_ports).filter(move |_| job == self.job);
        lists.map(move |ports| Message::Answer { job, nonce, ranks, ports })
    }

    /// Takes what came from the host `mac`, if it answers a question of this one.
    ///
    /// # Errors
    /// What does not go together with what is known here, in words.
    pub fn handle(&mut self, mac: Mac, message: &Message<'_>) -> Result<(), String> {
        let &Message::Answer { job, nonce, ranks, ports } = message else { return Ok(()) };
        if job != self.job || nonce != self.nonce {
            return Ok(());
        }
        if ranks != self.ranks() {
            return Err(format!(
                "host {mac} runs a program of {ranks} ranks, here it has {}",
                self.ranks()
            ));
        }
        if let Plan::Peers(peers) = &self.plan
            && !peers.iter().any(|peer| peer.mac == mac)
        {
            return Err(format!("host {mac} takes part, which is not among the peers"));
        }
        self.hosts.insert(mac);
        self.see_all()?;
        for (rank, port) in ports.iter().flat_map(PortRun::ranks) {
            self.place(rank, Address { mac, port })?;
        }
        Ok(())
    }

    /// Another host says that it has a rank.
    fn place(&mut self, rank: u32, address: Address) -> Result<(), String> {
        let mac = address.mac;
        let Some(known) = self.addresses.get(rank as usize) else {
            return Err(format!(
                "host {mac} has rank {rank}, and the program has {} ranks",
                self.ranks()
            ));
        };
        if self.mine.as_ref().is_some_and(|mine| mine.binary_search(&rank).is_ok()) {
            return Err(format!("both this host, {}, and host {mac} have rank {rank}", self.me));
        }
        if let Some(known) = known.filter(|known| known.mac != mac) {
            return Err(format!("both host {} and host {mac} have rank {rank}", known.mac));
        }
        if let Some(owners) = &self.owners {
            check_owner(owners, rank, mac)?;
        }
        self.addresses[rank as usize] = Some(address);
        Ok(())
    }

    /// Returns true if it is known where each rank takes frames.
    pub fn is_complete(&self) -> bool {
        self.addresses.iter().all(Option::is_some)
    }

    /// Where each rank takes frames; `None` until all are known.
    pub fn addresses(&self) -> Option<Vec<Address>> {
        self.addresses.iter().copied().collect()
    }

    /// Returns true if a host has answered.
    pub fn is_host(&self, mac: Mac) -> bool {
        self.hosts.contains(&mac)
    }

    /// A host says something that is proven with another key.
    pub fn hear_stranger(&mut self, host: Mac) {
        if self.strangers.len() < STRANGERS_MAX {
            self.strangers.insert(host);
        }
    }

    /// Who has not been found, in words.
    pub fn missing(&self) -> String {
        let mut text = self.lacking();
        if !self.strangers.is_empty() {
            let all: Vec<String> = self.strangers.iter().map(Mac::to_string).collect();
            text.push_str(&format!("; frames with another key were heard from {}", all.join(", ")));
        }
        text
    }

    fn lacking(&self) -> String {
        if let (Plan::Count(count), None) = (&self.plan, &self.owners) {
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

fn check_owner(owners: &[Mac], rank: u32, mac: Mac) -> Result<(), String> {
    let owner = owners[rank as usize];
    if owner == mac {
        return Ok(());
    }
    Err(format!(
        "host {mac} has rank {rank}, which should be on {owner}: do all hosts have the same peers?"
    ))
}
