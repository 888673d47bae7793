//! How messages travel from rank to rank: what the engine asks of a transport.
//!
//! A transport moves [`Header`]s with a bounded payload, in order for each pair of ranks, without waiting: where it has no
//! room it says [`Full`] and the engine tries again later. It never looks into a message. Payloads are written in place by
//! the sender and read in place by the receiver (UCX's `bcopy`); a transport may also let a receiver read the memory of its
//! peer ([`Transport::export`], UCX's `get_zcopy`).

mod header;
mod shm;

pub use header::{Header, Kind};
pub use shm::ShmTransport;

use crate::memory::Span;

/// There is no room for the message now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// One rank's end of a transport.
pub trait Transport {
    /// Most bytes of payload in one message; at least 8.
    fn payload_max(&self) -> usize;

    /// Sends `header` and [`Header::payload_len`] bytes of payload, which `fill` writes, to rank `to` (which may be the
    /// sender). Messages to the same rank arrive in the order of these calls.
    ///
    /// # Errors
    /// [`Full`], and nothing happened: `fill` was not called.
    fn try_send(&mut self, to: u32, header: &Header, fill: impl FnOnce(&mut [u8])) -> Result<(), Full>;

    /// Hands at most `messages_max` messages that have arrived to `sink`, in order for each sender. Returns how many. A receiver
    /// takes whatever comes, so that nobody's messages hold up those of another sender.
    fn poll(&mut self, messages_max: usize, sink: impl FnMut(&Header, &[u8])) -> usize;

    /// Tells all senders that this rank has room for `bytes` bytes of messages without a receive.
    fn announce_room(&mut self, bytes: u64);

    /// The room that rank `to` announced last, as far as it is known here; 0 before it announced any.
    fn room(&self, to: u32) -> u64;

    /// A name under which peers can read the bytes of this rank; `None` where they can't.
    fn export(&self, bytes: Span) -> Option<u64>;

    /// The `len` bytes that rank `source` exported as `address`; `None` where they can't be read.
    fn import(&self, source: u32, address: u64, len: u64) -> Option<Span>;
}
