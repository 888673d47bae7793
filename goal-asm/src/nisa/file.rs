//! A NISA file, verified and read in place.
#![allow(unsafe_code)] // `Nisa::load_trusted` has a contract

use super::bytes::{u32_at, u64_at};
use super::container::{COUNTS, HEADER_SIZE, NONE, RANK_SIZE, SECTION_SIZE, part};
use super::error::VerifyError;
use super::layout::{Layout, SectionEntry};
use super::section::Section;
use super::verify::{Bounds, verify_section};
use goal_lang::limits::Limits;
use goal_lang::{Bytes, Datatype};
use rayon::prelude::*;
use std::fmt;
use std::ops::Range;

/// A verified schedule for all ranks of a group.
///
/// [`load`](Self::load) verifies the bytes of a file. [`load_trusted`](Self::load_trusted) takes
/// bytes that `load` has accepted before. A `Nisa` keeps the bytes and decodes nothing: sections,
/// images and names are views of them.
pub struct Nisa {
    bytes: Bytes,
    layout: Layout,
}

impl Nisa {
    /// Verifies the structure, the checksums and limits, every action and the graph of every
    /// section. Takes linear time, and for each thread working memory of half the largest section's
    /// size. The threads are those of the rayon pool that the calling thread belongs to, if the
    /// file is large. Without a pool, or for a small file, the calling thread works alone.
    ///
    /// # Errors
    /// The first fault found, with its place in the file.
    pub fn load(bytes: Bytes, limits: &Limits) -> Result<Self, VerifyError> {
        let layout = Layout::parse(&bytes, limits)?;
        layout.check_sums(&bytes)?;
        let verify = |balance: &mut Vec<u16>, section: &SectionEntry| {
            let bounds = Bounds {
                version: layout.version,
                ranks: layout.ranks,
                memory: section.memory,
                scratch: section.scratch,
                buffers: layout.buffers_of(&bytes, section),
                actions: section.actions,
            };
            let code = &bytes[section.start..section.start + section.length];
            verify_section(code, section.start as u64, bounds, balance).err()
        };
        let is_large = layout.sections.len() > 1 && bytes.len() >= PARALLEL_BYTES;
        // Without a pool of the caller, rayon would use its global pool, whose threads don't exist
        // in a forked child.
        let first = if is_large && rayon::current_thread_index().is_some() {
            layout.sections.par_iter().map_init(Vec::new, verify).find_map_first(|error| error)
        } else {
            let mut balance = Vec::new();
            layout.sections.iter().find_map(|section| verify(&mut balance, section))
        };
        match first {
            Some(error) => Err(error),
            None => Ok(Self { bytes, layout }),
        }
    }

    /// Trusts `bytes`: compares no checksums and verifies no section.
    ///
    /// # Safety
    /// [`load`](Self::load) accepted the bytes, in this process or another, and they cannot have
    /// changed since, such as those of a sealed memory file. An engine checks each place in the
    /// section, in memory and among the counters where it uses it, but relies on the graph: on each
    /// action starting and ending once.
    ///
    /// # Errors
    /// Returns an error if the structure of the file is wrong.
    pub unsafe fn load_trusted(bytes: Bytes, limits: &Limits) -> Result<Self, VerifyError> {
        let layout = Layout::parse(&bytes, limits)?;
        Ok(Self { bytes, layout })
    }

    /// Returns the bytes of the whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the pieces of the file that determine the run: the tables and the parts, without the
    /// producer and the parts that may be skipped. Files with the same pieces are the same program,
    /// perhaps with other names and lines.
    pub fn essence(&self) -> impl Iterator<Item = &[u8]> {
        let table =
            RANK_SIZE * self.layout.ranks as usize + SECTION_SIZE * self.layout.sections.len();
        let is_needed = |part: &&Range<usize>| u32_at(&self.bytes, part.start) < part::ANCILLARY;
        let parts = self.layout.parts.iter().filter(is_needed).cloned();
        let pieces = [COUNTS, HEADER_SIZE..HEADER_SIZE + table].into_iter().chain(parts);
        pieces.map(|piece| &self.bytes[piece])
    }

    /// Returns the number of ranks of the group.
    pub fn num_ranks(&self) -> u32 {
        self.layout.ranks
    }

    /// Returns the number of distinct sections.
    pub fn num_sections(&self) -> u32 {
        self.layout.sections.len() as u32
    }

