//! The interface between the engine and a transport.
//!
//! A transport moves [`Header`]s with a bounded payload, in order for each pair of ranks, without
//! waiting. If it has no room it returns [`Full`], and the engine tries again later. It never
//! interprets a message. The sender writes a payload in place, and the receiver reads it in place
//! (UCX's `bcopy`). A transport may also let a receiver read the memory of its peer
//! ([`Transport::export`], UCX's `get_zcopy`).
//!
//! A transport that passes bytes to and from the system avoids further copies of the parts of long
//! messages. It sends them from the sender's buffer ([`Transport::try_send_zcopy`]), and receives
//! them into the receiver's buffer ([`Sink::place`]).

mod header;
mod in_memory;
mod plugin;
mod sink;
mod wakeup;
mod workers;

pub use header::{Header, Kind};
pub use in_memory::InMemory;
pub use plugin::{Distance, Plugin, ZeroCopy};
pub use sink::Sink;
pub use wakeup::Wakeup;
pub(crate) use workers::SHARED_MIN;
pub use workers::{SharedTask, Workers};

use crate::memory::{Imported, Span, copy};
use std::ops::ControlFlow;

/// The error of a read of a peer's memory that this rank can't reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// The error of a write to a peer's memory that this rank can't reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unwritable;

/// The error of a send for which the transport has no room now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// Turns `fill` into the form that [`Transport::try_send_dyn`] takes. Only the first call of the
/// result calls `fill`.
#[inline]
pub fn once(fill: impl FnOnce(&mut [u8])) -> impl FnMut(&mut [u8]) {
    let mut fill = Some(fill);
    move |out| {
        if let Some(fill) = fill.take() {
            fill(out);
        }
    }
}

/// One rank's end of a transport.
///
/// A network implements the forms for trait objects, [`Transport::try_send_dyn`] and
/// [`Transport::poll_dyn`]. The generic forms call them. Shared memory also implements
/// [`Transport::try_send`] and [`Transport::poll_into`], so that the engine's code and its own are
/// compiled as one. Its forms for trait objects then call the generic forms. The methods that
/// export and access memory have default bodies that refuse. A network keeps these defaults.
pub trait Transport {
    /// Returns the most bytes of payload in one message to any rank, without any setup (UCX's
    /// `short`). At least 8.
    fn short_max(&self) -> usize;

    /// Returns the most bytes of payload in one message to rank `to`, at least
    /// [`Transport::short_max`]. The call may set up a connection for the pair.
    fn payload_max(&mut self, to: u32) -> usize;

    /// Returns the most bytes of the next part of a longer message to rank `to`. A transport
    /// returns another size than [`Transport::payload_max`] if this size fills up a packet.
    fn part_max(&mut self, to: u32) -> usize {
        self.payload_max(to)
    }

    /// Returns the most bytes of the next part of a longer message to rank `to` whose payload lies
    /// in one piece. It is for [`Transport::try_send_zcopy`], and is at least
    /// [`Transport::part_max`].
    fn zcopy_max(&mut self, to: u32) -> usize {
        self.part_max(to)
    }

    /// Sends `header` and [`Header::payload_len`] bytes of payload, which `fill` writes, to rank
    /// `to` (which may be the sender). Calls `fill` at most once. Messages to the same rank arrive
    /// in the order of these calls.
    ///
    /// # Errors
    /// [`Full`] if there is no room. The call then has no effect, and `fill` is not called.
    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full>;

    /// Sends a message as [`Transport::try_send_dyn`] does.
    ///
    /// # Errors
    /// As [`Transport::try_send_dyn`].
    #[inline]
    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full>
    where
        Self: Sized,
    {
        self.try_send_dyn(to, header, &mut once(fill))
    }

    /// Sends a message whose payload lies in one piece, as [`Transport::try_send_dyn`] does. The
    /// payload may change as soon as the call has returned.
    ///
    /// # Errors
    /// As [`Transport::try_send_dyn`].
    fn try_send_zcopy(&mut self, to: u32, header: &Header, payload: &[u8]) -> Result<(), Full> {
        self.try_send_dyn(to, header, &mut |out| copy(out, payload))
    }

