//! Compares every operation with the reference interpreter's, bit by bit: on every type, in all
//! forms of aliasing, and in every instruction set of the processor.

// Regions over a test's own bytes.
#![allow(unsafe_code)]

use super::{DivisionByZero, InstructionSet, apply, apply_scattered, apply_with};
use crate::memory::{Region, Span};
use fastrand::Rng;
use goal_lang::{Datatype, Op, is_legal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Which operands are the result's bytes.
const ALIASES: [[usize; 3]; 5] = [[0, 1, 2], [0, 0, 2], [0, 1, 1], [0, 1, 0], [0, 0, 0]];

fn legal() -> impl Iterator<Item = (Op, Datatype)> {
    let pairs =
        Op::ALL.iter().flat_map(|&op| Datatype::ALL.iter().map(move |&datatype| (op, datatype)));
    pairs.filter(|&(op, datatype)| is_legal(op, datatype))
}

/// The instruction sets that this processor has.
fn sets() -> impl Iterator<Item = InstructionSet> {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available())
}

/// Elements of all kinds: any bits, small numbers, and those at which definitions part; or only
/// such as no type takes for a NaN.
fn element(rng: &mut Rng, datatype: Datatype, is_number: bool) -> [u8; 8] {
    let bits = 8 * datatype.width() as u32;
    let (exponent, mantissa) = match datatype {
        Datatype::Float16 => (0x7c00, 10),
        Datatype::Float32 => (0x7f80_0000, 23),
        _ => (0x7ff0_0000_0000_0000, 52),
    };
    let sign = 1u64 << (bits - 1);
    let special = match rng.u8(0..if is_number { 6 } else { 12 }) {
        0 => 0,
        1 => sign,
        2 => 1,
        3 => exponent,
        4 => exponent | sign,
        5 => rng.u64(1..8),
        6 => u64::MAX,
        7 => exponent | 1 << (mantissa - 1),
        8 => exponent | sign | 5,
        9 => sign - 1,
        _ => rng.u64(..),
    };
    special.to_le_bytes()
}

fn elements(rng: &mut Rng, datatype: Datatype, count: usize) -> Vec<u8> {
    /// Elements in a row that are all numbers, or not.
    const ALIKE: usize = 500;
    let width = datatype.width() as usize;
    let mut is_number = false;
    let next = |at: usize| {
        if at.is_multiple_of(ALIKE) {
            is_number = rng.bool();
        }
        element(rng, datatype, is_number).into_iter().take(width)
    };
    (0..count).flat_map(next).collect()
}

/// Places of an operand's bytes in a test's memory, in order.
type Places = Vec<(usize, usize)>;

fn gather(memory: &[u8], places: &Places) -> Vec<u8> {
    places.iter().flat_map(|&(at, len)| memory[at..at + len].iter().copied()).collect()
}

fn scatter(memory: &mut [u8], places: &Places, bytes: &[u8]) {
    let mut rest = bytes;
    for &(at, len) in places {
        let now;
        (now, rest) = rest.split_at(rest.len().min(len));
        memory[at..at + now.len()].copy_from_slice(now);
    }
}

/// The expected memory and result.
fn oracle(
    op: Op,
    datatype: Datatype,
    memory: &mut [u8],
    operands: [&Places; 3],
) -> Result<(), DivisionByZero> {
    let (a, b) = (gather(memory, operands[0]), gather(memory, operands[1]));
    let result = goal_interp::apply(op, datatype, &a, &b);
    let whole = match result {
        Ok(_) => a.len(),
        Err(goal_interp::DivisionByZero(element)) => (element * datatype.width()) as usize,
    };
    let before = goal_interp::apply(op, datatype, &a[..whole], &b[..whole])
        .expect("no zero divisor before the first");
    scatter(memory, operands[if op == Op::Copy { 1 } else { 2 }], &before);
    result.map(drop).map_err(|goal_interp::DivisionByZero(element)| DivisionByZero { element })
}

/// Runs `compute` and the oracle on copies of `memory`, and compares everything.
fn compare(
    op: Op,
    datatype: Datatype,
    memory: &[u8],
    operands: [&Places; 3],
    compute: impl FnOnce([Vec<Span>; 3]) -> Result<(), DivisionByZero>,
) {
    let (mut found, mut wanted) = (memory.to_vec(), memory.to_vec());
    // SAFETY: the bytes live until the comparison, and nothing else refers to them until `compute`
    // is done.
    let region = unsafe { Region::new(found.as_mut_ptr(), found.len()) };
    let spans = operands
        .map(|places| places.iter().map(|&(at, len)| region.span(at as u64, len as u64)).collect());
    let result = compute(spans);
    let name = || format!("{}{} on {operands:?}", op.name(), datatype.name());
    assert_eq!(result, oracle(op, datatype, &mut wanted, operands), "{}", name());
    let differs = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
    assert_eq!(differs, None, "first byte that differs, {}", name());
}

