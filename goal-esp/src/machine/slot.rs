//! How a rank and one peer get connected (thesis 3.2.1, Fig. 3.3).
//!
//! Who was asked keeps nothing of the question: all that it needs comes again with the last packet
//! of the handshake. Who asks repeats the question until it hears something that only an
//! established connection says. So a question that is repeated, late or of an attacker who recorded
//! it costs an answer and nothing else, and a peer that started anew is connected with before
//! anything of the old connection is given up.

use super::connection::{Machine, Outgoing, Progress};
use super::{Segment, Timer};
use crate::seq::Seq;
use crate::transfer::Rules;

/// One incarnation of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Random number that tells it from others.
    pub nonce: u64,
    /// Number of its first packet, random too.
    pub first: Seq,
}

/// A connection and what it goes by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Current<P> {
    own: Identity,
    peer: u64,
    machine: Machine<P>,
}

/// What has happened to a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// Nothing.
    None,
    /// Something within the connection.
    Progress(Progress),
    /// There is a connection now. It replaces that before, if there was one: the peer started anew.
    Established,
}

/// What there is with one peer: at most one connection, and the beginning of the next one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slot<P> {
    rules: Rules,
    /// This end in the next connection; in this one too until the peer has confirmed it.
    next: Identity,
    current: Option<Current<P>>,
    /// A connection is wanted here.
    is_connecting: bool,
    /// The question is to be asked.
    is_question_due: bool,
    /// The nonce of a question that is to be answered.
    answer_due: Option<u64>,
}

impl<P: Default> Slot<P> {
    /// A slot that waits for the peer's question. `next` is random.
    pub fn new(rules: Rules, next: Identity) -> Self {
        Self {
            rules,
            next,
            current: None,
            is_connecting: false,
            is_question_due: false,
            answer_due: None,
        }
    }

    /// Asks the peer for a connection, unless there is one.
    pub fn connect(&mut self) {
        if self.current.is_none() {
            self.is_connecting = true;
            self.is_question_due = true;
        }
    }

    /// Asks no more.
    pub fn stop_connecting(&mut self) {
        self.is_connecting = false;
        self.is_question_due = false;
    }

    /// Drops the connection without a word. `next` is random.
    pub fn forget(&mut self, next: Identity) {
        *self = Self::new(self.rules, next);
    }

    /// The connection.
    pub fn machine(&self) -> Option<&Machine<P>> {
        self.current.as_ref().map(|current| &current.machine)
    }

    /// The connection, to be used.
    pub fn machine_mut(&mut self) -> Option<&mut Machine<P>> {
        self.current.as_mut().map(|current| &mut current.machine)
    }

    /// Nonces of the connection's ends: this one's and the peer's.
    pub fn ends(&self) -> Option<(u64, u64)> {
        self.current.as_ref().map(|current| (current.own.nonce, current.peer))
    }

    /// The nonces of this end that a handshake of the peer's end `peer` may answer.
    pub fn nonces_towards(&self, peer: u64) -> [Option<u64>; 2] {
        let current = self.current.as_ref().filter(|current| current.peer == peer);
        [current.map(|current| current.own.nonce), Some(self.next.nonce)]
    }

    /// What the peer has said. `fresh` makes the identity of this end in the connection after this
    /// one; payloads that the peer has are handed to `free`.
    pub fn handle<Q: Into<P>>(
        &mut self,
        segment: Segment<Q>,
        fresh: impl FnOnce() -> Identity,
        free: impl FnMut(P),
    ) -> Change {
        let mut change = Change::None;
        match segment {
            Segment::Syn { identity } => match &mut self.current {
                Some(current) if current.peer == identity.nonce => {
                    current.machine.repeat_handshake()
                }
                _ => self.answer_due = Some(identity.nonce),
            },
            Segment::SynAck { identity, to } => change = self.meet(identity, to, false),
            Segment::HandshakeAck { identity, to } => change = self.meet(identity, to, true),
            Segment::Packet { ends: (from, to), body } => {
                if let Some(current) = &mut self.current
                    && (current.peer, current.own.nonce) == (from, to)
                {
                    change = Change::Progress(current.machine.handle(body, free));
                }
            }
        }
        if let Some(current) = &self.current
            && current.own == self.next
            && current.machine.is_confirmed()
        {
            // From here on the peer must prove that it lives to get another connection: what it
            // said up to now does not.
            self.next = fresh();
            // A question that has not left yet would leave under that name, and the peer would take
            // this end for one that started anew.
            self.is_question_due = false;
        }
        change
    }

    /// The peer's end `peer` has answered this one, which was `to`.
    fn meet(&mut self, peer: Identity, to: u64, is_confirmed: bool) -> Change {
        match &mut self.current {
            Some(current) if (current.peer, current.own.nonce) == (peer.nonce, to) => {
                if is_confirmed {
                    current.machine.confirm();
                } else {
                    current.machine.repeat_handshake();
                }
            }
            _ if to != self.next.nonce => {}
            Some(current) if current.own.nonce == to => {
                // The peer had answered before, and has forgotten it.
                current.peer = peer.nonce;
                current.machine.begin_anew(peer.first, is_confirmed);
            }
            _ => {
                let own = self.next;
                let machine = Machine::new(self.rules, own.first, peer.first, is_confirmed);
                self.current = Some(Current { own, peer: peer.nonce, machine });
                self.is_connecting = false;
                self.is_question_due = false;
                self.answer_due = None;
                return Change::Established;
            }
        }
        Change::None
    }

    /// Whether a timer runs.
    pub fn is_armed(&self, timer: Timer) -> bool {
        match (&self.current, timer) {
            (Some(current), Timer::Handshake) => current.machine.is_asking(),
            (Some(current), _) => current.machine.is_armed(timer),
            (None, _) => timer == Timer::Handshake && self.is_connecting,
        }
    }

    /// A timer has passed.
    pub fn pass(&mut self, timer: Timer) {
        match &mut self.current {
            _ if timer == Timer::Handshake => self.is_question_due |= self.is_armed(timer),
            Some(current) => current.machine.pass(timer),
            None => {}
        }
    }

    /// Whether there is something to be sent.
    #[inline]
    pub fn is_ready(&self) -> bool {
        let is_established =
            self.current.as_ref().is_some_and(|current| current.machine.is_ready());
        self.is_question_due || self.answer_due.is_some() || is_established
    }

    /// The next thing to be sent; to be called until there is none.
    pub fn poll(&mut self) -> Option<Segment<&P>> {
        if std::mem::take(&mut self.is_question_due) {
            return Some(Segment::Syn { identity: self.next });
        }
        if let Some(to) = self.answer_due.take() {
            return Some(Segment::SynAck { identity: self.next, to });
        }
        let Current { own, peer, machine } = self.current.as_mut()?;
        Some(match machine.poll()? {
            Outgoing::Handshake => Segment::HandshakeAck { identity: *own, to: *peer },
            Outgoing::Body(body) => Segment::Packet { ends: (own.nonce, *peer), body },
        })
    }
}
