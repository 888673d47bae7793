//! Copies payloads, and avoids a slow case of the C library's `memcpy`.
//!
//! The C library copies long blocks by `rep movsb` where the processor claims to do that fast.
//! AMD's Zen 3 and Zen 4 claim it. But they are some 16 times slower if the target lies 1 to 31
//! bytes behind the source, counted within a page (64 KiB: 36 us instead of 2). Large blocks from
//! `malloc` begin 16 bytes behind a page, and payloads in rings begin with a cache line. So most
//! long messages that a program receives meet this case.

/// The least distance of target and source within a page, in bytes, at which `rep movsb` is fast.
const NEAR: usize = 32;
/// The size of a page in bytes.
const PAGE: usize = 4096;
/// Pieces of this size are copied without `rep movsb`. The least threshold of the GNU C library is
/// 2112 bytes.
const PIECE: usize = 2048;

/// Copies `source` to `target`.
///
/// # Panics
/// If their lengths differ.
#[inline]
pub fn copy(target: &mut [u8], source: &[u8]) {
    let behind = target.as_ptr().addr().wrapping_sub(source.as_ptr().addr()) % PAGE;
    if source.len() > PIECE && (1..NEAR).contains(&behind) {
        copy_in_pieces(target, source);
    } else {
        target.copy_from_slice(source);
    }
}

/// Copies bytes; none or eight of them without a call to `memcpy`.
#[inline]
pub(crate) fn copy_short(target: &mut [u8], bytes: &[u8]) {
    if target.is_empty() && bytes.is_empty() {
        return;
    }
    match (<&mut [u8; 8]>::try_from(&mut *target), <&[u8; 8]>::try_from(bytes)) {
        (Ok(target), Ok(bytes)) => *target = *bytes,
        _ => copy(target, bytes),
    }
}

/// Copies piece by piece, the last piece first. The target of a piece lies behind its source. In
/// this order a load has another address within its page than the stores before it, so it need not
/// wait for them.
#[inline(never)]
fn copy_in_pieces(target: &mut [u8], source: &[u8]) {
    assert_eq!(target.len(), source.len(), "a copy to memory of another length");
    let pieces = target.chunks_mut(PIECE).zip(source.chunks(PIECE));
    pieces.rev().for_each(|(target, source)| target.copy_from_slice(source));
}

#[cfg(test)]
mod tests {
    use super::{NEAR, PAGE, PIECE, copy};

    #[test]
    fn every_byte_is_copied_at_every_distance() {
        const PAGES: usize = 2 * PAGE;
        for len in [0, 1, 7, 64, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 100, 3 * PIECE - 1] {
            for distance in 0..2 * NEAR {
                // In one block, so that the distance within a page is this one.
                let mut block = vec![0xee; 2 * PAGES + 2 * NEAR];
                let (source, target) = block.split_at_mut(PAGES);
                source.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 7 + i / 256) as u8);
                let (from, to) = (&source[3..3 + len], 3 + distance);
                copy(&mut target[to..to + len], from);
                assert_eq!(&target[to..to + len], from);
                let is_left = |&byte: &u8| byte == 0xee;
                assert!(target[..to].iter().all(is_left), "{len} bytes at {distance}");
                assert!(target[to + len..].iter().all(is_left), "{len} bytes at {distance}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "length")]
    fn lengths_must_be_equal() {
        copy(&mut [0; 3 * PIECE][1..], &[1; 3 * PIECE]);
    }
}
