//! The interface by which a transport hands arrived messages to an engine.

use super::Header;
use std::ops::ControlFlow;

/// A taker of messages that have arrived: a closure or an engine. An engine also gives the
/// transport the memory for the bytes of long messages.
///
/// The transport has this memory for one call only, so it can't write there later. Messages can't
/// name this memory, so a peer can't choose where its bytes go.
pub trait Sink {
    /// Takes a message. See [`Transport::poll_dyn`](super::Transport::poll_dyn).
    fn take(&mut self, header: &Header, payload: &[u8]) -> ControlFlow<()>;

    /// Lends the memory that the payload of a message belongs to, before it has been received.
    /// Calls `receive` with [`Header::payload_len`] bytes of memory. `receive` must write to it the
    /// bytes of the payload that are there, from the first on, and return their number. These bytes
    /// count as taken.
    ///
    /// Returns `None` without calling `receive` if the payload has no such memory. The transport
    /// must then pass the message to [`Sink::take`]. Only parts of longer messages have such
    /// memory.
    fn place(
        &mut self,
        header: &Header,
        receive: &mut dyn FnMut(&mut [u8]) -> usize,
    ) -> Option<ControlFlow<()>> {
        let _ = (header, receive);
        None
    }
}

impl<F: FnMut(&Header, &[u8]) -> ControlFlow<()>> Sink for F {
    fn take(&mut self, header: &Header, payload: &[u8]) -> ControlFlow<()> {
        self(header, payload)
    }
}

impl Sink for &mut dyn Sink {
    fn take(&mut self, header: &Header, payload: &[u8]) -> ControlFlow<()> {
        (**self).take(header, payload)
    }

    fn place(
        &mut self,
        header: &Header,
        receive: &mut dyn FnMut(&mut [u8]) -> usize,
    ) -> Option<ControlFlow<()>> {
        (**self).place(header, receive)
    }
}
