//! Writes records to the segment and reads them back.
#![allow(unsafe_code)] // words of the segment

use super::record::Record;
use goal_engine::memory::Cells;
use goal_engine::trace::{self, Event};
use goal_shm::Segment;
use std::ops::Range;
use std::sync::atomic::{Ordering, fence};
use zerocopy::IntoBytes;

/// The number of bytes before the records of an area. They contain the number of records.
const HEAD_BYTES: usize = size_of::<Record>();
/// The most records that are read at a time.
const BLOCK: u64 = 4096;

/// Returns the size in bytes of an area for `events` records; 0 if there are none.
pub fn area_bytes(events: u64) -> u64 {
    match events {
        0 => 0,
        events => {
            events.saturating_mul(size_of::<Record>() as u64).saturating_add(HEAD_BYTES as u64)
        }
    }
}

/// Stores the records of an engine. If there is no room, a record overwrites the oldest one.
#[derive(Debug)]
pub struct Recorder {
    /// The number of records ever stored.
    count: Cells<u64>,
    records: Cells<Record>,
    clock: fn() -> u64,
}

impl Recorder {
    /// Creates a recorder. `count` is one word, 0 at first, in which it counts the records ever
    /// stored. `records` has room for at least one record. `clock` returns nanoseconds, and never
    /// goes back.
    ///
    /// # Panics
    /// If there is no room for a count and a record.
    pub fn new(count: Cells<u64>, records: Cells<Record>, clock: fn() -> u64) -> Self {
        assert!(
            !count.as_slice().is_empty() && !records.as_slice().is_empty(),
            "room for a record"
        );
        Self { count, records, clock }
    }
}

impl trace::Recorder for Recorder {
    #[inline]
    fn record(&mut self, event: &Event) {
        let count = &mut self.count.as_mut_slice()[0];
        let records = self.records.as_mut_slice();
        records[(*count % records.len() as u64) as usize] =
            Record::from_event(event, (self.clock)());
        // This orders the stores of the record before the store of the count. A launcher may read
        // both after this process was killed.
        fence(Ordering::Release);
        *count += 1;
    }
}

/// Returns the recorder over the trace area of `rank`; `None` if the job is not traced.
///
/// # Safety
/// Only one recorder of a rank is used at a time, in all processes together. None is used after the
/// segment is dropped.
pub unsafe fn recorder(segment: &Segment, rank: u32, clock: fn() -> u64) -> Option<Recorder> {
    let area = &segment.rank(rank).trace;
    (!area.is_empty()).then(|| {
        let count = area.start..area.start + size_of::<u64>();
        // SAFETY: as the caller says.
        unsafe { Recorder::new(segment.cells(&count), segment.cells(&records(area)), clock) }
    })
}

fn records(area: &Range<usize>) -> Range<usize> {
    area.start + HEAD_BYTES..area.end
}

/// Adds `by_ns`, modulo 2^64, to the times of the records of a rank that no longer runs.
pub fn shift(segment: &Segment, rank: u32, by_ns: u64) {
    let area = segment.rank(rank).trace.clone();
    let (_, all) = recorded(segment, rank);
    let room = records(&area).len() / size_of::<Record>();
    let places = records(&area).step_by(size_of::<Record>());
    // `recorded` leaves out one record if some were overwritten, so one more place may be in use.
    let used = all.count().saturating_add(1).min(room);
    for at in places.take(used) {
        // SAFETY: the rank has ended, so no engine uses its trace.
        unsafe {
            let record = segment.copy_of::<Record>(&(at..at + size_of::<Record>()))[0];
            segment.write(at, record.shifted(by_ns).as_bytes());
        }
    }
}

/// Returns the number of lost records of a rank that no longer runs, and an iterator over the other
/// records, oldest first.
pub(crate) fn recorded(segment: &Segment, rank: u32) -> (u64, impl Iterator<Item = Record>) {
    let area = segment.rank(rank).trace.clone();
    let (count, room) = match area.is_empty() {
        true => (0, 1),
        false => {
            // SAFETY: the rank no longer runs.
            let count =
                unsafe { segment.copy_of::<u64>(&(area.start..area.start + size_of::<u64>())) };
            (count[0], (records(&area).len() / size_of::<Record>()) as u64)
        }
    };
    // If records were overwritten, the oldest record is left out, because the rank may have died
    // while it was overwriting this record.
    let first = if count < room { 0 } else { count - (room - 1).min(count) };
    let (start, end) = (records(&area).start, count);
    let mut next = first;
    let blocks = std::iter::from_fn(move || {
        let at = next % room;
        let len = BLOCK.min(room - at).min(end - next);
        next += len;
        let byte = |index: u64| start + index as usize * size_of::<Record>();
        // SAFETY: the rank no longer runs.
        (len > 0).then(|| unsafe { segment.copy_of::<Record>(&(byte(at)..byte(at + len))) })
    });
    (first, blocks.flatten())
}
