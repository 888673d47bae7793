//! One connection of an endpoint, with its timers, its keys, and the events that were reported of
//! it.

use super::clock::Clock;
use super::config::{Config, Timing};
use super::event::{ConnectionId, Event, Loss, Stats};
use super::liveness::Liveness;
use super::random::Random;
use super::rtt::Lag;
use super::spare::Spare;
use super::suspect::Suspect;
use crate::auth::{Address, Key};
use crate::machine::{Ends, Machine, Slot, Timer};
use crate::seq::Seq;
use crate::transfer::Rules;
use crate::wire::Parameters;
use std::collections::{BTreeSet, VecDeque};

/// The state that all connections of an endpoint share.
pub(super) struct Shared {
    pub(super) config: Config,
    /// The key for the tag of a SYN.
    pub(super) handshake: Key,
    pub(super) random: Random,
    pub(super) stats: Stats,
    pub(super) events: VecDeque<Event>,
    pub(super) spare: Spare,
    pub(super) lag: Lag,
    /// The communicators whose streams are read.
    pub(super) communicators: BTreeSet<u32>,
}

/// The life cycle of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is no connection, and the owner has not asked for one.
    Idle,
    /// The owner has asked for a connection.
    Connecting,
    /// The connection is established.
    Connected,
    /// The connection is closed, but still answers a peer that may not know this.
    Closed,
}

/// The key of a pair of ends, with the control numbers of both directions.
pub(super) struct Proof {
    pub(super) ends: Ends,
    pub(super) key: Key,
    pub(super) sent: u64,
    /// The highest control number that was received.
    pub(super) seen: u64,
}

/// The communicator that a postponed stream names, and the time at which the connection is given
/// up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Postponed {
    pub(super) communicator: u32,
    pub(super) until_ns: u64,
}

/// One connection of an endpoint: a [`Slot`] with its timers, its keys, and the events that were
/// reported of it.
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) peer: Address,
    pub(super) slot: Slot<Vec<u8>>,
    pub(super) phase: Phase,
    pub(super) clock: Clock,
    pub(super) proof: Option<Proof>,
    pub(super) parameters: Parameters,
    /// The time at which this phase began.
    pub(super) since_ns: u64,
    pub(super) liveness: Liveness,
    /// A packet that was sent only once, and the time in nanoseconds at which it was sent. Its
    /// acknowledgement measures a round trip.
    pub(super) timed: Option<(Seq, u64)>,
    /// The time in nanoseconds of the last request for a sign of life, until the answer comes.
    pub(super) probed_ns: Option<u64>,
    /// The packet that may be too long for the network (`suspect`), and the length of its frame in
    /// bytes once that is certain (`too_long`).
    pub(super) suspect: Option<Suspect>,
    pub(super) too_long: Option<u16>,
    /// Set while the stream from the peer waits for its communicator.
    pub(super) postponed: Option<Postponed>,
    /// True if the peer answered the first unacknowledged packet with an empty window. The time
    /// until that packet is acknowledged then says nothing about how late peers answer.
    pub(super) is_put_off: bool,
    /// The time of the last SYN (`asked_ns`), and the number of SYNs that were sent (`questions`).
    pub(super) asked_ns: u64,
    pub(super) questions: u32,
    pub(super) is_blocked: bool,
    pub(super) is_readable_told: bool,
    pub(super) is_finished_told: bool,
    /// True if the connection is in the endpoint's list `touched`.
    pub(super) is_touched: bool,
    /// True if the endpoint counts this connection among those on which the peer's transfer is in
    /// progress.
    pub(super) is_counted: bool,
    /// The deadline that the endpoint has registered for this connection.
    pub(super) registered_ns: Option<u64>,
}

