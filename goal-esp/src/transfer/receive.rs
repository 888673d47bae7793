//! The receiving end.

use super::Rules;
use crate::limits::RANGES_MAX;
use crate::seq::Seq;
use crate::wire::{Flags, Range};
use std::collections::VecDeque;

/// What a packet is to be answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// Nothing.
    None,
    /// An acknowledgement for which nobody waits: when its timer passes, or with data where
    /// [`Receiver::is_answer_near`].
    Soon,
    /// An acknowledgement at once.
    Now,
    /// A request for what is missing ([`Receiver::take_request`]).
    Request,
}

/// Tells if the stream is taken. Only its first packet can be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    /// The first packet has not come.
    Undecided,
    /// The first packet came and was refused. No packet is taken until [`Receiver::admit`].
    Postponed,
    /// The first packet was taken.
    Passed,
}

/// The receiving end of a direction. It keeps what came too early, and what was not read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Receiver<P> {
    rules: Rules,
    gate: Gate,
    /// The first packet that has not arrived.
    next: Seq,
    /// What is there from `next` on: the first is missing, the last is not.
    early: VecDeque<Option<(Flags, P)>>,
    /// What can be read.
    ready: VecDeque<P>,
    /// The last packet in order was not the end of its transfer.
    is_open: bool,
    /// The last packet in order was the last of all.
    is_finished: bool,
    /// The first packet that the sender has not been allowed.
    edge: Seq,
    /// Packets that may be on their way while a transfer is under way, and those with which one may
    /// begin.
    share: u16,
    standing: u16,
    /// Packets that have come since the transfer under way began, and those with which it could
    /// begin.
    opened: u16,
    /// What was lost before it has been asked for.
    asked: Seq,
    /// Packets since the last acknowledgement.
    unanswered: u16,
    /// There was no room for a packet.
    is_holding_back: bool,
}

