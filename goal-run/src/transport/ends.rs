//! One rank's ends of all transports that serve it.

use super::choice::Paths;
use super::cma::Cma;
use super::local::Local;
use super::plugin::{Carrier, Distance};
use super::shm::ShmTransport;
use super::{Full, Header, Transport, Unreadable, Wakeup};
use crate::memory::Span;
use crate::shm::Segment;
use std::time::Duration;

/// One rank's ends of all transports that serve it, dispatched by the distance of the peer.
///
/// All messages of one rank to another travel the same way, so each transport's order is the order of the pair. The table of ways
/// is by distance and not by rank: memory does not grow with the square of the ranks.
pub struct Ends<'a> {
    rank: u32,
    carriers: [Carrier; Distance::ALL.len()],
    /// Polled and slept in whatever it carries: this is where the launcher rings.
    shm: ShmTransport<'a>,
    local: Local,
    cma: Option<Cma<'a>>,
}

impl<'a> Ends<'a> {
    /// The ends of `rank`. There must be one at a time.
    pub fn new(segment: &'a Segment, rank: u32, paths: &Paths) -> Self {
        let local = Local::new(segment.cells(&segment.rank(rank).local));
        let cma = paths.cma.then(|| Cma::new(segment));
        Self { rank, carriers: paths.carriers, shm: ShmTransport::new(segment, rank), local, cma }
    }

    #[inline]
    fn carrier(&self, peer: u32) -> Carrier {
        self.carriers[Distance::between(self.rank, peer) as usize]
    }
}

impl Transport for Ends<'_> {
    #[inline]
    fn short_max(&self) -> usize {
        self.local.short_max().min(self.shm.short_max())
    }

    #[inline]
    fn payload_max(&mut self, to: u32) -> usize {
        match self.carrier(to) {
            Carrier::Local => self.local.payload_max(to),
            Carrier::Shm => self.shm.payload_max(to),
        }
    }

    #[inline(always)]
    fn try_send(&mut self, to: u32, header: &Header, fill: impl FnOnce(&mut [u8])) -> Result<(), Full> {
        match self.carrier(to) {
            Carrier::Local => self.local.try_send(to, header, fill),
            Carrier::Shm => self.shm.try_send(to, header, fill),
        }
    }

    /// At most `messages_max` messages of each transport, so that none holds up another.
    #[inline]
    fn poll(&mut self, messages_max: usize, mut sink: impl FnMut(&Header, &[u8])) -> usize {
        let mut taken = self.shm.poll(messages_max, &mut sink);
        if self.local.has_message() {
            taken += self.local.poll(messages_max, sink);
        }
        taken
    }

    fn announce_room(&mut self, bytes: u64) {
        self.shm.announce_room(bytes);
        self.local.announce_room(bytes);
    }

    #[inline]
    fn room(&self, to: u32) -> u64 {
        match self.carrier(to) {
            Carrier::Local => self.local.room(to),
            Carrier::Shm => self.shm.room(to),
        }
    }

    fn export(&self, to: u32, bytes: Span) -> Option<u64> {
        // What a rank sends itself overlaps what it receives into, perhaps, which only messages get right.
        let copied = || self.cma.as_ref().filter(|_| to != self.rank).map(|_| Cma::export(bytes));
        self.shm.export(to, bytes).or_else(copied)
    }

    fn import(&self, source: u32, address: u64, len: u64) -> Option<Span> {
        self.shm.import(source, address, len)
    }

    fn segment(&self) -> Option<&Segment> {
        self.shm.segment()
    }

    fn get_zcopy(
        &mut self,
        source: u32,
        address: u64,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Unreadable> {
        self.cma.as_mut().ok_or(Unreadable)?.get(source, address, offset, into)
    }
}

impl Wakeup for Ends<'_> {
    #[inline]
    fn has_message(&self) -> bool {
        self.shm.has_message() || self.local.has_message()
    }

    fn publish(&mut self) {
        self.shm.publish();
    }

    /// A message to oneself needs no ring: it is there or it is not.
    fn arm(&mut self) -> bool {
        !self.local.has_message() && self.shm.arm()
    }

    fn wait(&mut self, limit: Option<Duration>) {
        self.shm.wait(limit);
    }
}
