//! Writes lines of GOAL text.

use crate::order::Edge;

/// One action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// A send.
    Send {
        /// The number of bytes.
        bytes: u64,
        /// The rank in `MPI_COMM_WORLD`.
        to: u32,
        /// The tag of GOAL.
        tag: u32,
    },
    /// A receive.
    Recv {
        /// The number of bytes.
        bytes: u64,
        /// The rank in `MPI_COMM_WORLD`.
        from: u32,
        /// The tag of GOAL.
        tag: u32,
    },
    /// Computation, in nanoseconds.
    Calc(u64),
    /// A `nop`, which only joins dependencies.
    Nop,
}

fn number(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[at..]);
}

fn label(text: &mut Vec<u8>, label: u64) {
    text.push(b'a');
    number(text, label);
}

/// Adds the line of an action.
pub(crate) fn action(text: &mut Vec<u8>, name: u64, line: Line) {
    label(text, name);
    match line {
        Line::Send { bytes, to, tag } => message(text, b": send ", bytes, b"b to ", to, tag),
        Line::Recv { bytes, from, tag } => message(text, b": recv ", bytes, b"b from ", from, tag),
        Line::Calc(nanos) => {
            text.extend_from_slice(b": calc ");
            number(text, nanos);
        }
        Line::Nop => text.extend_from_slice(b": nop"),
    }
    text.push(b'\n');
}

fn message(text: &mut Vec<u8>, word: &[u8], bytes: u64, way: &[u8], peer: u32, tag: u32) {
    text.extend_from_slice(word);
    number(text, bytes);
    text.extend_from_slice(way);
    number(text, u64::from(peer));
    text.extend_from_slice(b" tag ");
    number(text, u64::from(tag));
}

/// Adds the line of a dependency.
pub(crate) fn dependency(text: &mut Vec<u8>, waiter: u64, edge: Edge) {
    label(text, waiter);
    let (word, earlier): (&[u8], u64) = match edge {
        Edge::Requires(earlier) => (b" requires ", earlier),
        Edge::Irequires(earlier) => (b" irequires ", earlier),
    };
    text.extend_from_slice(word);
    label(text, earlier);
    text.push(b'\n');
}
