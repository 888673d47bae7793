//! Memory images: `init` and `expect`.

use std::io;

use half::f16;

use super::output::Output;
use crate::function::{Datatype, ODD_NAN};
use crate::program::{Datum, MemoryImage};

pub(super) fn print(out: &mut Output<'_>, image: &MemoryImage) -> io::Result<()> {
    for (keyword, data) in [("init ", &image.init), ("expect ", &image.expect)] {
        for datum in data {
            out.begin_statement();
            out.text(keyword);
            out.number(datum.addr);
            out.text(" = ");
            print_values(out, datum)?;
            out.end_statement()?;
        }
    }
    Ok(())
}

fn print_values(out: &mut Output<'_>, datum: &Datum) -> io::Result<()> {
    out.text(datum.datatype.name());
    for bits in elements(datum) {
        out.text(" ");
        match datum.datatype {
            float if float.is_odd_nan(bits) => out.text(&format!("{ODD_NAN}{bits:x}")),
            Datatype::Int8 => out.signed(i64::from(bits as i8)),
            Datatype::Int16 => out.signed(i64::from(bits as i16)),
            Datatype::Int32 => out.signed(i64::from(bits as i32)),
            Datatype::Int64 => out.signed(bits as i64),
            Datatype::Float16 => out.single(f16::from_bits(bits as u16).to_f32()),
            Datatype::Float32 => out.single(f32::from_bits(bits as u32)),
            Datatype::Float64 => out.double(f64::from_bits(bits)),
            _ => out.number(bits),
        }
        out.spill()?;
    }
    Ok(())
}

/// Returns the bits of every value of `datum`.
fn elements(datum: &Datum) -> impl Iterator<Item = u64> {
    datum.bytes.chunks_exact(datum.datatype.width() as usize).map(|bytes| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(wide)
    })
}
