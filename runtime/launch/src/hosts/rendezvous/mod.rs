//! Connects a launcher with other launchers over TCP, without IO. All meet at the leader, which is
//! the launcher with the number 0. The others have one connection, with it.
//!
//! A [`Rendezvous`] is used like a [`Link`](super::Link), but its caller moves bytes instead of
//! frames. The caller tells when a connection has proved the key ([`Rendezvous::joined`]), passes
//! in the bytes that arrive, and sends those of [`Rendezvous::unsent`].
//!
//! Threat: a launcher with the key may send anything. Messages are decoded with bounds. Claims that
//! contradict others end the job with an error that names the launcher. Only messages of launchers
//! that have joined are taken. A launcher that is silent for a while is lost.

mod claims;
mod messages;
mod timers;

use super::error::DiscoveryError;
use super::message::{Decoder, LinkEvent, Machine};
use super::plan::{self, RankList};
use goal_job::host::Host;
use goal_tcp::SILENCE_S;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

/// The number of the launcher that leads.
pub(crate) const LEADER: u32 = 0;
/// The most time between two signs of life, and the signs in the silence after which a launcher is
/// lost.
const ALIVE_NS_MAX: u64 = 1_000_000_000;
const SIGNS: u64 = 4;
/// The silence of a launcher whose host's system answers, as a multiple of the usual one: it may
/// wait for a processor. It is at most [`SILENCE_S`] if the user asked for less.
const STARVED_MAX: u64 = 3;
/// The time between two reports of launchers that have not joined.
const TELL_NS: u64 = 2_000_000_000;
/// The most addresses that a text on other keys names.
const OTHER_KEYS_MAX: usize = 4;

/// A launcher's connections with the others.
pub(crate) struct Rendezvous {
    number: u32,
    size: u32,
    /// The number of ranks of the program.
    ranks: u32,
    /// The ranks of this launcher, with their ports once they are known.
    mine: Vec<(u32, u16)>,
    has_ports: bool,
    /// The machine of this launcher.
    machine: Machine,
    /// The address at which the user wants the ranks of this host to be reached.
    address: Option<IpAddr>,
    peers: BTreeMap<u32, Peer>,
    events: VecDeque<LinkEvent>,
    has_told_mine: bool,
    is_found: bool,
    tell_ns: u64,
    /// The reason why the leader and other launchers do not meet, as far as it is known.
    obstacle: Option<String>,
    /// The addresses of the first few launchers with another key.
    other_keys: BTreeSet<IpAddr>,
    is_broken: bool,
    is_leaving: bool,
    /// The silence after which a launcher is lost, and the time between two signs of life.
    silence_ns: u64,
    alive_ns: u64,
    /// Set when the leader was connected.
    has_met: bool,
}

/// Another launcher.
struct Peer {
    host: Host,
    /// The address of its host, and the one at which it has reached this host.
    address: IpAddr,
    reached: IpAddr,
    decoder: Decoder,
    unsent: Vec<u8>,
    claims: Option<Claims>,
    has_finished: bool,
    heard_ns: u64,
    /// The time at which its host's system answered last, as far as that was looked up.
    system_heard_ns: u64,
    said_ns: u64,
}

/// The ranks of a launcher, and the address at which they are reached, if the user named it.
struct Claims {
    mine: Vec<(u32, u16)>,
    address: Option<IpAddr>,
    machine: Machine,
}

impl Rendezvous {
    /// Returns the connections of launcher `number` of `size`, for a program of `ranks` ranks. Each
    /// launcher has a block of ranks, or `here`.
    ///
    /// # Errors
    /// [`DiscoveryError`].
    pub(crate) fn new(
        now_ns: u64,
        (number, size): (u32, u32),
        ranks: u32,
        here: Option<&RankList>,
        address: Option<IpAddr>,
    ) -> Result<Self, DiscoveryError> {
        if number >= size {
            return Err(DiscoveryError::NoSuchLauncher { number, size });
        }
        let mine: Vec<u32> = match here {
            Some(list) => {
                let mut mine = list.of(ranks)?;
                mine.sort_unstable();
                if let Some(twice) = mine.windows(2).find(|pair| pair[0] == pair[1]) {
                    return Err(DiscoveryError::NamedTwice(twice[0]));
                }
                mine
            }
            None if size > ranks => {
                return Err(DiscoveryError::TooFewRanks { hosts: size, ranks });
            }
            None => {
                let owners = plan::blocks(&(0..size).collect::<Vec<_>>(), ranks)?;
                (0..)
                    .zip(owners)
                    .filter(|&(_, owner)| owner == number)
                    .map(|(rank, _)| rank)
                    .collect()
            }
        };
        if (mine.first() == Some(&0)) != (number == LEADER) {
            return Err(DiscoveryError::LeaderElsewhere(number));
        }
        Ok(Self {
            number,
            size,
            ranks,
            mine: mine.into_iter().map(|rank| (rank, 0)).collect(),
            has_ports: false,
            address,
            machine: Machine::default(),
            peers: BTreeMap::new(),
            events: VecDeque::new(),
            has_told_mine: false,
            is_found: false,
            tell_ns: now_ns + TELL_NS,
            obstacle: None,
            other_keys: BTreeSet::new(),
            is_broken: false,
            is_leaving: false,
            silence_ns: 0,
            alive_ns: 0,
            has_met: false,
        }
        .with_silence(SILENCE_S))
    }

