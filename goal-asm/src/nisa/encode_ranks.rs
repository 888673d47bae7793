//! Writes a NISA file of ranks whose bodies are made one at a time.

use super::bytes::put_u64;
use super::container::part;
use super::error::EncodeError;
use super::parts::Parts;
use super::plan::{Measured, section_bytes};
use super::write::{header, write_code};
use goal_lang::Body;
use rustc_hash::FxHashMap;
use std::io::{self, Write};

/// The properties of a section. Its body is made again when the section is written.
struct Section {
    /// The first rank that runs the section.
    rank: u32,
    length: u64,
    memory: u64,
    scratch: u64,
    actions: usize,
    /// The number of the last section before this one with the same fingerprint.
    alike: Option<u32>,
}

/// Writes a program as a NISA file, as [`encode`](super::encode) does. The program has no names,
/// memory images or tables of buffers. `body` returns the body of a rank, the same each time. In
/// all, it is called two or three times as often as there are ranks. At most two bodies are in
/// memory at a time, and some 100 bytes for each rank.
///
/// # Errors
/// Those of `body` and of `out`, or the program exceeds a limit of the format.
pub fn encode_ranks<E: From<EncodeError> + From<io::Error>>(
    num_ranks: u32,
    out: &mut dyn Write,
    mut body: impl FnMut(u32) -> Result<Body, E>,
) -> Result<(), E> {
    let (mut version, mut sections, mut rank_sections) = (1, Vec::<Section>::new(), Vec::new());
    // The number of the last section with each fingerprint.
    let mut like = FxHashMap::<u64, u32>::default();
    for rank in 0..num_ranks {
        let own = body(rank)?;
        let measured = Measured::new(&own);
        measured.check(rank)?;
        version = version.max(measured.version);
        let Measured { length, memory, fingerprint, .. } = measured;
        let (scratch, actions) = (own.scratch, own.len());
        let alike = like.get(&fingerprint).copied();
        let mut same = alike;
        while let Some(number) = same {
            let Section { rank, length: other_length, scratch: other_scratch, alike, .. } =
                sections[number as usize];
            if (other_length, other_scratch) == (length, scratch) {
                let other = body(rank)?;
                if other.same_graph(&own) || section_bytes(&other) == section_bytes(&own) {
                    break;
                }
            }
            same = alike;
        }
        rank_sections.push(same.unwrap_or_else(|| {
            let number = sections.len() as u32;
            like.insert(fingerprint, number);
            sections.push(Section { rank, length, memory, scratch, actions, alike });
            number
        }));
    }
    let has_memory = sections.iter().any(|section| section.memory > 0 || section.scratch > 0);
    let mut out = Parts::new(out);
    let sizes = sections.iter().map(|section| (section.length, section.actions));
    out.header(&header(version, &rank_sections, sizes, 1 + u32::from(has_memory)))?;
    let mut failure = None;
    let written =
        out.part(part::CODE, sections.iter().map(|section| section.length).sum(), |out| {
            for section in &sections {
                match body(section.rank) {
                    Ok(body) => write_code(&body, out)?,
                    Err(error) => {
                        failure = Some(error);
                        return Err(io::ErrorKind::Other.into());
                    }
                }
            }
            Ok(())
        });
    if let Some(failure) = failure {
        return Err(failure);
    }
    written?;
    if has_memory {
        out.part(part::MEMORY, 16 * sections.len() as u64, |out| {
            for section in &sections {
                put_u64(&mut out.buffer, section.memory);
                put_u64(&mut out.buffer, section.scratch);
                out.relieve()?;
            }
            Ok(())
        })?;
    }
    Ok(out.flush()?)
}
