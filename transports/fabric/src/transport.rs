//! Adapts a fabric to the engine's `Transport` interface.

use crate::Fabric;
use goal_engine::memory::{Imported, Span};
use goal_engine::transport::{Full, Header, Sink, Transport};
use std::ops::ControlFlow;

/// A fabric as the transport of an engine whose peers are all on other hosts. A rank that sends to
/// itself, or to ranks of its host, needs another transport beside it.
#[derive(Debug)]
pub struct AsTransport<F>(
    /// The fabric.
    pub F,
);

impl<F: Fabric> Transport for AsTransport<F> {
    fn short_max(&self) -> usize {
        self.0.short_max()
    }

    fn payload_max(&mut self, to: u32) -> usize {
        self.0.payload_max(to)
    }

    fn part_max(&mut self, to: u32) -> usize {
        self.0.part_max(to)
    }

    fn zcopy_max(&mut self, to: u32) -> usize {
        self.0.zcopy_max(to)
    }

    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        let mut fill = Some(fill);
        let mut once = |out: &mut [u8]| {
            if let Some(fill) = fill.take() {
                fill(out);
            }
        };
        self.0.try_send(to, header, &mut once)
    }

    fn try_send_zcopy(&mut self, to: u32, header: &Header, payload: &[u8]) -> Result<(), Full> {
        self.0.try_send_zcopy(to, header, payload)
    }

    fn poll(
        &mut self,
        messages_max: usize,
        mut sink: impl FnMut(&Header, &[u8]) -> ControlFlow<()>,
    ) -> usize {
        self.0.poll(messages_max, &mut sink)
    }

    fn poll_into(&mut self, messages_max: usize, sink: &mut impl Sink) -> usize {
        self.0.poll_into(messages_max, sink)
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.0.announce_room(bytes, most);
    }

    fn room(&self, to: u32) -> u64 {
        self.0.room(to)
    }

    fn pushed_max(&mut self, to: u32, _bytes: Option<Span>) -> u64 {
        self.0.pushed_max(to)
    }

    fn export(&self, _to: u32, _bytes: Span) -> Option<u64> {
        None
    }

    fn import(&self, _source: u32, _address: u64, _len: u64) -> Option<Imported<'_>> {
        None
    }
}
