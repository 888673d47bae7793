//! An established connection.

use super::segment::{Body, Timer};
use crate::seq::Seq;
use crate::transfer::{Acknowledgement, Answer, Receiver, Rules, Sender};
use crate::wire::Flags;

/// One end of an established connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Machine<P> {
    rules: Rules,
    send: Sender<P>,
    receive: Receiver<P>,
    /// True once the peer is known to have established the connection too.
    is_confirmed: bool,
    /// True if either end gave the connection up.
    is_reset: bool,
    /// True once [`Machine::close`] was called.
    is_closing: bool,
    /// The answer that the receiving end needs.
    answer: Answer,
    /// Frames that must leave before data.
    due: Due,
}

/// Frames that must be sent once each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Due {
    handshake: bool,
    /// A request for all missing packets.
    request: bool,
    /// A request for a sign of life.
    probe: bool,
    reset: bool,
}

/// The progress that a frame brought. Timers restart after progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Progress {
    /// True if packets were acknowledged.
    pub(crate) is_acknowledged: bool,
    /// True if a new packet arrived.
    pub(crate) has_arrived: bool,
}

/// A frame that a machine wants to send.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outgoing<'a, P> {
    /// The last packet of the handshake.
    Handshake,
    /// Any other frame.
    Body(Body<&'a P>),
}

impl<P: Default> Machine<P> {
    /// Creates an end whose first packet is `own`, for a peer whose first packet is `peer`.
    /// `is_confirmed` is false if the peer may not know yet that it is connected.
    pub(crate) fn new(rules: Rules, own: Seq, peer: Seq, is_confirmed: bool) -> Self {
        Self {
            rules,
            // Before the first acknowledgement only the start of a transfer may leave, so the
            // peer's window is not needed yet.
            send: Sender::new(rules, own, rules.initial()),
            receive: Receiver::new(rules, peer),
            is_confirmed,
            is_reset: false,
            is_closing: false,
            answer: match is_confirmed {
                true if rules.answers_with_data => Answer::Soon,
                true => Answer::Now,
                false => Answer::None,
            },
            due: Due { handshake: !is_confirmed, ..Due::default() },
        }
    }

    /// Returns the sending end.
    pub(crate) fn sender(&self) -> &Sender<P> {
        &self.send
    }

    /// Returns the receiving end.
    pub(crate) fn receiver(&self) -> &Receiver<P> {
        &self.receive
    }

    /// Returns true if the peer is known to have established the connection too.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    /// Returns true if either end gave the connection up.
    pub(crate) fn is_reset(&self) -> bool {
        self.is_reset
    }

