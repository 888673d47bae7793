//! Grammar actions of local operations: they look up functions and check operands (paper III.A,
//! thesis 2.2.3).

use super::builder::{Builder, quote};
use super::functions;
use super::operand::Mark;
use crate::diag::{Code, Diagnostic};
use crate::function::{Datatype, Op, is_legal};
use crate::program::{Action, Payload, Piece, Pieces, Space, overlaps_itself, partly_overlap};

/// The number of bytes that `wtime` writes: a Float64.
const WTIME_BYTES: u64 = 8;

impl Builder<'_> {
    pub(crate) fn exec(&mut self, start: usize, at: usize, len: u32) {
        let name = self.slice(at, len);
        let action = if name == b"wtime" { self.wtime(at) } else { self.predefined(at, name) };
        // The fault was reported. A nop keeps the action's label and place.
        self.push(start, action.unwrap_or(Action::Nop));
        self.next_statement();
    }

    pub(crate) fn user(&mut self, start: usize, at: usize, number: u64) {
        let function =
            self.narrow(at, number, u32::MAX, "the number of a user function").unwrap_or(0);
        let action = match self.operands[..] {
            [a, b] => Action::User { function, operands: [self.store(a), self.store(b)] },
            _ => {
                self.wrong_operands(at, "a user function has two operands");
                Action::Nop
            }
        };
        self.push(start, action);
        self.next_statement();
    }

    fn wtime(&mut self, at: usize) -> Option<Action> {
        let [mark] = self.operands[..] else {
            self.wrong_operands(at, "`wtime` has one operand");
            return None;
        };
        if mark.vector {
            let span = self.span(mark.start, mark.end);
            self.report.add(Code::WrongOperands, || {
                Diagnostic::new(Code::WrongOperands, "`wtime` writes to a buffer in one piece")
                    .label(span, "a scattered buffer")
                    .note("the time is a Float64, in seconds")
                    .help("give it 8 bytes that lie together: `exec wtime with A,8`")
            });
            return None;
        }
        let piece = self.pieces[mark.first];
        if piece.size != WTIME_BYTES {
            let span = self.span(mark.start, mark.end);
            self.report.add(Code::WidthMismatch, || {
                Diagnostic::new(
                    Code::WidthMismatch,
                    format!("`wtime` writes {WTIME_BYTES} bytes, not {}", piece.size),
                )
                .label(span, format!("{} bytes", piece.size))
                .note("the time is a Float64, in seconds")
                .help("give it a buffer of 8 bytes")
            });
            return None;
        }
        Some(Action::Wtime { addr: piece.addr, space: piece.space })
    }

    /// Makes the payload of a message with the function at `at`. A receive has one buffer, a send
    /// has two. Reports a fault and returns `None` if function and buffers don't fit.
    pub(super) fn reduced(&mut self, at: usize, len: u32, operands: usize) -> Option<Payload> {
        let name = self.slice(at, len);
        let (op, datatype) = self.legal_function(at, name)?;
        if op == Op::Copy {
            self.copying_message(at, name);
            return None;
        }
        if self.operands.len() != operands || self.operands.iter().any(|mark| mark.vector) {
            let rule = match operands {
                1 => "a receive with a function has one buffer, in one piece",
                _ => "a send with a function has a buffer behind it too, and both are in one piece",
            };
            self.wrong_operands(at, rule);
            return None;
        }
        if self.broken || !self.check_sizes(datatype) || !self.check_overlap() {
            return None;
        }
        let operands = self.store_pieces(0..operands, at).first;
        Some(Payload::Reduced { op, datatype, operands })
    }

    fn legal_function(&mut self, at: usize, name: &[u8]) -> Option<(Op, Datatype)> {
        let Some((op, datatype)) = functions::function(name) else {
            self.unknown_function(at, name);
            return None;
        };
        if !is_legal(op, datatype) {
            self.illegal(at, name, op, datatype);
            return None;
        }
        Some((op, datatype))
    }

    fn predefined(&mut self, at: usize, name: &[u8]) -> Option<Action> {
        let (op, datatype) = self.legal_function(at, name)?;
        let count = self.operands.len();
        if count != 2 && count != 3 {
            self.wrong_operands(
                at,
                "a predefined operation has two operands, or three with the result",
            );
            return None;
        }
        if count == 3 && op == Op::Copy {
            self.wrong_operands(at, "`copy` has two operands: the source and the result");
            return None;
        }
        if self.broken || !self.check_sizes(datatype) || !self.check_overlap() {
            return None;
        }
        let marks = &self.operands[..];
        if marks.iter().any(|mark| mark.vector) {
            let marks = [marks[0], marks[1], *marks.get(2).unwrap_or(&marks[1])];
            let [a, b] = [self.store(marks[0]), self.store(marks[1])];
            let c = if count == 3 { self.store(marks[2]) } else { Pieces { first: 0, len: 0 } };
            return Some(Action::ExecVector { op, datatype, operands: [a, b, c] });
        }
        let piece = |i: usize| marks.get(i).map(|mark| self.pieces[mark.first]);
        let (a, b, c) = (piece(0)?, piece(1)?, piece(2));
        let spaces = [a.space, b.space, c.map_or(Space::Memory, |c| c.space)];
        let (has_c, addr_c) = (c.is_some(), c.map_or(0, |c| c.addr));
        Some(Action::Exec {
            op,
            datatype,
            spaces,
            has_c,
            a: a.addr,
            b: b.addr,
            c: addr_c,
            size: a.size,
        })
    }

    fn operand_size(&self, mark: Mark) -> u64 {
        self.operand(mark).iter().map(|piece| piece.size).sum()
    }

    fn operand(&self, mark: Mark) -> &[Piece] {
        &self.pieces[mark.first..mark.first + mark.len]
    }

    fn check_sizes(&mut self, datatype: Datatype) -> bool {
        let first = self.operands[0];
        let size = self.operand_size(first);
        let other =
            self.operands[1..].iter().copied().find(|&mark| self.operand_size(mark) != size);
        if let Some(other) = other {
            let other_size = self.operand_size(other);
            let spans = [self.span(other.start, other.end), self.span(first.start, first.end)];
            self.report.add(Code::WidthMismatch, || {
                let message = format!("the operands have different lengths: {size} and {other_size} bytes");
                Diagnostic::new(Code::WidthMismatch, message)
                    .label(spans[0], format!("{other_size} bytes"))
                    .label(spans[1], format!("{size} bytes"))
                    .note("a predefined operation takes the same number of elements from each (paper III.A)")
                    .help("give all buffers the same length")
            });
            return false;
        }
        let width = datatype.width();
        if !size.is_multiple_of(width) {
            let span = self.span(first.start, first.end);
            self.report.add(Code::WidthMismatch, || {
                let message =
                    format!("{size} bytes are no whole number of {} elements", datatype.name());
                Diagnostic::new(Code::WidthMismatch, message)
                    .label(span, format!("{size} bytes"))
                    .note(format!("an element of {} has {width} bytes", datatype.name()))
                    .help(format!("use a multiple of {width} bytes"))
            });
            return false;
        }
        true
    }

    fn check_overlap(&mut self) -> bool {
        let marks = &self.operands[..];
        let pairs =
            [(0, 1), (0, 2), (1, 2)].into_iter().filter(|&(_, second)| second < marks.len());
        let result = marks.len() - 1;
        let clash = pairs
            .filter(|&(first, second)| {
                partly_overlap(self.operand(marks[first]), self.operand(marks[second]))
            })
            .chain(overlaps_itself(self.operand(marks[result])).then_some((result, result)))
            .next();
        let Some((first, second)) = clash else { return true };
        let spans = [first, second].map(|i| self.span(marks[i].start, marks[i].end));
        self.report.add(Code::OverlappingOperands, || {
            let diagnostic = if first == second {
                Diagnostic::new(Code::OverlappingOperands, "the result would be stored twice in the same bytes")
                    .label(spans[1], "pieces of this buffer overlap")
            } else {
                Diagnostic::new(Code::OverlappingOperands, "two operands overlap in part")
                    .label(spans[1], "this buffer")
                    .label(spans[0], "shares bytes with this one")
            };
            diagnostic
                .note("operands may be the same buffer; otherwise the order of the elements would show in the result")
                .help("copy one of them to scratch memory first")
        });
        false
    }

    #[cold]
    fn wrong_operands(&mut self, at: usize, rule: &str) {
        let count = self.operands.len();
        let span = match (self.operands.first(), self.operands.last()) {
            (Some(first), Some(last)) => self.span(first.start, last.end),
            _ => self.span(at, self.number_end(at)),
        };
        let buffers = if count == 1 { "buffer" } else { "buffers" };
        self.report.add(Code::WrongOperands, || {
            Diagnostic::new(Code::WrongOperands, rule)
                .label(span, format!("{count} {buffers}"))
                .note("a buffer is `ADDRESS,SIZE`, `@OFFSET,SIZE` or several of these in brackets")
                .help("write as many buffers as the function has operands")
        });
    }

    #[cold]
    fn unknown_function(&mut self, at: usize, name: &[u8]) {
        let span = self.span(at, at + name.len());
        self.report.add(Code::UnknownFunction, || {
            let diagnostic = Diagnostic::new(
                Code::UnknownFunction,
                format!("there is no function {}", quote(name)),
            )
            .label(span, "not an operation and a datatype")
            .note(format!(
                "operations: {}; datatypes: {}",
                functions::op_names(),
                functions::datatype_names()
            ));
            match functions::meant(name) {
                Some(function) => diagnostic.help(format!("did you mean `{function}`?")),
                None => diagnostic
                    .help("write the operation and the datatype as one word, such as `sumInt32`"),
            }
        });
    }

    #[cold]
    fn copying_message(&mut self, at: usize, name: &[u8]) {
        let span = self.span(at, at + name.len());
        self.report.add(Code::IllegalOperation, || {
            Diagnostic::new(Code::IllegalOperation, "`copy` combines nothing with a message")
                .label(span, "illegal operation")
                .note("a message without a function is a copy already")
                .help("leave the function out, or use one that combines two operands")
        });
    }

    #[cold]
    fn illegal(&mut self, at: usize, name: &[u8], op: Op, datatype: Datatype) {
        let span = self.span(at, at + name.len());
        self.report.add(Code::IllegalOperation, || {
            let why = if datatype == Datatype::Float8 {
                "the paper names Float8, but no such format is agreed on"
            } else {
                "bitwise operations are defined on integers only"
            };
            Diagnostic::new(
                Code::IllegalOperation,
                format!("{} is not defined on {}", op.name(), datatype.name()),
            )
            .label(span, "illegal operation")
            .note(why)
            .help(format!("use another datatype, as in `{}`", functions::usable_as(op, datatype)))
        });
    }
}
