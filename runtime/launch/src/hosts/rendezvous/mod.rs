//! Connects a launcher with other launchers over TCP, without IO. Launcher 0 is the leader. Every
//! other launcher has one connection, which is with the leader.
//!
//! A [`Rendezvous`] is used like a [`Link`](super::Link), but its caller moves bytes instead of
//! frames. The caller calls [`Rendezvous::joined`] when a connection has proved the key. It passes
//! in the bytes that arrive, and sends the bytes that [`Rendezvous::unsent`] returns.
//!
//! Threat: a launcher with the key may send anything. Messages are decoded with bounds. Claims that
//! contradict each other end the job with an error that names the launcher. Only launchers that
//! have joined are heard. A launcher that is silent for too long is lost.

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
/// The longest time between two signs of life in nanoseconds, and the least number of signs of life
/// in the silence after which a launcher is lost.
const ALIVE_NS_MAX: u64 = 1_000_000_000;
const SIGNS: u64 = 4;
/// The factor for the silence of a launcher while its host's system still answers, as the launcher
/// may wait for a processor. The product is at most [`SILENCE_S`], or the silence itself if that is
/// longer.
const STARVED_MAX: u64 = 3;
/// The time between two reports of launchers that have not joined.
const TELL_NS: u64 = 2_000_000_000;
/// The most addresses of launchers with another key that a text names.
const OTHER_KEYS_MAX: usize = 4;

/// A launcher's connections with the other launchers of its job.
pub(crate) struct Rendezvous {
    number: u32,
    size: u32,
    /// The number of ranks of the program.
    ranks: u32,
    /// The ranks of this launcher, with their ports once they are known.
    mine: Vec<(u32, u16)>,
    has_ports: bool,
    /// The machine on which this launcher runs.
    machine: Machine,
    /// The address at which the user wants the ranks of this host to be reached.
    address: Option<IpAddr>,
    peers: BTreeMap<u32, Peer>,
    events: VecDeque<LinkEvent>,
    has_told_mine: bool,
    is_found: bool,
    tell_ns: u64,
    /// The last known reason why the leader and other launchers do not meet.
    obstacle: Option<String>,
    /// The addresses of the first few launchers with another key.
    other_keys: BTreeSet<IpAddr>,
    is_broken: bool,
    is_leaving: bool,
    /// The silence after which a launcher is lost, and the time between two signs of life, in
    /// nanoseconds.
    silence_ns: u64,
    alive_ns: u64,
    /// True once the leader was connected.
    has_met: bool,
}

/// The state of another launcher that has joined.
struct Peer {
    host: Host,
    /// The address of the launcher's host, and the address at which that launcher has reached this
    /// host.
    address: IpAddr,
    reached: IpAddr,
    decoder: Decoder,
    unsent: Vec<u8>,
    claims: Option<Claims>,
    has_finished: bool,
    heard_ns: u64,
    /// The last known time at which the system of the launcher's host answered.
    system_heard_ns: u64,
    said_ns: u64,
}

/// The ranks and ports of a launcher, and the address for them if the user named one.
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

    /// Sets the silence in seconds after which a launcher is lost. It must be the same for all
    /// launchers.
    pub(crate) fn with_silence(mut self, silence_s: u32) -> Self {
        self.silence_ns = u64::from(silence_s.max(1)) * 1_000_000_000;
        self.alive_ns = (self.silence_ns / SIGNS).min(ALIVE_NS_MAX);
        self
    }

    /// Sets the machine on which this launcher runs.
    pub(crate) fn on_machine(mut self, machine: Machine) -> Self {
        self.machine = machine;
        self
    }

    /// Returns this host as [`Host`], with the user's address or else the loopback address.
    pub(crate) fn me(&self) -> Host {
        Host::Launcher(self.number, self.address.unwrap_or(IpAddr::from([127, 0, 0, 1])))
    }

    /// Returns true if this launcher leads.
    pub(crate) fn leads(&self) -> bool {
        self.number == LEADER
    }

    /// Notes a connection with launcher `number` that has proved the key. `address` is the address
    /// of the launcher's host on this connection, and `reached` is the address of this host.
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

    /// Returns true if a new connection of launcher `number` may be of this job. Once all launchers
    /// were found, a launcher that has left and connects again belongs to the next job.
    pub(crate) fn is_open_to(&self, number: u32) -> bool {
        !self.is_found || self.peers.get(&number).is_some_and(|peer| !peer.has_finished)
    }

    /// Ends the job because two launchers have the same number. Returns the text for the second
    /// one.
    pub(crate) fn refuse_same(&mut self, number: u32) -> String {
        let error = DiscoveryError::SameNumber(number);
        self.contradict(error.clone());
        error.to_string()
    }

    /// Notes why the leader and other launchers do not meet yet.
    pub(crate) fn hinder(&mut self, why: String) {
        self.obstacle = Some(why);
    }

    /// Notes that a launcher with another key connected from this address, and tells the user at
    /// once. The job still waits, because anyone may begin a connection.
    pub(crate) fn has_other_key(&mut self, address: IpAddr) {
        if self.other_keys.len() < OTHER_KEYS_MAX
            && self.other_keys.insert(address.to_canonical())
            && !self.is_found
        {
            self.tell_missing();
        }
    }

    /// Ends the search, because there will be no connection with the leader. `why` is for the user.
    pub(crate) fn give_up(&mut self, why: String) {
        self.contradict(DiscoveryError::Rendezvous(why));
    }

    fn contradict(&mut self, error: DiscoveryError) {
        if !std::mem::replace(&mut self.is_broken, true) {
            self.events.push_back(LinkEvent::Contradiction(error));
        }
    }

    /// Notes that the connection with launcher `number` has ended. `why` is its error, if any.
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

    /// Returns true if the connection with the leader has ended. It is never opened again.
    pub(crate) fn is_over(&self) -> bool {
        self.has_met && self.peers.is_empty()
    }

    /// Returns true after the event [`LinkEvent::Contradiction`].
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Returns the next event.
    pub(crate) fn poll_event(&mut self) -> Option<LinkEvent> {
        self.events.pop_front()
    }
}
