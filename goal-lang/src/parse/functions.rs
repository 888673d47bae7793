//! The names of functions and datatypes, and guesses at what a wrong name means.

use crate::function::{Datatype, Op, is_legal};
use crate::suggest::nearest;

/// Other names of operations. A name that begins with another name of the table stands before that
/// name.
const OPS: [(&str, Op); 21] = [
    ("addition", Op::Sum),
    ("add", Op::Sum),
    ("plus", Op::Sum),
    ("product", Op::Prod),
    ("multiply", Op::Prod),
    ("mult", Op::Prod),
    ("mul", Op::Prod),
    ("times", Op::Prod),
    ("subtract", Op::Sub),
    ("minus", Op::Sub),
    ("diff", Op::Sub),
    ("divide", Op::Div),
    ("maximum", Op::Max),
    ("minimum", Op::Min),
    ("memcpy", Op::Copy),
    ("move", Op::Copy),
    ("cpy", Op::Copy),
    ("and", Op::Band),
    ("xor", Op::Bxor),
    ("or", Op::Bor),
    ("cp", Op::Copy),
];

/// Other names of datatypes, in lower case.
const DATATYPES: [(&str, Datatype); 26] = [
    ("int", Datatype::Int32),
    ("integer", Datatype::Int32),
    ("i8", Datatype::Int8),
    ("i16", Datatype::Int16),
    ("i32", Datatype::Int32),
    ("i64", Datatype::Int64),
    ("char", Datatype::Int8),
    ("short", Datatype::Int16),
    ("long", Datatype::Int64),
    ("uint", Datatype::UInt32),
    ("unsigned", Datatype::UInt32),
    ("byte", Datatype::UInt8),
    ("u8", Datatype::UInt8),
    ("u16", Datatype::UInt16),
    ("u32", Datatype::UInt32),
    ("u64", Datatype::UInt64),
    ("float", Datatype::Float32),
    ("real", Datatype::Float32),
    ("half", Datatype::Float16),
    ("f16", Datatype::Float16),
    ("fp16", Datatype::Float16),
    ("f32", Datatype::Float32),
    ("fp32", Datatype::Float32),
    ("single", Datatype::Float32),
    ("double", Datatype::Float64),
    ("f64", Datatype::Float64),
];

/// Splits a function's name into its operation and its datatype.
pub(super) fn function(name: &[u8]) -> Option<(Op, Datatype)> {
    let split = name.iter().position(u8::is_ascii_uppercase)?;
    let (op, datatype) = name.split_at(split);
    let op = Op::ALL.iter().find(|candidate| candidate.name().as_bytes() == op)?;
    Some((*op, datatype_named(datatype)?))
}

pub(super) fn datatype_named(name: &[u8]) -> Option<Datatype> {
    Datatype::ALL.iter().find(|candidate| candidate.name().as_bytes() == name).copied()
}

pub(super) fn op_names() -> String {
    Op::ALL.iter().map(|op| op.name()).collect::<Vec<_>>().join(" ")
}

/// The datatypes that values can have.
fn usable() -> impl Iterator<Item = Datatype> + Clone {
    Datatype::ALL.iter().copied().filter(|datatype| *datatype != Datatype::Float8)
}

pub(super) fn datatype_names() -> String {
    usable().map(Datatype::name).collect::<Vec<_>>().join(" ")
}

/// Returns the datatype that a wrong name probably means.
pub(super) fn datatype_meant(name: &[u8]) -> Option<Datatype> {
    synonym(name).or_else(|| {
        let near = nearest(name, usable().map(|datatype| datatype.name().as_bytes().to_vec()))?;
        datatype_named(&near)
    })
}

/// Returns the datatype that `name` means, ignoring case, a `_` before the name and a `_t` behind
/// it.
fn synonym(name: &[u8]) -> Option<Datatype> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(b"_t").unwrap_or(&name);
    let name = name.strip_prefix(b"_").unwrap_or(name);
    let other = DATATYPES.iter().find(|(other, _)| other.as_bytes() == name);
    let known = || usable().find(|datatype| datatype.name().as_bytes().eq_ignore_ascii_case(name));
    other.map(|(_, datatype)| *datatype).or_else(known)
}

/// Returns the name of the function that a wrong name probably means. The function is always
/// defined on its datatype.
pub(super) fn meant(name: &[u8]) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let known = Op::ALL.iter().map(|op| (op.name(), *op));
    for (prefix, op) in OPS.into_iter().chain(known) {
        let Some(rest) = lower.strip_prefix(prefix.as_bytes()) else { continue };
        let datatype = match rest {
            b"" => Some(Datatype::Int32),
            rest => synonym(rest),
        };
        if let Some(datatype) = datatype {
            return Some(usable_as(op, datatype));
        }
    }
    let all = Op::ALL.iter().flat_map(|op| {
        let legal = usable().filter(|datatype| is_legal(*op, *datatype));
        legal.map(|datatype| format!("{}{}", op.name(), datatype.name()).into_bytes())
    });
    String::from_utf8(nearest(name, all)?).ok()
}

/// Returns the name of a function with `op`. If `op` is not defined on `datatype`, another datatype
/// replaces it. An operation on bits gets an unsigned one of a float's width.
pub(super) fn usable_as(op: Op, datatype: Datatype) -> String {
    let datatype = match datatype {
        _ if is_legal(op, datatype) => datatype,
        Datatype::Float16 => Datatype::UInt16,
        Datatype::Float32 => Datatype::UInt32,
        Datatype::Float64 => Datatype::UInt64,
        _ if op.is_bitwise() => Datatype::UInt8,
        _ => Datatype::Float16,
    };
    format!("{}{}", op.name(), datatype.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wrong_names_mean() {
        for (name, wanted) in [
            ("addInt32", "sumInt32"),
            ("sumFloat", "sumFloat32"),
            ("sumfloat64", "sumFloat64"),
            ("SUMINT", "sumInt32"),
            ("mulDouble", "prodFloat64"),
            ("maximumInt64_t", "maxInt64"),
            ("sum_int32_t", "sumInt32"),
            ("minusUInt", "subUInt32"),
            ("andInt8", "bandInt8"),
            ("bandFloat", "bandUInt32"),
            ("sum", "sumInt32"),
            ("sumInt33", "sumInt32"),
            ("smuInt32", "sumInt32"),
        ] {
            assert_eq!(meant(name.as_bytes()).as_deref(), Some(wanted), "{name}");
        }
        assert_eq!(meant(b"frobnicate"), None);
    }

    #[test]
    fn what_is_meant_can_be_used() {
        let ends = ["", "8", "16", "32", "64", "t"];
        let types = DATATYPES.iter().map(|(name, _)| *name).chain(["Int", "UInt", "Float"]);
        for datatype in types {
            for op in OPS.iter().map(|(name, _)| *name).chain(Op::ALL.iter().map(|op| op.name())) {
                for end in ends {
                    let name = format!("{op}{datatype}{end}");
                    if let Some(meant) = meant(name.as_bytes()) {
                        let known = function(meant.as_bytes());
                        assert!(
                            known.is_some_and(|(op, datatype)| is_legal(op, datatype)),
                            "{name}: {meant}"
                        );
                    }
                }
            }
        }
    }
}
