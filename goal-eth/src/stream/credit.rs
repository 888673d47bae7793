//! Room for messages without a receive, divided among the ranks that send them.

#[cfg(test)]
mod tests;

/// What one rank may send another one before there is a receive, seen from both ends of a
/// connection.
///
/// The receiver grants each sender its share of the room that is left, and anew when half of a
/// grant was used or the share has changed by half. It says how many bytes may have come in all by
/// then, so what is on its way is counted. A share that shrinks lowers that number, and a sender
/// that has sent more waits. So what lies without a receive stays below the limit, but for what was
/// on its way when the room shrank.
///
/// Threat: a peer that has the key may send more than it was granted, and claim sizes that it never
/// sends. It never may have sent more than the highest number that it was told: the receiver ends
/// the job where it does.
#[derive(Debug, Default)]
pub(super) struct Credit {
    /// Bytes that may be sent to the peer in all, and that were.
    allowed: u64,
    spent: u64,
    /// Share that the peer was granted last.
    granted: Option<u64>,
    /// Bytes that came since.
    arrived: u64,
    /// Bytes that came in all, and the most that the peer was ever told that may come.
    taken: u64,
    most: u64,
}

/// A peer sent more than it was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{taken} bytes of messages that need room, of which it was granted {most}")]
pub struct Overrun {
    /// Bytes of all its messages until now.
    pub taken: u64,
    /// The most that may have come.
    pub most: u64,
}

impl Credit {
    /// Bytes that the peer has room for.
    pub(super) fn left(&self) -> u64 {
        self.allowed.saturating_sub(self.spent)
    }

    /// The peer says how many bytes may be sent in all.
    pub(super) fn set(&mut self, allowed: u64) {
        self.allowed = allowed;
    }

    /// So many leave for the peer.
    pub(super) fn spend(&mut self, bytes: u64) {
        self.spent = self.spent.saturating_add(bytes);
    }

    /// So many came from the peer.
    ///
    /// # Errors
    /// [`Overrun`]: it may not have sent that.
    pub(super) fn arrive(&mut self, bytes: u64) -> Result<(), Overrun> {
        self.arrived = self.arrived.saturating_add(bytes);
        self.taken = self.taken.saturating_add(bytes);
        let Self { taken, most, .. } = *self;
        if taken > most { Err(Overrun { taken, most }) } else { Ok(()) }
    }

    /// Whether the peer is to be told of its share of the room.
    pub(super) fn is_due(&self, share: u64) -> bool {
        let Some(granted) = self.granted else { return true };
        let is_used = self.arrived > 0 && self.arrived >= granted / 2 && share > 0;
        is_used || share < granted.div_ceil(2) || share / 2 > granted
    }

    /// The peer is told of its share: how many bytes may come in all.
    pub(super) fn grant(&mut self, share: u64) -> u64 {
        (self.granted, self.arrived) = (Some(share), 0);
        let allowed = self.taken.saturating_add(share);
        self.most = self.most.max(allowed);
        allowed
    }
}
