//! Bytes from one write to the next.

use super::order::Order;
use goal_lang::{ActionId, Body, Space};
use std::collections::BTreeMap;

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

/// Bytes that hold one value now.
#[derive(Debug, Clone)]
struct Segment {
    end: u64,
    writer: Option<ActionId>,
    readers: Vec<ActionId>,
}

struct Walk<'b> {
    body: &'b Body,
    /// By memory, segments by their first byte. Bytes without one hold what the memory starts with, and were not read.
    segments: [BTreeMap<u64, Segment>; 2],
    values: Vec<Value>,
    /// Bytes with an order that is not proved.
    doubtful: Vec<(Space, u64, u64)>,
    pieces: Vec<(Space, u64, u64, bool)>,
    within: Vec<u64>,
    steps_left: usize,
}

impl<'b> Walk<'b> {
    fn new(body: &'b Body) -> Self {
        Self {
            body,
            segments: Default::default(),
            values: Vec::new(),
            doubtful: Vec::new(),
            pieces: Vec::new(),
            within: Vec::new(),
            steps_left: 4096 + STEPS_PER_ACTION * body.len(),
        }
    }

    /// Reads first, then writes: no action reads what it writes itself. `None` at the bound.
    fn action(&mut self, id: ActionId, order: &mut Order<'_>) -> Option<()> {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        self.body.visit_accesses(self.body.action(id), |piece, access| {
            if piece.size > 0 {
                let end = piece.addr + piece.size;
                if access.reads() {
                    pieces.push((piece.space, piece.addr, end, false));
                }
                if access.writes() {
                    pieces.push((piece.space, piece.addr, end, true));
                }
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

    /// Makes a segment end before `at`.
    fn split(&mut self, space: Space, at: u64) -> Option<()> {
        let segments = &mut self.segments[space as usize];
        let Some((_, segment)) = segments.range_mut(..at).next_back().filter(|(_, s)| s.end > at) else {
            return Some(());
        };
        let rest = segment.clone();
        segment.end = at;
        let steps = 1 + rest.readers.len();
        segments.insert(at, rest);
        self.step(steps)
    }

    fn read(
        &mut self,
        id: ActionId,
        space: Space,
        start: u64,
        end: u64,
        order: &mut Order<'_>,
    ) -> Option<()> {
        self.fill(space, start, end);
        let mut steps = 1;
        for (&start, segment) in self.segments[space as usize].range_mut(start..end) {
            steps += 1;
            if segment.readers.last() == Some(&id) {
                continue;
            }
            if segment.writer.is_some_and(|writer| writer != id && !order.ends_before(writer, id)) {
                self.doubtful.push((space, start, segment.end));
            }
            segment.readers.push(id);
        }
        self.step(steps)
    }

    /// Gives bytes that nobody touched a segment.
    fn fill(&mut self, space: Space, start: u64, end: u64) {
        let mut at = start;
        let mut gaps = std::mem::take(&mut self.within);
        gaps.clear();
        let segments = &mut self.segments[space as usize];
        for (&next, segment) in segments.range(start..end) {
            if at < next {
                gaps.extend([at, next]);
            }
            at = segment.end;
        }
        if at < end {
            gaps.extend([at, end]);
        }
        for gap in gaps.chunks_exact(2) {
            segments.insert(gap[0], Segment { end: gap[1], writer: None, readers: Vec::new() });
        }
        self.within = gaps;
    }

    fn write(
        &mut self,
        id: ActionId,
        space: Space,
        start: u64,
        end: u64,
        order: &mut Order<'_>,
    ) -> Option<()> {
        let mut inside = std::mem::take(&mut self.within);
        inside.clear();
        inside.extend(self.segments[space as usize].range(start..end).map(|(&at, _)| at));
        let mut steps = 1;
        for &at in &inside {
            let Some(segment) = self.segments[space as usize].remove(&at) else { continue };
            steps += 1 + segment.readers.len();
            // What the readers are ordered before, their writer is too.
            let befores =
                if segment.readers.is_empty() { segment.writer.as_slice() } else { &segment.readers[..] };
            if !befores.iter().all(|&before| before == id || order.ends_before(before, id)) {
                self.doubtful.push((space, at, segment.end));
            }
            self.close(space, at, segment, Fate::Overwritten(id));
        }
        self.within = inside;
        let segment = Segment { end, writer: Some(id), readers: Vec::new() };
        self.segments[space as usize].insert(start, segment);
        self.step(steps)
    }

    fn close(&mut self, space: Space, start: u64, segment: Segment, fate: Fate) {
        let Segment { end, writer, readers } = segment;
        self.values.push(Value { space, start, end, writer, readers, fate, is_certain: true });
    }

    fn finish(mut self) -> Vec<Value> {
        for space in [Space::Memory, Space::Scratch] {
            for (start, segment) in std::mem::take(&mut self.segments[space as usize]) {
                self.close(space, start, segment, Fate::Final);
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
