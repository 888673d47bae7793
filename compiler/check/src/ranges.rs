//! States of the bytes of a memory, kept by ranges of bytes with the same state.

use std::collections::BTreeMap;
use std::ops::Range;

/// Disjoint ranges of bytes with a state each. Bytes outside of them were never touched.
#[derive(Debug)]
pub(crate) struct Ranges<T> {
    /// By first byte, the first byte past the range, and its state.
    map: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Self { map: BTreeMap::new() }
    }
}

impl<T: Clone> Ranges<T> {
    /// Calls `visit` with every part of `range` and its state, which `visit` may change. The parts
    /// that have a state come first, then the others with a copy of `fresh`. Ranges that extend
    /// beyond `range` are cut in two. Returns the number of parts.
    pub(crate) fn update(
        &mut self,
        range: Range<u64>,
        fresh: &T,
        mut visit: impl FnMut(Range<u64>, &mut T),
    ) -> u64 {
        if range.is_empty() {
            return 0;
        }
        if let Some((end, state)) = self.map.get_mut(&range.start)
            && *end == range.end
        {
            visit(range, state);
            return 1;
        }
        self.cut(range.start);
        self.cut(range.end);
        let mut gaps = Vec::new();
        let mut parts = 0;
        let mut at = range.start;
        for (&start, (end, state)) in self.map.range_mut(range.clone()) {
            if at < start {
                gaps.push(at..start);
            }
            visit(start..*end, state);
            at = *end;
            parts += 1;
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        parts += gaps.len() as u64;
        for gap in gaps {
            let mut state = fresh.clone();
            visit(gap.clone(), &mut state);
            self.map.insert(gap.start, (gap.end, state));
        }
        parts
    }

    /// Sets the state of all bytes of `range`.
    pub(crate) fn set(&mut self, range: Range<u64>, state: T) {
        if range.is_empty() {
            return;
        }
        if let Some((end, old)) = self.map.get_mut(&range.start)
            && *end == range.end
        {
            *old = state;
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        while let Some((&start, _)) = self.map.range(range.clone()).next() {
            self.map.remove(&start);
        }
        self.map.insert(range.start, (range.end, state));
    }

    /// The parts of `range` that have a state.
    pub(crate) fn parts(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, &T)> {
        let before = self.map.range(..range.start).next_back().map(|(&start, _)| start);
        self.map.range(before.unwrap_or(range.start)..range.end).filter_map(
            move |(&start, (end, state))| {
                let part = start.max(range.start)..(*end).min(range.end);
                (!part.is_empty()).then_some((part, state))
            },
        )
    }

    /// Cuts the range around `at` in two; does nothing if no range extends across `at`.
    fn cut(&mut self, at: u64) {
        if let Some((_, (end, state))) = self.map.range_mut(..at).next_back()
            && *end > at
        {
            let (rest, state) = (*end, state.clone());
            *end = at;
            self.map.insert(at, (rest, state));
        }
    }
}