impl Connection {
    pub(super) fn new(now_ns: u64, id: ConnectionId, peer: Address, shared: &mut Shared) -> Self {
        let Config { payload_max, authenticates_data, .. } = shared.config;
        let rules = Rules { answers_with_data: authenticates_data, ..shared.config.rules };
        Self {
            id,
            peer,
            slot: Slot::new(rules, shared.random.identity()),
            phase: Phase::Idle,
            clock: Clock::default(),
            proof: None,
            parameters: Parameters { payload_max, authenticates_data },
            since_ns: now_ns,
            liveness: Liveness::new(now_ns),
            timed: None,
            probed_ns: None,
            suspect: None,
            too_long: None,
            postponed: None,
            is_put_off: false,
            asked_ns: now_ns,
            questions: 0,
            is_blocked: false,
            is_readable_told: false,
            is_finished_told: false,
            is_touched: false,
            is_counted: false,
            registered_ns: None,
        }
    }

    pub(super) fn connect(&mut self, now_ns: u64, shared: &mut Shared) {
        if self.phase == Phase::Closed {
            self.slot.clear(shared.random.identity());
            self.proof = None;
            self.id.generation += 1;
        }
        if matches!(self.phase, Phase::Idle | Phase::Closed) {
            self.enter(now_ns, Phase::Connecting);
            self.slot.connect();
        }
    }

    /// Gives the connection up. The peer is told once.
    pub(super) fn reset(&mut self, now_ns: u64) {
        match self.phase {
            Phase::Connected => {
                if let Some(machine) = self.slot.machine_mut() {
                    machine.reset();
                }
            }
            Phase::Connecting => self.slot.stop_connecting(),
            Phase::Idle | Phase::Closed => {}
        }
        self.enter(now_ns, Phase::Closed);
    }

    pub(super) fn enter(&mut self, now_ns: u64, phase: Phase) {
        (self.phase, self.since_ns) = (phase, now_ns);
    }

    /// Returns the machine of an established connection.
    pub(super) fn machine_mut(&mut self) -> Option<&mut Machine<Vec<u8>>> {
        if self.phase == Phase::Connected { self.slot.machine_mut() } else { None }
    }

    /// Returns the number of packets that were appended and never sent.
    pub(super) fn unsent(&self) -> usize {
        self.slot.machine().map_or(0, |machine| machine.sender().unsent())
    }

    /// Returns true if a transfer from the peer is in progress.
    pub(super) fn is_in_control(&self) -> bool {
        self.slot.machine().is_some_and(|machine| machine.receiver().is_in_control())
    }

    /// Returns the longest payload of a packet in bytes.
    pub(super) fn payload_max(&self, config: &Config) -> usize {
        self.parameters.payload_max.min(config.payload_max).into()
    }

    /// Appends a packet, unless `queued_max` are queued. Returns the payload if there is no room.
    pub(super) fn push(
        &mut self,
        payload: Vec<u8>,
        is_end: bool,
        queued_max: usize,
    ) -> Result<(), Vec<u8>> {
        match self.machine_mut() {
            Some(machine) if machine.sender().queued() < queued_max => {
                machine.push(payload, is_end);
                Ok(())
            }
            _ => {
                self.is_blocked = true;
                Err(payload)
            }
        }
    }

    pub(super) fn read(&mut self) -> Option<Vec<u8>> {
        let payload = self.machine_mut()?.read();
        self.is_readable_told &= self.is_readable();
        payload
    }

    /// Returns true if a packet can be read.
    pub(super) fn is_readable(&self) -> bool {
        self.phase == Phase::Connected
            && self.slot.machine().is_some_and(|machine| machine.receiver().has_ready())
    }

    pub(super) fn tags_all(&self, config: &Config) -> bool {
        config.authenticates_data || self.parameters.authenticates_data
    }

    pub(super) fn lose(&mut self, cause: Loss, shared: &mut Shared) {
        shared.events.push_back(Event::Lost { id: self.id, cause });
        self.id.generation += 1;
    }

