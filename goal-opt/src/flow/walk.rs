//! Goes through the actions of a body and computes the values of its bytes.

use super::cells::Cells;
use super::order::Order;
use crate::marks::Marks;
use goal_lang::{Access, Action, ActionId, Body, Piece, Space};
use std::ops::Range;

/// Bound on the steps of the walk, for each action. Only bodies that write bytes in one piece and
/// read them in many, again and again, take more.
const STEPS_PER_ACTION: usize = 64;

/// The content of a range of bytes from one write to the next.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// The address space of the range.
    pub(crate) space: Space,
    /// The first address.
    pub(crate) start: u64,
    /// The address after the last one.
    pub(crate) end: u64,
    /// The action that wrote it; `None` for the content at the start.
    pub(crate) writer: Option<ActionId>,
    /// The range of its readers in `Flow::readers`.
    pub(super) readers: Range<usize>,
    /// The cause that ends the value.
    pub(crate) fate: Fate,
    /// True if dependencies prove the order of all accesses to these bytes.
    pub(crate) is_certain: bool,
}

/// The cause that ends a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// This action overwrites the value.
    Overwritten(ActionId),
    /// The value is in memory when the schedule has ended.
    Final,
}

/// Neighbouring cells that hold one value.
#[derive(Debug, Clone, Copy, Default)]
struct Segment {
    /// The cell after the last one.
    end: usize,
    writer: Option<ActionId>,
    /// The index of its last reader in `Walk::readers`, the readers of all segments.
    last_reader: Option<u32>,
    /// The number of its readers.
    readers: u32,
}

impl Segment {
    /// Returns true if the segment still has the content at the start and no action has read it.
    fn is_untouched(&self) -> bool {
        self.writer.is_none() && self.last_reader.is_none()
    }
}

/// A reader of a segment. Segments that were cut out of one segment share its earlier readers.
#[derive(Debug, Clone, Copy)]
struct Reader {
    id: ActionId,
    /// The index in `Walk::readers` of the reader before this one.
    before: Option<u32>,
}

/// The content of one memory: a row of segments without gaps.
#[derive(Default)]
struct Memory {
    cells: Cells,
    /// By cell, the segment that begins there. Only the cells in `begins` have one.
    segments: Vec<Segment>,
    /// The cells where segments begin.
    begins: Marks,
}

impl Memory {
    fn new(bounds: Vec<u64>) -> Self {
        let cells = Cells::new(bounds);
        let mut segments = vec![Segment::default(); cells.len()];
        let mut begins = Marks::new(cells.len());
        if let Some(all) = segments.first_mut() {
            all.end = cells.len();
            begins.insert(0);
        }
        Self { cells, segments, begins }
    }
}

/// The state of the walk.
pub(super) struct Walk<'b> {
    body: &'b Body,
    memories: [Memory; 2],
    readers: Vec<Reader>,
    values: Vec<Value>,
    /// The readers of all finished values, one value after the other.
    value_readers: Vec<ActionId>,
    /// Ranges with accesses whose order is not proved.
    doubtful: Vec<(Space, u64, u64)>,
    pieces: Vec<(Space, usize, usize, bool)>,
    steps_left: usize,
}

impl<'b> Walk<'b> {
    pub(super) fn new(body: &'b Body) -> Self {
        let mut bounds: [Vec<u64>; 2] = Default::default();
        for action in &body.actions {
            visit_bytes(body, action, |piece, _| {
                bounds[piece.space as usize].extend([piece.addr, piece.addr + piece.size]);
            });
        }
        Self {
            body,
            memories: bounds.map(Memory::new),
            readers: Vec::new(),
            values: Vec::new(),
            value_readers: Vec::new(),
            doubtful: Vec::new(),
            pieces: Vec::new(),
            steps_left: 4096 + STEPS_PER_ACTION * body.len(),
        }
    }

