//! Gathers the ranks of all launchers. Each launcher tells the leader its own ranks, and the leader
//! tells all launchers where every rank is.
//!
//! Threat: a launcher with the key may claim any ranks. The job ends if claims contradict each
//! other or the program.

use super::{Claims, LEADER, Rendezvous};
use crate::hosts::error::DiscoveryError;
use crate::hosts::message::{LauncherMessage, LinkEvent};
use crate::hosts::plan;
use goal_job::host::{Host, Location};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

impl Rendezvous {
    /// Sets the ports of this host's ranks, in the order of the ranks.
    pub(crate) fn claimed(&mut self, ports: &[u16]) {
        for ((_, port), &claimed) in self.mine.iter_mut().zip(ports) {
            *port = claimed;
        }
        self.has_ports = true;
        self.claim();
    }

    /// Tells the leader the ranks of this host, once the connection and the ports are there.
    pub(super) fn claim(&mut self) {
        if !self.has_ports {
            return;
        }
        if self.leads() {
            return self.settle();
        }
        let Some(leader) = self.peers.get(&LEADER) else { return };
        let claims = LauncherMessage::Claims {
            ranks: self.ranks,
            size: self.size,
            mine: self.mine.clone(),
            address: self.address,
            reached: leader.address,
            machine: self.machine.clone(),
        };
        self.say(LEADER, &claims, &[]);
    }

    /// Checks and notes the ranks that launcher `number` claims.
    pub(super) fn hear_claims(&mut self, number: u32, host: Host, message: LauncherMessage) {
        let LauncherMessage::Claims { ranks, size, mine, address, reached, machine } = message
        else {
            return;
        };
        if size != self.size {
            let (theirs, ours) = (size, self.size);
            return self.contradict(DiscoveryError::OtherSize { host, theirs, ours });
        }
        if ranks != self.ranks {
            let (theirs, ours) = (ranks, self.ranks);
            return self.contradict(DiscoveryError::OtherProgram { host, theirs, ours });
        }
        let mut seen = BTreeSet::new();
        for &(rank, _) in &mine {
            if rank >= ranks {
                return self.contradict(DiscoveryError::NoSuchRank { host, rank, ranks });
            }
            if !seen.insert(rank) {
                return self.contradict(DiscoveryError::NamedTwice(rank));
            }
        }
        if let Some(peer) = self.peers.get_mut(&number) {
            peer.claims = Some(Claims { mine, address, machine });
            peer.reached = reached.to_canonical();
        }
        self.settle();
    }

    /// Tells all launchers the locations of all ranks, once every launcher has claimed its ranks.
    fn settle(&mut self) {
        let have_all = self.has_ports
            && self.peers.len() as u32 == self.size - 1
            && self.peers.values().all(|peer| peer.claims.is_some());
        if !have_all || self.is_found || self.is_broken {
            return;
        }
        let own = self.me();
        let mut owners: Vec<Option<Host>> = vec![None; self.ranks as usize];
        let all = self.peers.values().flat_map(|peer| {
            let mine = peer.claims.iter().flat_map(|claims| &claims.mine);
            mine.map(move |&(rank, _)| (rank, peer.host))
        });
        for (rank, host) in self.mine.iter().map(|&(rank, _)| (rank, own)).chain(all) {
            if let Some(first) = owners[rank as usize].replace(host) {
                let (second, rank) = (host, rank);
                return self.contradict(DiscoveryError::Both { first, second, rank });
            }
        }
        let lacking: Vec<u32> =
            (0..).zip(&owners).filter(|(_, owner)| owner.is_none()).map(|(rank, _)| rank).collect();
        if !lacking.is_empty() {
            return self.contradict(plan::Fault::Unowned(lacking).into());
        }
        self.is_found = true;
        let crowded = self.crowded();
        // Encodes a text only once for all launchers that get the same. It is long if there are
        // many ranks.
        let mut texts: BTreeMap<(IpAddr, bool), Vec<u8>> = BTreeMap::new();
        let viewers: Vec<(u32, IpAddr, bool)> = (self.peers.iter())
            .map(|(&number, peer)| {
                let machine = peer.claims.as_ref().map(|claims| &claims.machine.id);
                (number, peer.reached, machine.is_some_and(|id| crowded.contains(id)))
            })
            .collect();
        for (number, reached, is_crowded) in viewers {
            let text = texts.entry((reached, is_crowded)).or_insert_with(|| {
                let locations = self.locations(Some(reached));
                LauncherMessage::Found { locations, is_crowded }.encode(&[])
            });
            if let Some(peer) = self.peers.get_mut(&number) {
                peer.unsent.extend_from_slice(text);
            }
        }
        if crowded.contains(&self.machine.id) {
            self.events.push_back(LinkEvent::Crowded);
        }
        let found = self.locations(None);
        self.events.push_back(LinkEvent::Found(found));
    }

