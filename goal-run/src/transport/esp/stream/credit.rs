//! Room for messages without a receive, divided among the ranks that send them.

#[cfg(test)]
mod tests;

/// What one rank may send another one before there is a receive, seen from both ends of a connection.
///
/// The receiver grants each sender its share of the room that is left, and anew when half of a grant was used or the share has changed by half.
/// The sender counts down. So what lies without a receive stays below the limit, but for what was on its way when the room shrank.
#[derive(Debug, Default)]
pub(super) struct Credit {
    /// Bytes that the peer has room for.
    left: u64,
    /// Bytes that the peer was granted last.
    granted: Option<u64>,
    /// Bytes that came since.
    arrived: u64,
}

impl Credit {
    /// Bytes that the peer has room for.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The peer granted so many bytes.
    pub(super) fn set(&mut self, bytes: u64) {
        self.left = bytes;
    }

    /// So many leave for the peer.
    pub(super) fn spend(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// So many came from the peer.
    pub(super) fn arrive(&mut self, bytes: u64) {
        self.arrived = self.arrived.saturating_add(bytes);
    }

    /// Whether the peer is to be told of its share of the room.
    pub(super) fn is_due(&self, share: u64) -> bool {
        let Some(granted) = self.granted else { return true };
        let is_used = self.arrived > 0 && self.arrived >= granted / 2 && share > 0;
        is_used || share < granted.div_ceil(2) || share / 2 > granted
    }

    /// The peer is told of its share.
    pub(super) fn grant(&mut self, share: u64) {
        (self.granted, self.arrived) = (Some(share), 0);
    }
}
