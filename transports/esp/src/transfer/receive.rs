//! The receiving end of one direction of a connection.

use super::{Acknowledgement, Rules};
use crate::limits::RANGES_MAX;
use crate::seq::Seq;
use crate::wire::{Flags, Range};
use std::collections::VecDeque;

/// The answer that a packet needs, by urgency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Answer {
    /// No answer.
    None,
    /// An acknowledgement that the sender does not wait for. It leaves when the timer for
    /// acknowledgements expires, or with data if [`Receiver::is_answer_near`].
    Soon,
    /// An acknowledgement, immediately.
    Now,
    /// A request for missing packets ([`Receiver::take_request`]).
    Request,
}

/// Decides if packets of the stream are accepted. Only the first packet of a stream can be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    /// The first packet has not arrived.
    Undecided,
    /// The first packet arrived and was refused. No packet is accepted until [`Receiver::admit`].
    Postponed,
    /// The first packet was accepted.
    Passed,
}

/// The receiving end of one direction of a connection. It keeps packets that arrived before earlier
/// ones, and packets that were not read yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Receiver<P> {
    rules: Rules,
    gate: Gate,
    /// The first packet that has not arrived.
    next: Seq,
    /// Packets from `next` on that arrived early, with `None` for a missing packet. The first entry
    /// is always `None`, the last one never is.
    early: VecDeque<Option<(Flags, P)>>,
    /// Payloads in order that were not read yet.
    ready: VecDeque<P>,
    /// True if the last packet in order was not the end of its transfer.
    is_open: bool,
    /// True if the last packet in order was the end of the stream.
    is_finished: bool,
    /// The end of the window: the first packet that the sender was not allowed to send.
    edge: Seq,
    /// The connection's share of the congestion budget: the most packets in flight during a
    /// transfer.
    share: u16,
    /// The number of packets that the next transfer may begin with.
    start_window: u16,
    /// The slow-start window of the current transfer: the packets that the transfer could begin
    /// with, plus one for each packet that has arrived since.
    slow_start_window: u16,
    /// The packet before which all missing packets were requested.
    requested_end: Seq,
    /// The number of packets since the last acknowledgement.
    since_ack: u16,
    /// True if a packet was refused for want of room.
    had_no_room: bool,
}

impl<P> Receiver<P> {
    /// Creates an end whose first packet is `first`, for a sender that begins with an initial
    /// burst.
    pub(crate) fn new(rules: Rules, first: Seq) -> Self {
        Self {
            rules,
            gate: Gate::Undecided,
            next: first,
            early: VecDeque::new(),
            ready: VecDeque::new(),
            is_open: false,
            is_finished: false,
            edge: first.plus(rules.initial().into()),
            share: rules.burst_length,
            start_window: rules.initial(),
            slow_start_window: rules.initial(),
            requested_end: first,
            since_ack: 0,
            had_no_room: false,
        }
    }

    /// Returns the first packet that has not arrived.
    pub(crate) fn next(&self) -> Seq {
        self.next
    }

    /// Returns true if a payload can be read.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Returns true if all packets up to the end of the stream have arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns true if the receiver's timer runs: a transfer is in progress, so the receiver
    /// requests the packets that are missing.
    pub(crate) fn is_in_control(&self) -> bool {
        !self.is_finished && (self.is_open || !self.early.is_empty())
    }

    /// Returns true if `seq` is the first packet of the stream, and it was not taken yet.
    pub(crate) fn is_first(&self, seq: Seq) -> bool {
        self.gate != Gate::Passed && seq == self.next
    }

    /// Refuses the first packet, and all packets until [`Receiver::admit`]: none of them is kept.
    /// Acknowledgements allow no packets meanwhile. Must be called before the first packet is
    /// taken.
    pub(crate) fn postpone(&mut self) {
        debug_assert_ne!(self.gate, Gate::Passed, "only the first packet can be refused");
        self.gate = Gate::Postponed;
        self.early = VecDeque::new();
        self.slow_start_window = self.start_window;
    }

