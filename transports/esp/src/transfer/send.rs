//! The sending end of one direction of a connection.

use super::{Acknowledgement, Rules};
use crate::seq::Seq;
use crate::wire::{Flags, Range};
use std::collections::VecDeque;

/// A packet that is not acknowledged yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Queued<P> {
    /// [`Flags::TXS`], [`Flags::TXF`], [`Flags::TXR`], [`Flags::FIN`].
    pub(crate) flags: Flags,
    /// The bytes that the packet carries.
    pub(crate) payload: P,
    /// True if the packet must be sent again.
    is_due: bool,
}

/// The sending end of one direction of a connection. It keeps each packet until the packet is
/// acknowledged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Sender<P> {
    rules: Rules,
    /// The first packet that is not acknowledged.
    unacknowledged: Seq,
    /// The first packet that was never sent.
    next: Seq,
    /// All packets from `unacknowledged` on, sent or not.
    queue: VecDeque<Queued<P>>,
    /// The end of the window: the first packet that the receiver has not allowed.
    edge: Seq,
    /// The start of the last transfer, until it is acknowledged.
    start: Option<Seq>,
    /// The number of packets of a new transfer that may be sent before its start is acknowledged,
    /// counted from the first unacknowledged packet. The receiver says this number when it
    /// acknowledges the end of the transfer before.
    start_window: u16,
    /// True if the last acknowledged packet was the end of its transfer.
    has_ended: bool,
    /// The number of queued packets with `is_due`.
    due: u32,
}

impl<P> Sender<P> {
    /// Creates an end whose first packet is `first`, for a receiver that has room for `window`
    /// packets.
    pub(crate) fn new(rules: Rules, first: Seq, window: u16) -> Self {
        Self {
            rules,
            unacknowledged: first,
            next: first,
            queue: VecDeque::new(),
            edge: first.plus(window.into()),
            start: None,
            start_window: window,
            has_ended: true,
            due: 0,
        }
    }

    /// Appends a packet to the stream. The packet joins the transfer of the packet before it, if
    /// that packet was not sent yet. Otherwise it starts a new transfer (thesis 3.2). `flags` may
    /// have [`Flags::TXR`] and [`Flags::FIN`] only.
    pub(crate) fn push(&mut self, payload: P, mut flags: Flags) {
        let seq = self.end();
        if self.next.is_before(seq) {
            let last = self.queue.back_mut().expect("a packet that was not sent");
            last.flags = last.flags.without(Flags::TXF);
        } else {
            flags = flags | Flags::TXS;
            self.start = Some(seq);
        }
        self.queue.push_back(Queued { flags: flags | Flags::TXF, payload, is_due: false });
    }

    /// Returns the number behind the last packet of the queue.
    fn end(&self) -> Seq {
        self.unacknowledged.plus(self.queue.len() as u32)
    }

    /// Returns the number of packets that are not acknowledged, sent or not.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Returns the number of packets that were never sent.
    pub(crate) fn unsent(&self) -> usize {
        self.end().since(self.next) as usize
    }

    /// Returns the first packet that is not acknowledged.
    pub(crate) fn unacknowledged(&self) -> Seq {
        self.unacknowledged
    }

    /// Returns the first packet that was never sent. A frame without a packet of the stream carries
    /// this number.
    pub(crate) fn next(&self) -> Seq {
        self.next
    }

    /// Returns the first packet that may not be sent without a request. The first unacknowledged
    /// packet may always be sent. If the receiver had no room for the start of a transfer, the
    /// repetition of this packet makes the receiver announce its present room.
    fn limit(&self) -> Seq {
        if self.start.is_none() {
            return self.edge;
        }
        let start_window = self.unacknowledged.plus(self.start_window.into());
        start_window.min(self.edge).max(self.unacknowledged.plus(1))
    }

    /// Returns true if [`Sender::poll`] has a packet.
    pub(crate) fn is_ready(&self) -> bool {
        self.due > 0 || self.next.is_before(self.end().min(self.limit()))
    }

