//! The memory and the counters of an instance, and the bytes behind an action's operands.

use super::ids::{Action, InstanceKey, Rank};
use crate::memory::{Cells, Region, Span, copy};
use goal_asm::nisa::Buffer;
use goal_lang::{Piece, Space, buffer_of};
use std::any::Any;
use std::ops::{Index, IndexMut};

/// The memory and the scratch memory of an instance.
#[derive(Debug)]
pub(super) struct Memory {
    /// The rank's memory, if it is one region.
    pub(super) memory: Region,
    /// The rank's memory, if it is a table of buffers, by number; empty if the memory is one
    /// region.
    pub(super) buffers: Vec<Region>,
    pub(super) scratch: Region,
}

impl Memory {
    /// Returns the bytes of a piece.
    #[inline(always)]
    pub(super) fn span(&self, piece: Piece) -> Span {
        match piece.space {
            Space::Memory if self.buffers.is_empty() => self.memory.span(piece.addr, piece.size),
            Space::Memory => {
                let (buffer, offset) = buffer_of(piece.addr);
                self.buffers[buffer].span(offset, piece.size)
            }
            Space::Scratch => self.scratch.span(piece.addr, piece.size),
        }
    }

    /// Returns the bytes of an operand; `None` if they are not contiguous, or are a pattern.
    #[inline]
    pub(super) fn contiguous(&self, buffer: Buffer<'_>) -> Option<Span> {
        match buffer {
            Buffer::One(piece) => Some(self.span(piece)),
            Buffer::Pattern { .. } | Buffer::Many(_) => None,
        }
    }

    /// Returns true if an operand has no byte in common with `other`.
    pub(super) fn is_disjoint(&self, buffer: Buffer<'_>, other: Span) -> bool {
        match buffer {
            Buffer::Pattern { .. } => true,
            Buffer::One(piece) => self.span(piece).is_disjoint(other),
            Buffer::Many(pieces) => pieces.iter().all(|piece| self.span(piece).is_disjoint(other)),
        }
    }

    /// Appends the bytes of an operand to `spans`, piece by piece.
    pub(super) fn spans(&self, buffer: Buffer<'_>, spans: &mut Vec<Span>) {
        match buffer {
            Buffer::Pattern { .. } => {}
            Buffer::One(piece) => spans.push(self.span(piece)),
            Buffer::Many(pieces) => spans.extend(pieces.iter().map(|piece| self.span(piece))),
        }
    }

    /// Copies the operand's bytes from `offset` on into `out`.
    #[inline]
    pub(super) fn gather(&self, buffer: Buffer<'_>, offset: u64, out: &mut [u8]) {
        let mut at = 0;
        self.parts(buffer, offset, out.len(), |part| {
            part.read(|bytes| copy_short(&mut out[at..at + bytes.len()], bytes));
            at += part.len();
        });
    }

    /// Copies `bytes` to the operand's bytes from `offset` on.
    #[inline]
    pub(super) fn scatter(&self, buffer: Buffer<'_>, offset: u64, bytes: &[u8]) {
        let mut at = 0;
        self.parts(buffer, offset, bytes.len(), |part| {
            part.write(|out| copy_short(out, &bytes[at..at + out.len()]));
            at += part.len();
        });
    }

    /// Calls `visit` with each contiguous part of the operand's bytes `offset .. offset + len`, in
    /// order.
    #[inline]
    fn parts(&self, buffer: Buffer<'_>, offset: u64, len: usize, mut visit: impl FnMut(Span)) {
        match buffer {
            Buffer::Pattern { .. } => {}
            Buffer::One(piece) => {
                let start = offset as usize;
                visit(self.span(piece).part(start..start + len));
            }
            Buffer::Many(pieces) => {
                let (mut skip, mut left) = (offset, len);
                for piece in pieces.iter() {
                    if skip >= piece.size {
                        skip -= piece.size;
                        continue;
                    }
                    let start = skip as usize;
                    let take = left.min((piece.size - skip) as usize);
                    if take == 0 {
                        break;
                    }
                    visit(self.span(piece).part(start..start + take));
                    (skip, left) = (0, left - take);
                }
            }
        }
    }
}

/// The memory and the counters of an instance.
#[derive(Debug)]
pub(super) struct Home {
    pub(super) memory: Memory,
    pub(super) counters: Cells<u16>,
    pub(super) finished: Cells<u64>,
    pub(super) matches: Option<Cells<u64>>,
    /// The value that owns the memory, or the right to use it.
    #[expect(dead_code, reason = "it is only held")]
    pub(super) owner: Option<Box<dyn Any + Send>>,
}

/// The memory and counters of each running instance, by its key. Each entry is a box, so the start
/// and the end of an instance only move a pointer.
#[derive(Debug, Default)]
pub(super) struct InstanceMemory(Vec<Option<Box<Home>>>);