    /// Returns the number of distinct images.
    pub(super) fn num_images(&self) -> u32 {
        self.layout.images.len() as u32
    }

    /// Returns the number of the section that a rank runs.
    ///
    /// # Panics
    /// If there is no such rank. The other functions that take a rank or a section panic likewise.
    pub fn section_id(&self, rank: u32) -> u32 {
        assert!(rank < self.layout.ranks, "no rank {rank}");
        u32_at(&self.bytes, HEADER_SIZE + RANK_SIZE * rank as usize)
    }

    /// Returns the section that a rank runs.
    pub fn section(&self, rank: u32) -> Section<'_> {
        self.section_by_id(self.section_id(rank))
    }

    /// Returns the section with the number `section`.
    pub fn section_by_id(&self, section: u32) -> Section<'_> {
        Section::new(&self.bytes[self.section_range(section)])
    }

    /// Returns the section at `range`, which must come from [`section_range`](Self::section_range).
    ///
    /// # Panics
    /// If the range ends behind the file.
    #[inline]
    pub fn section_in(&self, range: Range<usize>) -> Section<'_> {
        Section::new(&self.bytes[range])
    }

    /// Returns the place of a section in the file.
    pub fn section_range(&self, section: u32) -> Range<usize> {
        let entry = self.layout.sections[section as usize];
        entry.start..entry.start + entry.length
    }

    /// Returns the number of actions of a section.
    pub fn num_actions(&self, section: u32) -> u32 {
        self.layout.sections[section as usize].actions
    }

    /// Returns the bytes of memory that a section's actions refer to.
    pub(super) fn section_memory_size(&self, section: u32) -> u64 {
        self.layout.sections[section as usize].memory
    }

    /// Returns the bytes of memory that a rank needs for its actions and its image.
    pub fn memory_size(&self, rank: u32) -> u64 {
        let image = self.image_id(rank).map_or(0, |image| self.layout.images[image as usize].end);
        self.section_memory_size(self.section_id(rank)).max(image)
    }

    /// Returns the bytes of scratch memory that a rank's schedule needs.
    pub fn scratch_size(&self, rank: u32) -> u64 {
        self.section_scratch_size(self.section_id(rank))
    }

    /// Returns the bytes of scratch memory that a section needs.
    pub(super) fn section_scratch_size(&self, section: u32) -> u64 {
        self.layout.sections[section as usize].scratch
    }

    /// Returns the length of each buffer in the table that is the rank's memory, in the order of
    /// buffer numbers ([`buffer_address`](goal_lang::buffer_address)). Returns nothing if memory is
    /// one region. [`flat_offsets`](goal_lang::flat_offsets) has the places of the buffers in one
    /// region of [`memory_size`](Self::memory_size) bytes.
    pub fn buffers(&self, rank: u32) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        self.section_buffers(self.section_id(rank))
    }

    /// Returns the length of each buffer of a section, or nothing if its memory is one region.
    pub(super) fn section_buffers(
        &self,
        section: u32,
    ) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        let lengths = self.layout.buffers_of(&self.bytes, &self.layout.sections[section as usize]);
        lengths.chunks_exact(8).map(|length| u64_at(length, 0))
    }

    /// Returns the number of the image that a rank starts with and is checked against. Returns
    /// `None` if the rank has no image.
    pub(super) fn image_id(&self, rank: u32) -> Option<u32> {
        assert!(rank < self.layout.ranks, "no rank {rank}");
        let image = u32_at(&self.bytes, self.layout.rank_images? + 4 * rank as usize);
        (image != NONE).then_some(image)
    }

    /// Returns the values of a rank's memory at the start and the expected ones at the end. `None`
    /// stands for zeros at the start and no expectation at the end.
    pub fn image(&self, rank: u32) -> Option<Image<'_>> {
        Some(self.image_by_id(self.image_id(rank)?))
    }

    /// Returns the image with the number `image`.
    pub(super) fn image_by_id(&self, image: u32) -> Image<'_> {
        let entry = self.layout.images[image as usize];
        Image { init: self.values(entry.init), expect: self.values(entry.expect) }
    }

    fn values(&self, at: usize) -> Values<'_> {
        Values { bytes: &self.bytes[at + 4..], left: u32_at(&self.bytes, at) }
    }

    /// Returns the name of the program that wrote the file.
    pub fn producer(&self) -> &str {
        let producer = &self.bytes[super::container::PRODUCER];
        std::str::from_utf8(producer).unwrap_or_default().trim_end_matches('\0')
    }

    /// Returns the names and lines of a rank's actions. They are empty if the file has none.
    pub fn debug(&self, rank: u32) -> SectionDebug<'_> {
        self.debug_by_id(self.section_id(rank))
    }

    /// Returns the names and lines of a section's actions.
    pub fn debug_by_id(&self, section: u32) -> SectionDebug<'_> {
        SectionDebug { nisa: self, section }
    }
}

