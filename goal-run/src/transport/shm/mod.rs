//! The shared-memory transport: one ring a receiver, peers' memory read where it lies.

use super::{Full, Header, Transport, Wakeup};
use crate::memory::Span;
use crate::shm::{Consumer, HEADER_WORDS, Segment};
use std::time::Duration;
use zerocopy::{FromBytes, IntoBytes};

/// One rank's end: its ring to take from, all rings to put into.
pub struct ShmTransport<'a> {
    segment: &'a Segment,
    consumer: Consumer<'a>,
    payload_max: usize,
}

impl<'a> ShmTransport<'a> {
    /// The end of `rank`. There must be one at a time.
    pub fn new(segment: &'a Segment, rank: u32) -> Self {
        let payload_max = segment.inbox(rank).payload_max();
        Self { segment, consumer: segment.consumer(rank), payload_max }
    }
}

impl Transport for ShmTransport<'_> {
    #[inline]
    fn payload_max(&mut self, _to: u32) -> usize {
        self.payload_max
    }

    #[inline]
    fn try_send(&mut self, to: u32, header: &Header, fill: impl FnOnce(&mut [u8])) -> Result<(), Full> {
        let words = <[u64; HEADER_WORDS]>::read_from_bytes(header.as_bytes()).expect("48 bytes");
        self.segment.inbox(to).put(&words, header.payload_len(), fill).map_err(|crate::shm::Full| Full)
    }

    #[inline]
    fn poll(&mut self, messages_max: usize, mut sink: impl FnMut(&Header, &[u8])) -> usize {
        let mut taken = 0;
        while taken < messages_max
            && self.consumer.take(|words, payload| {
                sink(Header::ref_from_bytes(words.as_bytes()).expect("48 bytes, aligned to 8"), payload);
            })
        {
            taken += 1;
        }
        taken
    }

    fn announce_room(&mut self, bytes: u64) {
        self.consumer.announce_room(bytes);
    }

    #[inline]
    fn room(&self, to: u32) -> u64 {
        self.segment.inbox(to).room()
    }

    fn export(&self, _to: u32, bytes: Span) -> Option<u64> {
        let start = self.segment.mapping().range(0, 0).as_ptr() as usize;
        let offset = bytes.address().checked_sub(start)?;
        (offset + bytes.len() <= self.segment.mapping().len()).then_some(offset as u64)
    }

    fn import(&self, source: u32, address: u64, len: u64) -> Option<Span> {
        let rank = self.segment.rank(source);
        let areas = [&rank.memory, &rank.scratch];
        let area = areas.into_iter().find(|area| area.contains(&(address as usize)))?;
        Some(self.segment.region(area).span(address - area.start as u64, len))
    }
}

impl Wakeup for ShmTransport<'_> {
    #[inline]
    fn has_message(&self) -> bool {
        self.consumer.has_message()
    }

    fn publish(&mut self) {
        self.consumer.publish();
    }

    fn arm(&mut self) -> bool {
        self.consumer.arm()
    }

    fn wait(&mut self, limit: Option<Duration>) {
        self.consumer.wait(limit);
    }
}
