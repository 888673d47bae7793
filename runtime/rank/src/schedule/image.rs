//! Compares a rank's memory with the values that the program expects at the end of an instance.

use goal_asm::Nisa;
use goal_lang::{Datatype, ODD_NAN};
use std::fmt::Write;

/// The most wrong elements that an error message lists. Further ones are only counted.
const SHOWN_MAX: usize = 20;

/// Returns a text that lists the elements whose values differ from what the program expects; `None`
/// if there are none. `instance` counts from 0.
pub(super) fn unexpected(
    nisa: &Nisa,
    rank: u32,
    memory: &[u8],
    instance: Option<u64>,
) -> Option<String> {
    let mut wrong = Vec::new();
    let mut count = 0u64;
    for value in nisa.image(rank).into_iter().flat_map(|image| image.expect) {
        let found = &memory[value.addr as usize..][..value.bytes.len()];
        if found == value.bytes {
            continue;
        }
        let width = value.datatype.width() as usize;
        let pairs = value.bytes.chunks(width).zip(found.chunks(width));
        for (index, (wanted, found)) in
            pairs.enumerate().filter(|(_, (wanted, found))| wanted != found)
        {
            count += 1;
            if wrong.len() < SHOWN_MAX {
                let addr = value.addr + (index * width) as u64;
                wrong.push(mismatch(addr, value.datatype, wanted, found));
            }
        }
    }
    (count > 0).then(|| {
        let mut text = format!("rank {rank}");
        if let Some(instance) = instance {
            let _ = write!(text, ", instance {}", instance + 1);
        }
        let _ = write!(text, ": {}", wrong.join("; "));
        if count > SHOWN_MAX as u64 {
            let _ = write!(text, "; and {} more", count - SHOWN_MAX as u64);
        }
        text
    })
}

/// Returns a text that states the address, the value and the expected value of one wrong element.
pub fn mismatch(addr: u64, datatype: Datatype, wanted: &[u8], found: &[u8]) -> String {
    let (wanted, found) = (element(datatype, wanted), element(datatype, found));
    format!("address {addr} holds {} {found}, expected {wanted}", datatype.name())
}

/// Returns the value of an element as a GOAL text spells it.
fn element(datatype: Datatype, bytes: &[u8]) -> String {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    match datatype {
        odd if odd.is_odd_nan(bits) => format!("{ODD_NAN}{bits:x}"),
        nan if nan.is_nan(bits) => "nan".to_owned(),
        Datatype::Int8 => (bits as i8).to_string(),
        Datatype::Int16 => (bits as i16).to_string(),
        Datatype::Int32 => (bits as i32).to_string(),
        Datatype::Int64 => (bits as i64).to_string(),
        Datatype::Float16 => half::f16::from_bits(bits as u16).to_string(),
        Datatype::Float32 => f32::from_bits(bits as u32).to_string(),
        Datatype::Float64 => f64::from_bits(bits).to_string(),
        Datatype::UInt8
        | Datatype::UInt16
        | Datatype::UInt32
        | Datatype::UInt64
        | Datatype::Float8 => bits.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::mismatch;
    use goal_lang::Datatype;

    #[test]
    fn elements_are_shown_in_their_type() {
        let text = mismatch(8, Datatype::Int16, &(-2i16).to_le_bytes(), &7i16.to_le_bytes());
        assert_eq!(text, "address 8 holds Int16 7, expected -2");
        let text = mismatch(0, Datatype::Float64, &0.5f64.to_le_bytes(), &f64::NAN.to_le_bytes());
        assert_eq!(text, "address 0 holds Float64 nan, expected 0.5");
        let text =
            mismatch(0, Datatype::Float32, &f32::NAN.to_le_bytes(), &0xffc0_0000u32.to_le_bytes());
        assert_eq!(text, "address 0 holds Float32 nan_ffc00000, expected nan");
    }
}
