//! The dependencies that buffers call for. An action waits for the last write of each byte that it
//! reads or writes, and for the reads since then of each byte that it writes.

use goal_lang::ActionId;
use std::collections::BTreeMap;
use std::ops::Range;

/// A range of bytes that the same actions have accessed.
#[derive(Debug, Clone)]
struct Cell {
    end: u64,
    writer: Option<ActionId>,
    /// The reads since the last write.
    readers: Vec<ActionId>,
}

/// The accesses so far to one of a rank's memories.
#[derive(Debug, Default)]
pub(crate) struct Hazards {
    /// Cells by their first byte. They do not overlap.
    cells: BTreeMap<u64, Cell>,
}

impl Hazards {
    /// Notes that an action reads or writes a range. Calls `waits_for` with each action that this
    /// one must wait for, with some of them repeatedly.
    pub(crate) fn access(
        &mut self,
        range: Range<u64>,
        writes: bool,
        action: ActionId,
        mut waits_for: impl FnMut(ActionId),
    ) {
        if range.is_empty() {
            return;
        }
        self.split(range.start);
        self.split(range.end);
        let mut at = range.start;
        while at < range.end {
            let next = self.cells.range(at..range.end).next().map(|(&start, _)| start);
            if next != Some(at) {
                // Nobody has accessed these bytes.
                let end = next.unwrap_or(range.end);
                self.cells.insert(at, Cell { end, writer: None, readers: Vec::new() });
            }
            let cell = self.cells.get_mut(&at).expect("it was found or inserted");
            if !writes || cell.readers.is_empty() {
                cell.writer.into_iter().for_each(&mut waits_for);
            }
            if writes {
                // The readers have waited for the writer.
                cell.readers.drain(..).for_each(&mut waits_for);
                cell.writer = Some(action);
            } else {
                cell.readers.push(action);
            }
            at = cell.end;
        }
        if writes {
            self.join(range);
        }
    }

    /// Divides the cell that contains the bytes before and behind `at`, so that one ends and one
    /// begins there.
    fn split(&mut self, at: u64) {
        let Some((_, cell)) = self.cells.range_mut(..at).next_back() else { return };
        if cell.end > at {
            let rest = cell.clone();
            cell.end = at;
            self.cells.insert(at, rest);
        }
    }

    /// Joins the cells of a range into one. One action has written the whole range.
    fn join(&mut self, range: Range<u64>) {
        while let Some((&start, _)) = self.cells.range(range.start + 1..range.end).next() {
            self.cells.remove(&start);
        }
        self.cells.get_mut(&range.start).expect("the first cell").end = range.end;
    }
}
