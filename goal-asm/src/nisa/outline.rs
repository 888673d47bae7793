//! A file without its sections and names, which is kept in memory while sections are streamed.
//!
//! Threat: the author of a file chooses all lengths in it, and a sparse file may have any size. So
//! each length is compared with a limit before anything is allocated, and memory grows with the
//! bytes that were really read.

use super::bytes::{u32_at, u64_at};
use super::chunk::SectionPlace;
use super::container::{
    CRC_AT, HEADER_SIZE, PART_HEAD, PART_TAIL, RANK_SIZE, SECTION_SIZE, crc, part,
};
use super::error::{StreamError, VerifyError};
use super::file::Nisa;
use super::layout::reseal;
use super::read_at::ReadAt;
use crate::nisa::limits::{SECTION_BYTES_MAX, WINDOW_IMAGES_BYTES_MAX};
use goal_lang::diag::Code;
use goal_lang::limits::{Limit, Limits};
use std::sync::Arc;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 20;
/// Bytes of an empty section.
const EMPTY: usize = 4;
/// Bytes of a section's entry in the part on memory.
const MEMORY_SIZE: u64 = 16;

/// The content of a file without its sections.
#[derive(Debug)]
pub struct Outline {
    /// The file with empty sections and without names: the ranks' memory, scratch memory and
    /// images.
    pub nisa: Arc<Nisa>,
    /// The place of each section.
    pub sections: Vec<SectionPlace>,
}

impl Outline {
    /// Reads a file once, a block at a time, and compares all checksums. Sections are not verified;
    /// a [`SectionStream`](super::SectionStream) does that. Takes memory for the tables and images,
    /// but none for sections and names.
    ///
    /// # Errors
    /// Returns an error if the file is invalid or can't be read.
    pub fn read(file: &dyn ReadAt, limits: &Limits) -> Result<Self, StreamError> {
        let mut reader = Reader { file, length: file.size()? };
        let head = reader.bytes(0, HEADER_SIZE as u64)?;
        let (ranks, count, parts) = (u32_at(&head, 12), u32_at(&head, 16), u32_at(&head, 20));
        let table = RANK_SIZE as u64 * u64::from(ranks) + SECTION_SIZE as u64 * u64::from(count);
        if ranks > limits.ranks_max || count > ranks {
            let message = format!(
                "{ranks} ranks with {count} sections, and the limit is {}",
                limits.ranks_max
            );
            return Err(VerifyError::limit(Limit::Ranks, 12, message).into());
        }
        let table = reader.bytes(HEADER_SIZE as u64, table)?;
        let stored = u32_at(&head, CRC_AT);
        reader.compare(crc(crc(0, &head[..CRC_AT]), &table), stored, CRC_AT as u64)?;
        let mut entries = Vec::new();
        for entry in table[RANK_SIZE * ranks as usize..].chunks_exact(SECTION_SIZE) {
            entries.push((4 * u64::from(u32_at(entry, 0)), u32_at(entry, 4)));
        }
        let mut skeleton = [head.as_slice(), &table[..RANK_SIZE * ranks as usize]].concat();
        for _ in &entries {
            skeleton.extend_from_slice(&(EMPTY as u32 / 4).to_le_bytes());
            skeleton.extend_from_slice(&0u32.to_le_bytes());
        }
        let mut sections = Vec::new();
        let mut at = HEADER_SIZE as u64 + table.len() as u64;
        let (mut found, mut kept, mut before) = (0u32, 0u32, 0u32);
        while at < reader.length {
            let part_head = reader.bytes(at, PART_HEAD as u64)?;
            let (kind, length) = (u32_at(&part_head, 0), u64_at(&part_head, 4));
            let payload = at + PART_HEAD as u64;
            let end = payload
                .checked_add(length)
                .filter(|end| end.saturating_add(PART_TAIL as u64) <= reader.length);
            let Some(end) = end else {
                return Err(
                    reader.format(at, format!("a part of {length} bytes does not fit the file"))
                );
            };
            if kind <= before {
                return Err(reader
                    .format(at, format!("the part of kind {kind:#x} comes too late, or twice")));
            }
            before = kind;
            let mut sum = crc(0, &part_head);
            match kind {
                part::CODE => {
                    let mut start = payload;
                    for (i, &(length, actions)) in entries.iter().enumerate() {
                        if !(EMPTY as u64..=SECTION_BYTES_MAX).contains(&length)
                            || length > end - start
                        {
                            return Err(reader
                                .format(at, format!("section {i} cannot have {length} bytes")));
                        }
                        let mut checksum = 0;
                        reader.pass(start, length, |block| {
                            checksum = crc(checksum, block);
                            sum = crc(sum, block);
                        })?;
                        sections.push(SectionPlace {
                            start,
                            length: length as u32,
                            actions,
                            checksum,
                            version: u32_at(&head, 8) as u16,
                            ranks,
                            memory: 0,
                            scratch: 0,
                        });
                        start += length;
                    }
                    if start != end {
                        return Err(
                            reader.format(start, "bytes behind the last section".to_owned())
                        );
                    }
                    skeleton.extend_from_slice(&kind.to_le_bytes());
                    skeleton.extend_from_slice(&((EMPTY * entries.len()) as u64).to_le_bytes());
                    skeleton.resize(skeleton.len() + EMPTY * entries.len() + PART_TAIL, 0);
                    kept += 1;
                }
                _ if kind >= part::ANCILLARY => {
                    reader.pass(payload, length, |block| sum = crc(sum, block))?
                }
                part::MEMORY | part::IMAGES => {
                    let most = match kind {
                        part::MEMORY => MEMORY_SIZE * entries.len() as u64,
                        _ => WINDOW_IMAGES_BYTES_MAX,
                    };
                    if length > most {
                        return Err(StreamError::LongPart { length, limit: most });
                    }
                    let bytes = reader.bytes(payload, length)?;
                    sum = crc(sum, &bytes);
                    skeleton.extend_from_slice(&part_head);
                    skeleton.extend_from_slice(&bytes);
                    skeleton.resize(skeleton.len() + PART_TAIL, 0);
                    kept += 1;
                }
                part::BUFFERS => return Err(StreamError::Buffers),
                _ => {
                    let message =
                        format!("the part of kind {kind} belongs to a later version of the format");
                    return Err(VerifyError::new(Code::NisaVersion, at, message).into());
                }
            }
            let stored = u32_at(&reader.bytes(end, PART_TAIL as u64)?, 0);
            reader.compare(sum, stored, end)?;
            found += 1;
            at = end + PART_TAIL as u64;
        }
        if found != parts || sections.len() != entries.len() {
            return Err(reader.format(at, format!("the file ends after {found} of {parts} parts")));
        }
        skeleton[20..24].copy_from_slice(&kept.to_le_bytes());
        reseal(&mut skeleton);
        let nisa = Arc::new(Nisa::load(Arc::new(skeleton), limits)?);
        for (section, place) in (0..).zip(&mut sections) {
            place.memory = nisa.section_memory_size(section);
            place.scratch = nisa.section_scratch_size(section);
        }
        Ok(Self { nisa, sections })
    }

