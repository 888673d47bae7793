//! Sets up connections with one peer (thesis 3.2.1, Fig. 3.3).
//!
//! The end that receives a SYN answers it and keeps no state: the last packet of the handshake
//! repeats everything that the SYN said. The end that sent the SYN repeats it until it receives a
//! frame that only an established connection sends. So a SYN that is repeated, late, or replayed by
//! an attacker costs one answer and changes nothing. A peer that restarted must prove that it has
//! seen the nonce of its new connection. Only then does it get this connection, and only then is
//! the old one given up.

use super::connection::{Machine, Outgoing, Progress};
use super::segment::{Identity, Segment, Timer};
use crate::transfer::Rules;

/// The nonces of a connection's ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The nonce of this end.
    pub(crate) own: u64,
    /// The nonce of the peer's end.
    pub(crate) peer: u64,
}

/// A connection with the identities of its ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Current<P> {
    own: Identity,
    peer: u64,
    machine: Machine<P>,
}

/// The effect of a frame on a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Change {
    /// The connection is as before.
    None,
    /// A packet was handled by the established connection.
    Progress(Progress),
    /// A connection was established. If there was a connection before, the peer has restarted, and
    /// the new connection replaces the old one.
    Established,
}

/// The state kept for one peer: at most one connection, and this end's identity in the next one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Slot<P> {
    rules: Rules,
    /// This end's identity in the next connection. Until the peer has confirmed the current
    /// connection, this is also the identity in the current connection.
    next: Identity,
    current: Option<Current<P>>,
    /// True if the owner asked for a connection and there is none yet.
    is_connecting: bool,
    /// True if a SYN must be sent.
    is_question_due: bool,
    /// The nonce of a SYN that must be answered.
    answer_due: Option<u64>,
}

impl<P: Default> Slot<P> {
    /// Creates a slot without a connection. `next` must be random.
    pub(crate) fn new(rules: Rules, next: Identity) -> Self {
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
    pub(crate) fn connect(&mut self) {
        if self.current.is_none() {
            self.is_connecting = true;
            self.is_question_due = true;
        }
    }

    /// Stops asking for a connection.
    pub(crate) fn stop_connecting(&mut self) {
        self.is_connecting = false;
        self.is_question_due = false;
    }

    /// Drops the connection without telling the peer. `next` must be random.
    pub(crate) fn clear(&mut self, next: Identity) {
        *self = Self::new(self.rules, next);
    }

    /// Returns the connection with the peer; `None` if there is none.
    pub(crate) fn machine(&self) -> Option<&Machine<P>> {
        self.current.as_ref().map(|current| &current.machine)
    }

    /// Returns the connection with the peer, for changes; `None` if there is none.
    pub(crate) fn machine_mut(&mut self) -> Option<&mut Machine<P>> {
        self.current.as_mut().map(|current| &mut current.machine)
    }

    /// Returns the nonces of the connection's ends; `None` if there is no connection.
    pub(crate) fn ends(&self) -> Option<Ends> {
        self.current.as_ref().map(|current| Ends { own: current.own.nonce, peer: current.peer })
    }

    /// Returns the nonces of this end that a handshake frame of the peer's end `peer` may answer:
    /// the nonce in the current connection, if `peer` is its other end, and the nonce in the next
    /// connection.
    pub(crate) fn own_nonces_for(&self, peer: u64) -> [Option<u64>; 2] {
        let current = self.current.as_ref().filter(|current| current.peer == peer);
        [current.map(|current| current.own.nonce), Some(self.next.nonce)]
    }

    /// Handles a frame of the peer. `new_identity` creates this end's identity in the connection
    /// after this one. Payloads that the peer has acknowledged are passed to `free`.
    pub(crate) fn handle<Q: Into<P>>(
        &mut self,
        segment: Segment<Q>,
        new_identity: impl FnOnce() -> Identity,
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
            Segment::SynAck { identity, to } => change = self.handle_answer(identity, to, false),
            Segment::HandshakeAck { identity, to } => {
                change = self.handle_answer(identity, to, true)
            }
            Segment::Packet { from, to, body } => {
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
            // From now on another connection needs the new identity. The peer must answer a SYN+ACK
            // that carries this identity, so frames that the peer has sent already can't set up a
            // connection.
            self.next = new_identity();
            // A SYN that has not left yet would carry the new identity, and the peer would believe
            // that this end has restarted.
            self.is_question_due = false;
        }
        change
    }

    /// Handles a handshake frame in which the peer's end `peer` answers this end's nonce `to`.
    /// `is_confirmed` is true for an ACK, which says that the peer is connected. It is false for a
    /// SYN+ACK.
    fn handle_answer(&mut self, peer: Identity, to: u64, is_confirmed: bool) -> Change {
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
                // The peer has answered before with another nonce, and kept no state of that
                // answer.
                current.peer = peer.nonce;
                current.machine.restart(peer.first, is_confirmed);
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

    /// Returns true if the timer runs.
    pub(crate) fn is_armed(&self, timer: Timer) -> bool {
        match (&self.current, timer) {
            (Some(current), Timer::Handshake) => current.machine.is_asking(),
            (Some(current), _) => current.machine.is_armed(timer),
            (None, _) => timer == Timer::Handshake && self.is_connecting,
        }
    }

    /// Handles a timer that has expired.
    pub(crate) fn expire(&mut self, timer: Timer) {
        match &mut self.current {
            _ if timer == Timer::Handshake => self.is_question_due |= self.is_armed(timer),
            Some(current) => current.machine.expire(timer),
            None => {}
        }
    }

    /// Returns true if [`Slot::poll`] has a frame.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        let is_established =
            self.current.as_ref().is_some_and(|current| current.machine.is_ready());
        self.is_question_due || self.answer_due.is_some() || is_established
    }

    /// Returns the next frame to send. The caller must call it until it returns `None`.
    pub(crate) fn poll(&mut self) -> Option<Segment<&P>> {
        if std::mem::take(&mut self.is_question_due) {
            return Some(Segment::Syn { identity: self.next });
        }
        if let Some(to) = self.answer_due.take() {
            return Some(Segment::SynAck { identity: self.next, to });
        }
        let Current { own, peer, machine } = self.current.as_mut()?;
        Some(match machine.poll()? {
            Outgoing::Handshake => Segment::HandshakeAck { identity: *own, to: *peer },
            Outgoing::Body(body) => Segment::Packet { from: own.nonce, to: *peer, body },
        })
    }
}
