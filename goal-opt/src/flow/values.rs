//! Bytes from one write to the next.

use super::cells::Cells;
use super::order::Order;
use crate::marks::Marks;
use goal_lang::{Access, Action, ActionId, Body, Piece, Space};

/// Steps that the walk may take for each action: bytes that are written in one piece and read in many, over and over, take
/// more.
const STEPS_PER_ACTION: usize = 64;

/// What a range of bytes holds from one write to the next.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// The memory that the range lies in.
    pub(crate) space: Space,
    /// First byte.
    pub(crate) start: u64,
    /// First byte behind it.
    pub(crate) end: u64,
    /// Who wrote it; `None` is what the memory starts with.
    pub(crate) writer: Option<ActionId>,
    /// Who reads it.
    pub(crate) readers: Vec<ActionId>,
    /// What becomes of it.
    pub(crate) fate: Fate,
    /// Whether the order of all accesses to these bytes is proved.
    pub(crate) is_certain: bool,
}

/// What becomes of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// This action writes over it.
    Overwritten(ActionId),
    /// It is there when the schedule has ended.
    Final,
}

/// All values of a body, and those of each action.
#[derive(Debug)]
pub(crate) struct Flow {
    /// The values, in the order of their ends.
    pub(crate) values: Vec<Value>,
    /// By action, the values that it writes.
    written: Lists,
    /// By action, the values that it reads.
    read: Lists,
}

impl Flow {
    /// The values of a body; `None` where a bound on the work cut the walk short.
    pub(crate) fn new(body: &Body, order: &mut Order<'_>) -> Option<Self> {
        let mut walk = Walk::new(body);
        for at in 0..body.len() {
            walk.action(order.ids()[at], order)?;
        }
        let values = walk.finish();
        let written = Lists::new(body.len(), values.iter().map(|value| value.writer.as_slice()));
        let read = Lists::new(body.len(), values.iter().map(|value| value.readers.as_slice()));
        Some(Self { values, written, read })
    }

    /// The values that an action writes.
    pub(crate) fn written_by(&self, id: ActionId) -> impl Iterator<Item = &Value> {
        self.written.of(id).iter().map(|&value| &self.values[value as usize])
    }

    /// The values that an action reads.
    pub(crate) fn read_by(&self, id: ActionId) -> impl Iterator<Item = &Value> {
        self.read.of(id).iter().map(|&value| &self.values[value as usize])
    }
}

/// By action, the numbers of some values.
#[derive(Debug)]
struct Lists {
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl Lists {
    fn new<'v>(actions: usize, owners: impl Iterator<Item = &'v [ActionId]> + Clone) -> Self {
        let mut starts = vec![0u32; actions + 1];
        for owner in owners.clone().flatten() {
            starts[owner.index()] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut values = vec![0; sum as usize];
        for (value, owners) in owners.enumerate() {
            for owner in owners {
                let at = &mut starts[owner.index()];
                *at -= 1;
                values[*at as usize] = value as u32;
            }
        }
        Self { starts, values }
    }

    fn of(&self, id: ActionId) -> &[u32] {
        &self.values[self.starts[id.index()] as usize..self.starts[id.index() + 1] as usize]
    }
}

/// Cells that hold one value now.
#[derive(Debug, Clone, Default)]
struct Segment {
    /// The first cell behind it.
    end: usize,
    writer: Option<ActionId>,
    readers: Vec<ActionId>,
}

impl Segment {
    /// Whether it holds what the memory starts with, and was not read.
    fn is_untouched(&self) -> bool {
        self.writer.is_none() && self.readers.is_empty()
    }
}

/// What one memory holds: segments, each beginning where the one before it ends.
#[derive(Default)]
struct Memory {
    cells: Cells,
    /// By cell, the segment that begins there, if one does.
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

struct Walk<'b> {
    body: &'b Body,
    memories: [Memory; 2],
    values: Vec<Value>,
    /// Bytes with an order that is not proved.
    doubtful: Vec<(Space, u64, u64)>,
    pieces: Vec<(Space, usize, usize, bool)>,
    steps_left: usize,
}

impl<'b> Walk<'b> {
    fn new(body: &'b Body) -> Self {
        let mut bounds: [Vec<u64>; 2] = Default::default();
        for action in &body.actions {
            visit_bytes(body, action, |piece, _| {
                bounds[piece.space as usize].extend([piece.addr, piece.addr + piece.size]);
            });
        }
        Self {
            body,
            memories: bounds.map(Memory::new),
            values: Vec::new(),
            doubtful: Vec::new(),
            pieces: Vec::new(),
            steps_left: 4096 + STEPS_PER_ACTION * body.len(),
        }
    }