    /// Returns the next packet to send, with its number. The caller must call it until it returns
    /// `None`.
    pub(crate) fn poll(&mut self) -> Option<(Seq, &Queued<P>)> {
        if self.due > 0 {
            let sent = self.next.since(self.unacknowledged) as usize;
            let index = self.queue.iter().take(sent).position(|packet| packet.is_due);
            let index = index.expect("as many as are counted");
            self.due -= 1;
            let packet = &mut self.queue[index];
            packet.is_due = false;
            return Some((self.unacknowledged.plus(index as u32), packet));
        }
        if !self.is_ready() {
            return None;
        }
        let seq = self.next;
        self.next = seq.plus(1);
        Some((seq, &self.queue[seq.since(self.unacknowledged) as usize]))
    }

    /// Handles an acknowledgement: the receiver has all packets before `acknowledged` and allows
    /// `window` packets from there on. Passes the acknowledged payloads to `free`, and returns the
    /// number of these payloads. Ignores acknowledgements of packets that were never sent or were
    /// acknowledged before.
    pub(crate) fn acknowledge(
        &mut self,
        Acknowledgement { next: acknowledged, window }: Acknowledgement,
        mut free: impl FnMut(P),
    ) -> usize {
        if acknowledged.is_before(self.unacknowledged) || self.next.is_before(acknowledged) {
            return 0;
        }
        let count = acknowledged.since(self.unacknowledged) as usize;
        for packet in self.queue.drain(..count) {
            self.due -= u32::from(packet.is_due);
            self.has_ended = packet.flags.has(Flags::TXF);
            free(packet.payload);
        }
        self.unacknowledged = acknowledged;
        let was_shut = !acknowledged.is_before(self.edge);
        let window = window.min(self.rules.burst_length);
        self.edge = self.edge.max(acknowledged.plus(window.into()));
        if self.has_ended {
            self.start_window = window;
        }
        self.start = self.start.filter(|start| !start.is_before(acknowledged));
        if was_shut && acknowledged.is_before(self.edge) {
            // Packets beyond the old edge were sent and refused.
            self.repeat_first();
        }
        count
    }

    /// Marks the requested packets for retransmission. Returns the number of packets that were not
    /// marked before.
    pub(crate) fn request(&mut self, ranges: impl Iterator<Item = Range>) -> u32 {
        let sent = self.next.since(self.unacknowledged);
        let before = self.due;
        for Range { first, count } in ranges {
            let first = Seq(first).since(self.unacknowledged);
            let last = i64::from(first) + i64::from(count);
            let wanted = first.clamp(0, sent) as usize..last.clamp(0, sent.into()) as usize;
            for packet in self.queue.range_mut(wanted.start..wanted.end.max(wanted.start)) {
                self.due += u32::from(!packet.is_due);
                packet.is_due = true;
            }
        }
        self.due - before
    }

    /// Marks all sent packets for retransmission: the receiver has none of them.
    pub(crate) fn send_all_again(&mut self) {
        let count = self.next.since(self.unacknowledged) as u32;
        self.request(std::iter::once(Range { first: self.unacknowledged.0, count }));
    }

    /// Returns true if the sender's timer runs: the start or the end of a transfer was sent and is
    /// not acknowledged. The receiver requests the packets between them.
    pub(crate) fn runs_timer(&self) -> bool {
        let sent = self.next.since(self.unacknowledged) as usize;
        let Some(last) = sent.checked_sub(1) else { return false };
        let has_start = self.start.is_some_and(|start| start.is_before(self.next));
        let has_end = self.rules.repeats_end && self.queue[last].flags.has(Flags::TXF);
        has_start || has_end
    }

    /// Marks the first unacknowledged packet for retransmission, whatever the window is. Called
    /// when the sender's timer has expired. If the receiver already has that packet, it
    /// acknowledges all packets that it has. Otherwise it now gets the missing packet.
    pub(crate) fn repeat_first(&mut self) {
        if let Some(first) = self.queue.front_mut()
            && self.unacknowledged.is_before(self.next)
        {
            self.due += u32::from(!first.is_due);
            first.is_due = true;
        }
    }
}