    /// Returns the machines on which several launchers have ranks, and more ranks than processors.
    fn crowded(&self) -> BTreeSet<String> {
        let claims = self.peers.values().filter_map(|peer| peer.claims.as_ref());
        let all = claims.map(|claims| (&claims.machine, claims.mine.len()));
        let mut machines: BTreeMap<&str, (usize, usize, u32)> = BTreeMap::new();
        for (machine, ranks) in all.chain([(&self.machine, self.mine.len())]) {
            let (launchers, sum, processors) = machines.entry(&machine.id).or_default();
            (*launchers, *sum) = (*launchers + 1, *sum + ranks);
            // Launchers may be bound to different processors of a machine, so the largest number
            // counts.
            *processors = machine.processors.max(*processors);
        }
        let is_crowded = |(id, (launchers, ranks, processors)): (&str, (usize, usize, u32))| {
            let is_one = !id.is_empty() && launchers > 1 && ranks as u64 > processors.into();
            is_one.then(|| id.to_owned())
        };
        machines.into_iter().filter_map(is_crowded).collect()
    }

    /// Returns the locations of all ranks as this launcher reaches them. If `reached` is set,
    /// returns them for another launcher, which has reached this one at the address `reached`.
    fn locations(&self, reached: Option<IpAddr>) -> Vec<Location> {
        let mut all = vec![None; self.ranks as usize];
        let mut put = |mine: &[(u32, u16)], host: Host| {
            for &(rank, port) in mine {
                all[rank as usize] = Some(Location { host, port });
            }
        };
        let own = self.address.or(reached).unwrap_or(IpAddr::from([127, 0, 0, 1]));
        put(&self.mine, Host::Launcher(self.number, own));
        for (&number, peer) in &self.peers {
            let Some(Claims { mine, address, .. }) = &peer.claims else { continue };
            // A launcher on the leader's host may have connected over loopback. On other hosts this
            // address would mean another machine, so they get the address at which they reached the
            // leader.
            let seen = match (peer.address.is_loopback(), reached) {
                (true, Some(reached)) => reached,
                _ => peer.address,
            };
            put(mine, Host::Launcher(number, address.unwrap_or(seen)));
        }
        all.into_iter().map(|location| location.expect("each rank has an owner")).collect()
    }

    pub(super) fn hear_found(&mut self, all: Vec<Location>, is_crowded: bool) {
        let own = self.number;
        let is_own = |location: &Location| matches!(location.host, Host::Launcher(number, _) if number == own);
        let mine = (0..).zip(&all).filter(|(_, location)| is_own(location));
        let mine: Vec<(u32, u16)> = mine.map(|(rank, location)| (rank, location.port)).collect();
        let are_tcp = all.iter().all(|location| matches!(location.host, Host::Launcher(..)));
        if all.len() != self.ranks as usize || mine != self.mine || !are_tcp {
            return self.lose(LEADER, "it placed ranks where they are not".to_owned());
        }
        self.is_found = true;
        if is_crowded {
            self.events.push_back(LinkEvent::Crowded);
        }
        // For the leader's host, the list has the address that the user chose for its ranks. If
        // there is none, it has the address at which this launcher reached the leader.
        self.events.push_back(LinkEvent::Found(all));
    }
}