    /// Sets the seconds of silence after which a launcher is lost. All launchers must have the same
    /// number.
    pub(crate) fn with_silence(mut self, silence_s: u32) -> Self {
        self.silence_ns = u64::from(silence_s.max(1)) * 1_000_000_000;
        self.alive_ns = (self.silence_ns / SIGNS).min(ALIVE_NS_MAX);
        self
    }

    /// Sets the machine of this launcher.
    pub(crate) fn on_machine(mut self, machine: Machine) -> Self {
        self.machine = machine;
        self
    }

    /// Returns this host, as it names itself.
    pub(crate) fn me(&self) -> Host {
        Host::Launcher(self.number, self.address.unwrap_or(IpAddr::from([127, 0, 0, 1])))
    }

    /// Returns true if this launcher leads.
    pub(crate) fn leads(&self) -> bool {
        self.number == LEADER
    }

    /// Notes a connection with launcher `number` that has proved the key. `address` is that of its
    /// host, and `reached` the one of this host, as the connection has them.
    pub(crate) fn joined(&mut self, now_ns: u64, number: u32, address: IpAddr, reached: IpAddr) {
        let size = self.size;
        if number >= size || number == self.number {
            return self.contradict(match number {
                number if number >= size => DiscoveryError::NoSuchLauncher { number, size },
                number => DiscoveryError::SameNumber(number),
            });
        }
        let (address, reached) = (address.to_canonical(), reached.to_canonical());
        let host = Host::Launcher(number, address);
        let peer = Peer {
            host,
            address,
            reached,
            decoder: Decoder::default(),
            unsent: Vec::new(),
            claims: None,
            has_finished: false,
            heard_ns: now_ns,
            system_heard_ns: now_ns,
            said_ns: now_ns,
        };
        (self.obstacle, self.has_met) = (None, true);
        self.peers.insert(number, peer);
        self.events.push_back(LinkEvent::Connected(host));
        self.claim();
    }

    /// Returns true if launcher `number` is connected.
    pub(crate) fn has(&self, number: u32) -> bool {
        self.peers.contains_key(&number)
    }

    /// Returns the number of launchers.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Returns true if a connection of launcher `number` is of this job, as far as is known. Once
    /// all launchers were there, a launcher that left since and connects again comes for the next
    /// job.
    pub(crate) fn is_open_to(&self, number: u32) -> bool {
        !self.is_found || self.peers.get(&number).is_some_and(|peer| !peer.has_finished)
    }

    /// Ends the job, as a launcher wants to join under a number that another one has. Returns the
    /// text for that launcher.
    pub(crate) fn refuse_same(&mut self, number: u32) -> String {
        let error = DiscoveryError::SameNumber(number);
        self.contradict(error.clone());
        error.to_string()
    }

    /// Notes the reason why the leader and other launchers do not meet yet.
    pub(crate) fn hinder(&mut self, why: String) {
        self.obstacle = Some(why);
    }

    /// Notes that a launcher with another key came from this address, and tells the user at once.
    /// The job still waits: anyone may send the beginning of a connection.
    pub(crate) fn has_other_key(&mut self, address: IpAddr) {
        if self.other_keys.len() < OTHER_KEYS_MAX
            && self.other_keys.insert(address.to_canonical())
            && !self.is_found
        {
            self.tell_missing();
        }
    }

    /// Notes that there will be no connection with the leader.
    pub(crate) fn give_up(&mut self, why: String) {
        self.contradict(DiscoveryError::Rendezvous(why));
    }

    fn contradict(&mut self, error: DiscoveryError) {
        if !std::mem::replace(&mut self.is_broken, true) {
            self.events.push_back(LinkEvent::Contradiction(error));
        }
    }

    /// Notes that the connection with a launcher has ended.
    pub(crate) fn ended(&mut self, number: u32, why: Option<String>) {
        let Some(peer) = self.peers.get(&number) else { return };
        if peer.has_finished {
            self.peers.remove(&number);
            return;
        }
        let why = why.unwrap_or_else(|| "its launcher ended without a word".to_owned());
        self.lose(number, why);
    }

    fn lose(&mut self, number: u32, why: String) {
        if let Some(peer) = self.peers.remove(&number)
            && !peer.has_finished
        {
            self.events.push_back(LinkEvent::Lost(peer.host, why));
        }
    }

    /// Returns true if the connection with the leader was there and has ended: there is no other.
    pub(crate) fn is_over(&self) -> bool {
        self.has_met && self.peers.is_empty()
    }

    /// Returns true after [`LinkEvent::Contradiction`].
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Returns the next event.
    pub(crate) fn poll_event(&mut self) -> Option<LinkEvent> {
        self.events.pop_front()
    }
}
