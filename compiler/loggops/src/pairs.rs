//! Which receive takes which message, as far as the program alone tells.

use crate::channels::{NONE, visit_channels, wildcards};
use crate::workload::{Kind, Workload};

/// The way to find the partner of a send or receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Meeting {
    /// No other message has its ranks and tag: the partner is known.
    Known,
    /// Several messages have its ranks and tag: the messages and the receives meet in the order in
    /// which they start.
    InOrder,
    /// The receiving rank has wildcards.
    Wild,
    /// Nobody has a partner for it, or it is no message.
    Never,
}

/// The channel of messages that meet in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Channel {
    /// The first of its slots.
    first: u32,
    sends: u32,
    receives: u32,
}

/// The partners of all sends and receives.
#[derive(Debug)]
pub(crate) struct Pairs {
    pub(crate) meetings: Vec<Meeting>,
    /// By action: its partner if that is known; its channel, and once it has started its slot, if
    /// it meets in order.
    pub(crate) partners: Vec<u32>,
    channels: Vec<Channel>,
    /// By slot, the receive that comes there if receives start in the order of the text.
    pub(crate) expected: Vec<u32>,
    /// By slot, the receive or message that waits there.
    pub(crate) waiting: Vec<u32>,
    /// By rank, true if one of its receives has a wildcard.
    pub(crate) has_wildcards: Vec<bool>,
}

impl Pairs {
    pub(crate) fn new(workload: &Workload) -> Self {
        let mut pairs = Self {
            meetings: vec![Meeting::Never; workload.len()],
            partners: vec![NONE; workload.len()],
            channels: Vec::new(),
            expected: Vec::new(),
            waiting: Vec::new(),
            has_wildcards: wildcards(workload),
        };
        for rank in 0..workload.num_ranks() as u32 {
            for action in workload.actions(rank) {
                let record = workload.record(action);
                let to = match record.kind {
                    Kind::Send => record.peer,
                    Kind::Recv => rank,
                    Kind::Calc | Kind::Local | Kind::Dummy => continue,
                };
                if pairs.has_wildcards[to as usize] {
                    pairs.meetings[action as usize] = Meeting::Wild;
                }
            }
        }
        let skipped = pairs.has_wildcards.clone();
        visit_channels(workload, &skipped, |sends, receives| pairs.add(sends, receives));
        pairs
    }

    /// Adds a channel.
    fn add(&mut self, sends: &[u32], receives: &[u32]) {
        match (sends, receives) {
            ([], _) | (_, []) => {}
            (&[send], &[receive]) => {
                for (one, other) in [(send, receive), (receive, send)] {
                    self.meetings[one as usize] = Meeting::Known;
                    self.partners[one as usize] = other;
                }
            }
            _ => {
                let first = self.expected.len() as u32;
                for &action in sends.iter().chain(receives) {
                    self.meetings[action as usize] = Meeting::InOrder;
                    self.partners[action as usize] = self.channels.len() as u32;
                }
                self.channels.push(Channel { first, sends: 0, receives: 0 });
                self.expected.extend(receives);
                self.expected.resize(first as usize + sends.len().max(receives.len()), NONE);
                self.waiting.resize(self.expected.len(), NONE);
            }
        }
    }

    /// Gives a message that meets in order the next slot of its channel.
    pub(crate) fn start_send(&mut self, send: u32) {
        let partner = &mut self.partners[send as usize];
        let channel = &mut self.channels[*partner as usize];
        *partner = channel.first + channel.sends;
        channel.sends += 1;
    }

    /// Gives a receive that meets in order the next slot of its channel.
    pub(crate) fn post(&mut self, receive: u32) {
        let partner = &mut self.partners[receive as usize];
        let channel = &mut self.channels[*partner as usize];
        *partner = channel.first + channel.receives;
        channel.receives += 1;
    }
}
