//! Removes initial and expected values, and gaps in memory.

use super::reducer::Reducer;
use goal_lang::{Action, Body, Datum, Payload, Piece, Space};

/// Removes values of `init` and `expect`.
pub(super) fn reduce(reducer: &mut Reducer<'_>) {
    let elements = |datum: &Datum| datum.bytes.len() / datum.datatype.width() as usize;
    let images = reducer.best.images.iter();
    let parts = images.flat_map(|image| image.init.iter().chain(&image.expect)).map(elements).sum();
    reducer.take_away(parts, |program, gone| {
        let mut program = program.clone();
        let mut gone = gone;
        for data in program.images.iter_mut().flat_map(|image| [&mut image.init, &mut image.expect])
        {
            let mut left = Vec::with_capacity(data.len());
            for datum in data.drain(..) {
                let (of_datum, rest) = gone.split_at(elements(&datum));
                without(&datum, of_datum, &mut left);
                gone = rest;
            }
            *data = left;
        }
        for entry in &mut program.ranks {
            entry.image = entry.image.filter(|image| !program.images[image.index()].is_empty());
        }
        Some(program)
    });
}

/// Adds to `left` the elements of `datum` that are not in `gone`, as one datum for each run of
/// neighbouring elements.
fn without(datum: &Datum, gone: &[bool], left: &mut Vec<Datum>) {
    let width = datum.datatype.width() as usize;
    let mut element = 0;
    for run in gone.chunk_by(|a, b| a == b) {
        let bytes = element * width..(element + run.len()) * width;
        element += run.len();
        if !run[0] {
            let addr = datum.addr + bytes.start as u64;
            left.push(Datum { addr, datatype: datum.datatype, bytes: datum.bytes[bytes].to_vec() });
        }
    }
}

/// Moves the used ranges of memory together, in all ranks alike. Then moves the used ranges of each
/// body's scratch memory together.
pub(super) fn compact(reducer: &mut Reducer<'_>) {
    let mut used = Vec::new();
    for image in &reducer.best.images {
        let data = image.init.iter().chain(&image.expect);
        used.extend(data.map(|datum| (datum.addr, datum.addr + datum.bytes.len() as u64)));
    }
    reducer.best.bodies.iter().for_each(|body| collect(body, Space::Memory, &mut used));
    let places = Places::new(used);
    let mut candidate = reducer.best.clone();
    candidate.bodies.iter_mut().for_each(|body| places.move_body(body, Space::Memory));
    for data in candidate.images.iter_mut().flat_map(|image| [&mut image.init, &mut image.expect]) {
        data.iter_mut().for_each(|datum| datum.addr = places.new_place(datum.addr));
    }
    reducer.attempt(candidate);
    let mut candidate = reducer.best.clone();
    for body in &mut candidate.bodies {
        let mut used = Vec::new();
        collect(body, Space::Scratch, &mut used);
        Places::new(used).move_body(body, Space::Scratch);
        body.scratch = body.extent(Space::Scratch);
    }
    reducer.attempt(candidate);
}

fn collect(body: &Body, space: Space, used: &mut Vec<(u64, u64)>) {
    for action in &body.actions {
        body.visit_pieces(action, |piece| {
            if piece.space == space {
                used.push((piece.addr, piece.addr + piece.size));
            }
        });
    }
}

/// The new places of the used ranges of memory.
struct Places {
    /// The old and the new begin of each used range, ascending.
    moves: Vec<(u64, u64)>,
}

impl Places {
    /// Places the ranges one after the other. Ranges that touch stay together, and every address
    /// keeps its remainder modulo 8.
    fn new(mut used: Vec<(u64, u64)>) -> Self {
        used.sort_unstable();
        let mut moves = Vec::new();
        let (mut end, mut free) = (None, 0u64);
        for (from, to) in used {
            if end.is_none_or(|end| from > end) {
                moves.push((from, free + (from - free) % 8));
            }
            end = end.max(Some(to));
            let (begin, place) = moves[moves.len() - 1];
            free = free.max(place + (to - begin));
        }
        Self { moves }
    }

    fn new_place(&self, addr: u64) -> u64 {
        match self.moves.partition_point(|&(begin, _)| begin <= addr).checked_sub(1) {
            Some(i) => self.moves[i].1 + (addr - self.moves[i].0),
            None => addr,
        }
    }

    fn move_body(&self, body: &mut Body, of: Space) {
        let one = |addr: &mut u64, space: Space| {
            if space == of {
                *addr = self.new_place(*addr);
            }
        };
        // The table may hold unused pieces, which can have any address.
        for Piece { addr, space, .. } in &mut body.pieces {
            one(addr, *space);
        }
        for action in &mut body.actions {
            match action {
                Action::Send { payload: Payload::Buffer(piece), .. }
                | Action::Recv { payload: Payload::Buffer(piece), .. } => {
                    one(&mut piece.addr, piece.space)
                }
                Action::Exec { spaces, has_c, a, b, c, .. } => {
                    one(a, spaces[0]);
                    one(b, spaces[1]);
                    if *has_c {
                        one(c, spaces[2]);
                    }
                }
                Action::Wtime { addr, space } => one(addr, *space),
                _ => {}
            }
        }
    }
}
