//! Keeps the facts that the generator knows about each byte of a rank's memory and scratch memory.
//!
//! The program has no races. So at every point of the generation each byte has one known history.
//! With these facts the generator reads scratch memory only after it was written, and divides only
//! by elements that cannot be 0. It also keeps floating-point elements ordinary. Without overflow
//! there is no infinity and no NaN, whose payload bits no standard fixes.

use goal_lang::{Datatype, Piece, Space};

/// The facts about a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The floating-point type of the element that the byte belongs to. `None` for a plain byte.
    pub(crate) float: Option<Datatype>,
    /// The position of the byte in this element.
    pub(crate) phase: u8,
    /// The exponent of a bound: the element is at most 2^magnitude in absolute value.
    pub(crate) magnitude: u8,
    /// True if a plain byte is not 0, or a floating-point element is at least 1 in absolute value.
    pub(crate) nonzero: bool,
    /// True if the byte was written. Scratch memory is undefined at the start.
    pub(crate) defined: bool,
}

impl Cell {
    pub(crate) const UNDEFINED: Cell =
        Cell { float: None, phase: 0, magnitude: 0, nonzero: false, defined: false };
    pub(crate) const PLAIN: Cell = Cell { defined: true, ..Cell::UNDEFINED };

    /// Returns the cells of `count` elements of `datatype`.
    pub(crate) fn elements(
        datatype: Datatype,
        count: usize,
        magnitude: u8,
        nonzero: bool,
    ) -> impl Iterator<Item = Cell> {
        let width = datatype.width() as usize;
        (0..count * width).map(move |i| {
            if datatype.is_float() {
                let phase = (i % width) as u8;
                Cell { float: Some(datatype), phase, magnitude, nonzero, defined: true }
            } else {
                Cell { nonzero, ..Cell::PLAIN }
            }
        })
    }

    /// Returns the facts that hold both for a byte with the facts `self` and for one with the facts
    /// `other`.
    pub(crate) fn either(self, other: Cell) -> Cell {
        let defined = self.defined && other.defined;
        let nonzero = self.nonzero && other.nonzero;
        if self.float == other.float && self.phase == other.phase {
            Cell { magnitude: self.magnitude.max(other.magnitude), nonzero, defined, ..self }
        } else {
            Cell {
                nonzero: nonzero && self.float.is_none() && other.float.is_none(),
                defined,
                ..Cell::PLAIN
            }
        }
    }

    fn into_plain(self) -> Cell {
        match self.float {
            Some(_) => Cell { defined: self.defined, ..Cell::UNDEFINED },
            None => self,
        }
    }
}

/// The facts about the memory and the scratch memory of a rank.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    spaces: [Vec<Cell>; 2],
}

impl Cells {
    pub(crate) fn new(memory: u64, scratch: u64) -> Self {
        Self {
            spaces: [vec![Cell::PLAIN; memory as usize], vec![Cell::UNDEFINED; scratch as usize]],
        }
    }

    pub(crate) fn space(&self, space: Space) -> &[Cell] {
        &self.spaces[space as usize]
    }

    pub(crate) fn of(&self, piece: &Piece) -> &[Cell] {
        &self.space(piece.space)[piece.addr as usize..(piece.addr + piece.size) as usize]
    }

    pub(crate) fn read(&self, pieces: &[Piece]) -> Vec<Cell> {
        pieces.iter().flat_map(|piece| self.of(piece)).copied().collect()
    }

    /// Stores the facts about the new content of a buffer. An element that is not whole within a
    /// piece becomes plain bytes. What remains of overwritten elements becomes plain bytes too.
    pub(crate) fn write(&mut self, pieces: &[Piece], mut cells: &[Cell]) {
        for piece in pieces {
            let (now, later) = cells.split_at(piece.size as usize);
            self.write_piece(piece, now);
            cells = later;
        }
    }

    fn write_piece(&mut self, piece: &Piece, cells: &[Cell]) {
        let space = &mut self.spaces[piece.space as usize];
        let (start, end) = (piece.addr as usize, (piece.addr + piece.size) as usize);
        let whole_before = element_start(space, start);
        let mut after = end;
        while after < space.len() && space[after].float.is_some() && space[after].phase > 0 {
            after += 1;
        }
        if start == end {
            return;
        }
        for cell in &mut space[whole_before..start] {
            *cell = cell.into_plain();
        }
        for cell in &mut space[end..after] {
            *cell = cell.into_plain();
        }
        let mut at = 0;
        while at < cells.len() {
            let len = whole_element(&cells[at..]).unwrap_or(0);
            if len == 0 {
                space[start + at] = cells[at].into_plain();
                at += 1;
            } else {
                space[start + at..start + at + len].copy_from_slice(&cells[at..at + len]);
                at += len;
            }
        }
    }
}

/// Returns the position of the first byte of the element that extends across `at`, or `at` if none
/// does.
fn element_start(space: &[Cell], at: usize) -> usize {
    match space.get(at) {
        Some(cell) if cell.float.is_some() => at - cell.phase as usize,
        _ => at,
    }
}

/// Returns the size of the floating-point element at the beginning of `cells`. Returns `None` if no
/// whole element is there.
pub(crate) fn whole_element(cells: &[Cell]) -> Option<usize> {
    let float = cells[0].float?;
    let element = cells.get(..float.width() as usize)?;
    let whole = element
        .iter()
        .enumerate()
        .all(|(i, cell)| cell.float == Some(float) && cell.phase as usize == i);
    whole.then_some(element.len())
}
