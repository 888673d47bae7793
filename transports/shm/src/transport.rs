//! The shared-memory transport: one mailbox per receiver, one ring per pair of ranks, and payloads
//! that peers read in place.
#![allow(unsafe_code)] // one end of a rank at a time

use crate::mapping::Mapping;
use crate::workers::Node;
use crate::{Endpoint, HEADER_WORDS, Mailbox, SHORT_MAX, Segment};
use goal_engine::memory::{Imported, Span, copy};
use goal_engine::transport::{
    Distance, Full, Header, Plugin, Sink, Transport, Unwritable, Wakeup, Workers, ZeroCopy,
};
use std::cell::Cell;
use std::error::Error;
use std::ops::ControlFlow;
use std::time::Duration;
use std::{fmt, io};
use zerocopy::transmute_ref;

/// The properties of the transport.
pub const SHM: Plugin = Plugin {
    name: "shm",
    about: "the segment that all ranks of a job share",
    priority: 80,
    nearest: Distance::Own,
    reach: Distance::Node,
    carries_messages: true,
    zero_copy: ZeroCopy::Mapped,
    latency_ns: 200,
    bandwidth_mb_s: 8_000,
    probe,
};

/// The bytes that a receiver asks a sender for at a time while the sender waits in a call: the size
/// of the largest ring.
const WINDOW: u32 = 1 << 20;

/// The looks whether a sender waits in a call: about a microsecond. The copy that follows
/// otherwise takes at least as long.
const LOOKS: u32 = 50;

/// The error that the system provides no shared memory.
#[derive(Debug)]
struct Unavailable(io::Error);

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unavailable: {}", self.0)
    }
}

impl Error for Unavailable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// Returns an error if the system provides no shared memory.
fn probe() -> Result<(), Box<dyn Error + Send + Sync>> {
    Ok(Mapping::create(1).map(drop).map_err(Unavailable)?)
}

/// One rank's end of the shared-memory transport.
pub struct ShmTransport<'a> {
    node: Node<'a>,
    endpoint: Endpoint<'a>,
    /// The rank of the mailbox that was used last.
    last: Cell<u32>,
    /// The mailbox of rank `last`. Keeping it saves its lookup.
    mailbox: Cell<Mailbox<'a>>,
    /// True if a message to a lent rank marks that rank: see [`ShmTransport::with_marks`].
    marks: bool,
    /// True if other ranks may write to this rank's memory.
    lends_memory: bool,
}

impl<'a> ShmTransport<'a> {
    /// Returns the end of `rank`.
    ///
    /// # Safety
    /// While a method of this transport sends or polls, no other end of the same rank sends or
    /// polls, in any process. An engine over this transport gets each message unchanged. The engine
    /// relies on answers that say that a peer no longer reads its memory.
    pub unsafe fn new(segment: &'a Segment, rank: u32) -> Self {
        let mailbox = Cell::new(segment.mailbox(rank));
        Self {
            node: Node { segment, rank },
            endpoint: segment.endpoint(rank),
            last: Cell::new(rank),
            mailbox,
            marks: false,
            lends_memory: true,
        }
    }

    /// Keeps other ranks from writing payloads or results of shared operations to this rank's
    /// memory. A job that survives the loss of a rank needs this. A rank that learns of a loss ends
    /// its schedules and uses its memory at once. Other ranks may not know of the loss yet, and
    /// could still write to that memory.
    #[must_use]
    pub fn without_lent_memory(self) -> Self {
        Self { lends_memory: false, ..self }
    }

    /// Makes each message to a lent rank mark that rank. Other ranks then act for the marked rank.
    #[must_use]
    pub fn with_marks(self) -> Self {
        Self { marks: true, ..self }
    }

    /// Marks rank `to`, the receiver of a message, if it is lent and does not sleep. A sleeping
    /// receiver was woken by the message itself.
    #[cold]
    fn mark(&self, to: u32, into: Mailbox<'_>) {
        let segment = self.node.segment;
        let needs_help = || segment.turn(to).is_lent() && !into.is_armed();
        segment.helpers().mark(to, needs_help, |rank| segment.mailbox(rank).wake());
    }

    /// Returns the segment that the transport uses.
    pub fn segment(&self) -> &'a Segment {
        self.node.segment
    }

    /// Returns the rank's endpoint for all messages in the segment.
    pub fn endpoint(&self) -> Endpoint<'a> {
        self.endpoint
    }

    /// Returns the mailbox of rank `to`.
    #[inline]
    fn mailbox(&self, to: u32) -> Mailbox<'a> {
        if self.last.get() != to {
            self.last.set(to);
            self.mailbox.set(self.node.segment.mailbox(to));
        }
        self.mailbox.get()
    }
}

