//! Handles the frames of a connection's peer: checks their tags, and passes their contents to the
//! machine.

use super::connection::{Connection, Phase, Proof, Shared};
use super::event::{Event, Loss};
use super::frames;
use super::seals::Checked;
use super::spare::Copied;
use crate::auth::{self, Route, whole_control};
use crate::machine::{Body, Change, Ends, Identity, Machine, Progress, Segment};
use crate::seq::Seq;
use crate::transfer::Acknowledgement;
use crate::wire::{Extension, Flags, Packet, Parameters, Repr};

impl Connection {
    /// Handles a frame of the peer. [`Connection::update`] must follow. Returns true if `reads` is
    /// set and the payload is the next one in order. The payload then counts as read.
    pub(super) fn receive(
        &mut self,
        now_ns: u64,
        way: Route,
        packet: &Packet<&[u8]>,
        reads: bool,
        checked: Option<Checked>,
        shared: &mut Shared,
    ) -> bool {
        let repr = packet.repr();
        match repr.extension {
            Extension::Handshake { parameters, nonce_high, .. } => {
                let nonce = u64::from(nonce_high) << 32 | u64::from(repr.nonce);
                let identity = Identity { nonce, first: Seq(repr.sequence) };
                self.receive_handshake(now_ns, way, packet, identity, parameters, shared);
                false
            }
            _ => self.receive_packet(now_ns, way, packet, (&repr, checked), reads, shared),
        }
    }

    /// Returns true if a packet with this header would be the next one to be read.
    fn is_next(&self, repr: &Repr) -> bool {
        let receiver = self.slot.machine().map(Machine::receiver);
        self.phase == Phase::Connected
            && !repr.flags.has(Flags::FIN)
            && receiver
                .is_some_and(|receiver| !receiver.has_ready() && receiver.next().0 == repr.sequence)
    }

