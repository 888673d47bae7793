//! The places of all parts of a file. The structure of the container is checked against the file's
//! size and the limits before anything of a stated size is allocated.

use super::bytes::{u32_at, u64_at};
use super::container::{
    BUFFERS_SINCE, CRC_AT, HEADER_SIZE, MAGIC, MAJOR, MINOR, NONE, PART_TAIL, PRODUCER, RANK_SIZE,
    SECTION_SIZE, crc, part,
};
use super::error::VerifyError;
use super::reader::{File, Reader, Result};
use crate::nisa::limits::SECTION_BYTES_MAX;
use goal_lang::diag::Code;
use goal_lang::limits::{Limit, Limits};
use goal_lang::{BUFFER_BYTES_MAX, BUFFERS_MAX, flat_offsets};
use std::ops::Range;

/// The places of a file's parts and entries. All offsets lie inside the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    /// Major version of the format.
    pub(super) version: u16,
    pub(super) ranks: u32,
    pub(super) sections: Vec<SectionEntry>,
    /// The offset in the file of the table with the image index of each rank. `None` without a part
    /// of images.
    pub(super) rank_images: Option<usize>,
    pub(super) images: Vec<ImageEntry>,
    pub(super) names: Vec<Range<usize>>,
    pub(super) debug: Vec<DebugEntry>,
    /// The place of every part, with its head and without its checksum.
    pub(super) parts: Vec<Range<usize>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SectionEntry {
    pub(super) start: usize,
    pub(super) length: usize,
    pub(super) actions: u32,
    pub(super) memory: u64,
    pub(super) scratch: u64,
    /// The offset in the file of the lengths of the section's buffers, and the number of buffers.
    pub(super) buffers: (usize, u32),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ImageEntry {
    pub(super) init: usize,
    pub(super) expect: usize,
    /// The first byte of memory past all values of the image.
    pub(super) end: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct DebugEntry {
    pub(super) name: u32,
    pub(super) lines: Option<usize>,
    pub(super) label_ends: Option<usize>,
}

impl Layout {
    pub(super) fn parse(bytes: &[u8], limits: &Limits) -> Result<Self> {
        let file = File(bytes);
        check_header(file)?;
        let (ranks, sections) = (u32_at(bytes, 12), u32_at(bytes, 16));
        let table = HEADER_SIZE as u64
            + RANK_SIZE as u64 * u64::from(ranks)
            + SECTION_SIZE as u64 * u64::from(sections);
        if table > bytes.len() as u64 {
            return Err(file.format(
                12,
                format!("the file is too short for {ranks} ranks and {sections} sections"),
            ));
        }
        if ranks > limits.ranks_max {
            let message = format!("{ranks} ranks, and the limit is {}", limits.ranks_max);
            return Err(VerifyError::limit(Limit::Ranks, 12, message));
        }
        let version = u32_at(bytes, 8) as u16;
        let mut layout = Self { version, ranks, ..Self::default() };
        let section_table = HEADER_SIZE + RANK_SIZE * ranks as usize;
        check_rank_sections(file, section_table, sections)?;
        let mut at = table as usize;
        let mut before = 0;
        while at < bytes.len() {
            let head = at;
            let (kind, payload) = file.part(head)?;
            if kind <= before {
                return Err(file
                    .format(head, format!("the part of kind {kind:#x} comes too late, or twice")));
            }
            if before == 0 && kind != part::CODE {
                return Err(file.format(head, "the first part is not the sections"));
            }
            before = kind;
            layout.parts.push(head..payload.end);
            at = payload.end + PART_TAIL;
            match kind {
                part::CODE => layout.code(file, section_table, sections, payload)?,
                part::MEMORY => layout.memory(file, payload, limits)?,
                part::IMAGES => layout.images(file, payload)?,
                part::BUFFERS => layout.buffers(file, payload)?,
                part::DEBUG => layout.debug(file, payload)?,
                _ if kind >= part::ANCILLARY => {}
                _ => {
                    let message =
                        format!("the part of kind {kind} belongs to a later version of the format");
                    return Err(VerifyError::new(Code::NisaVersion, head as u64, message));
                }
            }
        }
        let parts = u32_at(bytes, 20);
        if before == 0 || layout.parts.len() as u64 != u64::from(parts) {
            return Err(file.format(
                at,
                format!("the file ends after {} of {parts} parts", layout.parts.len()),
            ));
        }
        layout.check_memory(limits)?;
        Ok(layout)
    }

    /// Returns the bytes of the lengths of a section's buffers, 8 for each length.
    pub(super) fn buffers_of<'a>(&self, bytes: &'a [u8], section: &SectionEntry) -> &'a [u8] {
        let (at, count) = section.buffers;
        &bytes[at..at + 8 * count as usize]
    }

    /// Checks that the stored checksums of the header and of every part are right.
    pub(super) fn check_sums(&self, bytes: &[u8]) -> Result<()> {
        for (at, sum, what) in self.sums(bytes) {
            let stored = u32_at(bytes, at);
            if sum != stored {
                let message = format!(
                    "the checksum of the {what} is {sum:#010x}, and {stored:#010x} is stored: bytes changed"
                );
                return Err(VerifyError::new(Code::NisaChecksum, at as u64, message));
            }
        }
        Ok(())
    }

    /// Computes the checksums of the header and of every part. Returns for each its place in the
    /// file, its value, and the name of what it covers.
    fn sums<'a>(
        &'a self,
        bytes: &'a [u8],
    ) -> impl Iterator<Item = (usize, u32, &'static str)> + 'a {
        let table = HEADER_SIZE..self.parts[0].start;
        let header = (CRC_AT, crc(crc(0, &bytes[..CRC_AT]), &bytes[table]), "header");
        let parts =
            self.parts.iter().map(|range| (range.end, crc(0, &bytes[range.clone()]), "part"));
        std::iter::once(header).chain(parts)
    }

    fn code(
        &mut self,
        file: File<'_>,
        table: usize,
        sections: u32,
        payload: Range<usize>,
    ) -> Result<()> {
        let mut start = payload.start;
        for i in 0..sections as usize {
            let entry = table + SECTION_SIZE * i;
            let length = 4 * u64::from(u32_at(file.0, entry));
            let actions = u32_at(file.0, entry + 4);
            if !(4..=SECTION_BYTES_MAX).contains(&length) || length > (payload.end - start) as u64 {
                return Err(file.format(entry, format!("section {i} cannot have {length} bytes")));
            }
            let length = length as usize;
            self.sections.push(SectionEntry {
                start,
                length,
                actions,
                memory: 0,
                scratch: 0,
                buffers: (0, 0),
            });
            start += length;
        }
        if start != payload.end {
            return Err(file.format(start, "bytes behind the last section"));
        }
        Ok(())
    }

    fn memory(&mut self, file: File<'_>, payload: Range<usize>, limits: &Limits) -> Result<()> {
        if payload.len() != 16 * self.sections.len() {
            return Err(file.format(payload.start, "the sizes of memory are not one a section"));
        }
        for (i, section) in self.sections.iter_mut().enumerate() {
            let at = payload.start + 16 * i;
            (section.memory, section.scratch) = (u64_at(file.0, at), u64_at(file.0, at + 8));
            if section.scratch > limits.scratch_bytes_max {
                let (asked, limit) = (section.scratch, limits.scratch_bytes_max);
                let message = format!(
                    "section {i} asks for {asked} bytes of scratch memory, and the limit is {limit}"
                );
                return Err(VerifyError::limit(Limit::Scratch, at as u64 + 8, message));
            }
            if section.memory > limits.memory_bytes_max {
                return Err(too_much_memory(at, section.memory, limits));
            }
        }
        Ok(())
    }

    fn buffers(&mut self, file: File<'_>, payload: Range<usize>) -> Result<()> {
        if self.version < BUFFERS_SINCE {
            let message = format!("tables of buffers came with format version {BUFFERS_SINCE}");
            return Err(file.format(payload.start, message));
        }
        let mut reader = Reader::new(file, payload);
        for (i, section) in self.sections.iter_mut().enumerate() {
            let (head, count) = (reader.at, reader.word()?);
            let at = reader.at;
            reader.skip(8 * u64::from(count))?;
            let lengths = (0..count as usize).map(|number| u64_at(file.0, at + 8 * number));
            let is_long = |length: u64| length > BUFFER_BYTES_MAX;
            if count as usize > BUFFERS_MAX || lengths.clone().any(is_long) {
                let message = format!("section {i} has more buffers or longer ones than allowed");
                return Err(file.data(head, message));
            }
            let size = flat_offsets(lengths).map(|(_, size)| size);
            if count > 0 && size != Some(section.memory) {
                let stated = section.memory;
                let message = format!(
                    "the buffers of section {i} do not make up its {stated} bytes of memory"
                );
                return Err(file.data(head, message));
            }
            section.buffers = (at, count);
        }
        if self.sections.iter().all(|section| section.buffers.1 == 0) {
            return Err(file.data(reader.at, "no section has buffers"));
        }
        reader.finish()
    }

    fn images(&mut self, file: File<'_>, payload: Range<usize>) -> Result<()> {
        let mut reader = Reader::new(file, payload.clone());
        self.rank_images = Some(reader.at);
        reader.skip(4 * u64::from(self.ranks))?;
        let count = reader.word()?;
        for _ in 0..count {
            let init = reader.at;
            let mut end = reader.data()?;
            let expect = reader.at;
            end = end.max(reader.data()?);
            self.images.push(ImageEntry { init, expect, end });
        }
        reader.finish()?;
        for rank in 0..self.ranks as usize {
            let at = payload.start + 4 * rank;
            let image = u32_at(file.0, at);
            if image != NONE && image >= count {
                return Err(file.data(at, format!("there is no image {image} for rank {rank}")));
            }
        }
        Ok(())
    }

    fn debug(&mut self, file: File<'_>, payload: Range<usize>) -> Result<()> {
        let mut reader = Reader::new(file, payload.clone());
        for _ in 0..reader.word()? {
            let length = reader.word()?;
            self.names.push(reader.text(length)?);
        }
        for i in 0..self.sections.len() {
            let actions = self.sections[i].actions;
            let at = reader.at;
            let (name, flags) = (reader.word()?, reader.word()?);
            if name != NONE && name as usize >= self.names.len() || flags > 3 {
                return Err(file.data(at, "an unknown source name or flag"));
            }
            let mut entry = DebugEntry { name, lines: None, label_ends: None };
            if flags & 1 != 0 {
                entry.lines = Some(reader.at);
                reader.skip(4 * u64::from(actions))?;
            }
            if flags & 2 != 0 {
                entry.label_ends = Some(reader.at);
                reader.labels(actions)?;
            }
            self.debug.push(entry);
        }
        reader.finish()
    }

    /// Checks that no image needs more memory than the limit allows.
    fn check_memory(&self, limits: &Limits) -> Result<()> {
        match self.images.iter().find(|image| image.end > limits.memory_bytes_max) {
            Some(image) => Err(too_much_memory(image.init, image.end, limits)),
            None => Ok(()),
        }
    }
}

