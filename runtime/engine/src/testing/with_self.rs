//! Adds a queue from a rank to itself to a transport that only reaches other ranks.

use crate::memory::Span;
use crate::transport::{Full, Header, Sink, Transport};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// A rank's transport to others, which can't send to the rank itself, with a queue that does.
pub struct WithSelf<T> {
    rank: u32,
    own: VecDeque<(Header, Vec<u8>)>,
    own_room: u64,
    pub others: T,
    /// The number of bytes that were received directly in the memory that an engine lent.
    pub placed: usize,
}

impl<T> WithSelf<T> {
    pub fn new(rank: u32, others: T) -> Self {
        Self { rank, own: VecDeque::new(), own_room: 0, others, placed: 0 }
    }
}

/// Counts the bytes that are received in the memory that an engine lends.
struct Counted<'a> {
    sink: &'a mut dyn Sink,
    placed: &'a mut usize,
}

impl Sink for Counted<'_> {
    fn take(&mut self, header: &Header, payload: &[u8]) -> ControlFlow<()> {
        self.sink.take(header, payload)
    }

    fn place(
        &mut self,
        header: &Header,
        receive: &mut dyn FnMut(&mut [u8]) -> usize,
    ) -> Option<ControlFlow<()>> {
        let placed = &mut *self.placed;
        self.sink.place(header, &mut |memory| {
            let written = receive(memory);
            *placed += written;
            written
        })
    }
}

impl<T: Transport> Transport for WithSelf<T> {
    fn short_max(&self) -> usize {
        self.others.short_max()
    }

    fn payload_max(&mut self, to: u32) -> usize {
        if to == self.rank { self.others.short_max() } else { self.others.payload_max(to) }
    }

    fn part_max(&mut self, to: u32) -> usize {
        if to == self.rank { self.payload_max(to) } else { self.others.part_max(to) }
    }

    fn zcopy_max(&mut self, to: u32) -> usize {
        if to == self.rank { self.payload_max(to) } else { self.others.zcopy_max(to) }
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        if to != self.rank {
            return self.others.try_send_dyn(to, header, fill);
        }
        let mut payload = vec![0; header.payload_len()];
        fill(&mut payload);
        self.own.push_back((*header, payload));
        Ok(())
    }

    fn try_send_zcopy(&mut self, to: u32, header: &Header, payload: &[u8]) -> Result<(), Full> {
        if to != self.rank {
            return self.others.try_send_zcopy(to, header, payload);
        }
        self.try_send(to, header, |out| out.copy_from_slice(payload))
    }

    fn poll_dyn(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        let placed = &mut self.placed;
        let mut taken = self.others.poll_dyn(messages_max, &mut Counted { sink, placed });
        while let Some((header, payload)) = self.own.pop_front() {
            taken += 1;
            if sink.take(&header, &payload).is_break() {
                break;
            }
        }
        taken
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.own_room = bytes;
        self.others.announce_room(bytes, most);
    }

    fn room(&self, to: u32) -> u64 {
        if to == self.rank { self.own_room } else { self.others.room(to) }
    }

    fn pushed_max(&mut self, to: u32, bytes: Option<Span>) -> u64 {
        if to == self.rank { 0 } else { self.others.pushed_max(to, bytes) }
    }
}