    /// Records the accesses of an action, reads before writes, as no action reads bytes that it
    /// writes itself. Returns `None` if the bound on the work is reached.
    pub(super) fn action(&mut self, id: ActionId, order: &mut Order<'_>) -> Option<()> {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        visit_bytes(self.body, self.body.action(id), |piece, access| {
            let cells = &self.memories[piece.space as usize].cells;
            let (start, end) = cells.range(piece.addr, piece.addr + piece.size);
            if access.reads() {
                pieces.push((piece.space, start, end, false));
            }
            if access.writes() {
                pieces.push((piece.space, start, end, true));
            }
        });
        pieces.sort_by_key(|&(.., writes)| writes);
        for &(space, start, end, writes) in &pieces {
            self.split(space, start)?;
            self.split(space, end)?;
            if writes {
                self.write(id, space, start, end, order)?;
            } else {
                self.read(id, space, start, end, order)?;
            }
        }
        self.pieces = pieces;
        Some(())
    }

    /// Takes steps from the bound. Returns `None` if it is reached.
    fn step(&mut self, steps: usize) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(steps)?;
        Some(())
    }

    /// Cuts the segment that extends across the begin of a cell.
    fn split(&mut self, space: Space, at: usize) -> Option<()> {
        let Memory { segments, begins, .. } = &mut self.memories[space as usize];
        if at == segments.len() || begins.contains(at) {
            return Some(());
        }
        let begin = begins.last_up_to(at).expect("a segment begins at the first cell");
        let rest = segments[begin];
        segments[begin].end = at;
        let steps = if rest.is_untouched() { 0 } else { 1 + rest.readers as usize };
        segments[at] = rest;
        begins.insert(at);
        self.step(steps)
    }

    /// Adds a reader to all segments of a range of cells.
    fn read(
        &mut self,
        id: ActionId,
        space: Space,
        start: usize,
        end: usize,
        order: &mut Order<'_>,
    ) -> Option<()> {
        let Memory { cells, segments, .. } = &mut self.memories[space as usize];
        let (mut at, mut steps) = (start, 1);
        while at < end {
            steps += 1;
            let segment = &mut segments[at];
            let last_reader = segment.last_reader.map(|last| self.readers[last as usize].id);
            if last_reader != Some(id) {
                if segment
                    .writer
                    .is_some_and(|writer| writer != id && !order.ends_before(writer, id))
                {
                    self.doubtful.push((space, cells.addr(at), cells.addr(segment.end)));
                }
                let next = u32::try_from(self.readers.len()).ok()?;
                self.readers.push(Reader { id, before: segment.last_reader.replace(next) });
                segment.readers += 1;
            }
            at = segment.end;
        }
        self.step(steps)
    }

    /// Ends all values in a range of cells and begins a new one.
    fn write(
        &mut self,
        id: ActionId,
        space: Space,
        start: usize,
        end: usize,
        order: &mut Order<'_>,
    ) -> Option<()> {
        let (mut at, mut steps) = (start, 1);
        while at < end {
            let memory = &mut self.memories[space as usize];
            let segment = std::mem::take(&mut memory.segments[at]);
            memory.begins.remove(at);
            let (from, next) = (at, segment.end);
            at = next;
            if segment.is_untouched() {
                continue;
            }
            steps += 1 + segment.readers as usize;
            // An access that is ordered after the readers is ordered after their writer.
            let writer = segment.writer.filter(|_| segment.last_reader.is_none());
            let is_ordered = chain(&self.readers, segment.last_reader)
                .chain(writer)
                .all(|before| before == id || order.ends_before(before, id));
            if !is_ordered {
                self.doubtful.push((space, memory.cells.addr(from), memory.cells.addr(next)));
            }
            self.close(space, from, segment, Fate::Overwritten(id));
        }
        let memory = &mut self.memories[space as usize];
        memory.segments[start] = Segment { end, writer: Some(id), ..Segment::default() };
        memory.begins.insert(start);
        self.step(steps)
    }

    /// Adds the value of a segment that begins at the cell `from`.
    fn close(&mut self, space: Space, from: usize, segment: Segment, fate: Fate) {
        let cells = &self.memories[space as usize].cells;
        let (start, end) = (cells.addr(from), cells.addr(segment.end));
        let first = self.value_readers.len();
        self.value_readers.extend(chain(&self.readers, segment.last_reader));
        self.value_readers[first..].reverse();
        let readers = first..self.value_readers.len();
        let writer = segment.writer;
        self.values.push(Value { space, start, end, writer, readers, fate, is_certain: true });
    }

    /// Finishes all values. Returns them and their readers.
    pub(super) fn finish(mut self) -> (Vec<Value>, Vec<ActionId>) {
        for space in [Space::Memory, Space::Scratch] {
            let mut at = 0;
            while at < self.memories[space as usize].segments.len() {
                let segment = std::mem::take(&mut self.memories[space as usize].segments[at]);
                let from = std::mem::replace(&mut at, segment.end);
                if !segment.is_untouched() {
                    self.close(space, from, segment, Fate::Final);
                }
            }
        }
        if self.doubtful.is_empty() {
            return (self.values, self.value_readers);
        }
        self.doubtful.sort_unstable();
        self.doubtful.dedup_by(|next, last| {
            let joins = next.0 == last.0 && next.1 <= last.2;
            if joins {
                last.2 = last.2.max(next.2);
            }
            joins
        });
        for value in &mut self.values {
            let at = self
                .doubtful
                .partition_point(|&(space, _, end)| (space, end) <= (value.space, value.start));
            value.is_certain = self
                .doubtful
                .get(at)
                .is_none_or(|&(space, start, _)| space != value.space || start >= value.end);
        }
        (self.values, self.value_readers)
    }
}

/// Returns a reader and the readers before it, the last one first.
fn chain(readers: &[Reader], last: Option<u32>) -> impl Iterator<Item = ActionId> {
    let chain = std::iter::successors(last, |&at| readers[at as usize].before);
    chain.map(|at| readers[at as usize].id)
}

/// Calls `visit` with the non-empty pieces of memory of an action.
fn visit_bytes(body: &Body, action: &Action, mut visit: impl FnMut(Piece, Access)) {
    body.visit_accesses(action, |&piece, access| {
        if piece.size > 0 {
            visit(piece, access);
        }
    });
}
