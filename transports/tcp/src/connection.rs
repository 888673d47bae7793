//! An open connection with a rank.

use crate::channel::Channel;
use crate::inbox::Inbox;
use crate::limits::PART_ZCOPY_MAX;
use crate::outbox::{Outbox, Spare};
use crate::wire::Item;
use goal_fabric::chunk::{Chunk, ChunkKind};
use goal_fabric::{Credit, Exchanged, Room};
use rustix::io::Errno;

/// An open connection with a rank.
pub(crate) struct Connection {
    pub(crate) channel: Channel,
    /// Its number at the poller.
    pub(crate) token: usize,
    pub(crate) inbox: Inbox,
    pub(crate) outbox: Outbox,
    /// The room for messages without a receive, at the other rank and here.
    pub(crate) credit: Credit,
    /// Set while the rank is in the list of those that were written to.
    pub(crate) is_written: bool,
    /// Set while the rank is in the list of those that can be read.
    pub(crate) is_ready: bool,
    /// Set while long messages are expected: no more is read into the buffer than
    /// [`READ_AHEAD`](crate::limits::READ_AHEAD). It is set at first, as that costs short messages
    /// nothing before many of them come at a time.
    pub(crate) expects_long: bool,
    /// Set while something waits to be sent that the system had no room for.
    pub(crate) is_waiting: bool,
    /// Set while the poller waits until the socket can be written.
    pub(crate) is_blocked: bool,
    /// Set when a message was refused for which there was no room, until there may be some.
    pub(crate) is_refused: bool,
    /// The most bytes of the next part that is sent from where it lies.
    pub(crate) part: usize,
    /// Set when the rank has said that it leaves.
    pub(crate) has_left: bool,
    /// The reason why sending failed, if it has. What the rank has sent before is still read.
    pub(crate) failure: Option<String>,
    /// The time of the look since which bytes are on the way and the peer's host is silent, and the
    /// number of such looks.
    pub(crate) silent: Option<(u64, u64)>,
}

impl Connection {
    pub(crate) fn new(channel: Channel, token: usize, credit: Credit) -> Self {
        Self {
            channel,
            token,
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            credit,
            is_written: false,
            is_ready: false,
            expects_long: true,
            is_waiting: false,
            is_blocked: false,
            is_refused: false,
            part: PART_ZCOPY_MAX,
            has_left: false,
            failure: None,
            silent: None,
        }
    }

    /// Appends a grant of room if one is due, and there is room for it.
    pub(crate) fn grant(&mut self, room: &Room, exchanged: &mut Exchanged, spare: &mut Spare) {
        if !self.credit.is_due(room.share()) {
            return;
        }
        let empty = ChunkKind::Room;
        let mut chunk =
            Chunk { kind: empty, len: 0, message: 0, receive: 0, offset: 0, envelope: None };
        if self.outbox.has_room(&Item::Chunk(chunk)) {
            chunk.offset = self.credit.grant(room.settled_share());
            exchanged.sent += 1;
            self.outbox.append(&Item::Chunk(chunk), spare);
        }
    }

    /// Sends what waits. See [`Outbox::flush`].
    pub(crate) fn flush(&mut self, spare: &mut Spare) -> Result<(), Errno> {
        self.outbox.flush(&mut self.channel, spare)?;
        self.is_waiting = self.channel.flush()? || self.outbox.len() > 0;
        Ok(())
    }
}