/// Compares the loops of all instruction sets on consecutive buffers of `count` elements, whose
/// first bytes lie `offset` bytes after the multiples of 64.
fn compare_sets(
    rng: &mut Rng,
    (op, datatype): (Op, Datatype),
    aliases: [usize; 3],
    count: usize,
    offsets: [usize; 3],
) {
    let size = count * datatype.width() as usize;
    let distance = (size + 64).next_multiple_of(64);
    let places = [0, 1, 2].map(|i| vec![(i * distance + offsets[i], size)]);
    let mut memory = vec![0xa5; 3 * distance];
    for place in &places {
        let values = elements(rng, datatype, count);
        scatter(&mut memory, place, &values);
    }
    let operands = aliases.map(|i| &places[i]);
    for set in sets() {
        compare(op, datatype, &memory, operands, |spans| {
            let [a, b, c] = spans.map(|spans| spans[0]);
            apply_with(set.kernels(), op, datatype, a, b, c)
        });
    }
}

#[test]
fn consecutive_buffers() {
    let mut rng = Rng::with_seed(1);
    for function in legal() {
        for aliases in ALIASES {
            for count in [0, 1, 2, 7, 64, 301, 6000] {
                compare_sets(&mut rng, function, aliases, count, [1, 5, 11]);
            }
        }
    }
}

/// Every length up to some vectors and a rest.
#[test]
fn short_buffers() {
    let mut rng = Rng::with_seed(3);
    for function in legal() {
        for count in 0..=130 {
            let offsets = [rng.usize(0..64), rng.usize(0..64), rng.usize(0..64)];
            let aliases = ALIASES[rng.usize(0..ALIASES.len())];
            compare_sets(&mut rng, function, aliases, count, offsets);
        }
    }
}

/// Every pair of some values of each kind, as every element of a vector.
#[test]
fn pairs_of_special_values() {
    for (op, datatype) in legal() {
        let values = specials(datatype);
        let width = datatype.width() as usize;
        let pairs = values.iter().flat_map(|a| values.iter().map(move |b| (a, b)));
        let (a, b): (Vec<_>, Vec<_>) =
            pairs.flat_map(|(a, b)| [(&a[..width], &b[..width]); 3]).unzip();
        let (a, b) = (a.concat(), b.concat());
        let size = a.len();
        let mut memory = [a, b].concat();
        memory.resize(3 * size, 0);
        let places = [0, 1, 2].map(|i| vec![(i * size, size)]);
        // Elements one by one, because a division ends with the first zero divisor.
        let step = if op == Op::Div && !datatype.is_float() { width } else { size };
        for set in sets() {
            for at in (0..size).step_by(step) {
                let places = places.each_ref().map(|place| vec![(place[0].0 + at, step)]);
                compare(op, datatype, &memory, places.each_ref(), |spans| {
                    let [a, b, c] = spans.map(|spans| spans[0]);
                    apply_with(set.kernels(), op, datatype, a, b, c)
                });
            }
        }
    }
}

/// The values at which definitions part: zeros, ones, the least and the largest, infinities, NaN of
/// both signs, quiet and signalling, and denormals.
fn specials(datatype: Datatype) -> Vec<[u8; 8]> {
    let bits = 8 * datatype.width() as u32;
    let sign = 1u64 << (bits - 1);
    let values = match datatype {
        Datatype::Float16 => vec![0, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7e00],
        Datatype::Float32 => vec![
            0,
            1,
            0x007f_ffff,
            0x0080_0000,
            0x3f80_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0x7f80_0001,
            0x7fc0_0000,
            0x7fc0_0005,
        ],
        Datatype::Float64 => vec![
            0,
            1,
            (1 << 52) - 1,
            1 << 52,
            0x3ff << 52,
            (0x7ff << 52) - 1,
            0x7ff << 52,
            (0x7ff << 52) + 1,
            0xfff << 51,
            (0xfff << 51) + 5,
        ],
        _ => vec![0, 1, 2, 7, sign - 1, sign - 2],
    };
    values.into_iter().flat_map(|value| [value, value | sign]).map(u64::to_le_bytes).collect()
}

/// Cuts at random places into successive pieces. Most of them are short, so elements straddle them.
fn cut(rng: &mut Rng, places: &Places) -> Places {
    let mut pieces = Places::new();
    for &(mut at, mut len) in places {
        while len > 0 {
            let longest = if rng.bool() { 3 } else { 40 };
            let piece = rng.usize(1..=longest).min(len);
            pieces.push((at, piece));
            (at, len) = (at + piece, len - piece);
        }
    }
    pieces
}

