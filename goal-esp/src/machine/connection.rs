//! An established connection.

use super::{Acknowledgement, Body, Timer};
use crate::seq::Seq;
use crate::transfer::{Answer, Receiver, Rules, Sender};
use crate::wire::Flags;

/// One end of an established connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Machine<P> {
    rules: Rules,
    send: Sender<P>,
    receive: Receiver<P>,
    /// The peer knows that the connection is established.
    is_confirmed: bool,
    /// It was given up, here or there.
    is_reset: bool,
    /// [`Machine::close`] was called.
    is_closing: bool,
    /// What is to be told of the receiving end.
    answer: Answer,
    /// What was to be said before data: see [`Due`].
    due: Due,
}

/// What is to be said once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Due {
    handshake: bool,
    /// A request for everything that is missing.
    request: bool,
    /// A request for a sign of life.
    probe: bool,
    reset: bool,
}

/// What was new in what the peer said: timers begin anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Progress {
    /// Packets were acknowledged.
    pub is_acknowledged: bool,
    /// A packet arrived.
    pub has_arrived: bool,
}

/// What a machine wants to be sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Outgoing<'a, P> {
    /// The last packet of the handshake.
    Handshake,
    /// Anything else.
    Body(Body<&'a P>),
}

impl<P: Default> Machine<P> {
    /// An end whose first packet is `own`, of a peer whose first packet is `peer`. It is confirmed
    /// unless the peer may not know yet that it is connected.
    pub fn new(rules: Rules, own: Seq, peer: Seq, is_confirmed: bool) -> Self {
        Self {
            rules,
            // Only a start may leave before the first acknowledgement, so that no window has to be
            // known yet.
            send: Sender::new(rules, own, rules.initial()),
            receive: Receiver::new(rules, peer),
            is_confirmed,
            is_reset: false,
            is_closing: false,
            answer: if is_confirmed { Answer::Now } else { Answer::None },
            due: Due { handshake: !is_confirmed, ..Due::default() },
        }
    }

    /// The sending end.
    pub fn sender(&self) -> &Sender<P> {
        &self.send
    }

    /// The receiving end.
    pub fn receiver(&self) -> &Receiver<P> {
        &self.receive
    }

    /// Whether the peer knows that the connection is established.
    pub fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    /// Whether it was given up, here or there.
    pub fn is_reset(&self) -> bool {
        self.is_reset
    }

    /// Whether all that was sent has arrived, and nothing will follow in either direction.
    pub fn is_closed(&self) -> bool {
        self.is_closing && self.send.queued() == 0 && self.receive.is_finished()
    }

    /// Whether nothing but the end of the stream may not have arrived.
    pub fn has_only_end_left(&self) -> bool {
        self.is_closing && self.send.queued() <= 1
    }

    /// Appends a packet to the stream; `is_end` if a write ends with it. Nothing may be appended
    /// after [`Machine::close`].
    pub fn push(&mut self, payload: P, is_end: bool) {
        debug_assert!(!self.is_closing, "nothing follows the end");
        self.send.push(payload, if is_end { Flags::TXR } else { Flags::NONE });
    }

    /// Ends the stream in this direction, after all that was appended. The other direction goes on
    /// until the peer ends it too.
    pub fn close(&mut self) {
        if !self.is_closing {
            self.is_closing = true;
            self.send.push(P::default(), Flags::FIN);
        }
    }

    /// Gives the connection up at once.
    pub fn reset(&mut self) {
        self.is_reset = true;
        self.due = Due { reset: true, ..Due::default() };
    }

    /// Refuses the stream from the peer from its first packet on. See [`Receiver::postpone`].
    pub fn postpone(&mut self) {
        self.receive.postpone();
    }

    /// Takes the stream from the peer from now on, and requests what was refused of it.
    pub fn admit(&mut self) {
        self.due.request |= self.receive.admit();
    }