fn too_much_memory(at: usize, asked: u64, limits: &Limits) -> VerifyError {
    let limit = limits.memory_bytes_max;
    let message = format!("{asked} bytes of memory are asked for, and the limit is {limit}");
    VerifyError::limit(Limit::Memory, at as u64, message)
}

fn check_header(file: File<'_>) -> Result<()> {
    let bytes = file.0;
    if bytes.len() < HEADER_SIZE || bytes[..8] != MAGIC {
        if bytes.len() >= 5 && bytes[1..5] == MAGIC[1..5] {
            return Err(
                file.format(0, "this was a NISA file before a transfer as text changed or cut it")
            );
        }
        return Err(file.format(0, "this is not a NISA file"));
    }
    let (major, minor) = (u32_at(bytes, 8) as u16, (u32_at(bytes, 8) >> 16) as u16);
    if major == 0 || major > MAJOR {
        let message = format!(
            "the file has format version {major}.{minor}, this program reads up to {MAJOR}.{MINOR}"
        );
        return Err(VerifyError::new(Code::NisaVersion, 8, message));
    }
    if !bytes.len().is_multiple_of(4) {
        return Err(file.format(bytes.len(), "the file's length is no multiple of 4"));
    }
    let producer = &bytes[PRODUCER];
    let name = producer.iter().position(|&byte| byte == 0).unwrap_or(producer.len());
    if producer[name..].iter().any(|&byte| byte != 0)
        || !producer[..name].iter().all(|byte| (32..127).contains(byte))
    {
        return Err(file.format(PRODUCER.start, "the producer's name is not plain text"));
    }
    Ok(())
}

/// Checks the numbers of sections: they are in the order of the ranks that first name them. So
/// equal programs become equal files. Every section must be named.
fn check_rank_sections(file: File<'_>, section_table: usize, sections: u32) -> Result<()> {
    let mut used = 0;
    for at in (HEADER_SIZE..section_table).step_by(RANK_SIZE) {
        let section = u32_at(file.0, at);
        if section > used || section >= sections {
            return Err(file.format(at, format!("section {section} is out of order, or not there")));
        }
        used = used.max(section + 1);
    }
    if used != sections {
        return Err(file.format(section_table, format!("no rank runs section {used}")));
    }
    Ok(())
}

/// Replaces all checksums of a file by the right ones. Does nothing if the file's structure is
/// invalid. It serves outlines, and tests of the checks that come after the checksums.
pub fn reseal(bytes: &mut [u8]) {
    let limits =
        Limits { ranks_max: u32::MAX, memory_bytes_max: u64::MAX, scratch_bytes_max: u64::MAX };
    let Ok(layout) = Layout::parse(bytes, &limits) else { return };
    let sums: Vec<_> = layout.sums(bytes).collect();
    for (at, sum, _) in sums {
        bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
    }
}