impl<P> Receiver<P> {
    /// An end whose first packet is `first`, of a sender that begins with an initial burst.
    pub fn new(rules: Rules, first: Seq) -> Self {
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
            standing: rules.initial(),
            opened: rules.initial(),
            asked: first,
            unanswered: 0,
            is_holding_back: false,
        }
    }

    /// The first packet that has not arrived.
    pub fn next(&self) -> Seq {
        self.next
    }

    /// Whether something can be read.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether the sender has said that nothing follows, and all before that has arrived.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Whether the receiver's timer runs: a transfer is under way, so it is the receiver's to ask
    /// for what is missing.
    pub fn controls(&self) -> bool {
        !self.is_finished && (self.is_open || !self.early.is_empty())
    }

    /// Returns true if `seq` is the first packet of the stream, and it was not taken yet.
    pub fn is_first(&self, seq: Seq) -> bool {
        self.gate != Gate::Passed && seq == self.next
    }

    /// Refuses the first packet, and all packets until [`Receiver::admit`]: none of them is kept.
    /// Acknowledgements allow no packets meanwhile. Must be called before the first packet is
    /// taken.
    pub fn postpone(&mut self) {
        debug_assert_ne!(self.gate, Gate::Passed, "only the first packet can be refused");
        self.gate = Gate::Postponed;
        self.early = VecDeque::new();
        self.opened = self.standing;
    }

    /// Takes packets again. Returns true if they were refused: the sender should be asked for them.
    pub fn admit(&mut self) -> bool {
        let was_postponed = self.gate == Gate::Postponed;
        if was_postponed {
            self.gate = Gate::Undecided;
        }
        was_postponed
    }

    /// The number of packets that are kept.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.ready.len() + self.early.iter().flatten().count()
    }

    /// Packets from the first missing one on that may be on their way. A transfer may have as many
    /// more on their way than those that it began with as have arrived: it doubles each round trip
    /// up to its share.
    fn room(&self) -> u16 {
        let free = self.rules.burst_length.saturating_sub(self.ready.len() as u16);
        free.min(if self.controls() { self.share.min(self.opened) } else { self.standing })
    }

    /// Takes a packet; whether it was new, and the answer. Duplicates, and packets for which there
    /// is no room, change nothing; both are answered, as their sender does not know what the
    /// receiver has.
    pub fn accept(&mut self, seq: Seq, flags: Flags, payload: impl Into<P>) -> (bool, Answer) {
        let offset = seq.since(self.next);
        let is_new = offset >= 0 && self.early.get(offset as usize).is_none_or(Option::is_none);
        let room = match self.gate {
            Gate::Postponed => return (false, Answer::Now),
            Gate::Undecided => self.rules.initial(),
            Gate::Passed => self.rules.burst_length,
        };
        let has_room = offset as i64 + (self.ready.len() as i64) < room.into();
        if !is_new || !has_room || self.is_finished {
            self.is_holding_back |= is_new && !self.is_finished;
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
        self.asked = self.asked.max(self.next);
        self.unanswered = self.unanswered.saturating_add(1);
        self.opened = match self.controls() {
            true => self.opened.saturating_add(1).min(self.rules.burst_length),
            false => self.standing,
        };
        if self.has_lost() {
            return (true, Answer::Request);
        }
        let answer = match self.controls() {
            _ if self.unanswered >= self.rules.ack_every.max(self.room() / 4) => Answer::Now,
            true if self.is_update_due() => Answer::Now,
            true if !flags.has(Flags::TXS) => Answer::None,
            _ => Answer::Soon,
        };
        (true, answer)
    }

    /// Takes the first packet that was missing.
    fn take(&mut self, flags: Flags, payload: P) {
        self.gate = Gate::Passed;
        self.next = self.next.plus(1);
        self.is_open = !flags.has(Flags::TXF);
        self.is_finished = flags.has(Flags::FIN);
        if !self.is_finished {
            self.ready.push_back(payload);
        }
    }

    /// Whether so much came behind a missing packet that it is lost, and was not asked for.
    fn has_lost(&self) -> bool {
        let end = self.next.plus(self.early.len() as u32);
        end.since(self.asked) > i32::from(self.rules.reordered_max)
            && self.missing_from(self.asked, self.lost_end()).next().is_some()
    }

    /// What is missing before this is lost.
    fn lost_end(&self) -> Seq {
        let len = self.early.len() as u32;
        self.next.plus(len.saturating_sub(self.rules.reordered_max.into()))
    }

    /// The ranges that are missing from `first` to before `end`.
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

    /// What was lost and not asked for yet: to be sent with a request.
    pub fn take_request(&mut self, ranges: &mut Vec<Range>) {
        let end = self.lost_end();
        ranges.extend(self.missing_from(self.asked, end).take(RANGES_MAX));
        self.asked =
            ranges.last().map_or(end, |last| Seq(last.first).plus(last.count)).max(self.asked);
    }

    /// The receiver's timer has passed: all that is missing up to the edge, to be sent with a
    /// request.
    pub fn take_everything_missing(&mut self, ranges: &mut Vec<Range>) {
        let end = self.next.plus(self.early.len() as u32).max(self.edge);
        ranges.extend(self.missing_from(self.next, end).take(RANGES_MAX));
        self.asked = self.next.plus(self.early.len() as u32).max(self.asked);
    }

    /// What an acknowledgement that leaves now says: the first missing packet, and how many may be
    /// sent from there on. What was allowed once stays allowed; but between transfers it is said
    /// with how many of them the next one may begin.
    pub fn acknowledgement(&mut self) -> (Seq, u16) {
        self.unanswered = 0;
        if self.gate == Gate::Postponed {
            return (self.next, 0);
        }
        self.edge = self.edge.max(self.next.plus(self.room().into()));
        self.is_holding_back &= self.edge == self.next;
        let allowed = self.edge.since(self.next).max(0) as u16;
        (self.next, if self.controls() { allowed } else { allowed.min(self.standing) })
    }

    /// Whether so much came since the last acknowledgement that data takes the next one along: each
    /// costs both ends a keyed hash, so small messages that answer each other don't all have one.
    pub fn is_answer_near(&self) -> bool {
        4 * u32::from(self.unanswered) >= 3 * u32::from(self.rules.ack_every)
    }

    /// Whether the sender may run out of what it was allowed, and can be allowed more.
    pub fn is_update_due(&self) -> bool {
        let room = self.room();
        let low = self.rules.ack_every.min(room / 2 + 1);
        (self.controls() || self.is_holding_back)
            && self.edge.since(self.next) < low.into()
            && self.edge.is_before(self.next.plus(room.into()))
    }

    /// Lets `share` packets be on their way from now on while a transfer is under way. The next one
    /// may begin with `standing` of them, or with those of an initial burst if they are more. See
    /// [`Receiver::is_update_due`].
    pub fn set_share(&mut self, share: u16, standing: u16) {
        (self.share, self.standing) = (share, standing.max(self.rules.initial()).min(share));
    }

    /// The next packet's payload, in order. See [`Receiver::is_update_due`].
    pub fn read(&mut self) -> Option<P> {
        self.ready.pop_front()
    }
}
