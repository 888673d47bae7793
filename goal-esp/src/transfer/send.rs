//! The sending end.

use super::Rules;
use crate::seq::Seq;
use crate::wire::{Flags, Range};
use std::collections::VecDeque;

/// A packet that is not acknowledged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Queued<P> {
    /// [`Flags::TXS`], [`Flags::TXF`], [`Flags::TXR`], [`Flags::FIN`].
    pub flags: Flags,
    /// What it carries.
    pub payload: P,
    /// It is to be sent again.
    is_due: bool,
}

/// The sending end of a direction. What it has sent it keeps until that is acknowledged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sender<P> {
    rules: Rules,
    /// The first packet that is not acknowledged.
    unacknowledged: Seq,
    /// The first packet that was never sent.
    next: Seq,
    /// All from [`Sender::unacknowledged`] on.
    queue: VecDeque<Queued<P>>,
    /// The first packet that the receiver has not allowed.
    edge: Seq,
    /// The start of the last transfer, until it is acknowledged.
    start: Option<Seq>,
    /// Packets with which a transfer may begin, from the first that is not acknowledged on.
    standing: u16,
    /// The last packet that was acknowledged was the end of its transfer.
    has_ended: bool,
    /// How many packets are to be sent again.
    due: u32,
}

impl<P> Sender<P> {
    /// An end whose first packet is `first`, to a receiver that has room for `window` packets.
    pub fn new(rules: Rules, first: Seq, window: u16) -> Self {
        Self {
            rules,
            unacknowledged: first,
            next: first,
            queue: VecDeque::new(),
            edge: first.plus(window.into()),
            start: None,
            standing: window,
            has_ended: true,
            due: 0,
        }
    }

    /// Appends a packet to the stream. It belongs to the transfer of the packet before it if that
    /// was not sent yet, and starts a transfer otherwise (thesis 3.2). `flags` are [`Flags::TXR`]
    /// and [`Flags::FIN`], or nothing.
    pub fn push(&mut self, payload: P, mut flags: Flags) {
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

    /// The number behind the last packet.
    fn end(&self) -> Seq {
        self.unacknowledged.plus(self.queue.len() as u32)
    }

    /// Packets that are not acknowledged, sent or not.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Packets that were never sent.
    pub fn unsent(&self) -> usize {
        self.end().since(self.next) as usize
    }

    /// The first packet that is not acknowledged.
    pub fn unacknowledged(&self) -> Seq {
        self.unacknowledged
    }

    /// The first packet that was never sent: the number that a frame without one carries.
    pub fn next(&self) -> Seq {
        self.next
    }

    /// The packet up to which may be sent without being asked. The first one that is not
    /// acknowledged may always be: were it not for that, a start for which the receiver had no room
    /// once would never be told again.
    fn limit(&self) -> Seq {
        if self.start.is_none() {
            return self.edge;
        }
        let standing = self.unacknowledged.plus(self.standing.into());
        standing.min(self.edge).max(self.unacknowledged.plus(1))
    }

    /// Whether there is a packet to be sent.
    pub fn is_ready(&self) -> bool {
        self.due > 0 || self.next.is_before(self.end().min(self.limit()))
    }

    /// The next packet to be sent and its number; to be called until there is none.
    pub fn poll(&mut self) -> Option<(Seq, &Queued<P>)> {
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

    /// The receiver has all before `acknowledged` and allows `window` packets from there on. Hands
    /// what is acknowledged to `free`; how many packets that were. What cannot be is ignored.
    pub fn acknowledge(
        &mut self,
        acknowledged: Seq,
        window: u16,
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
            self.standing = window;
        }
        self.start = self.start.filter(|start| !start.is_before(acknowledged));
        if was_shut && acknowledged.is_before(self.edge) {
            // There was no room for what was sent beyond the edge.
            self.insist();
        }
        count
    }

    /// The receiver asks for packets. How many will be sent again.
    pub fn request(&mut self, ranges: impl Iterator<Item = Range>) -> u32 {
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

    /// All that was sent is to be sent again: the receiver knows nothing of it.
    pub fn send_all_again(&mut self) {
        let count = self.next.since(self.unacknowledged) as u32;
        self.request(std::iter::once(Range { first: self.unacknowledged.0, count }));
    }

    /// Whether the sender's timer runs: it answers for the start and the end of a transfer, the
    /// receiver for what is between.
    pub fn insists(&self) -> bool {
        let sent = self.next.since(self.unacknowledged) as usize;
        let Some(last) = sent.checked_sub(1) else { return false };
        let has_start = self.start.is_some_and(|start| start.is_before(self.next));
        let has_end = self.rules.insists_on_end && self.queue[last].flags.has(Flags::TXF);
        has_start || has_end
    }

    /// The sender's timer has passed. One packet is sent again, whatever the window is: the first
    /// that is not acknowledged. If the receiver has it, it answers with what it has; if not, that
    /// is what it lacks.
    pub fn insist(&mut self) {
        if let Some(first) = self.queue.front_mut()
            && self.unacknowledged.is_before(self.next)
        {
            self.due += u32::from(!first.is_due);
            first.is_due = true;
        }
    }
}
