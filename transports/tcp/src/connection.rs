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
    /// The number by which the poller names its socket.
    pub(crate) token: usize,
    pub(crate) inbox: Inbox,
    pub(crate) outbox: Outbox,
    /// The bytes of messages without a receive that the two ranks may still send each other.
    pub(crate) credit: Credit,
    /// Set while the rank is in the fabric's list `written`.
    pub(crate) is_written: bool,
    /// Set while the rank is in the fabric's list `ready`.
    pub(crate) is_ready: bool,
    /// Set while long messages are expected. Then one read takes at most
    /// [`READ_AHEAD`](crate::limits::READ_AHEAD) bytes into the fabric's buffer. Set at first,
    /// because short messages lose nothing by this until many of them come at a time.
    pub(crate) expects_long: bool,
    /// Set while bytes wait to be sent because the system had no room for them.
    pub(crate) is_waiting: bool,
    /// Set while the poller waits until the socket can be written.
    pub(crate) is_blocked: bool,
    /// Set when a message was refused for lack of room, until there may be room again.
    pub(crate) is_refused: bool,
    /// The most bytes of the next part that is sent from the caller's memory, without a copy.
    pub(crate) part: usize,
    /// Set when the rank has said that it leaves.
    pub(crate) has_left: bool,
    /// The reason why sending failed, if it has. Bytes that the rank sent before are still read.
    pub(crate) failure: Option<String>,
    /// The time in nanoseconds of the first look that found the peer's host silent, and the number
    /// of such looks in a row. A host is silent if it acknowledges nothing while bytes are on the
    /// way. `None` if the last look found no silence.
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

    /// Appends a grant of room to the outbox if a grant is due and the outbox has room for it.
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

    /// Sends the bytes that wait. See [`Outbox::flush`].
    pub(crate) fn flush(&mut self, spare: &mut Spare) -> Result<(), Errno> {
        self.outbox.flush(&mut self.channel, spare)?;
        self.is_waiting = self.channel.flush()? || self.outbox.len() > 0;
        Ok(())
    }
}
