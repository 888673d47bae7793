//! A launcher's end of its connections of TCP with other launchers, without IO. All meet at the
//! leader, which is the launcher with the number 0; the others have one connection, with it.
//!
//! It is used like a [`Link`](super::Link), but its caller moves bytes instead of frames: it tells
//! when a connection has proved the key ([`Rendezvous::joined`]), hands in the bytes that arrive,
//! and sends those of [`Rendezvous::unsent`].
//!
//! Threat: whoever has the key may send anything. Messages are decoded with bounds, claims that
//! contradict others end the job with an error that names the launcher, and no other launcher's
//! messages are taken than those that joined. A launcher that says nothing for a while is lost.

use super::error::DiscoveryError;
use super::message::{Decoder, Event, Machine, Message, Reply};
use super::plan::{self, RankList, ranges};
use crate::host::{Host, Location};
use goal_esp::wire::State;
use goal_tcp::SILENCE_S;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

/// The number of the launcher that leads.
pub(crate) const LEADER: u32 = 0;
/// The most time between two signs of life, and the signs in the silence after which a launcher is
/// lost.
const ALIVE_NS_MAX: u64 = 1_000_000_000;
const SIGNS: u64 = 4;
/// The time between two reports of launchers that have not joined.
const TELL_NS: u64 = 2_000_000_000;
/// The most addresses that a text on other keys names.
const OTHER_KEYS_MAX: usize = 4;
/// The bytes that may wait to be sent to a launcher before a caller should wait.
const WAITING_MAX: usize = 1 << 20;

/// The states of ranks, by their numbers in messages.
const STATES: [State; 3] = [State::Active, State::Idle, State::Done];

/// A launcher's end of its connections.
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
    events: VecDeque<Event>,
    has_told_mine: bool,
    is_found: bool,
    tell_ns: u64,
    /// The reason why there is no connection with the leader, as far as it is known.
    obstacle: Option<String>,
    /// Where launchers with another key came from, the first few.
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
    said_ns: u64,
}

/// The ranks of a launcher, and the address at which they are reached, if the user named it.
struct Claims {
    mine: Vec<(u32, u16)>,
    address: Option<IpAddr>,
    machine: Machine,
}

