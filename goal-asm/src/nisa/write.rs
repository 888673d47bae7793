//! Writes a program as a NISA file.

use super::bytes::{put_u32, put_u64};
use super::container::{HEADER_SIZE, MAGIC, MINOR, NONE, crc, padded, part};
use super::encode::SectionEncoder;
use super::error::EncodeError;
use super::names::DebugPlan;
use super::parts::{BUFFER_BYTES, Parts, in_order};
use super::plan::{Plan, PlannedSection, section_bytes};
use goal_lang::{Body, Datum, MemoryImage, Program, SourceMap};
use rayon::prelude::*;
use std::io::{self, Write};

/// Options of the encoder.
#[derive(Debug, Clone, Copy)]
pub struct EncodeOptions {
    /// True to leave out the debug part.
    pub strip: bool,
    /// The number of threads. Above 1, sections are encoded on the rayon pool that the calling
    /// thread belongs to. A thread outside of a pool encodes alone. The written bytes don't depend
    /// on this number.
    pub threads: usize,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self { strip: false, threads: 1 }
    }
}

/// Writes `program` as a NISA file. Sections come in the order of the first rank that runs each,
/// actions in the body's order. Identical sections and images are written once. The lines of the
/// debug part are counted in `sources`, if given.
///
/// # Errors
/// Returns an error if the program exceeds a limit of the format, or if `out` fails.
pub fn encode(
    program: &Program,
    options: &EncodeOptions,
    sources: Option<&SourceMap>,
    out: &mut dyn Write,
) -> Result<(), EncodeError> {
    // Rayon's global pool is not used, because its threads don't exist in a forked child.
    let threads = if rayon::current_thread_index().is_some() { options.threads } else { 1 };
    let plan = Plan::new(program, threads)?;
    let has_memory =
        plan.sections.iter().any(|section| section.memory > 0 || section.body.scratch > 0);
    let has_images = plan.rank_images.iter().any(|&image| image != NONE);
    let has_buffers = plan.sections.iter().any(|section| !section.body.buffers.is_empty());
    let debug = if options.strip { None } else { DebugPlan::new(&plan, sources) };
    let optional = [has_memory, has_images, has_buffers, debug.is_some()];
    let parts = 1 + optional.into_iter().filter(|&there| there).count();
    let mut out = Parts::new(out);
    let sections = plan.sections.iter().map(|section| (section.length, section.body.len()));
    out.header(&header(plan.version, &plan.rank_sections, sections, parts as u32))?;
    out.part(part::CODE, plan.sections.iter().map(|section| section.length).sum(), |out| {
        code(&plan, threads, out)
    })?;
    if has_memory {
        out.part(part::MEMORY, 16 * plan.sections.len() as u64, |out| {
            for section in &plan.sections {
                put_u64(&mut out.buffer, section.memory);
                put_u64(&mut out.buffer, section.body.scratch);
                out.relieve()?;
            }
            Ok(())
        })?;
    }
    if has_images {
        out.part(part::IMAGES, images_length(&plan), |out| images(&plan, out))?;
    }
    if has_buffers {
        let lengths = |section: &PlannedSection<'_>| 4 + 8 * section.body.buffers.len() as u64;
        out.part(part::BUFFERS, plan.sections.iter().map(lengths).sum(), |out| {
            for section in &plan.sections {
                put_u32(&mut out.buffer, section.body.buffers.len() as u32);
                for &length in &section.body.buffers {
                    put_u64(&mut out.buffer, length);
                    out.relieve()?;
                }
            }
            Ok(())
        })?;
    }
    if let Some(debug) = debug {
        out.part(part::DEBUG, debug.length(&plan), |out| debug.write(&plan, threads, out))?;
    }
    out.flush()?;
    Ok(())
}

/// Returns the header, and the table of ranks and sections.
///
/// `sections` gives the bytes and the number of actions of each section.
pub(super) fn header(
    version: u16,
    rank_sections: &[u32],
    sections: impl ExactSizeIterator<Item = (u64, usize)>,
    parts: u32,
) -> Vec<u8> {
    let mut head = Vec::with_capacity(HEADER_SIZE + 4 * rank_sections.len() + 8 * sections.len());
    head.extend_from_slice(&MAGIC);
    put_u32(&mut head, u32::from(version) | u32::from(MINOR) << 16);
    put_u32(&mut head, rank_sections.len() as u32);
    put_u32(&mut head, sections.len() as u32);
    put_u32(&mut head, parts);
    let mut producer = [0; 16];
    let name = concat!("goalc ", env!("CARGO_PKG_VERSION")).as_bytes();
    let length = name.len().min(producer.len());
    producer[..length].copy_from_slice(&name[..length]);
    head.extend_from_slice(&producer);
    let checksum_at = head.len();
    put_u32(&mut head, 0);
    for &section in rank_sections {
        put_u32(&mut head, section);
    }
    for (length, actions) in sections {
        put_u32(&mut head, (length / 4) as u32);
        put_u32(&mut head, actions as u32);
    }
    let checksum = crc(crc(0, &head[..checksum_at]), &head[HEADER_SIZE..]);
    head[checksum_at..HEADER_SIZE].copy_from_slice(&checksum.to_le_bytes());
    head
}

fn code(plan: &Plan<'_>, threads: usize, out: &mut Parts<'_>) -> io::Result<()> {
    let encode = |sections: &[PlannedSection<'_>]| {
        sections.par_iter().map(|section| section_bytes(section.body)).collect()
    };
    let write = |section: &PlannedSection<'_>, out: &mut Parts<'_>| write_code(section.body, out);
    in_order(&plan.sections, |section| section.length, threads, encode, write, out)
}

/// Writes the section of a body.
pub(super) fn write_code(body: &Body, out: &mut Parts<'_>) -> io::Result<()> {
    let mut encoder = SectionEncoder::new(body);
    encoder.independent(&mut out.buffer);
    while encoder.records(BUFFER_BYTES, &mut out.buffer) {
        out.flush()?;
    }
    out.relieve()
}

fn images_length(plan: &Plan<'_>) -> u64 {
    let datum = |datum: &Datum| 20 + padded(datum.bytes.len() as u64);
    let image =
        |image: &&MemoryImage| 8 + image.init.iter().chain(&image.expect).map(datum).sum::<u64>();
    4 * plan.rank_images.len() as u64 + 4 + plan.images.iter().map(image).sum::<u64>()
}

fn images(plan: &Plan<'_>, out: &mut Parts<'_>) -> io::Result<()> {
    for &image in &plan.rank_images {
        put_u32(&mut out.buffer, image);
        out.relieve()?;
    }
    put_u32(&mut out.buffer, plan.images.len() as u32);
    for image in &plan.images {
        for data in [&image.init, &image.expect] {
            put_u32(&mut out.buffer, data.len() as u32);
            let mut sorted: Vec<&Datum> = data.iter().collect();
            sorted.sort_by_key(|datum| datum.addr);
            for datum in sorted {
                put_u64(&mut out.buffer, datum.addr);
                put_u64(&mut out.buffer, datum.bytes.len() as u64);
                put_u32(&mut out.buffer, datum.datatype as u32);
                out.write(&datum.bytes)?;
                out.pad(datum.bytes.len());
            }
        }
    }
    Ok(())
}