    /// Accepts packets again. Returns true if packets were refused. The caller should then request
    /// them from the sender.
    pub(crate) fn admit(&mut self) -> bool {
        let was_postponed = self.gate == Gate::Postponed;
        if was_postponed {
            self.gate = Gate::Undecided;
        }
        was_postponed
    }

    /// Returns the number of packets that are kept.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.ready.len() + self.early.iter().flatten().count()
    }

    /// Returns the window, counted from the first missing packet. During a transfer it grows by one
    /// for each packet that arrives, so it doubles each round trip, up to the connection's share.
    fn room(&self) -> u16 {
        let free = self.rules.burst_length.saturating_sub(self.ready.len() as u16);
        free.min(if self.is_in_control() {
            self.share.min(self.slow_start_window)
        } else {
            self.start_window
        })
    }

    /// Handles a packet of the stream. Returns true if the packet was new, and the answer that the
    /// packet needs. Duplicates, and packets for which there is no room, change nothing. Both are
    /// answered, because their sender does not know which packets have arrived.
    pub(crate) fn accept(
        &mut self,
        seq: Seq,
        flags: Flags,
        payload: impl Into<P>,
    ) -> (bool, Answer) {
        let offset = seq.since(self.next);
        let is_new = offset >= 0 && self.early.get(offset as usize).is_none_or(Option::is_none);
        let room = match self.gate {
            Gate::Postponed => return (false, Answer::Now),
            Gate::Undecided => self.rules.initial(),
            Gate::Passed => self.rules.burst_length,
        };
        let has_room = offset as i64 + (self.ready.len() as i64) < room.into();
        if !is_new || !has_room || self.is_finished {
            self.had_no_room |= is_new && !self.is_finished;
            return (false, Answer::Now);
        }
        if offset == 0 && self.early.is_empty() {
            self.take(flags, payload.into());
        } else {
            let offset = offset as usize;
            if self.early.len() <= offset {
                self.early.resize_with(offset + 1, || None);
            }
            self.early[offset] = Some((flags, payload.into()));
            while let Some((flags, payload)) = self.early.front_mut().and_then(Option::take) {
                self.early.pop_front();
                self.take(flags, payload);
            }
        }
        self.requested_end = self.requested_end.max(self.next);
        self.since_ack = self.since_ack.saturating_add(1);
        self.slow_start_window = match self.is_in_control() {
            true => self.slow_start_window.saturating_add(1).min(self.rules.burst_length),
            false => self.start_window,
        };
        if self.has_lost() {
            return (true, Answer::Request);
        }
        let answer = match self.is_in_control() {
            _ if self.since_ack >= self.rules.ack_every.max(self.room() / 4) => Answer::Now,
            true if self.is_update_due() => Answer::Now,
            true if !flags.has(Flags::TXS) => Answer::None,
            _ => Answer::Soon,
        };
        (true, answer)
    }

    /// Takes the first missing packet, which has now arrived. Its payload can be read from now on.
    fn take(&mut self, flags: Flags, payload: P) {
        self.gate = Gate::Passed;
        self.next = self.next.plus(1);
        self.is_open = !flags.has(Flags::TXF);
        self.is_finished = flags.has(Flags::FIN);
        if !self.is_finished {
            self.ready.push_back(payload);
        }
    }

    /// Returns true if a packet counts as lost that was not requested yet.
    fn has_lost(&self) -> bool {
        let end = self.next.plus(self.early.len() as u32);
        end.since(self.requested_end) > i32::from(self.rules.reordered_max)
            && self.missing_from(self.requested_end, self.lost_end()).next().is_some()
    }

    /// Returns the packet before which all missing packets count as lost.
    fn lost_end(&self) -> Seq {
        let len = self.early.len() as u32;
        self.next.plus(len.saturating_sub(self.rules.reordered_max.into()))
    }

    /// Returns the ranges of missing packets from `first` to before `end`.
    fn missing_from(&self, first: Seq, end: Seq) -> impl Iterator<Item = Range> {
        let is_missing =
            |seq: Seq| self.early.get(seq.since(self.next) as usize).is_none_or(Option::is_none);
        let mut at = first.max(self.next);
        std::iter::from_fn(move || {
            while at.is_before(end) && !is_missing(at) {
                at = at.plus(1);
            }
            let first = at;
            while at.is_before(end) && is_missing(at) {
                at = at.plus(1);
            }
            let count = at.since(first).max(0) as u32;
            (count > 0).then_some(Range { first: first.0, count })
        })
    }

    /// Appends the lost packets that were not requested yet to `ranges`. The caller must send them
    /// in a request.
    pub(crate) fn take_request(&mut self, ranges: &mut Vec<Range>) {
        let end = self.lost_end();
        ranges.extend(self.missing_from(self.requested_end, end).take(RANGES_MAX));
        self.requested_end = ranges
            .last()
            .map_or(end, |last| Seq(last.first).plus(last.count))
            .max(self.requested_end);
    }

    /// Appends all missing packets up to the edge to `ranges`. Called when the receiver's timer has
    /// expired; the caller must send them in a request.
    pub(crate) fn take_everything_missing(&mut self, ranges: &mut Vec<Range>) {
        let end = self.next.plus(self.early.len() as u32).max(self.edge);
        ranges.extend(self.missing_from(self.next, end).take(RANGES_MAX));
        self.requested_end = self.next.plus(self.early.len() as u32).max(self.requested_end);
    }

    /// Returns the fields of an acknowledgement that leaves now: the first missing packet, and the
    /// window from there on. During a transfer, packets that were allowed once stay allowed.
    /// Between transfers, the window is the number of packets that the next transfer may begin
    /// with. The window of a postponed stream is 0.
    pub(crate) fn acknowledgement(&mut self) -> Acknowledgement {
        self.since_ack = 0;
        if self.gate == Gate::Postponed {
            return Acknowledgement { next: self.next, window: 0 };
        }
        self.edge = self.edge.max(self.next.plus(self.room().into()));
        self.had_no_room &= self.edge == self.next;
        let allowed = self.edge.since(self.next).max(0) as u16;
        let window = if self.is_in_control() { allowed } else { allowed.min(self.start_window) };
        Acknowledgement { next: self.next, window }
    }

    /// Returns true if enough packets have arrived since the last acknowledgement that outgoing
    /// data should carry the next acknowledgement. Each acknowledgement costs both ends a keyed
    /// hash, so not every message of a ping-pong carries one.
    pub(crate) fn is_answer_near(&self) -> bool {
        4 * u32::from(self.since_ack) >= 3 * u32::from(self.rules.ack_every)
    }

    /// Returns true if an acknowledgement should leave because the sender may run out of its window
    /// and the window can grow.
    pub(crate) fn is_update_due(&self) -> bool {
        let room = self.room();
        let low = self.rules.ack_every.min(room / 2 + 1);
        (self.is_in_control() || self.had_no_room)
            && self.edge.since(self.next) < low.into()
            && self.edge.is_before(self.next.plus(room.into()))
    }

    /// Sets the connection's share of the congestion budget, and the number of packets that the
    /// next transfer may begin with. The latter is at least an initial burst, and at most the
    /// share. [`Receiver::is_update_due`] may change.
    pub(crate) fn set_share(&mut self, share: u16, start_window: u16) {
        (self.share, self.start_window) =
            (share, start_window.max(self.rules.initial()).min(share));
    }

    /// Returns the next payload in order. [`Receiver::is_update_due`] may change.
    pub(crate) fn read(&mut self) -> Option<P> {
        self.ready.pop_front()
    }
}
