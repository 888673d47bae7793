//! The predefined operations, one element at a time.

use goal_lang::{Datatype, Op};
use half::f16;

/// The error of an integer division by zero, with the number of the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DivisionByZero(pub u64);

/// Computes `a op b` for each pair of elements. Both operands must have the same number of whole
/// elements of `datatype`, and the operation must be legal for the type.
///
/// Integers wrap. `max` and `min` of a number and a NaN are the number, and -0 is less than +0
/// (IEEE 754-2019 maximumNumber, minimumNumber). A computed NaN is always the positive quiet NaN
/// without payload; a copy keeps every bit. Float16 is computed as Float32 and rounded once. For
/// logical operations every element except zero is true, even NaN, and the result is 1 or 0.
///
/// # Errors
/// The first element that divides an integer by zero.
pub fn apply(op: Op, datatype: Datatype, a: &[u8], b: &[u8]) -> Result<Vec<u8>, DivisionByZero> {
    let width = datatype.width() as usize;
    let mut result = Vec::with_capacity(a.len());
    for (index, (a, b)) in a.chunks(width).zip(b.chunks(width)).enumerate() {
        let element = element(op, datatype, a, b).ok_or(DivisionByZero(index as u64))?;
        result.extend_from_slice(&element[..width]);
    }
    Ok(result)
}

/// Returns one element of the result in the low bytes. Returns `None` for an integer division by
/// zero.
fn element(op: Op, datatype: Datatype, a: &[u8], b: &[u8]) -> Option<[u8; 8]> {
    if op == Op::Copy {
        return Some(padded(a));
    }
    let (a, b) = (padded(a), padded(b));
    Some(match datatype {
        Datatype::Float16 => {
            let a = f16::from_bits(u64::from_le_bytes(a) as u16).to_f32();
            let b = f16::from_bits(u64::from_le_bytes(b) as u16).to_f32();
            padded(&f16::from_f32(float32(op, a, b)).to_bits().to_le_bytes())
        }
        Datatype::Float32 => {
            let a = f32::from_bits(u64::from_le_bytes(a) as u32);
            let b = f32::from_bits(u64::from_le_bytes(b) as u32);
            padded(&float32(op, a, b).to_le_bytes())
        }
        Datatype::Float64 => {
            float64(op, f64::from_le_bytes(a), f64::from_le_bytes(b)).to_le_bytes()
        }
        _ => {
            let (a, b) = (integer_value(datatype, a), integer_value(datatype, b));
            (integer(op, a, b)? as u64).to_le_bytes()
        }
    })
}

fn padded(bytes: &[u8]) -> [u8; 8] {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    all
}

fn integer_value(datatype: Datatype, bytes: [u8; 8]) -> i128 {
    let bits = u64::from_le_bytes(bytes);
    match datatype {
        Datatype::Int8 => i128::from(bits as u8 as i8),
        Datatype::Int16 => i128::from(bits as u16 as i16),
        Datatype::Int32 => i128::from(bits as u32 as i32),
        Datatype::Int64 => i128::from(bits as i64),
        _ => i128::from(bits),
    }
}

/// Returns the result in 128 bits, where no sum, difference or quotient overflows. The caller keeps
/// the low bytes, so results wrap.
fn integer(op: Op, a: i128, b: i128) -> Option<i128> {
    Some(match op {
        Op::Max => a.max(b),
        Op::Min => a.min(b),
        Op::Sum => a + b,
        Op::Sub => a - b,
        Op::Prod => a.wrapping_mul(b),
        Op::Div if b == 0 => return None,
        Op::Div => a / b,
        Op::Land => i128::from(a != 0 && b != 0),
        Op::Lor => i128::from(a != 0 || b != 0),
        Op::Lxor => i128::from((a != 0) != (b != 0)),
        Op::Band => a & b,
        Op::Bor => a | b,
        Op::Bxor => a ^ b,
        Op::Copy => a,
    })
}

macro_rules! float {
    ($name:ident, $float:ty, $nan:literal) => {
        fn $name(op: Op, a: $float, b: $float) -> $float {
            let truth = |value: bool| if value { 1.0 } else { 0.0 };
            let result = match op {
                Op::Max if a.is_nan() => b,
                Op::Max if b.is_nan() => a,
                Op::Max if a == b => {
                    if a.is_sign_negative() {
                        b
                    } else {
                        a
                    }
                }
                Op::Max => {
                    if a > b {
                        a
                    } else {
                        b
                    }
                }
                Op::Min if a.is_nan() => b,
                Op::Min if b.is_nan() => a,
                Op::Min if a == b => {
                    if a.is_sign_negative() {
                        a
                    } else {
                        b
                    }
                }
                Op::Min => {
                    if a < b {
                        a
                    } else {
                        b
                    }
                }
                Op::Sum => a + b,
                Op::Sub => a - b,
                Op::Prod => a * b,
                Op::Div => a / b,
                Op::Land => truth(a != 0.0 && b != 0.0),
                Op::Lor => truth(a != 0.0 || b != 0.0),
                Op::Lxor => truth((a != 0.0) != (b != 0.0)),
                Op::Copy | Op::Band | Op::Bor | Op::Bxor => a,
            };
            if result.is_nan() { <$float>::from_bits($nan) } else { result }
        }
    };
}

float!(float32, f32, 0x7fc0_0000);
float!(float64, f64, 0x7ff8_0000_0000_0000);
