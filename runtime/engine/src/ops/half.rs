//! The operations on Float16 elements. A block of them is computed as Float32 and rounded once. The
//! significand of a Float32 has at least twice the bits of a Float16's and two more, so rounding to
//! Float32 first never changes the result.

use super::operators::Operator;
use ::half::f16;
use ::half::slice::HalfFloatSliceExt;

/// The number of elements in a block.
const COUNT: usize = 32;
/// A block of Float16.
pub(super) type Halves = [[u8; 2]; COUNT];
/// A block of Float16, widened to Float32.
pub(super) type Singles = [f32; COUNT];

/// Stores `a op b` in B for each element.
#[inline(always)]
pub(super) fn two<O: Operator<f32>>(
    a: &[u8],
    b: &mut [u8],
    widen: impl Fn(&Halves) -> Singles,
    narrow: impl Fn(&Singles) -> Halves,
) {
    let (a, a_rest) = blocks(a);
    let (b, b_rest) = b.as_chunks_mut().0.as_chunks_mut();
    for (b, a) in b.iter_mut().zip(a) {
        *b = narrow(&compute::<O>(&widen(a), &widen(b)));
    }
    if !b_rest.is_empty() {
        let result = narrow(&compute::<O>(&widen(&padded(a_rest)), &widen(&padded(b_rest))));
        b_rest.copy_from_slice(&result[..b_rest.len()]);
    }
}

/// Stores `a op b` in C for each element.
#[inline(always)]
pub(super) fn three<O: Operator<f32>>(
    a: &[u8],
    b: &[u8],
    c: &mut [u8],
    widen: impl Fn(&Halves) -> Singles,
    narrow: impl Fn(&Singles) -> Halves,
) {
    let (a, a_rest) = blocks(a);
    let (b, b_rest) = blocks(b);
    let (c, c_rest) = c.as_chunks_mut().0.as_chunks_mut();
    for ((c, a), b) in c.iter_mut().zip(a).zip(b) {
        *c = narrow(&compute::<O>(&widen(a), &widen(b)));
    }
    if !c_rest.is_empty() {
        let result = narrow(&compute::<O>(&widen(&padded(a_rest)), &widen(&padded(b_rest))));
        c_rest.copy_from_slice(&result[..c_rest.len()]);
    }
}

/// Returns the blocks of an operand, and the elements behind the last block.
#[inline(always)]
fn blocks(bytes: &[u8]) -> (&[Halves], &[[u8; 2]]) {
    bytes.as_chunks().0.as_chunks()
}

/// Returns a block that begins with `elements`, followed by zeros.
#[inline(always)]
fn padded(elements: &[[u8; 2]]) -> Halves {
    let mut block = [[0; 2]; COUNT];
    block[..elements.len()].copy_from_slice(elements);
    block
}

#[inline(always)]
fn compute<O: Operator<f32>>(a: &Singles, b: &Singles) -> Singles {
    std::array::from_fn(|i| O::apply(a[i], b[i]))
}

/// Converts to Float32 without special instructions.
pub(super) fn widen(halves: &Halves) -> Singles {
    let mut singles = [0.0; COUNT];
    halves.map(f16::from_le_bytes).convert_to_f32_slice(&mut singles);
    singles
}

/// Rounds to Float16 without special instructions.
pub(super) fn narrow(singles: &Singles) -> Halves {
    let mut halves = [f16::ZERO; COUNT];
    halves.convert_from_f32_slice(singles);
    halves.map(f16::to_le_bytes)
}

/// The conversions by special instructions. Each converts 8 elements.
#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use super::{COUNT, Halves, Singles};
    use std::arch::x86_64::{
        __m128i, __m256, _MM_FROUND_TO_NEAREST_INT, _mm256_cvtph_ps, _mm256_cvtps_ph,
    };

    #[target_feature(enable = "avx2,f16c")]
    #[inline]
    pub(in super::super) fn widen(halves: &Halves) -> Singles {
        let parts: [__m128i; COUNT / 8] = zerocopy::transmute!(*halves);
        let wide: [__m256; COUNT / 8] = parts.map(|part| _mm256_cvtph_ps(part));
        zerocopy::transmute!(wide)
    }

    #[target_feature(enable = "avx2,f16c")]
    #[inline]
    pub(in super::super) fn narrow(singles: &Singles) -> Halves {
        let parts: [__m256; COUNT / 8] = zerocopy::transmute!(*singles);
        let narrow: [__m128i; COUNT / 8] =
            parts.map(|part| _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(part));
        zerocopy::transmute!(narrow)
    }
}