#[test]
fn scattered_buffers() {
    let mut rng = Rng::with_seed(2);
    for (op, datatype) in legal() {
        for aliases in ALIASES {
            for count in [0, 1, 2, 9, 50] {
                let size = count * datatype.width() as usize;
                let gap = 2 * size + 3;
                // Pieces of every operand lie in a random order with gaps between them.
                let places = [0, 1, 2].map(|i| {
                    let mut pieces = cut(&mut rng, &vec![(0, size)]);
                    rng.shuffle(&mut pieces);
                    pieces.iter().map(|&(at, len)| (1 + i * gap + 2 * at, len)).collect::<Places>()
                });
                let mut memory = vec![0xa5; 3 * gap + 1];
                for place in &places {
                    let values = elements(&mut rng, datatype, count);
                    scatter(&mut memory, place, &values);
                }
                // Each operand cuts its bytes into pieces anew, even if two operands are the same
                // bytes.
                let operands = aliases.map(|i| cut(&mut rng, &places[i]));
                compare(op, datatype, &memory, operands.each_ref(), |[a, b, c]| {
                    apply_scattered(op, datatype, &a, &b, &c)
                });
            }
        }
    }
}

#[test]
fn a_division_by_zero_names_its_element_and_stops_there() {
    let values: Vec<u8> =
        [12, 35, 7, 9].into_iter().chain([4, 5, 0, 3]).flat_map(i32::to_le_bytes).collect();
    let operands = [vec![(0, 5), (5, 11)], vec![(16, 16)], vec![(0, 16)]];
    compare(Op::Div, Datatype::Int32, &values, operands.each_ref(), |[a, b, c]| {
        let result = apply_scattered(Op::Div, Datatype::Int32, &a, &b, &c);
        assert_eq!(result, Err(DivisionByZero { element: 2 }));
        c[0].read(|bytes| assert_eq!(bytes[..12], [3, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0]));
        result
    });
}

#[test]
#[should_panic(expected = "overlaps")]
fn a_partial_overlap_is_refused() {
    let mut bytes = [0; 16];
    // SAFETY: the bytes live as long as the region.
    let region = unsafe { Region::new(bytes.as_mut_ptr(), 16) };
    let _ =
        apply(Op::Sum, Datatype::Int32, region.span(0, 8), region.span(8, 8), region.span(4, 8));
}

#[test]
fn the_fastest_available_set_is_in_use() {
    let fastest = sets().last().expect("the baseline");
    assert_eq!(InstructionSet::in_use(), fastest);
    for set in InstructionSet::ALL {
        assert_eq!(InstructionSet::ALL[set as usize], set);
        assert!(set.is_available() || !set.select(), "{set} was selected");
    }
}

/// Another thread writes the divisors during the division, as a racing peer may. No element is
/// divided by zero, and the first zero divisor that was read is reported.
#[test]
fn a_divisor_that_changes_meanwhile_divides_or_is_told() {
    const ELEMENTS: usize = 64 << 10;
    const ROUNDS: usize = 40;
    let mut bytes = vec![1u8; 2 * ELEMENTS];
    // SAFETY: the bytes outlive the threads below. That two of them reach the divisors at once is
    // what the test is about.
    let memory = unsafe { Region::new(bytes.as_mut_ptr(), bytes.len()) };
    let (a, b) = (memory.span(0, ELEMENTS as u64), memory.span(ELEMENTS as u64, ELEMENTS as u64));
    let divisors = b.address();
    let is_over = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            let mut at = 0;
            while !is_over.load(Ordering::Relaxed) {
                let divisor = (divisors + at % ELEMENTS) as *mut u8;
                // SAFETY: inside the bytes, by the remainder.
                unsafe {
                    divisor.write_volatile(0);
                    divisor.write_volatile(255);
                }
                at += 1;
            }
        });
        let divide = || {
            for datatype in [Datatype::Int8, Datatype::UInt8, Datatype::Int16, Datatype::Int32] {
                for _ in 0..ROUNDS {
                    let _ = apply(Op::Div, datatype, a, b, a);
                }
            }
        };
        let ended = std::panic::catch_unwind(divide);
        is_over.store(true, Ordering::Relaxed);
        ended
    });
    assert!(ended.is_ok(), "a division by zero went unseen");
}

/// The least integer divided by -1 wraps around in every form, and by 0 is told, wherever the
/// element lies.
#[test]
fn divisions_at_the_edges() {
    let least = i32::MIN.to_le_bytes();
    for zero_at in [0, 1, 7, 8] {
        let mut bytes = [least; 8].concat();
        bytes.extend([(-1i32).to_le_bytes(); 8].concat());
        if zero_at < 8 {
            bytes[32 + 4 * zero_at..][..4].fill(0);
        }
        // SAFETY: the bytes live until the end of the round and are reached by the spans only.
        let memory = unsafe { Region::new(bytes.as_mut_ptr(), bytes.len()) };
        let (a, b) = (memory.span(0, 32), memory.span(32, 32));
        let result = apply(Op::Div, Datatype::Int32, a, b, b);
        let told = (zero_at < 8).then_some(DivisionByZero { element: zero_at as u64 });
        assert_eq!(result.err(), told);
        let quotients = bytes[32..].chunks(4).take_while(|&quotient| quotient == least).count();
        assert_eq!(quotients, zero_at, "those before it are stored");
    }
}
