//! Flow control for unexpected messages: a rank divides its room for them among its senders.

#[cfg(test)]
mod tests;

use crate::limits::SHARE_MAX;

/// One rank's room for messages without a posted receive. All ranks connected with this rank have
/// equal shares of the room.
#[derive(Debug, Default)]
pub struct Room {
    /// The room in bytes that the engine announced last.
    bytes: u64,
    /// The number of connected ranks (`sharers`), and of ranks that may still connect (`absent`).
    sharers: u64,
    absent: u64,
    /// The number of bytes that a rank may send before it is granted room.
    first: u64,
    /// The share of each connected rank, in bytes.
    share: u64,
    /// The value of `bytes` when the shares were last compared with the grants.
    compared: u64,
    /// The bytes of room that messages may take, counted since the engine last announced its room.
    unsettled: u64,
}

impl Room {
    /// Creates the room of a rank with which `others` ranks may connect. Each of these may send
    /// `first` bytes before it is granted room.
    pub fn new(others: usize, first: u64) -> Self {
        Self { absent: others as u64, first, ..Self::default() }
    }

    /// Sets the room to `bytes`. Returns true if the room changed so much that the caller must
    /// compare the shares with the grants.
    pub fn announce(&mut self, bytes: u64) -> bool {
        self.bytes = bytes;
        self.divide();
        // Ranks are told of shares that changed by half, so smaller changes need no comparison.
        let is_changed = bytes.abs_diff(self.compared) > self.compared / 4;
        if is_changed {
            self.compared = bytes;
        }
        is_changed
    }

    /// Sets the number of connected ranks.
    pub fn set_sharers(&mut self, sharers: usize) {
        let all = self.sharers + self.absent;
        self.sharers = sharers as u64;
        self.absent = all.saturating_sub(self.sharers);
        self.divide();
    }

    fn divide(&mut self) {
        self.share = self.share_of(self.bytes);
    }

    /// Returns the share of each connected rank in a room of `bytes` bytes. For each rank that may
    /// still connect, `first` bytes are set aside.
    fn share_of(&self, bytes: u64) -> u64 {
        let kept = self.absent.saturating_mul(self.first);
        (bytes.saturating_sub(kept) / self.sharers.max(1)).min(SHARE_MAX)
    }

    /// Counts the bytes of room that a message may take. Called before the engine gets the message.
    #[inline]
    pub fn use_up(&mut self, bytes: u64) {
        self.unsettled = self.unsettled.saturating_add(bytes);
    }

    /// Notes that the announced room takes account of all earlier messages.
    #[inline]
    pub fn settle(&mut self) {
        self.unsettled = 0;
    }

    /// Returns the share of each connected rank, in bytes.
    #[inline]
    pub fn share(&self) -> u64 {
        self.share
    }

    /// Returns the share of each connected rank in the room that is certainly free: the announced
    /// room without the bytes that [`Room::use_up`] counted since.
    pub fn settled_share(&self) -> u64 {
        self.share_of(self.bytes.saturating_sub(self.unsettled))
    }
}

/// The bytes of messages without a posted receive that two connected ranks may send each other.
/// Each of the two ranks keeps its own `Credit`.
///
/// The receiver grants each sender its share of the free room. It sends a new grant when half of
/// the last grant is used, or when the share has changed by half. A grant is the number of bytes
/// that may have arrived in total, so bytes on their way are counted. A smaller share lowers this
/// number, and a sender that has already sent more waits. So messages without a receive stay within
/// the limit, except for messages that were on their way when the room shrank.
///
/// Threat: a peer with the key may send more than it was granted, or claim sizes that it never
/// sends. The receiver ends the job if more bytes arrive in total than the highest number that it
/// ever told the peer.
#[derive(Debug, Default)]
pub struct Credit {
    /// The bytes that may be sent to the peer in total (`allowed`), and the bytes that were sent
    /// (`spent`).
    allowed: u64,
    spent: u64,
    /// The share that the peer was granted last, in bytes; `None` before the first grant.
    granted: Option<u64>,
    /// The bytes that arrived since the last grant.
    arrived: u64,
    /// The bytes that arrived in total (`taken`), and the highest total ever granted (`most`).
    taken: u64,
    most: u64,
}

/// The error of a peer that sent more bytes than it was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{taken} bytes of messages that need room, of which it was granted {most}")]
pub struct Overrun {
    /// The bytes that all messages of the peer took of the room until now.
    pub taken: u64,
    /// The highest total of bytes that the peer was granted.
    pub most: u64,
}

impl Credit {
    /// Creates the credit of two ranks that have just connected. Each may send `first` bytes before
    /// it is granted room.
    pub fn new(first: u64) -> Self {
        Self { allowed: first, most: first, ..Self::default() }
    }

    /// Returns the bytes that may still be sent to the peer.
    pub fn left(&self) -> u64 {
        self.allowed.saturating_sub(self.spent)
    }

    /// Sets the bytes that may be sent in total, as the peer granted them.
    pub fn set(&mut self, allowed: u64) {
        self.allowed = allowed;
    }

    /// Counts bytes that leave for the peer.
    pub fn spend(&mut self, bytes: u64) {
        self.spent = self.spent.saturating_add(bytes);
    }

    /// Counts bytes that arrived from the peer.
    ///
    /// # Errors
    /// [`Overrun`] if the peer was granted less.
    pub fn arrive(&mut self, bytes: u64) -> Result<(), Overrun> {
        self.arrived = self.arrived.saturating_add(bytes);
        self.taken = self.taken.saturating_add(bytes);
        let Self { taken, most, .. } = *self;
        if taken > most { Err(Overrun { taken, most }) } else { Ok(()) }
    }

    /// Returns true if the peer was never granted any room.
    pub fn is_new(&self) -> bool {
        self.granted.is_none()
    }

    /// Returns true if the peer must get a new grant of its `share`.
    pub fn is_due(&self, share: u64) -> bool {
        let Some(granted) = self.granted else { return true };
        let is_used = self.arrived > 0 && self.arrived >= granted / 2 && share > 0;
        is_used || share < granted.div_ceil(2) || share / 2 > granted
    }

    /// Grants the peer its `share`. Returns the number of bytes that may have arrived in total. The
    /// caller must send this number to the peer.
    pub fn grant(&mut self, share: u64) -> u64 {
        (self.granted, self.arrived) = (Some(share), 0);
        let allowed = self.taken.saturating_add(share);
        self.most = self.most.max(allowed);
        allowed
    }
}
