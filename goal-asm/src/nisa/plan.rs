//! The plan of a file: its sections and images, and the section and image of each rank.

use super::container::{BUFFERS_SINCE, NONE};
use super::encode::{SectionEncoder, Sum};
use super::error::EncodeError;
use crate::nisa::limits::{INDEGREE_MAX, SECTION_BYTES_MAX};
use goal_lang::{ActionId, BUFFERS_MAX, Body, ImageId, MemoryImage, Program};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

/// The plan of a file, made before anything is encoded.
pub(super) struct Plan<'a> {
    /// The lowest major version of the format that can hold the program.
    pub(super) version: u16,
    pub(super) sections: Vec<PlannedSection<'a>>,
    pub(super) rank_sections: Vec<u32>,
    pub(super) images: Vec<&'a MemoryImage>,
    pub(super) rank_images: Vec<u32>,
}

pub(super) struct PlannedSection<'a> {
    pub(super) body: &'a Body,
    pub(super) length: u64,
    pub(super) memory: u64,
}

impl<'a> Plan<'a> {
    pub(super) fn new(program: &'a Program, threads: usize) -> Result<Self, EncodeError> {
        let measured: Vec<Measured> = match threads {
            0 | 1 => program.bodies.iter().map(Measured::new).collect(),
            _ => program.bodies.par_iter().map(Measured::new).collect(),
        };
        let mut plan = Self {
            version: 1,
            sections: vec![],
            rank_sections: vec![],
            images: vec![],
            rank_images: vec![],
        };
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
                    plan.version = plan.version.max(measured.version);
                    let like =
                        sections_like.entry((measured.length, measured.fingerprint)).or_default();
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

    /// Returns the section among `candidates` with the same bytes, scratch memory and buffers as
    /// `body`. The candidates have the body's length and fingerprint.
    fn find_same(&self, body: &Body, candidates: &[u32]) -> Option<u32> {
        let mut bytes = None;
        candidates.iter().copied().find(|&candidate| {
            let other = self.sections[candidate as usize].body;
            (other.scratch, &other.buffers) == (body.scratch, &body.buffers)
                && (other.same_graph(body)
                    || section_bytes(other) == *bytes.get_or_insert_with(|| section_bytes(body)))
        })
    }
}

/// The properties of a body that the plan needs.
pub(super) struct Measured {
    /// The bytes of the body's section.
    pub(super) length: u64,
    /// The bytes of memory that the body's actions refer to, or the bytes of its table of buffers.
    pub(super) memory: u64,
    /// The lowest major version of the format that can hold the body.
    pub(super) version: u16,
    /// A hash that is equal for bodies with equal sections.
    pub(super) fingerprint: u64,
    /// An action with more dependencies than the format can count, and their number.
    excess: Option<(ActionId, u32)>,
    /// The number of the body's buffers, or 0 if memory is one region.
    buffers: usize,
}

impl Measured {
    pub(super) fn new(body: &Body) -> Self {
        let sum = Sum::from_body(body);
        let (mut independent, mut excess) = (body.len(), None);
        if !body.requires.is_empty() || !body.irequires.is_empty() {
            let indegrees = body.indegrees();
            independent = indegrees.iter().filter(|&&indegree| indegree == 0).count();
            let above = indegrees.iter().position(|&indegree| indegree > INDEGREE_MAX);
            excess = above.map(|i| (ActionId::new(i), indegrees[i]));
        }
        let length = sum.section_length(body, independent);
        let mut hasher = sum.hasher;
        (body.requires.len(), body.irequires.len()).hash(&mut hasher);
        body.buffers.hash(&mut hasher);
        let is_table = !body.buffers.is_empty();
        let version = sum.version.max(if is_table { BUFFERS_SINCE } else { 1 });
        let memory = if is_table { body.flat_size() } else { sum.memory };
        let buffers = body.buffers.len();
        Self { length, memory, version, fingerprint: hasher.finish(), excess, buffers }
    }

    /// Returns an error about `rank` if the format can't hold the body.
    pub(super) fn check(&self, rank: u32) -> Result<(), EncodeError> {
        if let Some((action, indegree)) = self.excess {
            return Err(EncodeError::IndegreeTooLarge { rank, action, indegree });
        }
        if self.buffers > BUFFERS_MAX {
            return Err(EncodeError::TooManyBuffers { rank, buffers: self.buffers });
        }
        match self.length {
            bytes if bytes > SECTION_BYTES_MAX => Err(EncodeError::SectionTooLarge { rank, bytes }),
            _ => Ok(()),
        }
    }
}

pub(super) fn section_bytes(body: &Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = SectionEncoder::new(body);
    encoder.independent(&mut bytes);
    encoder.records(usize::MAX, &mut bytes);
    bytes
}
