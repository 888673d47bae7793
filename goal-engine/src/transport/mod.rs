//! What the engine asks of a transport.
//!
//! A transport moves [`Header`]s with a bounded payload, in order for each pair of ranks, without
//! waiting. If it has no room it says [`Full`], and the engine tries again later. It never looks
//! into a message. Payloads are written in place by the sender and read in place by the receiver
//! (UCX's `bcopy`); a transport may also let a receiver read the memory of its peer
//! ([`Transport::export`], UCX's `get_zcopy`).

mod header;
mod in_memory;
mod plugin;
mod wakeup;
mod workers;

pub use header::{Header, Kind};
pub use in_memory::InMemory;
pub use plugin::{Distance, Plugin, ZeroCopy};
pub use wakeup::Wakeup;
pub use workers::{SharedTask, Workers};

use crate::memory::Span;

/// The bytes of a peer can't be read from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// There is no room for the message now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// One rank's end of a transport.
pub trait Transport {
    /// Most bytes of payload in one message to whatever rank, with nothing set up for it (UCX's
    /// `short`); at least 8.
    fn short_max(&self) -> usize;

    /// Most bytes of payload in one message to rank `to`, which may set something up for the pair;
    /// at least [`Transport::short_max`].
    fn payload_max(&mut self, to: u32) -> usize;

    /// Most bytes of the next part of a longer message to rank `to`, where another size than
    /// [`Transport::payload_max`] suits better: what fills up a packet.
    fn part_max(&mut self, to: u32) -> usize {
        self.payload_max(to)
    }

    /// Sends `header` and [`Header::payload_len`] bytes of payload, which `fill` writes, to rank
    /// `to` (which may be the sender). Messages to the same rank arrive in the order of these
    /// calls.
    ///
    /// # Errors
    /// [`Full`], and nothing happened: `fill` was not called.
    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full>;

    /// Hands at most `messages_max` messages that have arrived to `sink`, in order for each sender.
    /// Returns how many. A receiver takes whatever comes, so that nobody's messages hold up those
    /// of another sender. A part of a longer message may come in several pieces, each of which but
    /// the last has a multiple of 8 bytes: a receive with an operation combines each piece by
    /// itself.
    fn poll(&mut self, messages_max: usize, sink: impl FnMut(&Header, &[u8])) -> usize;

    /// Tells all senders that this rank has room for `bytes` bytes of messages without a receive;
    /// no single message takes more than `most` of them.
    fn announce_room(&mut self, bytes: u64, most: u64);

    /// The room that rank `to` announced last, as far as it is known here; 0 before it announced
    /// any.
    fn room(&self, to: u32) -> u64;

    /// A name under which rank `to` can read bytes of this rank; `None` where it can't.
    fn export(&self, to: u32, bytes: Span) -> Option<u64>;

    /// The `len` bytes that rank `source` exported as `address`; `None` where they can't be read in
    /// place.
    fn import(&self, source: u32, address: u64, len: u64) -> Option<Span>;

    /// The ranks that take parts of this rank's large operations; `None` if there are none.
    fn workers(&self) -> Option<&dyn Workers> {
        None
    }

    /// Copies bytes that rank `source` exported as `address`, from the `offset`th on, for those
    /// that can't be read in place.
    ///
    /// # Errors
    /// [`Unreadable`]: they have to come in messages.
    fn get_zcopy(
        &mut self,
        source: u32,
        address: u64,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Unreadable> {
        let _ = (source, address, offset, into);
        Err(Unreadable)
    }
}