impl Rendezvous {
    /// Returns the end of launcher `number` of `size`, for a program of `ranks` ranks. Each has a
    /// block of ranks, or `here`.
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
            said_ns: now_ns,
        };
        (self.obstacle, self.has_met) = (None, true);
        self.peers.insert(number, peer);
        self.events.push_back(Event::Connected(host));
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

    /// Returns true if a connection of launcher `number` is of this job, as far as is known: when
    /// all launchers were there, one that has left since comes for the next job.
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

    /// Notes the reason why there is no connection with the leader yet.
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
            self.events.push_back(Event::Contradiction(error));
        }
    }

    /// Sets the ports of this host's ranks, in the order of the ranks.
    pub(crate) fn claimed(&mut self, ports: &[u16]) {
        for ((_, port), &claimed) in self.mine.iter_mut().zip(ports) {
            *port = claimed;
        }
        self.has_ports = true;
        self.claim();
    }

    /// Tells the leader the ranks of this host, once there are a connection and ports.
    fn claim(&mut self) {
        if !self.has_ports {
            return;
        }
        if self.leads() {
            return self.settle();
        }
        let Some(leader) = self.peers.get(&LEADER) else { return };
        let claims = Message::Claims {
            ranks: self.ranks,
            size: self.size,
            mine: self.mine.clone(),
            address: self.address,
            reached: leader.address,
            machine: self.machine.clone(),
        };
        self.say(LEADER, &claims, &[]);
    }

    /// Checks the claims of a launcher.
    fn hear_claims(&mut self, number: u32, host: Host, message: Message) {
        let Message::Claims { ranks, size, mine, address, reached, machine } = message else {
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

    /// Tells all launchers the locations of all ranks, once all of them have claimed theirs.
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
        // Many launchers get the same text, which is long if there are many ranks.
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
                Message::Found { locations, is_crowded }.encode(&[])
            });
            if let Some(peer) = self.peers.get_mut(&number) {
                peer.unsent.extend_from_slice(text);
            }
        }
        if crowded.contains(&self.machine.id) {
            self.events.push_back(Event::Crowded);
        }
        let found = self.locations(None);
        self.events.push_back(Event::Found(found));
    }

    /// Returns the machines on which several launchers have ranks, more than it has processors.
    fn crowded(&self) -> BTreeSet<String> {
        let claims = self.peers.values().filter_map(|peer| peer.claims.as_ref());
        let all = claims.map(|claims| (&claims.machine, claims.mine.len()));
        let mut machines: BTreeMap<&str, (usize, usize, u32)> = BTreeMap::new();
        for (machine, ranks) in all.chain([(&self.machine, self.mine.len())]) {
            let (launchers, sum, processors) = machines.entry(&machine.id).or_default();
            (*launchers, *sum) = (*launchers + 1, *sum + ranks);
            // Launchers may use different processors of their machine.
            *processors = machine.processors.max(*processors);
        }
        let is_crowded = |(id, (launchers, ranks, processors)): (&str, (usize, usize, u32))| {
            let is_one = !id.is_empty() && launchers > 1 && ranks as u64 > processors.into();
            is_one.then(|| id.to_owned())
        };
        machines.into_iter().filter_map(is_crowded).collect()
    }

    /// Returns the locations of all ranks as this launcher reaches them, or as one does that has
    /// `reached` this one at that address.
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
            // A launcher on the leader's host may have come over loopback, which leads others
            // elsewhere.
            let seen = match (peer.address.is_loopback(), reached) {
                (true, Some(reached)) => reached,
                _ => peer.address,
            };
            put(mine, Host::Launcher(number, address.unwrap_or(seen)));
        }
        all.into_iter().map(|location| location.expect("each rank has an owner")).collect()
    }

    /// Makes [`Event::Connected`] follow if the host is connected.
    pub(crate) fn connect(&mut self, host: Host) {
        if let Some(number) = self.number_of(host) {
            let host = self.peers[&number].host;
            self.events.push_back(Event::Connected(host));
        }
    }

    fn number_of(&self, host: Host) -> Option<u32> {
        match host {
            Host::Launcher(number, _) => self.peers.contains_key(&number).then_some(number),
            Host::Mac(_) => None,
        }
    }

    /// Sends a message to a launcher, if it is connected.
    pub(crate) fn send(&mut self, host: Host, message: &Message, bytes: &[u8]) {
        if let Some(number) = self.number_of(host) {
            self.say(number, message, bytes);
        }
    }

    fn say(&mut self, number: u32, message: &Message, bytes: &[u8]) {
        if let Some(peer) = self.peers.get_mut(&number) {
            peer.unsent.extend(message.encode(bytes));
        }
    }

    /// Asks a host for the state of its ranks.
    pub(crate) fn probe(&mut self, host: Host, round: u64) {
        self.send(host, &Message::Probe { round }, &[]);
    }

    /// Answers an [`Event::Probe`] of `host`.
    pub(crate) fn reply(&mut self, host: Host, round: u64, reply: Reply) {
        let Reply { state, sent, taken } = reply;
        let state = STATES.iter().position(|&one| one == state).expect("all are listed") as u8;
        self.send(host, &Message::State { round, state, sent, taken }, &[]);
    }

    /// Returns true if little waits to be sent, so more may be sent.
    pub(crate) fn has_room(&self) -> bool {
        self.peers.values().all(|peer| peer.unsent.len() < WAITING_MAX)
    }

    /// Returns the bytes that wait to be sent to a launcher. The caller removes what it has sent.
    pub(crate) fn unsent(&mut self, number: u32) -> Option<&mut Vec<u8>> {
        self.peers.get_mut(&number).map(|peer| &mut peer.unsent)
    }

    /// Handles bytes of a launcher.
    pub(crate) fn received(&mut self, now_ns: u64, number: u32, bytes: &[u8]) {
        let Some(peer) = self.peers.get_mut(&number) else { return };
        peer.heard_ns = now_ns;
        peer.decoder.push(bytes);
        loop {
            let Some(peer) = self.peers.get_mut(&number) else { return };
            let host = peer.host;
            match peer.decoder.next_message() {
                Ok(Some((message, bytes))) => self.hear(number, host, message, bytes),
                Ok(None) => return,
                Err(broken) => return self.lose(number, broken.to_string()),
            }
        }
    }

    fn hear(&mut self, number: u32, host: Host, message: Message, bytes: Vec<u8>) {
        let leads = self.leads();
        match message {
            Message::Alive => {}
            Message::Claims { .. } if leads => self.hear_claims(number, host, message),
            Message::Found { locations, is_crowded }
                if !leads && number == LEADER && !self.is_found =>
            {
                self.hear_found(locations, is_crowded);
            }
            Message::Probe { round } if !leads => {
                self.events.push_back(Event::Probe { from: host, round });
            }
            Message::State { round, state, sent, taken } if leads => {
                if let Some(&state) = STATES.get(usize::from(state)) {
                    let reply = Reply { state, sent, taken };
                    self.events.push_back(Event::Replied(host, round, reply));
                }
            }
            Message::Leaving => {
                if let Some(peer) = self.peers.get_mut(&number) {
                    peer.has_finished = true;
                }
                self.events.push_back(Event::Finished(host));
            }
            Message::Claims { .. }
            | Message::Found { .. }
            | Message::Probe { .. }
            | Message::State { .. } => {
                self.lose(number, "it sent what is not for this launcher".to_owned());
            }
            message => self.events.push_back(Event::Message(host, message, bytes)),
        }
    }

    fn hear_found(&mut self, all: Vec<Location>, is_crowded: bool) {
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
            self.events.push_back(Event::Crowded);
        }
        // The leader goes by the address of the connection with it, whatever the user named.
        self.events.push_back(Event::Found(all));
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
            self.events.push_back(Event::Lost(peer.host, why));
        }
    }

    /// Handles all timers that are due.
    pub(crate) fn handle_timeout(&mut self, now_ns: u64) {
        // The launcher claims ports once it has all its connections; one that is alone has them at
        // once.
        let awaited = if self.leads() { self.size as usize - 1 } else { 1 };
        if !self.has_told_mine && self.peers.len() >= awaited {
            self.has_told_mine = true;
            let mine = self.mine.iter().map(|&(rank, _)| rank).collect();
            self.events.push_back(Event::Mine(mine));
        }
        if !self.is_found && self.tell_ns <= now_ns {
            self.tell_ns = now_ns + TELL_NS;
            self.tell_missing();
        }
        let (alive_ns, silence_ns) = (self.alive_ns, self.silence_ns);
        let mut silent = vec![];
        for (&number, peer) in &mut self.peers {
            if peer.said_ns + alive_ns <= now_ns && !self.is_leaving {
                peer.said_ns = now_ns;
                peer.unsent.extend(Message::Alive.encode(&[]));
            }
            if peer.heard_ns + silence_ns <= now_ns && !peer.has_finished {
                silent.push(number);
            }
        }
        for number in silent {
            self.lose(number, format!("not heard of for {} s", silence_ns / 1_000_000_000));
        }
    }

    /// Returns the time at which [`Rendezvous::handle_timeout`] must be called.
    pub(crate) fn poll_timeout(&self) -> Option<u64> {
        let tell_ns = (!self.is_found).then_some(self.tell_ns);
        let of_peer =
            |peer: &Peer| (peer.said_ns + self.alive_ns).min(peer.heard_ns + self.silence_ns);
        self.peers.values().map(of_peer).chain(tell_ns).min()
    }

    /// Reports [`Event::Missing`] at once.
    pub(crate) fn tell_missing(&mut self) {
        let text = match (self.leads(), &self.obstacle) {
            (true, _) => {
                let absent: Vec<u32> =
                    (1..self.size).filter(|number| !self.peers.contains_key(number)).collect();
                match absent.as_slice() {
                    [] => "not all launchers have claimed their ranks".to_owned(),
                    absent => {
                        let why = self.obstacle.as_ref().map(|why| format!("; {why}"));
                        format!(
                            "{} of {} launchers are there; not yet {}{}",
                            self.size - absent.len() as u32,
                            self.size,
                            ranges(absent),
                            why.unwrap_or_default()
                        )
                    }
                }
            }
            (false, Some(why)) => why.clone(),
            (false, None) if self.peers.is_empty() => "no connection with the leader".to_owned(),
            (false, None) => "the leader waits for other launchers".to_owned(),
        };
        let from: Vec<String> = self.other_keys.iter().map(IpAddr::to_string).collect();
        let note = match from.is_empty() {
            true => String::new(),
            false => format!("; a launcher with another key came from {}", from.join(", ")),
        };
        self.events.push_back(Event::Missing(text + &note));
    }

    /// Says farewell to all launchers.
    pub(crate) fn close(&mut self) {
        if !std::mem::replace(&mut self.is_leaving, true) {
            for peer in self.peers.values_mut() {
                peer.unsent.extend(Message::Leaving.encode(&[]));
            }
        }
    }

    /// Returns true if nothing waits to be sent.
    pub(crate) fn is_sent(&self) -> bool {
        self.peers.values().all(|peer| peer.unsent.is_empty())
    }

    /// Returns true if the connection with the leader was there and has ended: there is no other.
    pub(crate) fn is_over(&self) -> bool {
        self.has_met && self.peers.is_empty()
    }

    /// Returns true after [`Event::Contradiction`].
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Returns the next event.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
