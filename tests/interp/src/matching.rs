//! Matches receives and messages as MPI does.
//!
//! If several posted receives match a message, the receive that was posted first takes it. If
//! several messages match a receive, it takes the message that arrived first. Messages of one
//! source arrive in the order of their sends.

use std::collections::{BTreeMap, VecDeque};

use goal_lang::{ANY, ActionId};

use crate::memory::Bytes;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Message {
    pub(crate) source: u32,
    pub(crate) send: ActionId,
    pub(crate) destination: u32,
    pub(crate) tag: u32,
    pub(crate) size: u64,
    /// The number of the message among all messages from its source to its destination.
    pub(crate) sequence: u64,
    pub(crate) content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Content {
    /// The pattern of the message. Its bytes are computed only if a receive needs them.
    Pattern,
    /// A copy of the bytes, made when the send started.
    Copied(Bytes),
    /// The bytes are still in the sender's memory.
    InPlace,
}

/// The source and the tag that a receive asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Envelope {
    pub(crate) from: u32,
    pub(crate) tag: u32,
}

impl Envelope {
    pub(crate) fn fits(self, source: u32, tag: u32) -> bool {
        (self.from == ANY || self.from == source) && (self.tag == ANY || self.tag == tag)
    }
}

/// The two queues of a rank. No posted receive matches a message in `unexpected`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Queues {
    /// The posted receives by source and tag, each with the number of its posting.
    posted: BTreeMap<Envelope, VecDeque<(u64, ActionId)>>,
    postings: u64,
    /// The messages that no receive has taken, by source and tag, each with the number of its
    /// arrival.
    unexpected: BTreeMap<(u32, u32), VecDeque<(u64, Message)>>,
    arrivals: u64,
}

impl Queues {
    /// Posts a receive. If a matching message has arrived, returns it, and the receive takes it at
    /// once.
    pub(crate) fn post(&mut self, recv: ActionId, envelope: Envelope) -> Option<Message> {
        let first = if envelope.from != ANY && envelope.tag != ANY {
            Some((envelope.from, envelope.tag)).filter(|key| self.unexpected.contains_key(key))
        } else {
            let fitting = self.unexpected.iter().filter(|(key, _)| envelope.fits(key.0, key.1));
            fitting.min_by_key(|(_, queue)| queue[0].0).map(|(key, _)| *key)
        };
        match first {
            Some(key) => pop(&mut self.unexpected, key),
            None => {
                self.posted.entry(envelope).or_default().push_back((self.postings, recv));
                self.postings += 1;
                None
            }
        }
    }

    /// Returns the number of messages that wait for a receive.
    pub(crate) fn unexpected(&self) -> u64 {
        self.unexpected.values().map(|queue| queue.len() as u64).sum()
    }

    /// Handles a message that arrives. If a matching receive is posted, returns it with the
    /// message. Otherwise keeps the message and returns `None`.
    pub(crate) fn arrive(&mut self, message: Message) -> Option<(ActionId, Message)> {
        let Message { source, tag, .. } = message;
        let envelopes = [(source, tag), (source, ANY), (ANY, tag), (ANY, ANY)];
        let first = envelopes
            .into_iter()
            .map(|(from, tag)| Envelope { from, tag })
            .filter(|envelope| self.posted.contains_key(envelope))
            .min_by_key(|envelope| self.posted[envelope][0].0);
        match first.and_then(|envelope| pop(&mut self.posted, envelope)) {
            Some(recv) => Some((recv, message)),
            None => {
                self.unexpected
                    .entry((source, tag))
                    .or_default()
                    .push_back((self.arrivals, message));
                self.arrivals += 1;
                None
            }
        }
    }
}

/// Removes and returns the first entry of a queue. Empty queues are removed.
fn pop<K: Ord, T>(queues: &mut BTreeMap<K, VecDeque<(u64, T)>>, key: K) -> Option<T> {
    let queue = queues.get_mut(&key)?;
    let (_, first) = queue.pop_front()?;
    if queue.is_empty() {
        queues.remove(&key);
    }
    Some(first)
}