    /// Notes how long a round trip took.
    pub(super) fn measure(&mut self, sample_ns: u64, shared: &mut Shared) {
        self.clock.rtt.measure(sample_ns);
        shared.lag.note(&shared.config.timing, sample_ns);
    }

    /// Handles timers that have expired. [`Connection::update`] must follow.
    pub(super) fn expire_timers(&mut self, now_ns: u64, shared: &mut Shared) {
        self.liveness.forgive_delay(now_ns);
        while let Some((timer, waited_ns)) = self.clock.take_expired(now_ns) {
            if timer == Timer::Repeat {
                self.timed = None;
            }
            if timer == Timer::Handshake || timer == Timer::Repeat && !self.is_put_off {
                shared.lag.note(&shared.config.timing, waited_ns);
            }
            self.slot.expire(timer);
        }
        if self.phase == Phase::Connected
            && self.liveness.is_probe_due(now_ns)
            && let Some(machine) = self.slot.machine_mut()
        {
            machine.probe();
            self.liveness.note_probe(now_ns, &shared.config.timing);
        }
    }

    /// Starts and stops timers to match the state.
    pub(super) fn set_clock(&mut self, now_ns: u64, timing: &Timing, lag_ns: u64) {
        let slot = &self.slot;
        self.clock.set(now_ns, timing, lag_ns, |timer| slot.is_armed(timer));
    }

    /// Reports the events that follow from the state. Returns false if the connection must be
    /// removed.
    pub(super) fn update(&mut self, now_ns: u64, shared: &mut Shared) -> bool {
        self.end_postponement(now_ns, shared);
        let is_over = self.over_ns(shared) <= now_ns;
        if let (Phase::Connected, Some(machine)) = (self.phase, self.slot.machine()) {
            let receiver = machine.receiver();
            if receiver.has_ready() && !self.is_readable_told {
                self.is_readable_told = true;
                shared.events.push_back(Event::Readable(self.id));
            }
            if receiver.is_finished() && !self.is_finished_told {
                self.is_finished_told = true;
                shared.events.push_back(Event::Finished(self.id));
            }
            let is_closed = machine.is_closed() && !receiver.has_ready();
            // If both ends have closed, a dead peer may have received everything: its last
            // acknowledgement was lost.
            let has_closed = is_over && receiver.is_finished() && machine.has_only_end_left();
            if is_closed || has_closed {
                shared.events.push_back(Event::Closed(self.id));
                self.enter(now_ns, Phase::Closed);
                return !has_closed;
            }
            if let Some(bytes) = self.too_long {
                self.lose(Loss::TooLong(bytes), shared);
                return false;
            }
            if machine.is_reset() {
                self.lose(Loss::Reset, shared);
                return false;
            }
        }
        if is_over {
            match self.phase {
                Phase::Connecting => self.lose(Loss::Unreachable, shared),
                Phase::Connected => self.lose(Loss::Dead, shared),
                Phase::Idle | Phase::Closed => {}
            }
        }
        !is_over
    }

    /// Returns the time at which this phase ends, if nothing ends it earlier. For an established
    /// connection, the peer counts as dead at this time if it stays silent.
    fn over_ns(&self, shared: &Shared) -> u64 {
        let timing = &shared.config.timing;
        match self.phase {
            Phase::Connecting => self.since_ns + timing.connect_ns,
            Phase::Connected => self.liveness.dead_at_ns(timing),
            Phase::Idle | Phase::Closed => self.since_ns + timing.dead_ns,
        }
    }

    /// Returns the time at which [`Connection::expire_timers`] must be called.
    pub(super) fn deadline_ns(&self, shared: &Shared) -> u64 {
        let probe_ns = (self.phase == Phase::Connected).then(|| self.liveness.probe_at_ns());
        [probe_ns, self.clock.deadline_ns(), self.postponed_until_ns()]
            .into_iter()
            .flatten()
            .fold(self.over_ns(shared), u64::min)
    }
}
