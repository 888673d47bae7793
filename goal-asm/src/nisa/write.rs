//! A program as a NISA file.

use super::container::{HEADER_SIZE, MAGIC, MAJOR, MINOR, NONE, crc, padded, part};
use super::encode::{SectionEncoder, put_u32, put_u64, section_length};
use super::lines::{LineCounters, Lines};
use goal_lang::limits::{INDEGREE_MAX, SECTION_BYTES_MAX};
use goal_lang::{
    Action, ActionId, Body, Datum, ImageId, Labels, MemoryImage, Payload, Program, SourceMap, Space,
};
use rayon::prelude::*;
use rustc_hash::FxHasher;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};

/// How to write a NISA file.
#[derive(Debug, Clone, Copy)]
pub struct EncodeOptions {
    /// Leave out the debug section.
    pub strip: bool,
    /// More than 1: sections are encoded on the ambient rayon pool. The bytes don't depend on it.
    pub threads: usize,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self { strip: false, threads: 1 }
    }
}

/// Why a program has no NISA file.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// Offsets have 32 bits (paper III.C).
    #[error(
        "the section of rank {rank} would have {bytes} bytes, and NISA's 32-bit offsets reach {SECTION_BYTES_MAX}; \
         split the schedule in several, or let ranks share its work"
    )]
    SectionTooLarge {
        /// A rank that runs it.
        rank: u32,
        /// Its size.
        bytes: u64,
    },
    /// An action counts its dependencies in 16 bits (paper III.C); goal-opt's join pass lifts it.
    #[error(
        "action {action} of rank {rank} waits for {indegree} others, and NISA counts to {INDEGREE_MAX}; \
         the join pass lifts this"
    )]
    IndegreeTooLarge {
        /// A rank that runs it.
        rank: u32,
        /// The action.
        action: ActionId,
        /// Its dependencies of both kinds.
        indegree: u32,
    },
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Sections are encoded side by side up to this many bytes; larger ones are written as they are made.
const BATCH_BYTES: u64 = 4 << 20;
/// What is held back before it is written.
const BUFFER_BYTES: usize = 256 << 10;

/// Writes `program` as a NISA file: sections in the order of the first rank that runs each, actions in the body's order,
/// identical sections and images once. With `sources` the debug section's lines come from the text's positions.
///
/// # Errors
/// Where the format's limits don't hold the program, or `out` fails.
pub fn encode(
    program: &Program,
    options: &EncodeOptions,
    sources: Option<&SourceMap>,
    out: &mut dyn Write,
) -> Result<(), EncodeError> {
    let plan = Plan::new(program, options.threads)?;
    let has_memory = plan.sections.iter().any(|section| section.memory > 0 || section.body.scratch > 0);
    let has_images = plan.rank_images.iter().any(|&image| image != NONE);
    let debug = if options.strip { None } else { DebugPlan::new(&plan, sources) };
    let parts = 1 + [has_memory, has_images, debug.is_some()].into_iter().filter(|&there| there).count();
    let mut out =
        Parts { out, buffer: Vec::with_capacity(BUFFER_BYTES + 4096), buffer_max: BUFFER_BYTES, crc: 0 };
    out.header(&plan, parts as u32)?;
    out.part(part::CODE, plan.sections.iter().map(|section| section.length).sum(), |out| {
        code(&plan, options.threads, out)
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
    if let Some(debug) = debug {
        out.part(part::DEBUG, debug.length(&plan), |out| debug.write(&plan, options.threads, out))?;
    }
    out.flush()?;
    Ok(())
}

/// What the file will hold, before any of it is encoded.
struct Plan<'a> {
    sections: Vec<PlannedSection<'a>>,
    rank_sections: Vec<u32>,
    images: Vec<&'a MemoryImage>,
    rank_images: Vec<u32>,
}

struct PlannedSection<'a> {
    body: &'a Body,
    length: u64,
    memory: u64,
}