    /// Returns the place of a rank's section.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn place(&self, rank: u32) -> SectionPlace {
        self.sections[self.nisa.section_id(rank) as usize]
    }
}

struct Reader<'a> {
    file: &'a dyn ReadAt,
    length: u64,
}

impl Reader<'_> {
    fn bytes(&mut self, at: u64, length: u64) -> Result<Vec<u8>, StreamError> {
        if at.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(self.format(at, "this is not a NISA file, or it was cut".to_owned()));
        }
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < length {
            let done = bytes.len();
            let more = BLOCK.max(done).min((length - done as u64) as usize);
            bytes.try_reserve_exact(more).map_err(|_| StreamError::Memory { bytes: length })?;
            bytes.resize(done + more, 0);
            self.file.read_exact_at(&mut bytes[done..], at + done as u64)?;
        }
        Ok(bytes)
    }

    fn pass(&self, at: u64, length: u64, mut visit: impl FnMut(&[u8])) -> Result<(), StreamError> {
        let mut block = vec![0; BLOCK.min(length as usize)];
        let mut done = 0;
        while done < length {
            let part = &mut block[..BLOCK.min((length - done) as usize)];
            self.file.read_exact_at(part, at + done)?;
            visit(part);
            done += part.len() as u64;
        }
        Ok(())
    }

    fn compare(&self, sum: u32, stored: u32, at: u64) -> Result<(), StreamError> {
        if sum == stored {
            return Ok(());
        }
        let message =
            format!("the checksum is {sum:#010x}, and {stored:#010x} is stored: bytes changed");
        Err(VerifyError::new(Code::NisaChecksum, at, message).into())
    }

    fn format(&self, at: u64, message: String) -> StreamError {
        VerifyError::new(Code::NisaFormat, at, message).into()
    }
}
