//! Operations on scattered buffers. A run of elements that lies in one piece of every operand is
//! computed in place. An element that straddles two pieces is copied to the stack first.

use super::instructions::kernels;
use super::{DivisionByZero, apply_with};
use crate::memory::Span;
use goal_lang::{Datatype, Op};

/// The longest element in bytes.
const WIDTH_MAX: usize = 8;

/// Computes `C = A op B` for each element. An operand is the concatenation of its pieces, and an
/// element may lie in several pieces. `C` may be the same bytes in the same order as `A`, `B` or
/// both, however cut into pieces. `copy` is `B = A` and doesn't look at `C`.
///
/// # Errors
/// The first element that divides an integer by zero.
///
/// # Panics
/// As [`apply`].
pub(crate) fn apply_scattered(
    op: Op,
    datatype: Datatype,
    a: &[Span],
    b: &[Span],
    c: &[Span],
) -> Result<(), DivisionByZero> {
    let kernels = kernels();
    let (width, c) = if op == Op::Copy { (1, b) } else { (datatype.width() as usize, c) };
    let [mut a, mut b, mut c] = [a, b, c].map(Cursor::new);
    let mut done = 0;
    loop {
        let run = a.run().min(b.run()).min(c.run());
        if run == 0 {
            assert!(a.run() == b.run() && b.run() == c.run(), "operands of different sizes");
            return Ok(());
        }
        let elements = (run / width).max(1);
        let result = if run >= width {
            let bytes = elements * width;
            apply_with(kernels, op, datatype, a.part(bytes), b.part(bytes), c.part(bytes))
        } else {
            let (a, b) = (a.gather(width), b.gather(width));
            let mut result = [0; WIDTH_MAX];
            kernels
                .three(op, datatype, &a[..width], &b[..width], &mut result[..width])
                .map(|()| c.scatter(&result[..width]))
        };
        result.map_err(|error| DivisionByZero { element: done + error.element })?;
        done += elements as u64;
    }
}

/// A position in a scattered buffer.
struct Cursor<'a> {
    piece: Option<Span>,
    rest: std::slice::Iter<'a, Span>,
}

impl<'a> Cursor<'a> {
    fn new(pieces: &'a [Span]) -> Self {
        let mut cursor = Self { piece: None, rest: pieces.iter() };
        cursor.skip_empty();
        cursor
    }

    fn skip_empty(&mut self) {
        while self.piece.is_none_or(Span::is_empty) {
            match self.rest.next() {
                Some(&piece) => self.piece = Some(piece),
                None => return,
            }
        }
    }

    /// Returns the number of bytes up to the end of the piece; 0 at the end of the buffer.
    fn run(&self) -> usize {
        self.piece.map_or(0, Span::len)
    }

    /// Takes the next `bytes` bytes, which must all lie in the current piece.
    fn part(&mut self, bytes: usize) -> Span {
        let piece = self.piece.expect("a run that is not empty");
        self.piece = Some(piece.part(bytes..piece.len()));
        self.skip_empty();
        piece.part(0..bytes)
    }

    /// Takes the next `bytes` bytes. Calls `each` with each part that lies in one piece, and with
    /// the part's offset among these bytes.
    fn parts(&mut self, bytes: usize, mut each: impl FnMut(usize, Span)) {
        let mut at = 0;
        while at < bytes {
            let run = self.run().min(bytes - at);
            assert!(run > 0, "an operand is no whole number of elements");
            each(at, self.part(run));
            at += run;
        }
    }

    fn gather(&mut self, width: usize) -> [u8; WIDTH_MAX] {
        let mut element = [0; WIDTH_MAX];
        self.parts(width, |at, part| {
            part.read(|bytes| element[at..at + bytes.len()].copy_from_slice(bytes));
        });
        element
    }

    fn scatter(&mut self, element: &[u8]) {
        self.parts(element.len(), |at, part| {
            part.write(|bytes| bytes.copy_from_slice(&element[at..at + bytes.len()]));
        });
    }
}