impl<'a> Plan<'a> {
    fn new(program: &'a Program, threads: usize) -> Result<Self, EncodeError> {
        let measured: Vec<Measured> = match threads {
            0 | 1 => program.bodies.iter().map(Measured::new).collect(),
            _ => program.bodies.par_iter().map(Measured::new).collect(),
        };
        let mut plan = Self { sections: vec![], rank_sections: vec![], images: vec![], rank_images: vec![] };
        let mut section_of_body = vec![None; program.bodies.len()];
        let mut sections_like = HashMap::<(u64, u64), Vec<u32>>::new();
        let mut image_of = HashMap::<ImageId, u32>::new();
        let mut image_of_content = HashMap::<&MemoryImage, u32>::new();
        for (rank, entry) in program.ranks.iter().enumerate() {
            let section = match section_of_body[entry.body.index()] {
                Some(section) => section,
                None => {
                    let body = &program.bodies[entry.body.index()];
                    let measured = &measured[entry.body.index()];
                    measured.check(rank as u32)?;
                    let like = sections_like.entry((measured.length, measured.fingerprint)).or_default();
                    let section = plan.find_same(body, like).unwrap_or_else(|| {
                        like.push(plan.sections.len() as u32);
                        let Measured { length, memory, .. } = *measured;
                        plan.sections.push(PlannedSection { body, length, memory });
                        plan.sections.len() as u32 - 1
                    });
                    *section_of_body[entry.body.index()].insert(section)
                }
            };
            plan.rank_sections.push(section);
            let image = entry.image.map(|id| {
                *image_of.entry(id).or_insert_with(|| {
                    let image = &program.images[id.index()];
                    if image.is_empty() {
                        return NONE;
                    }
                    *image_of_content.entry(image).or_insert_with(|| {
                        plan.images.push(image);
                        plan.images.len() as u32 - 1
                    })
                })
            });
            plan.rank_images.push(image.unwrap_or(NONE));
        }
        Ok(plan)
    }

    /// The planned section with the same bytes, among those of the same length and fingerprint.
    fn find_same(&self, body: &Body, candidates: &[u32]) -> Option<u32> {
        let mut bytes = None;
        candidates.iter().copied().find(|&candidate| {
            let other = self.sections[candidate as usize].body;
            other.scratch == body.scratch
                && (other.same_graph(body)
                    || section_bytes(other) == *bytes.get_or_insert_with(|| section_bytes(body)))
        })
    }
}

/// What has to be known of a body before its section has a place in the file.
struct Measured {
    /// Bytes of the section.
    length: u64,
    /// Bytes of memory that it names.
    memory: u64,
    /// Equal for bodies with equal sections, and hardly ever for others.
    fingerprint: u64,
    /// An action with more dependencies than the format counts, and their number.
    excess: Option<(ActionId, u32)>,
}

impl Measured {
    fn new(body: &Body) -> Self {
        let mut excess = None;
        if body.requires.len() + body.irequires.len() > INDEGREE_MAX as usize {
            let indegrees = body.indegrees();
            let above = indegrees.iter().position(|&indegree| indegree > INDEGREE_MAX);
            excess = above.map(|i| (ActionId::new(i), indegrees[i]));
        }
        let memory = body.extent(Space::Memory);
        Self { length: section_length(body), memory, fingerprint: fingerprint(body), excess }
    }

    /// Whether the format can hold the body.
    fn check(&self, rank: u32) -> Result<(), EncodeError> {
        if let Some((action, indegree)) = self.excess {
            return Err(EncodeError::IndegreeTooLarge { rank, action, indegree });
        }
        match self.length {
            bytes if bytes > SECTION_BYTES_MAX => Err(EncodeError::SectionTooLarge { rank, bytes }),
            _ => Ok(()),
        }
    }
}

/// See [`Measured::fingerprint`].
fn fingerprint(body: &Body) -> u64 {
    let mut hasher = FxHasher::default();
    for action in &body.actions {
        std::mem::discriminant(action).hash(&mut hasher);
        match *action {
            Action::Send { payload, to: peer, tag, .. } | Action::Recv { payload, from: peer, tag, .. } => {
                (u64::from(peer) << 32 | u64::from(tag)).hash(&mut hasher);
                match payload {
                    Payload::Pattern { size } => size.hash(&mut hasher),
                    _ => body.visit_pieces(action, |piece| piece.hash(&mut hasher)),
                }
            }
            Action::Calc { nanos, .. } => nanos.hash(&mut hasher),
            // Pieces are named by their place in a table that the section doesn't have.
            _ => {
                let local = body.local_operation(action);
                local.map(|local| local.function).hash(&mut hasher);
                body.visit_pieces(action, |piece| piece.hash(&mut hasher));
            }
        }
    }
    (body.requires.len(), body.irequires.len()).hash(&mut hasher);
    hasher.finish()
}

fn section_bytes(body: &Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = SectionEncoder::new(body);
    encoder.independent(&mut bytes);
    encoder.records(usize::MAX, &mut bytes);
    bytes
}

