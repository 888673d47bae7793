use goal_lang::{Datatype, Op};
use half::f16;

use crate::ops::{DivisionByZero, apply};

fn bytes<T, const N: usize>(values: &[T], encode: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(encode).collect()
}

macro_rules! integers {
    ($type:ty, $datatype:ident, $signed:expr) => {{
        let (min, max) = (<$type>::MIN, <$type>::MAX);
        let minus_one = (0 as $type).wrapping_sub(1);
        let cases: &[(Op, $type, $type, $type)] = &[
            (Op::Sum, max, 1, min),
            (Op::Sum, 5, 7, 12),
            (Op::Sub, min, 1, max),
            (Op::Sub, 5, 7, minus_one.wrapping_sub(1)),
            (Op::Prod, max, 2, max.wrapping_mul(2)),
            (Op::Prod, max, max, 1),
            (Op::Prod, 11, 11, 121),
            (Op::Div, 100, 7, 14),
            (Op::Div, min, max, if $signed { minus_one } else { 0 }),
            (Op::Div, min, minus_one, min),
            (Op::Max, min, max, max),
            (Op::Max, minus_one, 0, if $signed { 0 } else { max }),
            (Op::Min, min, max, min),
            (Op::Min, minus_one, 0, if $signed { minus_one } else { 0 }),
            (Op::Land, 2, 4, 1),
            (Op::Land, 2, 0, 0),
            (Op::Lor, 0, min ^ max, 1),
            (Op::Lor, 0, 0, 0),
            (Op::Lxor, 2, 4, 0),
            (Op::Lxor, 0, 4, 1),
            (Op::Band, 0b1100, 0b1010, 0b1000),
            (Op::Bor, 0b1100, 0b1010, 0b1110),
            (Op::Bxor, 0b1100, 0b1010, 0b0110),
            (Op::Copy, 99, 5, 99),
        ];
        for op in Op::ALL {
            assert!(cases.iter().any(|case| case.0 == *op), "no case for {}", op.name());
        }
        for &(op, a, b, wanted) in cases {
            let result =
                apply(op, Datatype::$datatype, &a.to_le_bytes(), &b.to_le_bytes()).unwrap();
            assert_eq!(
                result,
                wanted.to_le_bytes(),
                "{a} {} {b} as {}",
                op.name(),
                stringify!($type)
            );
        }
        // The third element of each operand is computed like the first.
        let a = bytes(&[1 as $type, 2, 3], |v| v.to_le_bytes());
        let b = bytes(&[10 as $type, 20, 30], |v| v.to_le_bytes());
        let wanted = bytes(&[11 as $type, 22, 33], |v| v.to_le_bytes());
        assert_eq!(apply(Op::Sum, Datatype::$datatype, &a, &b).unwrap(), wanted);
        let zero = bytes(&[1 as $type, 1, 0], |v| v.to_le_bytes());
        assert_eq!(apply(Op::Div, Datatype::$datatype, &a, &zero), Err(DivisionByZero(2)));
    }};
}

#[test]
fn integers_wrap() {
    integers!(i8, Int8, true);
    integers!(i16, Int16, true);
    integers!(i32, Int32, true);
    integers!(i64, Int64, true);
    integers!(u8, UInt8, false);
    integers!(u16, UInt16, false);
    integers!(u32, UInt32, false);
    integers!(u64, UInt64, false);
}

