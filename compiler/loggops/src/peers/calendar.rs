//! The queue of LogGOPSim's events.
//!
//! Neither many events of one time nor times that go back may cost more than a few steps an event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The bits of a digit of a window's number.
const DIGIT: u32 = 8;
const BUCKETS: usize = 1 << DIGIT;
const LEVELS: usize = u64::BITS.div_ceil(DIGIT) as usize;
/// The width of windows changes so that this many events lie in one, in the mean.
const EVENTS_A_WINDOW: std::ops::Range<usize> = 128..2048;
/// The windows after which the width may change.
const WINDOWS: usize = 64;
/// The events that are announced together.
pub(super) const BATCH: usize = 16;

/// An event with its time; the number and the event are the halves of the second word.
type Entry = (u64, u64);

/// Events in the order of time, then of their numbers, which are different.
///
/// Time is cut into windows of 2^k nanoseconds. The events of the present window are sorted. A
/// later window is found by digits: its events lie in the bucket of the first digit in which its
/// number differs from that of the present window. Events that come for the present window or
/// before it lie in a heap.
#[derive(Debug)]
pub(super) struct Calendar {
    /// The events of the present window; the first `taken` are over.
    present: Vec<Entry>,
    taken: usize,
    /// Those of them that were announced.
    announced: usize,
    late: BinaryHeap<Reverse<Entry>>,
    buckets: Vec<Vec<Entry>>,
    /// By level, a bit for each bucket with events.
    filled: [[u64; BUCKETS / 64]; LEVELS],
    /// Events in buckets.
    later: usize,
    window: u64,
    /// False if events of the window may lie in a bucket.
    is_taken: bool,
    width_log2: u32,
    /// The windows that were taken since the width was chosen, and their events.
    windows: usize,
    events: usize,
}

impl Calendar {
    pub(super) fn new() -> Self {
        Self {
            present: Vec::new(),
            taken: 0,
            announced: 0,
            late: BinaryHeap::new(),
            buckets: vec![Vec::new(); LEVELS * BUCKETS],
            filled: [[0; BUCKETS / 64]; LEVELS],
            later: 0,
            window: 0,
            is_taken: false,
            width_log2: 4,
            windows: 0,
            events: 0,
        }
    }

    /// Returns the number of events.
    pub(super) fn len(&self) -> usize {
        self.present.len() - self.taken + self.late.len() + self.later
    }

    #[inline]
    pub(super) fn push(&mut self, time: u64, number: u32, event: u32) {
        let entry = (time, u64::from(number) << 32 | u64::from(event));
        let window = time >> self.width_log2;
        if window < self.window || (window == self.window && self.is_taken) {
            self.late.push(Reverse(entry));
        } else {
            self.later += 1;
            self.put(window, entry);
        }
    }

    #[inline]
    fn put(&mut self, window: u64, entry: Entry) {
        let other = window ^ self.window;
        let level = ((u64::BITS - 1 - (other | 1).leading_zeros()) / DIGIT) as usize;
        let digit = (window >> (level as u32 * DIGIT)) as usize % BUCKETS;
        self.buckets[level * BUCKETS + digit].push(entry);
        self.filled[level][digit / 64] |= 1 << (digit % 64);
    }