impl InstanceMemory {
    /// The keys of running instances.
    pub(super) fn running(&self) -> impl Iterator<Item = InstanceKey> {
        let numbered = (0..).zip(&self.0).filter(|(_, home)| home.is_some());
        numbered.map(|(key, _)| InstanceKey(key))
    }

    /// The number of keys that have an entry.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Makes entries for `len` keys.
    pub(super) fn resize(&mut self, len: usize) {
        self.0.resize_with(len, || None);
    }

    /// Adds an entry with the memory and counters of an instance.
    pub(super) fn push(&mut self, home: Box<Home>) {
        self.0.push(Some(home));
    }

    /// Stores the memory and counters of an instance that starts.
    #[inline]
    pub(super) fn put(&mut self, key: InstanceKey, home: Box<Home>) {
        self.0[key.index()] = Some(home);
    }

    /// Removes and returns the memory and counters of an instance that has ended.
    #[inline]
    pub(super) fn take(&mut self, key: InstanceKey) -> Box<Home> {
        self.0[key.index()].take().expect(NO_HOME)
    }

    /// Exchanges the entries of two keys.
    pub(super) fn swap(&mut self, a: InstanceKey, b: InstanceKey) {
        self.0.swap(a.index(), b.index());
    }
}

/// The panic message for an instance that does not run here.
const NO_HOME: &str = "a running instance has its home";

impl Index<usize> for InstanceMemory {
    type Output = Home;

    #[inline(always)]
    fn index(&self, index: usize) -> &Home {
        self.0[index].as_deref().expect(NO_HOME)
    }
}

impl IndexMut<usize> for InstanceMemory {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut Home {
        self.0[index].as_deref_mut().expect(NO_HOME)
    }
}

impl Home {
    /// Panics if the memory is smaller than a schedule needs. Also panics if the numbers of buffers
    /// differ. `buffers` has the lengths of the schedule's buffers; it is empty if the schedule's
    /// memory is one region.
    #[inline]
    pub(super) fn check_sizes(&self, memory_bytes: u64, buffers: &[u64], scratch_bytes: u64) {
        let Memory { memory, buffers: bound, scratch } = &self.memory;
        let is_table = !buffers.is_empty();
        assert!(
            is_table || memory.len() as u64 >= memory_bytes,
            "less memory than the schedule uses"
        );
        assert!(bound.len() == buffers.len(), "another number of buffers than the schedule has");
        let fits = |(bound, &length): (&Region, &u64)| bound.len() as u64 >= length;
        assert!(bound.iter().zip(buffers).all(fits), "a buffer smaller than the schedule uses");
        assert!(
            scratch.len() as u64 >= scratch_bytes,
            "less scratch memory than the schedule uses"
        );
    }

    /// Panics if there are fewer counters than a schedule of `slots` slots needs.
    #[inline]
    pub(super) fn check_counters(&self, slots: usize) {
        let matches = self.matches.as_ref().map_or(slots, |matches| matches.as_slice().len());
        let has_room = self.counters.as_slice().len() >= slots
            && self.finished.as_slice().len() >= slots.div_ceil(64)
            && matches >= slots;
        assert!(has_room, "storage for fewer actions than the schedule has");
    }

    /// Empties the record of matches of a schedule of `slots` slots.
    #[inline]
    pub(super) fn forget_matches(&mut self, slots: usize) {
        if let Some(matches) = &mut self.matches {
            matches.as_mut_slice()[..slots].fill(0);
        }
    }

    /// Records the number of the message that the send `action` sent, among those to its
    /// destination.
    #[inline]
    pub(super) fn note_sent(&mut self, action: Action, sequence: u32) {
        if let Some(matches) = &mut self.matches {
            matches.as_mut_slice()[action.slot()] = match_word(Rank(0), sequence);
        }
    }

    /// Records the message that the receive `action` took. The sequence number is not validated:
    /// it comes from the sender, which may be on another host.
    #[inline(always)]
    pub(super) fn note_received(&mut self, action: Action, source: Rank, sequence: u32) {
        if let Some(matches) = &mut self.matches {
            matches.as_mut_slice()[action.slot()] = match_word(source, sequence);
        }
    }
}

/// Returns the entry for a message in a record of matches. It is never 0.
#[inline(always)]
pub(super) fn match_word(source: Rank, sequence: u32) -> u64 {
    (u64::from(source.0) << 32) + u64::from(sequence) + 1
}

/// Copies bytes; none or eight of them without a call to `memcpy`.
#[inline]
pub(super) fn copy_short(target: &mut [u8], bytes: &[u8]) {
    if target.is_empty() && bytes.is_empty() {
        return;
    }
    match (<&mut [u8; 8]>::try_from(&mut *target), <&[u8; 8]>::try_from(bytes)) {
        (Ok(target), Ok(bytes)) => *target = *bytes,
        _ => copy(target, bytes),
    }
}