    /// Reads first, then writes: no action reads what it writes itself. `None` at the bound.
    fn action(&mut self, id: ActionId, order: &mut Order<'_>) -> Option<()> {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        visit_bytes(self.body, self.body.action(id), |piece, access| {
            let cells = &self.memories[piece.space as usize].cells;
            let (start, end) = (cells.at(piece.addr), cells.at(piece.addr + piece.size));
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

    fn step(&mut self, steps: usize) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(steps)?;
        Some(())
    }

    /// Makes a segment begin at a cell, or at the end of all.
    fn split(&mut self, space: Space, at: usize) -> Option<()> {
        let Memory { segments, begins, .. } = &mut self.memories[space as usize];
        if at == segments.len() || begins.contains(at) {
            return Some(());
        }
        let begin = begins.last_up_to(at).expect("a segment begins at the first cell");
        let rest = segments[begin].clone();
        segments[begin].end = at;
        let steps = if rest.is_untouched() { 0 } else { 1 + rest.readers.len() };
        segments[at] = rest;
        begins.insert(at);
        self.step(steps)
    }

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
            if segment.readers.last() != Some(&id) {
                if segment.writer.is_some_and(|writer| writer != id && !order.ends_before(writer, id)) {
                    self.doubtful.push((space, cells.addr(at), cells.addr(segment.end)));
                }
                segment.readers.push(id);
            }
            at = segment.end;
        }
        self.step(steps)
    }

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
            steps += 1 + segment.readers.len();
            // What the readers are ordered before, their writer is too.
            let befores =
                if segment.readers.is_empty() { segment.writer.as_slice() } else { &segment.readers[..] };
            if !befores.iter().all(|&before| before == id || order.ends_before(before, id)) {
                self.doubtful.push((space, memory.cells.addr(from), memory.cells.addr(next)));
            }
            self.close(space, from, segment, Fate::Overwritten(id));
        }
        let memory = &mut self.memories[space as usize];
        memory.segments[start] = Segment { end, writer: Some(id), readers: Vec::new() };
        memory.begins.insert(start);
        self.step(steps)
    }

    fn close(&mut self, space: Space, from: usize, segment: Segment, fate: Fate) {
        let Segment { end, writer, readers } = segment;
        let cells = &self.memories[space as usize].cells;
        let (start, end) = (cells.addr(from), cells.addr(end));
        self.values.push(Value { space, start, end, writer, readers, fate, is_certain: true });
    }

    fn finish(mut self) -> Vec<Value> {
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
            return self.values;
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
            let at =
                self.doubtful.partition_point(|&(space, _, end)| (space, end) <= (value.space, value.start));
            value.is_certain = self
                .doubtful
                .get(at)
                .is_none_or(|&(space, start, _)| space != value.space || start >= value.end);
        }
        self.values
    }
}

/// The pieces of memory of an action, without empty ones.
fn visit_bytes(body: &Body, action: &Action, mut visit: impl FnMut(Piece, Access)) {
    body.visit_accesses(action, |&piece, access| {
        if piece.size > 0 {
            visit(piece, access);
        }
    });
}
