//! The bytes of an `Nb` payload: a send without an address carries them, and its receive checks
//! them.
//!
//! The pattern depends on the message and on the offset in it, so a lost, repeated, swapped or
//! shifted piece is detected. Every part of a message can be made and checked by itself: a
//! transport that moves chunks needs no state.

/// The identity of a message within its instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageKey {
    /// Rank that sends.
    pub source: u32,
    /// Rank that receives.
    pub destination: u32,
    /// Tag of the send.
    pub tag: u32,
    /// The number of the message among all messages of the instance from `source` to `destination`,
    /// in order of issue, from 0.
    pub sequence: u64,
}

/// The difference between two neighbouring words of a pattern before mixing (2^64 / golden ratio).
/// It is odd, so that no two words of a message of less than 2^67 bytes are the same before mixing.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const WORD: usize = 8;

impl MessageKey {
    /// Writes the pattern's bytes from `offset` on into `out`.
    pub fn fill(&self, offset: u64, out: &mut [u8]) {
        let (mut word, head) = self.begin(offset);
        let (first, rest) = out.split_at_mut(head.len().min(out.len()));
        first.copy_from_slice(&head.bytes()[..first.len()]);
        let mut chunks = rest.chunks_exact_mut(WORD);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&mix(word).to_le_bytes());
            word = word.wrapping_add(STEP);
        }
        let tail = chunks.into_remainder();
        tail.copy_from_slice(&mix(word).to_le_bytes()[..tail.len()]);
    }

    /// Compares `bytes` with the pattern from `offset` on.
    ///
    /// # Errors
    /// The offset in the message of the first byte that differs.
    pub fn check(&self, offset: u64, bytes: &[u8]) -> Result<(), u64> {
        // Differences are merged over a block, so that the inner loop has no branch.
        const BLOCK: usize = 64 * WORD;
        let (mut word, head) = self.begin(offset);
        let (first, rest) = bytes.split_at(head.len().min(bytes.len()));
        let mut good = first == &head.bytes()[..first.len()];
        let mut blocks = rest.chunks_exact(BLOCK);
        for block in &mut blocks {
            let mut difference = 0;
            for chunk in block.as_chunks::<WORD>().0 {
                difference |= u64::from_le_bytes(*chunk) ^ mix(word);
                word = word.wrapping_add(STEP);
            }
            good &= difference == 0;
        }
        let (chunks, tail) = blocks.remainder().as_chunks::<WORD>();
        for chunk in chunks {
            good &= u64::from_le_bytes(*chunk) == mix(word);
            word = word.wrapping_add(STEP);
        }
        good &= tail == &mix(word).to_le_bytes()[..tail.len()];
        if good { Ok(()) } else { Err(self.first_difference(offset, bytes)) }
    }

    /// Returns the byte of the pattern at `offset`.
    pub fn byte(&self, offset: u64) -> u8 {
        let mut byte = [0];
        self.fill(offset, &mut byte);
        byte[0]
    }

    fn first_difference(&self, offset: u64, bytes: &[u8]) -> u64 {
        let mut at = offset;
        for &byte in bytes {
            if byte != self.byte(at) {
                break;
            }
            at += 1;
        }
        at
    }

    /// Returns the state at the first whole word at or after `offset`, and the bytes from `offset`
    /// to that word.
    fn begin(&self, offset: u64) -> (u64, Head) {
        let word = self.seed().wrapping_add((offset / WORD as u64).wrapping_mul(STEP));
        match (offset % WORD as u64) as usize {
            0 => (word, Head { word: [0; WORD], skip: WORD }),
            skip => (word.wrapping_add(STEP), Head { word: mix(word).to_le_bytes(), skip }),
        }
    }

    fn seed(&self) -> u64 {
        let ranks = u64::from(self.source) << 32 | u64::from(self.destination);
        let seed = scramble(scramble(ranks).wrapping_add(u64::from(self.tag)));
        scramble(seed.wrapping_add(self.sequence))
    }
}

/// The last bytes of a word that begins before the wanted bytes.
struct Head {
    word: [u8; WORD],
    skip: usize,
}

impl Head {
    fn len(&self) -> usize {
        WORD - self.skip
    }

    fn bytes(&self) -> &[u8] {
        &self.word[self.skip..]
    }
}

/// Mixes the high half of the word, whose bits are well mixed, into the low half. Cheap enough for
/// the inner loop.
#[inline(always)]
fn mix(word: u64) -> u64 {
    word ^ (word >> 32)
}

/// A bijection with full avalanche (the finalizer of MurmurHash3), for the seed only.
fn scramble(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

/// Writes the pattern of message number `sequence` from `source` to `destination` with `tag`, from
/// `offset` on.
pub fn fill(source: u32, destination: u32, tag: u32, sequence: u64, offset: u64, out: &mut [u8]) {
    MessageKey { source, destination, tag, sequence }.fill(offset, out);
}

/// Compares `bytes` with the pattern of message number `sequence` from `source` to `destination`
/// with `tag`, from `offset` on.
///
/// # Errors
/// The offset in the message of the first byte that differs.
pub fn check(
    source: u32,
    destination: u32,
    tag: u32,
    sequence: u64,
    offset: u64,
    bytes: &[u8],
) -> Result<(), u64> {
    MessageKey { source, destination, tag, sequence }.check(offset, bytes)
}

#[cfg(test)]
mod tests {
    use super::MessageKey;

    const KEY: MessageKey = MessageKey { source: 3, destination: 1, tag: 7, sequence: 2 };

    #[test]
    fn any_part_can_be_made_and_checked_alone() {
        let mut whole = vec![0; 2000];
        KEY.fill(0, &mut whole);
        for offset in 0..20 {
            for len in [0, 1, 5, 7, 8, 9, 16, 17, 511, 512, 530, 1100] {
                let mut part = vec![0; len];
                KEY.fill(offset as u64, &mut part);
                assert_eq!(part, whole[offset..offset + len]);
                assert_eq!(KEY.check(offset as u64, &part), Ok(()));
            }
        }
        assert_eq!(KEY.byte(777), whole[777]);
    }

    #[test]
    fn every_flipped_byte_is_found_in_its_place() {
        let mut bytes = vec![0; 1300];
        KEY.fill(5, &mut bytes);
        for at in 0..bytes.len() {
            bytes[at] ^= 0x10;
            assert_eq!(KEY.check(5, &bytes), Err(5 + at as u64));
            bytes[at] ^= 0x10;
        }
    }

    #[test]
    fn messages_and_offsets_differ() {
        let mut bytes = [0; 64];
        KEY.fill(0, &mut bytes);
        let others = [
            MessageKey { source: 1, destination: 3, ..KEY },
            MessageKey { destination: 2, ..KEY },
            MessageKey { tag: 8, ..KEY },
            MessageKey { sequence: 3, ..KEY },
        ];
        for other in others {
            assert!(other.check(0, &bytes).is_err());
        }
        for offset in [1, 8, 64, 4096] {
            assert!(KEY.check(offset, &bytes).is_err());
        }
    }

    #[test]
    fn far_offsets_do_not_overflow() {
        let mut bytes = [0; 15];
        let offset = u64::MAX - 15;
        KEY.fill(offset, &mut bytes);
        assert_eq!(KEY.check(offset, &bytes), Ok(()));
    }
}