    fn receive_handshake(
        &mut self,
        now_ns: u64,
        way: Route,
        packet: &Packet<&[u8]>,
        identity: Identity,
        parameters: Parameters,
        shared: &mut Shared,
    ) {
        let own = shared.config.address;
        let proven = |own_nonce: &u64| {
            let ends = [(own, *own_nonce), (self.peer, identity.nonce)];
            shared.config.job_key.connection(ends).verifies(way, 0, packet)
        };
        let segment: Segment<Copied<'_>> = if packet.flags() == Flags::SYN {
            if !shared.handshake.verifies(way, 0, packet) {
                shared.stats.unproven += 1;
                return;
            }
            Segment::Syn { identity }
        } else {
            let Some(to) =
                self.slot.own_nonces_for(identity.nonce).into_iter().flatten().find(proven)
            else {
                shared.stats.unproven += 1;
                return;
            };
            self.parameters = parameters;
            if packet.flags().has(Flags::SYN) {
                Segment::SynAck { identity, to }
            } else {
                Segment::HandshakeAck { identity, to }
            }
        };
        shared.stats.received += 1;
        self.handle(now_ns, segment, shared);
    }

    fn receive_packet(
        &mut self,
        now_ns: u64,
        way: Route,
        packet: &Packet<&[u8]>,
        (repr, checked): (&Repr, Option<Checked>),
        reads: bool,
        shared: &mut Shared,
    ) -> bool {
        let tags_all = self.tags_all(&shared.config);
        let Some(proof) = self.proof.as_mut().filter(|proof| proof.ends.peer as u32 == repr.nonce)
        else {
            shared.stats.unknown += 1;
            return false;
        };
        let mut counts = false;
        let is_right_form = tags_all == matches!(repr.extension, Extension::Whole { .. });
        let number = repr.extension.control().map(|control| whole_control(control, proof.seen));
        let is_proven = |number| match checked {
            Some(checked) if checked.ends == proof.ends && checked.number == number => {
                packet.tag().is_some_and(|tag| auth::is_same(&tag, &checked.tag))
            }
            _ => proof.key.verifies(way, number, packet),
        };
        if !is_right_form || number.is_some_and(|number| !is_proven(number)) {
            shared.stats.unproven += 1;
            return false;
        }
        if let Some(number) = number {
            counts = number > proof.seen;
            proof.seen = proof.seen.max(number);
        }
        let Ends { own, peer } = proof.ends;
        if counts {
            self.liveness.note_sign(now_ns, &shared.config.timing);
            shared.stats.received += 1;
        } else if repr.extension != Extension::None {
            shared.stats.overtaken += 1;
        }
        let is_read = reads && self.is_next(repr);
        let mut memory = if is_read { Vec::new() } else { shared.spare.take() };
        let payload = Copied { bytes: packet.payload(), memory: &mut memory, is_read };
        let mut progress = Progress::default();
        if let Some(body) = frames::body(payload, repr, counts) {
            self.check_communicator(now_ns, &body, packet.payload(), shared);
            if let Some(Acknowledgement { next, window: 1.. }) = body.acknowledgement()
                && let Some(suspect) = &mut self.suspect
            {
                self.too_long = self.too_long.or(suspect.note_answer(next, now_ns));
            }
            match body {
                Body::Request { ref ranges, .. } if !ranges.is_empty() => self.timed = None,
                Body::Ack(_) => {
                    if let Some(probed_ns) = self.probed_ns.take() {
                        self.measure(now_ns - probed_ns, shared);
                    }
                }
                _ => {}
            }
            let has_no_room =
                matches!(body.acknowledgement(), Some(Acknowledgement { window: 0, .. }));
            progress = self.handle(now_ns, Segment::Packet { from: peer, to: own, body }, shared);
            self.is_put_off |= has_no_room && !progress.is_acknowledged;
        }
        if memory.capacity() > 0 {
            shared.spare.put(memory);
        }
        // The machine holds an empty payload in place of the payload that was read. It is dropped
        // here.
        is_read && progress.has_arrived && self.read().is_some()
    }

    fn handle(
        &mut self,
        now_ns: u64,
        segment: Segment<Copied<'_>>,
        shared: &mut Shared,
    ) -> Progress {
        let is_answer = matches!(segment, Segment::SynAck { .. });
        let Shared { random, spare, .. } = shared;
        let change = self.slot.handle(segment, || random.identity(), |payload| spare.put(payload));
        let mut progress = Progress::default();
        match change {
            Change::None => {}
            Change::Progress(made) => progress = made,
            Change::Established => self.establish(now_ns, is_answer, shared),
        }
        if self.update_key(shared) {
            self.liveness.note_sign(now_ns, &shared.config.timing);
        }
        if progress.is_acknowledged
            && let Some((seq, at_ns)) = self.timed
            && let Some(machine) = self.slot.machine()
            && seq.is_before(machine.sender().unacknowledged())
        {
            self.measure(now_ns - at_ns, shared);
            self.timed = None;
        }
        if progress.has_arrived
            && self.probed_ns.is_none()
            && self.timed.is_none()
            && self.clock.rtt.smoothed_ns().is_none()
            && self.is_in_control()
            && let Some(machine) = self.machine_mut()
        {
            // This end may have to request packets, and has measured no round trip.
            machine.probe();
        }
        let was_put_off = self.is_put_off && progress.is_acknowledged;
        self.is_put_off &= !was_put_off;
        if let Some(late_ns) = self.clock.restart_timers(now_ns, progress)
            && !was_put_off
        {
            shared.lag.note(&shared.config.timing, late_ns);
        }
        if progress.is_acknowledged && std::mem::take(&mut self.is_blocked) {
            shared.events.push_back(Event::Writable(self.id));
        }
        progress
    }

    fn establish(&mut self, now_ns: u64, is_answer: bool, shared: &mut Shared) {
        match self.phase {
            Phase::Connected => self.lose(Loss::Restarted, shared),
            Phase::Closed => self.id.generation += 1,
            Phase::Idle | Phase::Connecting => {}
        }
        let asking_ns = self.since_ns;
        self.enter(now_ns, Phase::Connected);
        self.liveness.restart(now_ns);
        (self.is_blocked, self.is_readable_told, self.is_finished_told) = (false, false, false);
        (self.timed, self.probed_ns, self.suspect, self.too_long) = (None, None, None, None);
        self.is_put_off = false;
        let questions = std::mem::take(&mut self.questions);
        if is_answer {
            // After several SYNs, it is unknown which one this answers.
            if questions == 1 {
                self.measure(now_ns - self.asked_ns, shared);
            } else {
                shared.lag.note(&shared.config.timing, now_ns.saturating_sub(asking_ns));
            }
        } else if !shared.config.authenticates_data
            && let Some(machine) = self.slot.machine_mut()
        {
            // The end that received the SYN measures a round trip too. If acknowledgements travel
            // with data, this end measures the round trip of its first data instead.
            machine.probe();
        }
        shared.events.push_back(Event::Connected { id: self.id, peer: self.peer });
    }

    /// Derives the key for the current pair of ends, and starts their control numbers. Returns true
    /// if the pair is new.
    fn update_key(&mut self, shared: &Shared) -> bool {
        let ends = self.slot.ends();
        let differ = self.proof.as_ref().map(|proof| proof.ends) != ends;
        if differ {
            self.proof = ends.map(|ends| {
                let key = shared
                    .config
                    .job_key
                    .connection([(shared.config.address, ends.own), (self.peer, ends.peer)]);
                Proof { ends, key, sent: 0, seen: 0 }
            });
            self.postponed = None;
        }
        differ
    }
}