/// Puts items one after the other. On several threads batches of them are encoded side by side, the next one while
/// one is written; an item of more than a batch's bytes, and all of them on one thread, are written as they are made.
fn in_order<T: Sync>(
    items: &[T],
    length: impl Fn(&T) -> u64,
    threads: usize,
    encode: impl Fn(&[T]) -> Vec<Vec<u8>> + Sync,
    mut write: impl FnMut(&T, &mut Parts<'_>) -> io::Result<()>,
    out: &mut Parts<'_>,
) -> io::Result<()> {
    if threads <= 1 {
        return items.iter().try_for_each(|item| write(item, out));
    }
    let mut rest = items;
    let mut encoded: Vec<Vec<u8>> = Vec::new();
    while !rest.is_empty() || !encoded.is_empty() {
        let mut bytes = 0u64;
        let fits = |item: &&T| {
            bytes = bytes.saturating_add(length(item));
            bytes <= BATCH_BYTES
        };
        let (batch, behind) = rest.split_at(rest.iter().take_while(fits).count());
        let mut next = Vec::new();
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| next = encode(batch));
            encoded.iter().try_for_each(|bytes| out.write(bytes))
        })?;
        encoded = next;
        rest = behind;
        if let (true, true, [large, behind @ ..]) = (batch.is_empty(), encoded.is_empty(), behind) {
            write(large, out)?;
            rest = behind;
        }
    }
    Ok(())
}

fn code(plan: &Plan<'_>, threads: usize, out: &mut Parts<'_>) -> io::Result<()> {
    let encode = |sections: &[PlannedSection<'_>]| {
        sections.par_iter().map(|section| section_bytes(section.body)).collect()
    };
    let write = |section: &PlannedSection<'_>, out: &mut Parts<'_>| {
        let mut encoder = SectionEncoder::new(section.body);
        encoder.independent(&mut out.buffer);
        while encoder.records(BUFFER_BYTES, &mut out.buffer) {
            out.flush()?;
        }
        out.relieve()
    };
    in_order(&plan.sections, |section| section.length, threads, encode, write, out)
}

fn images_length(plan: &Plan<'_>) -> u64 {
    let datum = |datum: &Datum| 20 + padded(datum.bytes.len() as u64);
    let image = |image: &&MemoryImage| 8 + image.init.iter().chain(&image.expect).map(datum).sum::<u64>();
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

/// Which source name each section has, and where its lines come from.
struct DebugPlan<'a> {
    names: Vec<&'a str>,
    sections: Vec<(u32, Lines<'a>)>,
}

impl<'a> DebugPlan<'a> {
    /// `None` where nothing is known.
    fn new(plan: &Plan<'a>, sources: Option<&'a SourceMap>) -> Option<Self> {
        let mut names = Vec::new();
        let mut index = HashMap::new();
        let sections = plan.sections.iter().map(|section| {
            let lines = Lines::new(&section.body.debug, sources);
            let name = lines.source_name().map_or(NONE, |name| {
                *index.entry(name).or_insert_with(|| {
                    names.push(name);
                    names.len() as u32 - 1
                })
            });
            (name, lines)
        });
        let sections: Vec<_> = sections.collect();
        let known = |(section, (_, lines)): (&PlannedSection<'_>, &(u32, Lines<'_>))| {
            !lines.is_none() || !section.body.debug.labels.is_empty()
        };
        plan.sections.iter().zip(&sections).any(known).then_some(Self { names, sections })
    }

    fn length(&self, plan: &Plan<'_>) -> u64 {
        let names: u64 = self.names.iter().map(|name| 4 + padded(name.len() as u64)).sum();
        let sections = plan.sections.iter().zip(&self.sections).map(|(section, (_, lines))| {
            let lines = if lines.is_none() { 0 } else { 4 * section.body.len() as u64 };
            8 + lines + labels_length(&section.body.debug.labels)
        });
        4 + names + sections.sum::<u64>()
    }

    fn write(&self, plan: &Plan<'_>, threads: usize, out: &mut Parts<'_>) -> io::Result<()> {
        put_u32(&mut out.buffer, self.names.len() as u32);
        for name in &self.names {
            put_u32(&mut out.buffer, name.len() as u32);
            out.write(name.as_bytes())?;
            out.pad(name.len());
        }
        let mut counters = LineCounters::default();
        for (_, lines) in &self.sections {
            counters.prepare(lines);
        }
        let sections: Vec<_> = plan.sections.iter().zip(&self.sections).collect();
        let encode = |sections: &[(&PlannedSection<'_>, &(u32, Lines<'a>))]| {
            let encode = |counters: &mut LineCounters<'a>, &(section, debug): &(_, _)| {
                let mut nowhere = io::sink();
                let mut parts = Parts::in_memory(&mut nowhere);
                write_section(section, debug, counters, &mut parts).expect("nothing is written yet");
                parts.buffer
            };
            sections.par_iter().map_init(|| counters.clone(), encode).collect()
        };
        let mut own_counters = counters.clone();
        let write = |&(section, debug): &(_, _), out: &mut Parts<'_>| {
            write_section(section, debug, &mut own_counters, out)
        };
        in_order(&sections, |(section, _)| section.length, threads, encode, write, out)
    }
}