    /// Returns true if both streams have ended and all packets have arrived.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closing && self.send.queued() == 0 && self.receive.is_finished()
    }

    /// Returns true if this end has closed, and the peer has acknowledged all packets except
    /// perhaps the last one, the FIN.
    pub(crate) fn has_only_end_left(&self) -> bool {
        self.is_closing && self.send.queued() <= 1
    }

    /// Appends a packet to the stream. `is_end` is true if a write ends with it. Must not be called
    /// after [`Machine::close`].
    pub(crate) fn push(&mut self, payload: P, is_end: bool) {
        debug_assert!(!self.is_closing, "nothing follows the end");
        self.send.push(payload, if is_end { Flags::TXR } else { Flags::NONE });
    }

    /// Ends the stream in this direction, after all packets that were appended. The peer ends the
    /// other direction itself.
    pub(crate) fn close(&mut self) {
        if !self.is_closing {
            self.is_closing = true;
            self.send.push(P::default(), Flags::FIN);
        }
    }

    /// Gives the connection up immediately.
    pub(crate) fn reset(&mut self) {
        self.is_reset = true;
        self.due = Due { reset: true, ..Due::default() };
    }

    /// Refuses the stream from the peer from its first packet on. See [`Receiver::postpone`].
    pub(crate) fn postpone(&mut self) {
        self.receive.postpone();
    }

    /// Accepts the stream from the peer from now on, and requests its refused packets.
    pub(crate) fn admit(&mut self) {
        self.due.request |= self.receive.admit();
    }

    /// Returns the next payload in order.
    pub(crate) fn read(&mut self) -> Option<P> {
        let payload = self.receive.read();
        self.update();
        payload
    }

    /// Sets the window of the peer. See [`Receiver::set_share`].
    pub(crate) fn set_share(&mut self, share: u16, start_window: u16) {
        self.receive.set_share(share, start_window);
        self.update();
    }

    fn update(&mut self) {
        if self.receive.is_update_due() {
            self.answer = self.answer.max(Answer::Now);
        }
    }

    /// Sends the last packet of the handshake again, because the peer may have missed it.
    pub(crate) fn repeat_handshake(&mut self) {
        self.due.handshake = true;
    }

    /// Notes that the peer is connected, and acknowledges that.
    pub(crate) fn confirm(&mut self) {
        self.is_confirmed = true;
        self.answer = self.answer.max(Answer::Now);
    }

    /// Starts again with a peer whose first packet is `peer`. The peer has not confirmed the
    /// connection and has received none of the packets sent so far.
    pub(super) fn restart(&mut self, peer: Seq, is_confirmed: bool) {
        self.receive = Receiver::new(self.rules, peer);
        self.send.send_all_again();
        self.is_confirmed = is_confirmed;
        self.answer = if is_confirmed { Answer::Now } else { Answer::None };
        self.due = Due { handshake: !is_confirmed, ..Due::default() };
    }

    /// Asks the peer for a sign of life. A peer that may lack the last packet of the handshake gets
    /// this packet again first, because it could not answer otherwise.
    pub(crate) fn probe(&mut self) {
        self.due.probe = true;
        self.due.handshake |= self.is_asking();
    }

    /// Handles a packet of the peer. Payloads that the peer has acknowledged are passed to `free`.
    pub(crate) fn handle<Q: Into<P>>(&mut self, body: Body<Q>, free: impl FnMut(P)) -> Progress {
        let mut progress = Progress::default();
        if self.is_reset {
            return progress;
        }
        match body {
            // An end that is not confirmed may have to restart with another first packet, so it
            // accepts nothing that it would have to acknowledge.
            Body::Data { acknowledgement: None, .. } if !self.is_confirmed => {}
            Body::Data { seq, flags, payload, acknowledgement } => {
                progress.is_acknowledged =
                    acknowledgement.is_some_and(|of| self.acknowledge(of, free));
                let (has_arrived, answer) = self.receive.accept(seq, flags, payload);
                progress.has_arrived = has_arrived;
                self.answer = self.answer.max(answer);
            }
            Body::Ack(acknowledgement) => {
                progress.is_acknowledged = self.acknowledge(acknowledgement, free)
            }
            Body::Request { acknowledgement, ranges } => {
                progress.is_acknowledged = self.acknowledge(acknowledgement, free);
                if self.send.request(ranges.into_iter()) == 0 {
                    self.answer = self.answer.max(Answer::Now);
                }
            }
            Body::Reset => {
                self.is_reset = true;
                self.due = Due::default();
            }
        }
        progress
    }

    /// Handles an acknowledgement. Only an end that is connected sends one, so the connection is
    /// confirmed. Returns true if packets were acknowledged that were not acknowledged before.
    fn acknowledge(&mut self, of: Acknowledgement, free: impl FnMut(P)) -> bool {
        self.is_confirmed = true;
        self.send.acknowledge(of, free) > 0
    }

    /// Returns true if the peer may not know that it is connected, so that the handshake must be
    /// repeated.
    pub(super) fn is_asking(&self) -> bool {
        !self.is_confirmed && !self.is_reset
    }

    /// Returns true if the timer runs.
    pub(super) fn is_armed(&self, timer: Timer) -> bool {
        !self.is_reset
            && match timer {
                Timer::Handshake => false,
                Timer::Repeat => self.send.runs_timer(),
                Timer::Request => self.receive.is_in_control(),
                Timer::Acknowledge => self.answer == Answer::Soon,
            }
    }

    /// Handles a timer that has expired.
    pub(super) fn expire(&mut self, timer: Timer) {
        match timer {
            Timer::Handshake => {}
            Timer::Repeat => self.send.repeat_first(),
            Timer::Request => self.due.request = true,
            Timer::Acknowledge => self.answer = self.answer.max(Answer::Now),
        }
    }

    /// Returns true if [`Machine::poll`] has a frame.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        let Due { handshake, request, probe, reset } = self.due;
        reset
            || !self.is_reset
                && (handshake
                    || request
                    || probe
                    || self.answer >= Answer::Now
                    || self.send.is_ready())
    }

    /// Returns the next frame to send. The caller must call it until it returns `None`.
    pub(crate) fn poll(&mut self) -> Option<Outgoing<'_, P>> {
        if std::mem::take(&mut self.due.reset) {
            return Some(Outgoing::Body(Body::Reset));
        }
        if self.is_reset {
            return None;
        }
        if std::mem::take(&mut self.due.handshake) {
            return Some(Outgoing::Handshake);
        }
        if self.answer == Answer::Request || self.due.request || self.due.probe {
            return Some(Outgoing::Body(self.request()));
        }
        if self.send.is_ready() {
            if self.rules.answers_with_data {
                self.answer = self.answer.max(Answer::Now);
            }
            let acknowledgement = self.take_acknowledgement(self.receive.is_answer_near());
            let (seq, packet) = self.send.poll().expect("it is ready");
            let (flags, payload) = (packet.flags, &packet.payload);
            return Some(Outgoing::Body(Body::Data { seq, flags, payload, acknowledgement }));
        }
        let acknowledgement = self.take_acknowledgement(false)?;
        Some(Outgoing::Body(Body::Ack(acknowledgement)))
    }

    fn request<'a>(&mut self) -> Body<&'a P> {
        let mut ranges = Vec::new();
        let Due { request, .. } = std::mem::take(&mut self.due);
        if request {
            self.receive.take_everything_missing(&mut ranges);
        } else if self.answer == Answer::Request {
            self.receive.take_request(&mut ranges);
        }
        self.answer = Answer::None;
        Body::Request { acknowledgement: self.receive.acknowledgement(), ranges }
    }

    /// Returns the acknowledgement to send, if one is due. If `is_near` is true, an acknowledgement
    /// that could wait is due too.
    fn take_acknowledgement(&mut self, is_near: bool) -> Option<Acknowledgement> {
        if self.answer < if is_near { Answer::Soon } else { Answer::Now } {
            return None;
        }
        self.answer = Answer::None;
        Some(self.receive.acknowledgement())
    }
}