    /// Passes at most `messages_max` messages that have arrived to `sink`, in order for each
    /// sender. Stops after a message for which `sink` returns `Break`; a transport whose packets
    /// hold several messages may pass the others of the packet too. Returns the number of messages
    /// passed. A receiver takes every message sooner or later, so that the messages of one sender
    /// do not block those of another. A part of a longer message may arrive in several pieces. The
    /// size of each piece except the last must be a multiple of 8 bytes: a receive with an
    /// operation combines each piece on its own.
    ///
    /// A transport that has not received the payload of a part yet may receive it directly into the
    /// receive's buffer, in pieces of any size ([`Sink::place`]).
    fn poll_dyn(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize;

    /// Does what [`Transport::poll_dyn`] does.
    #[inline]
    fn poll_into(&mut self, messages_max: usize, sink: &mut impl Sink) -> usize
    where
        Self: Sized,
    {
        self.poll_dyn(messages_max, sink)
    }

    /// Does what [`Transport::poll_dyn`] does, with a closure that takes the messages.
    #[inline]
    fn poll(
        &mut self,
        messages_max: usize,
        mut sink: impl FnMut(&Header, &[u8]) -> ControlFlow<()>,
    ) -> usize
    where
        Self: Sized,
    {
        self.poll_into(messages_max, &mut sink)
    }

    /// Announces to all senders that this rank has room for `bytes` bytes of messages without a
    /// receive. No single message takes more than `most` of them.
    fn announce_room(&mut self, bytes: u64, most: u64);

    /// Returns the room in bytes for messages to rank `to`, as far as it is known here. It follows
    /// from the last announcement of `to`, and a network subtracts what it has sent since. Before
    /// an announcement is known, it is 0. In a network it may then be a first room that all ranks
    /// have agreed on.
    fn room(&self, to: u32) -> u64;

    /// Returns the most bytes of a message to rank `to` that is sent before its receive is posted,
    /// although it is longer than [`Options::eager_limit`](crate::Options::eager_limit). A
    /// transport returns more than 0 if it can hold the message and is faster than a copy of
    /// `bytes` by [`Transport::get_zcopy`]. `bytes` is `None` for a payload in pieces.
    /// [`Options::pushed_max`](crate::Options::pushed_max) bounds it too.
    fn pushed_max(&mut self, to: u32, bytes: Option<Span>) -> u64 {
        let _ = (to, bytes);
        0
    }

    /// Returns how many bytes rank `source` would send next, if it sends them faster than
    /// [`Transport::get_zcopy`] copies them. Returns 0 if it may take long until `source` sends
    /// any.
    fn window(&mut self, source: u32) -> u32 {
        let _ = source;
        0
    }

    /// Returns a name under which rank `to` can read bytes of this rank; `None` if it can't read
    /// them.
    fn export(&self, to: u32, bytes: Span) -> Option<u64> {
        let _ = (to, bytes);
        None
    }

    /// Returns the `len` bytes that rank `source` exported as `address`; `None` if they can't be
    /// read in place.
    fn import(&self, source: u32, address: u64, len: u64) -> Option<Imported<'_>> {
        let _ = (source, address, len);
        None
    }

    /// Returns the ranks that take chunks of this rank's large operations; `None` if there are
    /// none.
    fn workers(&self) -> Option<&dyn Workers> {
        None
    }

    /// Copies bytes that rank `source` exported as `address`, starting at `offset`. Used if they
    /// can't be read in place.
    ///
    /// # Errors
    /// [`Unreadable`] if the bytes must be sent in messages.
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

    /// Returns a name under which rank `to` can write bytes of this rank; `None` if it can't write
    /// them.
    fn export_mut(&self, to: u32, bytes: Span) -> Option<u64> {
        let _ = (to, bytes);
        None
    }

    /// Copies `bytes` to the memory that rank `to` exported for writing as `address`, starting at
    /// `offset` (UCX's `put_zcopy`). That rank does not access the bytes until this one tells it
    /// that they are complete.
    ///
    /// # Errors
    /// [`Unwritable`], with no effect, if the bytes must be sent in messages.
    fn put_zcopy(
        &mut self,
        to: u32,
        address: u64,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), Unwritable> {
        let _ = (to, address, offset, bytes);
        Err(Unwritable)
    }
}