/// Writes what is known of a section: the place of its file's name, lines and labels.
fn write_section<'a>(
    section: &PlannedSection<'_>,
    (name, lines): &(u32, Lines<'a>),
    counters: &mut LineCounters<'a>,
    out: &mut Parts<'_>,
) -> io::Result<()> {
    let labels = &section.body.debug.labels;
    put_u32(&mut out.buffer, *name);
    let has = |flag: u32, there: bool| if there { flag } else { 0 };
    put_u32(&mut out.buffer, has(1, !lines.is_none()) | has(2, !labels.is_empty()));
    for id in section.body.ids().filter(|_| !lines.is_none()) {
        put_u32(&mut out.buffer, lines.line(id, counters));
        out.relieve()?;
    }
    if !labels.is_empty() {
        for &end in labels.ends() {
            put_u32(&mut out.buffer, end);
            out.relieve()?;
        }
        out.write(labels.text().as_bytes())?;
        out.pad(labels.text().len());
    }
    Ok(())
}

/// Bytes of all labels with their ends, in the debug part.
fn labels_length(labels: &Labels) -> u64 {
    if labels.is_empty() {
        return 0;
    }
    4 * labels.len() as u64 + padded(labels.text().len() as u64)
}

/// Collects small writes and sums them up.
struct Parts<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    /// Bytes of the buffer from which on it is written out.
    buffer_max: usize,
    crc: u32,
}

impl<'a> Parts<'a> {
    /// Holds everything back.
    fn in_memory(out: &'a mut dyn Write) -> Self {
        Self { out, buffer: Vec::new(), buffer_max: usize::MAX, crc: 0 }
    }

    fn header(&mut self, plan: &Plan<'_>, parts: u32) -> io::Result<()> {
        let mut head =
            Vec::with_capacity(HEADER_SIZE + 4 * plan.rank_sections.len() + 8 * plan.sections.len());
        head.extend_from_slice(&MAGIC);
        put_u32(&mut head, u32::from(MAJOR) | u32::from(MINOR) << 16);
        put_u32(&mut head, plan.rank_sections.len() as u32);
        put_u32(&mut head, plan.sections.len() as u32);
        put_u32(&mut head, parts);
        let mut producer = [0; 16];
        let name = concat!("goalc ", env!("CARGO_PKG_VERSION")).as_bytes();
        let length = name.len().min(producer.len());
        producer[..length].copy_from_slice(&name[..length]);
        head.extend_from_slice(&producer);
        let checksum_at = head.len();
        put_u32(&mut head, 0);
        for &section in &plan.rank_sections {
            put_u32(&mut head, section);
        }
        for section in &plan.sections {
            put_u32(&mut head, (section.length / 4) as u32);
            put_u32(&mut head, section.body.len() as u32);
        }
        let checksum = crc(crc(0, &head[..checksum_at]), &head[HEADER_SIZE..]);
        head[checksum_at..HEADER_SIZE].copy_from_slice(&checksum.to_le_bytes());
        self.out.write_all(&head)
    }

    fn part(
        &mut self,
        kind: u32,
        length: u64,
        payload: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.flush()?;
        self.crc = 0;
        put_u32(&mut self.buffer, kind);
        put_u64(&mut self.buffer, length);
        payload(self)?;
        self.flush()?;
        self.out.write_all(&self.crc.to_le_bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() >= self.buffer_max {
            self.flush()?;
            self.crc = crc(self.crc, bytes);
            return self.out.write_all(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        self.relieve()
    }

    /// Zeros up to the next multiple of 4 behind `length` bytes.
    fn pad(&mut self, length: usize) {
        self.buffer.resize(self.buffer.len() + length.next_multiple_of(4) - length, 0);
    }

    /// Writes the buffer out once it is long.
    fn relieve(&mut self) -> io::Result<()> {
        if self.buffer.len() >= self.buffer_max { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.crc = crc(self.crc, &self.buffer);
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}
