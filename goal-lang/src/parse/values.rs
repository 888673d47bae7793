//! Grammar actions of `init` and `expect`: they turn values into little-endian bytes.

use half::f16;

use super::block::Declared;
use super::builder::{Builder, quote};
use super::functions::{datatype_meant, datatype_named, datatype_names};
use super::operand::DatumBuilder;
use crate::diag::{Code, Diagnostic};
use crate::function::{Datatype, ODD_NAN};
use crate::lexer::long_number;
use crate::program::{Datum, Space};

/// The reason why a value cannot be stored.
enum Refused {
    Overflow,
    Invalid,
}

impl Builder<'_> {
    pub(crate) fn begin_datum(
        &mut self,
        expect: bool,
        start: usize,
        at: (usize, u64),
        name: (usize, u32),
    ) {
        let text = self.slice(name.0, name.1);
        let end = name.0 + name.1 as usize;
        let datatype = match datatype_named(text) {
            None => {
                self.unknown_datatype(name.0, text);
                None
            }
            Some(Datatype::Float8) => {
                let span = self.span(name.0, end);
                self.report.add(Code::IllegalOperation, || {
                    Diagnostic::new(Code::IllegalOperation, "Float8 has no values")
                        .label(span, "illegal datatype")
                        .note("the paper names Float8, but no such format is agreed on")
                        .help("use Float16, Float32 or Float64")
                });
                None
            }
            known => known,
        };
        let addr = self.wide(at.0, at.1, "the address").unwrap_or(0);
        self.datum = Some(DatumBuilder { start, end, expect, addr, datatype, bytes: Vec::new() });
    }

    pub(crate) fn value(&mut self, start: usize, end: usize) {
        let text = self.text;
        let Some(datum) = &mut self.datum else { return };
        datum.end = end;
        let Some(datatype) = datum.datatype else { return };
        if let Err(refused) = encode(datatype, &text[start..end], &mut datum.bytes) {
            // Zeros take the value's place, so that the list is not reported as empty too.
            datum.bytes.resize(datum.bytes.len() + datatype.width() as usize, 0);
            self.refuse(start, end, datatype, refused);
        }
    }

    pub(crate) fn end_datum(&mut self) {
        let Some(DatumBuilder { start, end, expect, addr, datatype, bytes }) = self.datum.take()
        else {
            return;
        };
        let Some(datatype) = datatype else { return };
        let place = self.span(start, end);
        if bytes.is_empty() {
            return self.report.add(Code::EmptyPiece, || {
                let word = if expect { "expect" } else { "init" };
                Diagnostic::new(Code::EmptyPiece, format!("this `{word}` has no values"))
                    .label(place, "nothing after the datatype")
                    .note("the values follow the datatype: `init 0 = Int32 1 2 3`")
                    .help("give it at least one value, or leave it out")
            });
        }
        let past = addr.checked_add(bytes.len() as u64);
        if past.is_none_or(|past| past > self.options.limits.memory_bytes_max) {
            return self.too_far(start, end, Space::Memory, past.is_none());
        }
        self.declare(Declared { place, expect, datum: Datum { addr, datatype, bytes } });
    }

    #[cold]
    fn refuse(&mut self, start: usize, end: usize, datatype: Datatype, refused: Refused) {
        let (span, value) = (self.span(start, end), self.quote(start, end));
        let name = datatype.name();
        match refused {
            Refused::Overflow => self.report.add(Code::NumberOverflow, || {
                Diagnostic::new(Code::NumberOverflow, format!("{value} is out of the range of {name}"))
                    .label(span, range_of(datatype))
                    .note(format!("a value of {name} has {} bits", datatype.width() * 8))
                    .help("use a wider datatype")
            }),
            Refused::Invalid => self.report.add(Code::InvalidValue, || {
                let help = if datatype.is_float() {
                    "write a number, `inf`, `-inf`, `nan` or a NaN by its bits, such as `nan_7fc00001`"
                } else {
                    "write a whole number, or use a Float datatype"
                };
                Diagnostic::new(Code::InvalidValue, format!("{value} is no {name}"))
                    .label(span, "not a value of this datatype")
                    .note(format!("a value of {name} has {} bits", datatype.width() * 8))
                    .help(help)
            }),
        }
    }

    #[cold]
    fn unknown_datatype(&mut self, at: usize, name: &[u8]) {
        let span = self.span(at, at + name.len());
        self.report.add(Code::UnknownDatatype, || {
            let diagnostic = Diagnostic::new(
                Code::UnknownDatatype,
                format!("there is no datatype {}", quote(name)),
            )
            .label(span, "not a datatype")
            .note(format!("datatypes: {}", datatype_names()));
            match datatype_meant(name) {
                Some(datatype) => diagnostic.help(format!("did you mean `{}`?", datatype.name())),
                None => diagnostic.help("use one of them"),
            }
        });
    }
}

