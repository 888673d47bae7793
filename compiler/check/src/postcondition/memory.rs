//! A rank's memory as ranges of values, one entry for each range.

use super::trail::{Source, Step};
use super::value::Value;
use std::collections::BTreeMap;

/// Consecutive bytes, their value, and the step that stored them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) size: u64,
    pub(super) value: Value,
    /// The step that stored the bytes; [`Step::NONE`] for the content at the start.
    pub(super) step: Step,
}

impl Part {
    pub(super) fn source(&self) -> Source {
        Source { node: self.value.node, step: self.step }
    }

    /// Splits a part after `size` bytes.
    pub(super) fn split(self, size: u64) -> (Part, Part) {
        (
            Part { size, ..self },
            Part { size: self.size - size, value: self.value.skip(size), ..self },
        )
    }
}

/// The content written to one of a rank's memories, by first address. Entries don't overlap.
#[derive(Debug, Default)]
pub(super) struct Memory {
    parts: BTreeMap<u64, Part>,
}

impl Memory {
    /// Appends the content of a range to `out`. Calls `start` to append the content of bytes that
    /// no action wrote.
    pub(super) fn read(
        &self,
        addr: u64,
        size: u64,
        out: &mut Vec<Part>,
        mut start: impl FnMut(u64, u64, &mut Vec<Part>),
    ) {
        let end = addr + size;
        let mut at = addr;
        let before = self.parts.range(..addr).next_back();
        for (&first, part) in before.into_iter().chain(self.parts.range(addr..end)) {
            let from = first.max(at);
            let to = (first + part.size).min(end);
            if to <= from {
                continue;
            }
            if at < from {
                start(at, from - at, out);
            }
            out.push(Part { size: to - from, value: part.value.skip(from - first), ..*part });
            at = to;
        }
        if at < end {
            start(at, end - at, out);
        }
    }

    /// Writes parts one after the other from `addr` on.
    pub(super) fn write(&mut self, addr: u64, parts: &[Part]) {
        let end = addr + parts.iter().map(|part| part.size).sum::<u64>();
        if end == addr {
            return;
        }
        self.clear(addr, end);
        let mut at = addr;
        for part in parts.iter().filter(|part| part.size > 0) {
            self.parts.insert(at, *part);
            at += part.size;
        }
    }

    fn clear(&mut self, addr: u64, end: u64) {
        if let Some((&first, &part)) = self.parts.range(..addr).next_back()
            && first + part.size > addr
        {
            let (kept, rest) = part.split(addr - first);
            self.parts.insert(first, kept);
            if first + part.size > end {
                self.parts.insert(end, rest.split(end - addr).1);
                return;
            }
        }
        while let Some((&first, &part)) = self.parts.range(addr..end).next() {
            self.parts.remove(&first);
            if first + part.size > end {
                self.parts.insert(end, part.split(end - first).1);
            }
        }
    }
}