/// Operations and operands that every floating-point type holds exactly. Results are compared bit
/// by bit.
const FLOATS: &[(Op, f64, f64, f64)] = &[
    (Op::Sum, 1.5, 2.25, 3.75),
    (Op::Sum, 1.0, -1.0, 0.0),
    (Op::Sub, 1.5, 2.25, -0.75),
    (Op::Prod, -1.5, 2.5, -3.75),
    (Op::Prod, 0.0, -1.0, -0.0),
    (Op::Div, 1.0, -4.0, -0.25),
    (Op::Div, 1.0, 0.0, f64::INFINITY),
    (Op::Div, 1.0, -0.0, f64::NEG_INFINITY),
    (Op::Max, 1.0, 2.0, 2.0),
    (Op::Max, f64::NAN, -2.0, -2.0),
    (Op::Max, -2.0, f64::NAN, -2.0),
    (Op::Max, -0.0, 0.0, 0.0),
    (Op::Max, 0.0, -0.0, 0.0),
    (Op::Max, f64::NEG_INFINITY, f64::NAN, f64::NEG_INFINITY),
    (Op::Min, 1.0, 2.0, 1.0),
    (Op::Min, f64::NAN, 2.0, 2.0),
    (Op::Min, 2.0, f64::NAN, 2.0),
    (Op::Min, -0.0, 0.0, -0.0),
    (Op::Min, 0.0, -0.0, -0.0),
    (Op::Land, -0.0, 1.0, 0.0),
    (Op::Land, f64::NAN, 0.5, 1.0),
    (Op::Lor, -0.0, 0.0, 0.0),
    (Op::Lor, f64::NAN, 0.0, 1.0),
    (Op::Lxor, 3.0, 4.0, 0.0),
    (Op::Lxor, 3.0, -0.0, 1.0),
    (Op::Copy, -0.0, 4.0, -0.0),
];

#[test]
fn floats_follow_ieee_754() {
    for &(op, a, b, wanted) in FLOATS {
        let result = apply(op, Datatype::Float64, &a.to_le_bytes(), &b.to_le_bytes()).unwrap();
        assert_eq!(result, wanted.to_le_bytes(), "{a} {} {b} as Float64", op.name());

        let narrow = |value: f64| (value as f32).to_le_bytes();
        let result = apply(op, Datatype::Float32, &narrow(a), &narrow(b)).unwrap();
        assert_eq!(result, narrow(wanted), "{a} {} {b} as Float32", op.name());

        let half = |value: f64| f16::from_f64(value).to_bits().to_le_bytes();
        let result = apply(op, Datatype::Float16, &half(a), &half(b)).unwrap();
        assert_eq!(result, half(wanted), "{a} {} {b} as Float16", op.name());
    }
}

#[test]
fn results_are_rounded_to_the_type() {
    let sum = |datatype, a: &[u8], b: &[u8]| apply(Op::Sum, datatype, a, b).unwrap();
    // 2^24 + 1 lies between two Float32s: to even.
    let result = sum(Datatype::Float32, &16777216f32.to_le_bytes(), &1f32.to_le_bytes());
    assert_eq!(result, 16777216f32.to_le_bytes());
    // 2048 + 1 lies between two Float16s: to even; 2048 + 3 too: up.
    let half = |value: f32| f16::from_f32(value).to_bits().to_le_bytes();
    assert_eq!(sum(Datatype::Float16, &half(2048.0), &half(1.0)), half(2048.0));
    assert_eq!(sum(Datatype::Float16, &half(2048.0), &half(3.0)), half(2052.0));
    assert_eq!(sum(Datatype::Float16, &half(65504.0), &half(65504.0)), half(f32::INFINITY));
}

#[test]
fn every_computed_nan_is_the_same() {
    let nan = 0x7ff8_0000_0000_0000u64.to_le_bytes();
    let other = 0xfff8_0000_0000_0123u64.to_le_bytes();
    for op in [Op::Max, Op::Min, Op::Sum, Op::Sub, Op::Prod, Op::Div] {
        assert_eq!(apply(op, Datatype::Float64, &other, &other).unwrap(), nan, "{}", op.name());
    }
    let infinity = f32::INFINITY.to_le_bytes();
    let nan = 0x7fc0_0000u32.to_le_bytes();
    assert_eq!(apply(Op::Sub, Datatype::Float32, &infinity, &infinity).unwrap(), nan);
    let (negative, nan) = (0xfe01u16.to_le_bytes(), 0x7e00u16.to_le_bytes());
    assert_eq!(apply(Op::Sum, Datatype::Float16, &negative, &negative).unwrap(), nan);
}

#[test]
fn copy_keeps_every_bit() {
    let signalling = 0x7ff0_0000_0000_0001u64.to_le_bytes();
    assert_eq!(apply(Op::Copy, Datatype::Float64, &signalling, &[0; 8]).unwrap(), signalling);
}