fn range_of(datatype: Datatype) -> String {
    let bits = datatype.width() * 8;
    if datatype.is_float() {
        return format!("too large for {bits} bits");
    }
    if is_signed(datatype) {
        format!("from {} to {}", -(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        format!("from 0 to {}", (1i128 << bits) - 1)
    }
}

fn is_signed(datatype: Datatype) -> bool {
    matches!(datatype, Datatype::Int8 | Datatype::Int16 | Datatype::Int32 | Datatype::Int64)
}

fn encode(datatype: Datatype, text: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    if datatype.is_float() {
        encode_float(datatype, text, out)
    } else {
        encode_integer(datatype, text, out)
    }
}

fn encode_integer(datatype: Datatype, text: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    let (digits, negative) = match text {
        [b'-', digits @ ..] => (digits, true),
        digits => (digits, false),
    };
    let is_hex = digits.starts_with(b"0x") || digits.starts_with(b"0X");
    if !is_hex && !digits.iter().all(u8::is_ascii_digit) {
        return Err(Refused::Invalid);
    }
    let magnitude = i128::from(long_number(digits).ok_or(Refused::Overflow)?);
    let value = if negative { -magnitude } else { magnitude };
    let bits = datatype.width() * 8;
    let (least, most) = if is_signed(datatype) {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    if value < least || value > most {
        return Err(Refused::Overflow);
    }
    out.extend_from_slice(&value.to_le_bytes()[..datatype.width() as usize]);
    Ok(())
}

fn encode_float(datatype: Datatype, text: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    let text = std::str::from_utf8(text).map_err(|_| Refused::Invalid)?;
    if let Some(digits) = text.strip_prefix(ODD_NAN) {
        let bits = u64::from_str_radix(digits, 16).map_err(|_| Refused::Invalid)?;
        if !datatype.is_nan(bits) {
            return Err(Refused::Invalid);
        }
        out.extend_from_slice(&bits.to_le_bytes()[..datatype.width() as usize]);
        return Ok(());
    }
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let wide = if is_hex {
        long_number(text.as_bytes()).ok_or(Refused::Overflow)? as f64
    } else {
        text.parse::<f64>().map_err(|_| Refused::Invalid)?
    };
    let is_finite_text = !text.ends_with(|c: char| c.is_ascii_alphabetic()) || is_hex;
    let finite = match datatype {
        Datatype::Float16 => {
            let value = f16::from_f64(wide);
            out.extend_from_slice(&value.to_le_bytes());
            value.is_finite()
        }
        Datatype::Float32 => {
            // Parsed as `f32`, because a detour over `f64` would round twice.
            let value = if is_hex {
                wide as f32
            } else {
                text.parse::<f32>().map_err(|_| Refused::Invalid)?
            };
            out.extend_from_slice(&value.to_le_bytes());
            value.is_finite()
        }
        _ => {
            out.extend_from_slice(&wide.to_le_bytes());
            wide.is_finite()
        }
    };
    if is_finite_text && !finite {
        out.truncate(out.len() - datatype.width() as usize);
        return Err(Refused::Overflow);
    }
    Ok(())
}