/// The size in bytes of the smallest file that several threads verify. For smaller files, waking
/// other threads would take longer.
const PARALLEL_BYTES: usize = 1 << 20;

impl fmt::Debug for Nisa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ranks, sections) = (self.num_ranks(), self.num_sections());
        write!(f, "Nisa {{ {ranks} ranks, {sections} sections, {} bytes }}", self.bytes.len())
    }
}

/// The values of a rank's memory at the start of an instance, and those expected at its end.
#[derive(Debug, Clone, Copy)]
pub struct Image<'a> {
    /// The values at the start of an instance; other bytes are 0.
    pub init: Values<'a>,
    /// The values that memory must have at the end of the instance.
    pub expect: Values<'a>,
}

/// An iterator over typed values at addresses. Addresses ascend, and values don't overlap.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    bytes: &'a [u8],
    left: u32,
}

/// Values of one type at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value<'a> {
    /// The address of the first byte.
    pub addr: u64,
    /// The datatype that the values were written as.
    pub datatype: Datatype,
    /// The values, little-endian.
    pub bytes: &'a [u8],
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (head, rest) = self.bytes.split_at(20);
        let (values, _) = rest.split_at(u64_at(head, 8) as usize);
        self.bytes = &rest[values.len().next_multiple_of(4)..];
        let datatype = Datatype::from_code(u32_at(head, 16) as u8).expect("checked when loaded");
        Some(Value { addr: u64_at(head, 0), datatype, bytes: values })
    }
}

/// The names and lines that a section's actions had in the text.
#[derive(Debug, Clone, Copy)]
pub struct SectionDebug<'a> {
    nisa: &'a Nisa,
    section: u32,
}

impl<'a> SectionDebug<'a> {
    /// Returns the index of the action at `offset` among the section's actions. Takes time linear
    /// in the section.
    pub fn index_of(self, offset: u32) -> Option<usize> {
        self.nisa.section_by_id(self.section).records().position(|(at, _)| at == offset)
    }

    /// Returns the label of action number `index` of the section, or `None` if it has no label.
    pub fn label(self, index: usize) -> Option<&'a str> {
        let ends = self.entry()?.label_ends?;
        if index >= self.actions() {
            return None;
        }
        let bytes = &self.nisa.bytes;
        let end_of = |index: usize| u32_at(bytes, ends + 4 * index) as usize;
        let start = index.checked_sub(1).map_or(0, end_of);
        let text = ends + 4 * self.actions();
        let label = std::str::from_utf8(&bytes[text + start..text + end_of(index)]).ok()?;
        (!label.is_empty()).then_some(label)
    }

    /// Returns true if the file has labels for this section.
    pub(super) fn has_labels(self) -> bool {
        self.entry().is_some_and(|entry| entry.label_ends.is_some())
    }

    /// Returns the line (1-based) of action number `index` of the section, or `None` if it is
    /// unknown.
    pub fn line(self, index: usize) -> Option<u32> {
        let lines = self.entry()?.lines?;
        let line = (index < self.actions()).then(|| u32_at(&self.nisa.bytes, lines + 4 * index))?;
        (line > 0).then_some(line)
    }

    /// Returns the name of the file with the text, or `None` if it is unknown.
    pub fn source_name(self) -> Option<&'a str> {
        let name = self.nisa.layout.names.get(self.entry()?.name as usize)?;
        std::str::from_utf8(&self.nisa.bytes[name.clone()]).ok()
    }

    fn actions(self) -> usize {
        self.nisa.num_actions(self.section) as usize
    }

    fn entry(self) -> Option<super::layout::DebugEntry> {
        self.nisa.layout.debug.get(self.section as usize).copied()
    }
}
