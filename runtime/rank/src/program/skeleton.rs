//! Creates the schedule of a job whose ranks are processes of a program. The schedule has no
//! actions, only the memory from which the program allocates.

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_lang::limits::Limits;
use goal_lang::{BodyBuilder, Datatype, Datum, MemoryImage, ProgramBuilder};
use std::sync::Arc;

/// The default size of a rank's heap in bytes, if there are few enough ranks for the segment.
pub const HEAP_BYTES: u64 = 1 << 30;
/// The divisor for the size of the largest segment. The quotient limits the default heaps of all
/// ranks together.
const HEAPS_SHARE: u64 = 2;
/// The unit of the sizes of default heaps, in bytes.
const PAGE: u64 = 4096;

/// Returns the default size of a rank's heap in bytes. The job has `ranks` ranks, and its segment
/// at most `segment_max` bytes.
pub fn heap_bytes(ranks: u32, segment_max: u64) -> u64 {
    let share = segment_max / HEAPS_SHARE / u64::from(ranks.max(1));
    HEAP_BYTES.min(share / PAGE * PAGE)
}

/// Returns a schedule of `ranks` ranks without actions, each with a memory of `heap` bytes.
pub fn skeleton(ranks: u32, heap: u64) -> Arc<Nisa> {
    let mut program = ProgramBuilder::default();
    let body = program.body(BodyBuilder::default().finish());
    // The memory of a rank ends with the last byte that the program names. So the image names the
    // last byte of the heap. No process stores this initial value.
    let last = heap.checked_sub(1).map(|addr| MemoryImage {
        init: vec![Datum { addr, datatype: Datatype::UInt8, bytes: vec![0] }],
        ..MemoryImage::default()
    });
    let image = last.map(|image| program.image(image));
    (0..ranks).for_each(|_| program.rank(body, image));
    let mut bytes = Vec::new();
    encode(&program.finish(), &EncodeOptions::default(), None, &mut bytes)
        .expect("no actions and one byte");
    let limits = Limits { ranks_max: u32::MAX, memory_bytes_max: u64::MAX, ..Limits::default() };
    Arc::new(Nisa::load(Arc::new(bytes), &limits).expect("what was encoded verifies"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skeleton_has_memory_and_nothing_to_do() {
        for heap in [0, 1, 4096, 1 << 40] {
            let nisa = skeleton(3, heap);
            assert_eq!(nisa.num_ranks(), 3);
            for rank in 0..3 {
                assert_eq!(nisa.memory_size(rank), heap);
                assert_eq!(nisa.section(rank).records().count(), 0);
            }
        }
    }

    #[test]
    fn default_heaps_fit_into_the_segment() {
        assert_eq!(heap_bytes(1, 1 << 38), 1 << 30);
        assert_eq!(heap_bytes(64, 1 << 38), 1 << 30);
        assert_eq!(heap_bytes(8192, 1 << 38), 16 << 20);
        assert_eq!(heap_bytes(3, 1 << 20), 172_032);
    }
}
