//! A transport between engines in one process, over queues in memory.

use super::{Full, Header, Sink, Transport};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Most bytes of payload in one message.
const PAYLOAD_MAX: usize = 64 << 10;

/// One rank's end of queues in memory, for ranks whose engines are in one process, in one thread or
/// several. The queues are not bounded;
/// [`Options::unexpected_limit`](crate::Options::unexpected_limit) limits the messages that an
/// engine keeps.
#[derive(Debug)]
pub struct InMemory {
    rank: usize,
    inbox: Receiver<(Header, Box<[u8]>)>,
    outboxes: Vec<Sender<(Header, Box<[u8]>)>>,
    /// The room in bytes that each rank has announced.
    room: Arc<[AtomicU64]>,
}

impl InMemory {
    /// Creates the ends of a group of `ranks` ranks, in the order of ranks.
    pub fn group(ranks: usize) -> Vec<Self> {
        let room: Arc<[AtomicU64]> = (0..ranks).map(|_| AtomicU64::new(0)).collect();
        let (outboxes, inboxes): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
        let ends = inboxes.into_iter().enumerate();
        ends.map(|(rank, inbox)| Self {
            rank,
            inbox,
            outboxes: outboxes.clone(),
            room: Arc::clone(&room),
        })
        .collect()
    }
}

impl Transport for InMemory {
    fn short_max(&self) -> usize {
        PAYLOAD_MAX
    }

    fn payload_max(&mut self, _to: u32) -> usize {
        PAYLOAD_MAX
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        let mut payload = vec![0; header.payload_len()].into_boxed_slice();
        fill(&mut payload);
        // The receiver may be dropped; its messages are then discarded.
        let _ = self.outboxes[to as usize].send((*header, payload));
        Ok(())
    }

    fn poll_dyn(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        let mut taken = 0;
        while taken < messages_max
            && let Ok((header, payload)) = self.inbox.try_recv()
        {
            taken += 1;
            if sink.take(&header, &payload).is_break() {
                break;
            }
        }
        taken
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.room[self.rank].store(bytes.min(most), Ordering::Relaxed);
    }

    fn room(&self, to: u32) -> u64 {
        self.room[to as usize].load(Ordering::Relaxed)
    }
}