impl Transport for ShmTransport<'_> {
    #[inline]
    fn short_max(&self) -> usize {
        SHORT_MAX
    }

    #[inline]
    fn payload_max(&mut self, to: u32) -> usize {
        self.endpoint.payload_max(to)
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        self.try_send(to, header, fill)
    }

    #[inline(always)]
    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        let words: &[u64; HEADER_WORDS] = transmute_ref!(header);
        let into = (to, self.mailbox(to));
        // SAFETY: the contract of `new`.
        let result = unsafe { self.endpoint.put(into, words, header.payload_len(), fill) };
        if self.marks {
            self.mark(into.0, into.1);
        }
        result.map_err(|goal_sync::Full| Full)
    }

    fn poll_dyn(&mut self, messages_max: usize, mut sink: &mut dyn Sink) -> usize {
        self.poll_into(messages_max, &mut sink)
    }

    #[inline]
    fn poll_into(&mut self, messages_max: usize, sink: &mut impl Sink) -> usize {
        let (mut taken, mut next) = (0, ControlFlow::Continue(()));
        while taken < messages_max && next.is_continue() {
            let pass = |words: &[u64; HEADER_WORDS], payload: &[u8]| {
                next = sink.take(transmute_ref!(words), payload);
            };
            // SAFETY: the contract of `new`.
            if !unsafe { self.endpoint.take(pass) } {
                break;
            }
            taken += 1;
        }
        taken
    }

    /// Returns the size of the ring to rank `to`, or 0 if that rank can read `bytes` in place.
    fn pushed_max(&mut self, to: u32, bytes: Option<Span>) -> u64 {
        match bytes.and_then(|bytes| self.export(to, bytes)) {
            Some(_) => 0,
            None => self.endpoint.ring_bytes(to) as u64,
        }
    }

    /// Returns 1 MiB if rank `source` waits in a call within a microsecond, because that rank then
    /// answers at once. Returns 0 otherwise. Most programs start a schedule, and wait for its end
    /// in another call.
    fn window(&mut self, source: u32) -> u32 {
        let state = &self.node.segment.status(source).process_state;
        for _ in 0..LOOKS {
            if state.answers() {
                return WINDOW;
            }
            std::hint::spin_loop();
        }
        0
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.endpoint.mailbox.announce_room(bytes.min(most));
    }

    #[inline]
    fn room(&self, to: u32) -> u64 {
        self.mailbox(to).room()
    }

    fn export(&self, _to: u32, bytes: Span) -> Option<u64> {
        self.node.segment.place_of(bytes)
    }

    fn import(&self, source: u32, address: u64, len: u64) -> Option<Imported<'_>> {
        let bytes = self.node.segment.bytes_at(source, address, len)?;
        // SAFETY: memory of a rank, which is mapped as long as the segment. Its rank exported the
        // bytes, and changes them only in a program with a race.
        Some(unsafe { Imported::new(bytes) })
    }

    fn workers(&self) -> Option<&dyn Workers> {
        self.lends_memory.then_some(&self.node as &dyn Workers)
    }

    fn export_mut(&self, to: u32, bytes: Span) -> Option<u64> {
        // The buffers of a rank's message to itself may overlap, so they are not exported.
        (self.lends_memory && to != self.node.rank).then(|| self.export(to, bytes)).flatten()
    }

    fn put_zcopy(
        &mut self,
        to: u32,
        address: u64,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), Unwritable> {
        let place = address.checked_add(offset).ok_or(Unwritable)?;
        let buffer = self.node.segment.bytes_at(to, place, bytes.len() as u64);
        // SAFETY: memory of another rank, which is mapped as long as the segment. Its rank exported
        // the bytes for writing, and does not access them before it is told that they are complete.
        copy(unsafe { buffer.ok_or(Unwritable)?.as_mut_slice() }, bytes);
        Ok(())
    }
}

impl Wakeup for ShmTransport<'_> {
    #[inline]
    fn has_message(&self) -> bool {
        self.endpoint.mailbox.has_message()
    }

    fn publish(&mut self) {
        self.endpoint.mailbox.publish();
    }

    fn arm(&mut self) -> bool {
        self.endpoint.mailbox.arm()
    }

    fn wait(&mut self, limit: Option<Duration>) {
        self.endpoint.mailbox.wait(limit);
    }
}
