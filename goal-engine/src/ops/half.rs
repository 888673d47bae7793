//! Float16: computed as Float32, a block at a time, and rounded once. The significand of a Float32
//! has at least twice the bits of a Float16's and two more, so rounding to Float32 first never
//! changes the result.

use super::each::{Operands, numbers};
use super::element::Element;
use ::half::f16;
use ::half::slice::HalfFloatSliceExt;
use goal_lang::Op;

/// The number of elements in a block.
const COUNT: usize = 256;
/// The bytes of a block of Float16.
const BYTES: usize = 2 * COUNT;

/// Stores `a op b` in the result for each element.
pub(super) fn halves(op: Op, operands: Operands<'_>) {
    operands.blocks(BYTES, |block| {
        let (a, b) = block.inputs();
        let wide = compute(op, a, b);
        narrow(&wide, block.result());
    });
}

/// The results for at most a block, as Float32.
fn compute(op: Op, a: &[u8], b: &[u8]) -> [u8; 2 * BYTES] {
    let (wide_a, mut wide_b) = (widened(a), widened(b));
    numbers::<f32>(
        op,
        Operands::IntoB { a: &wide_a[..2 * a.len()], b: &mut wide_b[..2 * b.len()] },
    );
    wide_b
}

fn widened(bytes: &[u8]) -> [u8; 2 * BYTES] {
    let (mut halves, mut singles, mut wide) = ([f16::ZERO; COUNT], [0.0; COUNT], [0; 2 * BYTES]);
    let count = bytes.len() / 2;
    for (half, bytes) in halves.iter_mut().zip(bytes.as_chunks().0) {
        *half = f16::from_le_bytes(*bytes);
    }
    halves[..count].convert_to_f32_slice(&mut singles[..count]);
    for (wide, single) in f32::of_mut(&mut wide).iter_mut().zip(&singles[..count]) {
        *wide = single.store();
    }
    wide
}

/// Rounds to Float16 as many elements as fit in `to`.
fn narrow(wide: &[u8], to: &mut [u8]) {
    let (mut halves, mut singles) = ([f16::ZERO; COUNT], [0.0; COUNT]);
    let count = to.len() / 2;
    for (single, wide) in singles[..count].iter_mut().zip(f32::of(wide)) {
        *single = f32::load(*wide);
    }
    halves[..count].convert_from_f32_slice(&singles[..count]);
    for (to, half) in to.as_chunks_mut().0.iter_mut().zip(halves) {
        *to = half.to_le_bytes();
    }
}
