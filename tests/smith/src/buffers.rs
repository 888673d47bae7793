//! Changes a program so that the memory of its ranks is a table of buffers.

use goal_lang::{Datum, MemoryImage, Program, ProgramBuilder, flat_offsets};
use std::ops::Range;

/// Returns the same program with each rank's memory as a table of buffers. A buffer ends wherever
/// this divides no action's operand. The addresses of its images are those of the buffers in one
/// region ([`flat_offsets`]).
///
/// # Panics
/// If a rank has more than [`BUFFERS_MAX`](goal_lang::BUFFERS_MAX) buffers.
pub fn on_buffers(program: &Program) -> Program {
    let mut builder = ProgramBuilder::default();
    for rank in 0..program.num_ranks() {
        let mut body = program.body_of(rank).clone();
        let size = program.memory_size(rank);
        let used = body.clone().make_table(&[]).expect("nothing is declared");
        let mut cuts: Vec<u64> = used.into_iter().filter(|&cut| 0 < cut && cut < size).collect();
        cuts.insert(0, 0);
        let ends = cuts[1..].iter().copied().chain([size]);
        let ranges: Vec<Range<u64>> = cuts.iter().copied().zip(ends).map(|(a, b)| a..b).collect();
        body.make_table(&ranges).expect("no action is divided");
        let (offsets, _) = flat_offsets(body.buffers.iter().copied()).expect("below 2^64 bytes");
        let image = program.image_of(rank).map(|image| {
            let moved = |data: &[Datum]| {
                data.iter().flat_map(|datum| split(datum, &ranges, &offsets)).collect()
            };
            builder.image(MemoryImage { init: moved(&image.init), expect: moved(&image.expect) })
        });
        let body = builder.body(body);
        builder.rank(body, image);
    }
    builder.finish()
}

/// Returns the parts of `datum` that are in the ranges, each moved to the offset of its range.
fn split(datum: &Datum, ranges: &[Range<u64>], offsets: &[u64]) -> Vec<Datum> {
    let of = datum.addr..datum.addr + datum.bytes.len() as u64;
    let part = |(range, &offset): (&Range<u64>, &u64)| {
        let (start, end) = (of.start.max(range.start), of.end.min(range.end));
        (start < end).then(|| Datum {
            addr: offset + start - range.start,
            datatype: goal_lang::Datatype::Int8,
            bytes: datum.bytes[(start - of.start) as usize..(end - of.start) as usize].to_vec(),
        })
    };
    ranges.iter().zip(offsets).filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use goal_lang::{Space, buffer_of};

    #[test]
    fn addresses_name_buffers() {
        let mut several = 0;
        for seed in 0..200 {
            let program = crate::program(seed, &Shape::varied(seed));
            let tabled = on_buffers(&program);
            for rank in 0..program.num_ranks() {
                let body = tabled.body_of(rank);
                several += usize::from(body.buffers.len() > 1);
                for action in &body.actions {
                    body.visit_pieces(action, |piece| {
                        let (buffer, offset) = buffer_of(piece.addr);
                        assert!(
                            piece.space == Space::Scratch
                                || offset + piece.size <= body.buffers[buffer]
                        );
                    });
                }
            }
        }
        assert!(several > 200, "{several} ranks with several buffers");
    }
}
