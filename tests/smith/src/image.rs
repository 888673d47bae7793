//! Generates the initial memory of ranks.

use goal_lang::{Datatype, Datum, MemoryImage};
use half::f16;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::cells::Cell;
use crate::node::Node;
use goal_lang::{Piece, Space};

/// Consecutive elements of one type. Ranks with the same body have the same types at the same
/// addresses, but each has its own values.
struct Segment {
    addr: u64,
    datatype: Datatype,
    count: u64,
    nonzero: bool,
}

/// The exponent of the bound on initial floating-point numbers: they are at most 2^2 in absolute
/// value.
const MAGNITUDE: u8 = 2;

/// Chooses the initial memory of a node and stores the facts about it. Returns an image for each of
/// the node's ranks.
pub(crate) fn images(rng: &mut ChaCha8Rng, node: &mut Node, floats: bool) -> Vec<MemoryImage> {
    let segments = segments(rng, node.cells.space(Space::Memory).len() as u64, floats);
    for segment in &segments {
        let Segment { addr, datatype, count, nonzero } = *segment;
        let piece = Piece { addr, size: count * datatype.width(), space: Space::Memory };
        let cells: Vec<Cell> =
            Cell::elements(datatype, count as usize, MAGNITUDE, nonzero).collect();
        node.cells.write(&[piece], &cells);
    }
    let image = |_: &u32| MemoryImage {
        init: segments.iter().map(|segment| values(rng, segment)).collect(),
        expect: Vec::new(),
    };
    node.members.iter().map(image).collect()
}

fn segments(rng: &mut ChaCha8Rng, memory: u64, floats: bool) -> Vec<Segment> {
    let datatypes: Vec<Datatype> = Datatype::ALL
        .iter()
        .copied()
        .filter(|&datatype| datatype != Datatype::Float8 && (floats || !datatype.is_float()))
        .collect();
    let mut segments = Vec::new();
    let mut addr = 0;
    loop {
        if rng.random_bool(0.2) {
            addr += rng.random_range(0..memory / 8 + 1);
        }
        let floating = floats && rng.random_bool(0.5);
        let datatype = *datatypes.choose(rng).expect("there are datatypes");
        if datatype.is_float() != floating {
            continue;
        }
        let count = rng.random_range(1..=memory / 8 / datatype.width() + 1);
        if addr + count * datatype.width() > memory {
            return segments;
        }
        segments.push(Segment { addr, datatype, count, nonzero: rng.random_bool(0.6) });
        addr += count * datatype.width();
    }
}

fn values(rng: &mut ChaCha8Rng, segment: &Segment) -> Datum {
    let mut bytes = Vec::with_capacity((segment.count * segment.datatype.width()) as usize);
    for _ in 0..segment.count {
        match segment.datatype {
            Datatype::Float16 => {
                bytes.extend(f16::from_f64(number(rng, segment.nonzero)).to_bits().to_le_bytes());
            }
            Datatype::Float32 => bytes.extend((number(rng, segment.nonzero) as f32).to_le_bytes()),
            Datatype::Float64 => bytes.extend(number(rng, segment.nonzero).to_le_bytes()),
            integer => bytes.extend(integer_bytes(rng, integer, segment.nonzero)),
        }
    }
    Datum { addr: segment.addr, datatype: segment.datatype, bytes }
}

/// Returns a number that every floating-point type holds exactly. Its absolute value is at most 4,
/// and at least 1 if `nonzero` is true.
fn number(rng: &mut ChaCha8Rng, nonzero: bool) -> f64 {
    let magnitude = if nonzero {
        f64::from(rng.random_range(8..=32)) / 8.0
    } else {
        *[0.0, 0.0, 1.0, 0.5, 2f64.powi(-10), 3.75, 0.125].choose(rng).expect("there are numbers")
    };
    if rng.random() { -magnitude } else { magnitude }
}

/// Returns the bytes of an integer, often an extreme one. If `nonzero` is true, no byte is zero.
fn integer_bytes(rng: &mut ChaCha8Rng, datatype: Datatype, nonzero: bool) -> Vec<u8> {
    let width = datatype.width() as usize;
    if nonzero {
        return (0..width).map(|_| rng.random_range(1..=255)).collect();
    }
    let sign = 1u64 << (width * 8 - 1);
    let value =
        *[0, 1, u64::MAX, sign, sign - 1, rng.random()].choose(rng).expect("there are corners");
    value.to_le_bytes()[..width].to_vec()
}
