//! A fabric of queues: one for each rank, in memory that all threads share.

use goal_engine::transport::{Full, Header, Sink, Transport};
use goal_eth::now_ns;
use goal_fabric::{Exchanged, Fabric};
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard};

/// The messages that a queue holds.
const DEPTH: usize = 16;
/// The most bytes of a message.
const BYTES_MAX: usize = 4096;
/// The pause before a refused message is tried again. No descriptor tells when a queue has room.
const PAUSE_NS: u64 = 100_000;

type Message = (Header, Vec<u8>);

/// The messages to a rank, and the descriptor that becomes readable when one comes.
struct Queue {
    messages: Mutex<VecDeque<Message>>,
    bell: OwnedFd,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Message>> {
        self.messages.lock().expect("no rank panics with the lock")
    }
}

/// One rank's fabric.
pub(crate) struct Channels {
    own: usize,
    queues: Arc<[Queue]>,
    exchanged: Exchanged,
    /// The rank to which a message was refused last.
    refused: Option<u32>,
    /// The ranks that this fabric does not reach.
    missing: Vec<u32>,
}

impl Channels {
    /// Returns a fabric for each rank.
    pub(crate) fn group(ranks: u32) -> Vec<Self> {
        let queue = |_| Queue {
            messages: Mutex::default(),
            bell: eventfd(0, EventfdFlags::NONBLOCK).expect("a descriptor"),
        };
        let queues: Arc<[Queue]> = (0..ranks).map(queue).collect();
        let exchanged = Exchanged::default();
        let end = |own| {
            let queues = Arc::clone(&queues);
            Self { own, queues, exchanged, refused: None, missing: Vec::new() }
        };
        (0..ranks as usize).map(end).collect()
    }

    /// Makes some ranks unreachable.
    #[allow(dead_code)] // for tests
    pub(crate) fn without(self, missing: &[u32]) -> Self {
        Self { missing: missing.to_vec(), ..self }
    }
}

impl Transport for Channels {
    fn short_max(&self) -> usize {
        BYTES_MAX
    }

    fn payload_max(&mut self, _to: u32) -> usize {
        BYTES_MAX
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        let queue = &self.queues[to as usize];
        let mut messages = queue.lock();
        if self.missing.contains(&to) || messages.len() >= DEPTH {
            self.refused = Some(to);
            return Err(Full);
        }
        let mut bytes = vec![0; header.payload_len()];
        fill(&mut bytes);
        messages.push_back((*header, bytes));
        self.refused = None;
        self.exchanged.sent += 1;
        // A full counter rings already.
        let _ = rustix::io::write(&queue.bell, &1u64.to_ne_bytes());
        Ok(())
    }

    fn poll_dyn(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        let mut taken = 0;
        while taken < messages_max {
            // The lock is not held while the engine handles the message.
            let message = self.queues[self.own].lock().pop_front();
            let Some((header, bytes)) = message else { break };
            taken += 1;
            self.exchanged.taken += 1;
            if sink.take(&header, &bytes).is_break() {
                break;
            }
        }
        taken
    }

    /// No rank is granted room, so every message waits for its receive.
    fn announce_room(&mut self, _bytes: u64, _most: u64) {}

    fn room(&self, _to: u32) -> u64 {
        0
    }
}

impl Fabric for Channels {
    /// Messages leave at once.
    fn send_written(&mut self) {}

    fn progress(&mut self) -> bool {
        let _ = rustix::io::read(&self.queues[self.own].bell, &mut [0; 8]);
        let has_room = |rank: u32| self.queues[rank as usize].lock().len() < DEPTH;
        self.has_work() || self.refused.is_some_and(has_room)
    }

    fn has_work(&self) -> bool {
        !self.queues[self.own].lock().is_empty()
    }

    fn wake_ns(&self) -> Option<u64> {
        self.refused.map(|_| now_ns() + PAUSE_NS)
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.queues[self.own].bell.as_fd()]
    }

    fn exchanged(&self) -> Exchanged {
        self.exchanged
    }

    fn lost(&self) -> Option<(u32, String)> {
        None
    }

    fn unreachable(&self, rank: u32) -> Option<String> {
        self.missing.contains(&rank).then(|| "no queue leads there".to_owned())
    }
}
