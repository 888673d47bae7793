//! SipHash-2-4 with 128 bits of output for several long messages at once, one in each lane of the
//! processor's vectors.
//!
//! A single SipHash is a chain of instructions. Each instruction waits for the one before, so most
//! of the processor idles. The lanes do not wait for each other. `unsafe`: a function that is
//! compiled for instructions that not every processor has.
#![allow(unsafe_code)]

use std::array::from_fn;

/// The number of messages that are hashed at once.
pub(crate) const LANES: usize = 8;

/// The least number of messages for which hashing them together is faster than one after the other.
const WORTH: usize = 3;

/// The length of a block in bytes. The loop reads one block from each message in turn.
const BLOCK: usize = 64;

/// The length of the beginning of a message, in bytes.
pub(super) const START_LEN: usize = 48;

/// A message to be hashed: its first [`START_LEN`] bytes, which are whole words, and all other
/// bytes.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    /// The key.
    pub(super) key: &'a [u8; 16],
    /// The first bytes.
    pub(super) start: [u8; START_LEN],
    /// All bytes behind them.
    pub(super) rest: &'a [u8],
}

/// The hashes of the messages, in their order.
pub(super) type Hashes = [[u8; 16]; LANES];

/// Returns true if `messages` messages are hashed faster with [`hash`] than one after the other.
pub(super) fn are_worth(messages: usize) -> bool {
    messages >= WORTH && set().is_some()
}

/// Returns the hashes of all messages.
pub(super) fn hash(inputs: &[Input<'_>; LANES]) -> Hashes {
    match set() {
        // SAFETY: this processor has the instructions.
        #[cfg(target_arch = "x86_64")]
        Some(Set::Avx512) => unsafe { avx512(inputs) },
        // SAFETY: this processor has the instructions.
        #[cfg(target_arch = "x86_64")]
        Some(Set::Avx2) => unsafe { avx2(inputs) },
        None => all(inputs),
    }
}

/// A set of vector instructions with which hashing in lanes is faster.
#[derive(Clone, Copy)]
enum Set {
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Returns the fastest set of this processor. Processors before VBMI2 lower their clock for
/// vectors of 64 bytes.
#[inline]
fn set() -> Option<Set> {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi2")
        {
            return Some(Set::Avx512);
        }
        if is_x86_feature_detected!("avx2") {
            return Some(Set::Avx2);
        }
    }
    None
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn avx512(inputs: &[Input<'_>; LANES]) -> Hashes {
    all(inputs)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(inputs: &[Input<'_>; LANES]) -> Hashes {
    all(inputs)
}

/// A word of each lane.
type Words = [u64; LANES];

/// The state of all lanes.
struct State([Words; 4]);

#[inline(always)]
fn all(inputs: &[Input<'_>; LANES]) -> Hashes {
    let mut state = State::new(inputs.map(|input| input.key));
    for at in (0..START_LEN).step_by(8) {
        state.absorb(from_fn(|lane| word(&inputs[lane].start[at..at + 8])));
    }
    let rests = inputs.map(|input| input.rest);
    let shortest = rests.iter().map(|rest| rest.len()).min().unwrap_or(0) / 8 * 8;
    for at in (0..shortest / BLOCK * BLOCK).step_by(BLOCK) {
        let blocks: [&[u8; BLOCK]; LANES] =
            rests.map(|rest| rest[at..at + BLOCK].try_into().expect("a block"));
        for at in (0..BLOCK).step_by(8) {
            state.absorb(from_fn(|lane| word(&blocks[lane][at..at + 8])));
        }
    }
    for at in (shortest / BLOCK * BLOCK..shortest).step_by(8) {
        state.absorb(from_fn(|lane| word(&rests[lane][at..at + 8])));
    }
    // The longer messages go on. The state of a message that has ended stays.
    let longest = rests.iter().map(|rest| rest.len()).max().unwrap_or(0) / 8 * 8;
    for at in (shortest..longest).step_by(8) {
        let before = state.0;
        state.absorb(rests.map(|rest| rest.get(at..at + 8).map_or(0, word)));
        for (words, before) in state.0.iter_mut().zip(&before) {
            let goes_on = |lane: usize| at + 8 <= rests[lane].len();
            *words = from_fn(|lane| if goes_on(lane) { words[lane] } else { before[lane] });
        }
    }
    let last = rests.map(|rest| {
        let end = &rest[rest.len() / 8 * 8..];
        let mut last = [0; 8];
        last[..end.len()].copy_from_slice(end);
        last[7] = (START_LEN + rest.len()) as u8;
        u64::from_le_bytes(last)
    });
    state.absorb(last);
    state.finish()
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

impl State {
    #[inline(always)]
    fn new(keys: [&[u8; 16]; LANES]) -> Self {
        let halves = |at: usize| keys.map(|key| word(&key[at..at + 8]));
        let (low, high) = (halves(0), halves(8));
        Self([
            low.map(|half| half ^ 0x736f_6d65_7073_6575),
            high.map(|half| half ^ 0x646f_7261_6e64_6f6d ^ 0xee),
            low.map(|half| half ^ 0x6c79_6765_6e65_7261),
            high.map(|half| half ^ 0x7465_6462_7974_6573),
        ])
    }

    #[inline(always)]
    fn absorb(&mut self, words: Words) {
        xor(&mut self.0[3], &words);
        self.rounds::<2>();
        xor(&mut self.0[0], &words);
    }

    #[inline(always)]
    fn finish(mut self) -> Hashes {
        self.0[2] = self.0[2].map(|word| word ^ 0xee);
        self.rounds::<4>();
        let low = self.folded();
        self.0[1] = self.0[1].map(|word| word ^ 0xdd);
        self.rounds::<4>();
        let high = self.folded();
        from_fn(|lane| {
            let mut hash = [0; 16];
            hash[..8].copy_from_slice(&low[lane].to_le_bytes());
            hash[8..].copy_from_slice(&high[lane].to_le_bytes());
            hash
        })
    }

    #[inline(always)]
    fn folded(&self) -> Words {
        from_fn(|lane| self.0.iter().fold(0, |fold, words| fold ^ words[lane]))
    }

    #[inline(always)]
    fn rounds<const COUNT: usize>(&mut self) {
        let Self([a, b, c, d]) = self;
        for _ in 0..COUNT {
            add(a, b);
            add(c, d);
            turn(b, 13);
            turn(d, 16);
            xor(b, a);
            xor(d, c);
            turn(a, 32);
            add(c, b);
            add(a, d);
            turn(b, 17);
            turn(d, 21);
            xor(b, c);
            xor(d, a);
            turn(c, 32);
        }
    }
}

#[inline(always)]
fn add(to: &mut Words, words: &Words) {
    *to = from_fn(|lane| to[lane].wrapping_add(words[lane]));
}

#[inline(always)]
fn xor(to: &mut Words, words: &Words) {
    *to = from_fn(|lane| to[lane] ^ words[lane]);
}

#[inline(always)]
fn turn(words: &mut Words, bits: u32) {
    *words = words.map(|word| word.rotate_left(bits));
}