    /// The next payload, in order.
    pub fn read(&mut self) -> Option<P> {
        let payload = self.receive.read();
        self.update();
        payload
    }

    /// Lets `share` packets be on their way from the peer from now on.
    pub fn set_share(&mut self, share: u16, standing: u16) {
        self.receive.set_share(share, standing);
        self.update();
    }

    fn update(&mut self) {
        if self.receive.is_update_due() {
            self.answer = self.answer.max(Answer::Now);
        }
    }

    /// The peer has said again what sets the connection up: it may have missed what it was told.
    pub fn repeat_handshake(&mut self) {
        self.due.handshake = true;
    }

    /// The peer has said that it is connected; it is to know that this is known here.
    pub fn confirm(&mut self) {
        self.is_confirmed = true;
        self.answer = self.answer.max(Answer::Now);
    }

    /// The peer, which has not confirmed the connection, will begin with the packet `peer`, and
    /// knows nothing of what it was sent.
    pub(super) fn begin_anew(&mut self, peer: Seq, is_confirmed: bool) {
        self.receive = Receiver::new(self.rules, peer);
        self.send.send_all_again();
        self.is_confirmed = is_confirmed;
        self.answer = if is_confirmed { Answer::Now } else { Answer::None };
        self.due = Due { handshake: !is_confirmed, ..Due::default() };
    }

    /// Asks the peer for a sign of life.
    pub fn probe(&mut self) {
        self.due.probe = true;
    }

    /// What the peer has said. Payloads that it has are handed to `free`.
    pub fn handle<Q: Into<P>>(&mut self, body: Body<Q>, free: impl FnMut(P)) -> Progress {
        let mut progress = Progress::default();
        if self.is_reset {
            return progress;
        }
        match body {
            // Who is not confirmed may have to begin anew, so it takes nothing that it would have
            // to acknowledge.
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

    /// Only who is connected sends acknowledgements.
    fn acknowledge(&mut self, of: Acknowledgement, free: impl FnMut(P)) -> bool {
        self.is_confirmed = true;
        self.send.acknowledge(of.next, of.window, free) > 0
    }

    /// Whether the peer may not know that it is connected, and is to be asked again.
    pub(super) fn is_asking(&self) -> bool {
        !self.is_confirmed && !self.is_reset
    }

    /// Whether a timer runs.
    pub(super) fn is_armed(&self, timer: Timer) -> bool {
        !self.is_reset
            && match timer {
                Timer::Handshake => false,
                Timer::Insist => self.send.insists(),
                Timer::Request => self.receive.controls(),
                Timer::Acknowledge => self.answer == Answer::Soon,
            }
    }

    /// A timer has passed.
    pub(super) fn pass(&mut self, timer: Timer) {
        match timer {
            Timer::Handshake => {}
            Timer::Insist => self.send.insist(),
            Timer::Request => self.due.request = true,
            Timer::Acknowledge => self.answer = self.answer.max(Answer::Now),
        }
    }

    /// Whether there is something to be sent.
    #[inline]
    pub fn is_ready(&self) -> bool {
        let Due { handshake, request, probe, reset } = self.due;
        reset
            || !self.is_reset
                && (handshake
                    || request
                    || probe
                    || self.answer >= Answer::Now
                    || self.send.is_ready())
    }

    /// The next thing to be sent; to be called until there is none.
    pub fn poll(&mut self) -> Option<Outgoing<'_, P>> {
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
        let (next, window) = self.receive.acknowledgement();
        Body::Request { acknowledgement: Acknowledgement { next, window }, ranges }
    }

    /// What is to be acknowledged, if that is due, or `is_near`.
    fn take_acknowledgement(&mut self, is_near: bool) -> Option<Acknowledgement> {
        if self.answer < if is_near { Answer::Soon } else { Answer::Now } {
            return None;
        }
        self.answer = Answer::None;
        let (next, window) = self.receive.acknowledgement();
        Some(Acknowledgement { next, window })
    }
}
