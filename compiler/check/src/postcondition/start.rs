//! The content of memory before the first action.

use super::layout::Layout;
use super::memory::Part;
use super::trail::Step;
use super::value::{Expression, Value, Values};
use goal_lang::{Datum, Piece, Program, Space};

/// The ranks' memories at the start. Inputs are symbols even if `init` gives them values; the rest
/// has the values of `init` or 0; scratch memory is undefined.
pub(super) struct Start<'a> {
    program: &'a Program,
    layout: &'a Layout,
    /// By image, its entries of `init` in the order of addresses.
    sorted: Vec<Vec<&'a Datum>>,
}

impl<'a> Start<'a> {
    pub(super) fn new(program: &'a Program, layout: &'a Layout) -> Self {
        let sorted = program.images.iter().map(|image| {
            let mut data: Vec<&Datum> = image.init.iter().collect();
            data.sort_by_key(|datum| datum.addr);
            data
        });
        Self { program, layout, sorted: sorted.collect() }
    }

    /// Appends the content of a piece to `out`.
    pub(super) fn read(&self, rank: u32, piece: Piece, values: &mut Values, out: &mut Vec<Part>) {
        let (addr, end) = (piece.addr, piece.addr + piece.size);
        if piece.space == Space::Scratch {
            let node = values.node(Expression::Unwritten(rank));
            out.push(part(piece.size, Value::at(node, addr)));
            return;
        }
        let (input, size) = self.layout.input(rank);
        let (from, to) = (input.clamp(addr, end), (input + size).clamp(addr, end));
        if from < to {
            self.read_image(rank, addr, from, values, out);
            out.push(part(to - from, Value::at(Values::input(rank), from - input)));
            self.read_image(rank, to, end, values, out);
        } else {
            self.read_image(rank, addr, end, values, out);
        }
    }

    /// Appends the content of a range of memory that is no input.
    fn read_image(&self, rank: u32, addr: u64, end: u64, values: &mut Values, out: &mut Vec<Part>) {
        let image = self.program.ranks[rank as usize].image;
        let data = image.map_or(&[][..], |id| &self.sorted[id.index()]);
        let first = data.partition_point(|datum| datum.addr + datum.bytes.len() as u64 <= addr);
        let mut at = addr;
        for datum in data[first..].iter().take_while(|datum| datum.addr < end) {
            zeros(datum.addr.saturating_sub(at), values, out);
            let from = datum.addr.max(at);
            at = (datum.addr + datum.bytes.len() as u64).min(end);
            read_datum(datum, from - datum.addr, at - datum.addr, values, out);
        }
        zeros(end - at, values, out);
    }
}

fn part(size: u64, value: Value) -> Part {
    Part { size, value, step: Step::NONE }
}

fn zeros(size: u64, values: &mut Values, out: &mut Vec<Part>) {
    if size > 0 {
        let node = values.node(Expression::Constant { bits: 0, width: 1 });
        out.push(part(size, Value::at(node, 0)));
    }
}

/// Appends bytes of an entry, one part for each run of equal elements.
fn read_datum(datum: &Datum, from: u64, to: u64, values: &mut Values, out: &mut Vec<Part>) {
    let width = datum.datatype.width();
    let element = |at: u64| &datum.bytes[(at / width * width) as usize..][..width as usize];
    let mut at = from;
    while at < to {
        let bytes = element(at);
        let start = at;
        while at < to && element(at) == bytes {
            at = (at / width + 1) * width;
        }
        let size = at.min(to) - start;
        if bytes.iter().all(|&byte| byte == 0) {
            zeros(size, values, out);
        } else {
            let bits = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
            let node = values.node(Expression::Constant { bits, width: width as u8 });
            out.push(part(size, Value::at(node, start % width)));
        }
    }
}