    /// Removes and returns the first event: time, number, event.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u64, u32, u32)> {
        self.fill();
        let (time, event) = match (self.present.get(self.taken), self.late.peek()) {
            (Some(&present), Some(&Reverse(late))) if late < present => {
                self.late.pop();
                late
            }
            (Some(&present), _) => {
                self.taken += 1;
                present
            }
            (None, _) => self.late.pop()?.0,
        };
        Some((time, (event >> 32) as u32, event as u32))
    }

    /// Announces the next [`BATCH`] events of the present window once: returns all that are left of
    /// the window, and whether it is new.
    #[inline]
    pub(super) fn announce(&mut self) -> Option<(impl Iterator<Item = u32> + Clone, bool)> {
        self.fill();
        if self.taken < self.announced || self.taken == self.present.len() {
            return None;
        }
        let is_new = self.announced == 0;
        self.announced = self.taken + BATCH;
        Some((self.present[self.taken..].iter().map(|&(_, event)| event as u32), is_new))
    }

    /// Goes on to another window if the present one is over.
    #[inline]
    fn fill(&mut self) {
        if self.taken == self.present.len() && self.late.is_empty() {
            self.refill();
        }
    }

    /// Takes the events of the first window that has some.
    fn refill(&mut self) {
        self.present.clear();
        (self.taken, self.announced) = (0, 0);
        if self.later == 0 {
            return;
        }
        if self.windows >= WINDOWS {
            self.adapt();
        }
        loop {
            let (level, digit) = self.first();
            let shift = level as u32 * DIGIT;
            let higher = self.window.checked_shr(shift + DIGIT).unwrap_or_default();
            self.window =
                higher.checked_shl(shift + DIGIT).unwrap_or_default() | (digit as u64) << shift;
            self.filled[level][digit / 64] &= !(1 << (digit % 64));
            let bucket = level * BUCKETS + digit;
            if level == 0 {
                std::mem::swap(&mut self.present, &mut self.buckets[bucket]);
                break;
            }
            let mut entries = std::mem::take(&mut self.buckets[bucket]);
            for entry in entries.drain(..) {
                self.put(entry.0 >> self.width_log2, entry);
            }
            self.buckets[bucket] = entries;
        }
        self.is_taken = true;
        self.later -= self.present.len();
        self.windows += 1;
        self.events += self.present.len();
        self.present.sort();
    }

    /// Returns the level and the digit of the first bucket with events.
    fn first(&self) -> (usize, usize) {
        let words = self.filled.as_flattened();
        let word = words.iter().position(|&word| word != 0).unwrap_or_default();
        let bit = word * 64 + words[word].trailing_zeros() as usize;
        (bit / BUCKETS, bit % BUCKETS)
    }

    /// Chooses another width if windows have too few events or too many.
    fn adapt(&mut self) {
        let mean = self.events / self.windows;
        (self.windows, self.events) = (0, 0);
        let width_log2 = match self.width_log2 {
            width if mean < EVENTS_A_WINDOW.start && width < 40 => width + 1,
            width if mean >= EVENTS_A_WINDOW.end && width > 0 => width - 1,
            _ => return,
        };
        let entries: Vec<Entry> = self.buckets.iter_mut().flat_map(|b| b.drain(..)).collect();
        self.filled = [[0; BUCKETS / 64]; LEVELS];
        self.window = self.window << self.width_log2 >> width_log2;
        self.is_taken = false;
        self.width_log2 = width_log2;
        for entry in entries {
            self.put(entry.0 >> width_log2, entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds the queue to a binary heap, with times that go on in steps of many sizes and go back.
    #[test]
    fn events_come_in_the_order_of_time_and_number() {
        for (seed, step_max) in [(1, 1), (2, 40), (3, 5000), (4, u64::MAX >> 8)] {
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut calendar, mut heap) = (Calendar::new(), BinaryHeap::new());
            let mut now = 0;
            for number in 0..200_000_u32 {
                let time = match number % 50 {
                    0 => now / 2,
                    1 => u64::MAX - u64::from(number),
                    _ => random.u64(now..=now.saturating_add(step_max)),
                };
                calendar.push(time, number, number ^ 5);
                heap.push(Reverse((time, number, number ^ 5)));
                assert_eq!(calendar.len(), heap.len());
                if number > 5000 && number % 7 > 0 || random.u8(..) == 0 {
                    let first = heap.pop().map(|Reverse(event)| event);
                    assert_eq!(calendar.pop(), first);
                    now = first.map_or(now, |(time, ..)| time).min(u64::MAX >> 1);
                }
            }
            while let Some(Reverse(first)) = heap.pop() {
                assert_eq!(calendar.pop(), Some(first));
            }
            assert_eq!(calendar.pop(), None);
        }
    }
}
