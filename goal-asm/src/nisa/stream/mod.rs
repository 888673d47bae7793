//! Reads and verifies a section in one pass, a block at a time, so that an executor needs memory
//! only for a window of it (paper III.D, Theorem 3).
//!
//! Every action is copied to private memory and verified there before it is returned. It is then
//! executed from the same bytes. Dependencies must point forward: only then can the sources of an
//! action be counted before the stream reaches it.

#[cfg(test)]
mod tests;

use super::bytes::u32_at;
use super::chunk::{Chunk, SectionPlace, StreamLimits};
use super::container::crc;
use super::error::{StreamError, VerifyError};
use super::read_at::ReadAt;
use super::verify::{Parts, Verifier};
use crate::nisa::limits::INDEGREE_MAX;
use goal_lang::diag::Code;
use rustc_hash::FxHashMap;
use std::io;
use std::sync::Arc;

/// The next action of a [`SectionStream`].
#[derive(Debug, Clone)]
pub struct Streamed {
    /// The offset of the action in the section.
    pub offset: u32,
    /// The bytes that hold the action.
    pub chunk: Arc<Chunk>,
}

/// Bytes that are read at a time.
const BLOCK: usize = 64 << 10;
/// Bytes of the list of independent actions that are read at a time.
const LIST_BLOCK: usize = 4 << 10;

/// A section, read from its beginning to its end.
#[derive(Debug)]
pub struct SectionStream {
    file: Arc<dyn ReadAt>,
    place: SectionPlace,
    limits: StreamLimits,
    /// The offset of the next action.
    at: u32,
    /// The offset up to which bytes were read.
    read: u32,
    chunk: Arc<Chunk>,
    checksum: u32,
    reached: u64,
    /// The number of dependencies that lead to each action that was not reached yet, by the
    /// action's offset.
    sources: FxHashMap<u32, u32>,
    independent: Independent,
}

impl SectionStream {
    /// Begins to read a section. Reads the section's whole list of independent actions for the
    /// checksum, a block at a time.
    ///
    /// # Errors
    /// Returns an error if the file can't be read or the list doesn't fit the section.
    pub fn new(
        file: Arc<dyn ReadAt>,
        place: SectionPlace,
        limits: StreamLimits,
    ) -> Result<Self, StreamError> {
        let mut word = [0; 4];
        file.read_exact_at(&mut word, place.start)?;
        let count = u32::from_le_bytes(word);
        let end = 4 + 4 * u64::from(count);
        if end > u64::from(place.length) {
            let message = format!("a list of {count} offsets ends outside the section");
            return Err(VerifyError::new(Code::NisaAction, place.start, message).into());
        }
        let mut stream = Self {
            independent: Independent { at: 4, end: end as u32, block: Vec::new(), used: 0 },
            chunk: Arc::new(Chunk { start: 0, bytes: Vec::new() }),
            file,
            place,
            limits,
            at: end as u32,
            read: end as u32,
            checksum: crc(0, &word),
            reached: 0,
            sources: FxHashMap::default(),
        };
        let mut block = vec![0; BLOCK];
        for at in (4..end).step_by(BLOCK) {
            let part = &mut block[..BLOCK.min((end - at) as usize)];
            stream.file.read_exact_at(part, place.start + at)?;
            stream.checksum = crc(stream.checksum, part);
        }
        Ok(stream)
    }

    /// Returns the number of actions that were returned so far.
    pub fn reached(&self) -> u64 {
        self.reached
    }

    /// Returns the place of the section.
    pub fn place(&self) -> &SectionPlace {
        &self.place
    }

    /// Reads and verifies the next action. At the end of the section it verifies the rules that
    /// only the whole section shows, and returns `None`.
    ///
    /// # Errors
    /// Returns an error if the section breaks a rule, exceeds a limit or can't be read. All actions
    /// returned before are valid.
    #[expect(clippy::should_implement_trait, reason = "an error ends it")]
    pub fn next(&mut self) -> Result<Option<Streamed>, StreamError> {
        if self.at == self.place.length || self.reached == u64::from(self.place.actions) {
            return self.finish().map(|()| None);
        }
        loop {
            let base = self.place.start + u64::from(self.chunk.start);
            let chunk = Arc::clone(&self.chunk);
            let verifier = Verifier::from_actions(&chunk.bytes, base, self.place.bounds());
            let at = (self.at - self.chunk.start) as usize;
            match verifier.parts(at) {
                Ok(parts) => {
                    let offset = self.at;
                    self.check(&verifier, at, &parts)?;
                    self.at = self.chunk.start + parts.end as u32;
                    self.reached += 1;
                    return Ok(Some(Streamed { offset, chunk }));
                }
                // The action may continue behind the bytes that were read so far.
                Err(error) if self.read < self.place.length => self.read_on(error)?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes a new chunk: the bytes of the last chunk from the next action on, and the bytes behind
    /// them.
    fn read_on(&mut self, error: VerifyError) -> Result<(), StreamError> {
        let left =
            self.chunk.bytes.get((self.at - self.chunk.start) as usize..).unwrap_or_default();
        if left.len() >= self.limits.action_bytes {
            return Err(StreamError::LongAction { limit: self.limits.action_bytes, error });
        }
        let more = BLOCK.max(left.len()).min((self.place.length - self.read) as usize);
        let mut bytes = Vec::with_capacity(left.len() + more);
        bytes.extend_from_slice(left);
        let new = bytes.len();
        bytes.resize(new + more, 0);
        self.file.read_exact_at(&mut bytes[new..], self.place.start + u64::from(self.read))?;
        self.checksum = crc(self.checksum, &bytes[new..]);
        self.read += more as u32;
        self.chunk = Arc::new(Chunk { start: self.at, bytes });
        Ok(())
    }

    /// Checks the relations of an action to others: its place in the list of independent actions,
    /// its sources and its dependents.
    fn check(
        &mut self,
        verifier: &Verifier<'_>,
        at: usize,
        parts: &Parts<'_>,
    ) -> Result<(), StreamError> {
        let found = self.sources.remove(&self.at).unwrap_or(0);
        if found != u32::from(parts.sources) {
            let message = format!(
                "the action has {} sources, and {found} dependencies of actions before it end in it; if the others come \
                 from behind, the schedule is not laid out in order: build it again with the pass topological, or run it without \
                 a window",
                parts.sources
            );
            return Err(verifier.graph(at, message).into());
        }
        if found == 0 && self.independent.next(&*self.file, self.place.start)? != Some(self.at) {
            let message =
                "an action without sources is not in its place in the list of independent actions";
            return Err(verifier.graph(at, message).into());
        }
        for list in [parts.dependents, parts.start_dependents] {
            let mut before = self.at;
            for (i, offset) in list.entries.chunks_exact(4).enumerate() {
                let target = u32_at(offset, 0);
                if target <= before || !target.is_multiple_of(4) || target >= self.place.length {
                    let message = if i == 0 && target <= self.at {
                        format!(
                            "the dependency on offset {target:#x} points backwards, and only a schedule that is laid out in \
                             order runs in a window: build it again with the pass topological, or run it without a \
                             window"
                        )
                    } else {
                        format!(
                            "the offset {target:#x} is not one of an action, or not above the one before it"
                        )
                    };
                    return Err(verifier.graph(list.at + 4 * i, message).into());
                }
                before = target;
                let sources = self.sources.entry(target).or_insert(0);
                *sources += 1;
                if *sources > INDEGREE_MAX {
                    let message = format!(
                        "more than {INDEGREE_MAX} dependencies end in the offset {target:#x}"
                    );
                    return Err(verifier.graph(list.at + 4 * i, message).into());
                }
            }
        }
        if self.sources.len() > self.limits.table_entries {
            return Err(StreamError::Table {
                reached: self.reached,
                entries: self.limits.table_entries,
            });
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), StreamError> {
        let SectionPlace { start, length, actions, checksum, .. } = self.place;
        let wrong = |code, at: u32, message: String| {
            Err(StreamError::Invalid(VerifyError::new(code, start + u64::from(at), message)))
        };
        if let Some(&stray) = self.sources.keys().min() {
            return wrong(
                Code::NisaGraph,
                stray,
                "a dependency ends here, where no action begins".to_owned(),
            );
        }
        if self.independent.next(&*self.file, start)?.is_some() {
            let message = "an independent action of the list has sources, or is none".to_owned();
            return wrong(Code::NisaGraph, 0, message);
        }
        if self.reached != u64::from(actions) || self.at != length {
            let more = if self.at < length { "or more" } else { "" };
            let message = format!(
                "the section has {} {more} actions, and the table says {actions}",
                self.reached
            );
            return wrong(Code::NisaGraph, 0, message);
        }
        if self.checksum != checksum {
            let message = "the section has changed since its checksum was compared".to_owned();
            return wrong(Code::NisaChecksum, length, message);
        }
        Ok(())
    }
}

/// The list of independent actions at the beginning of the section. It is read a second time, in
/// step with the actions.
#[derive(Debug)]
struct Independent {
    at: u32,
    end: u32,
    block: Vec<u8>,
    used: usize,
}

impl Independent {
    fn next(&mut self, file: &dyn ReadAt, start: u64) -> io::Result<Option<u32>> {
        if self.used == self.block.len() {
            let size = LIST_BLOCK.min((self.end - self.at) as usize);
            self.block.resize(size, 0);
            file.read_exact_at(&mut self.block, start + u64::from(self.at))?;
            self.at += size as u32;
            self.used = 0;
        }
        let offset = self.block.get(self.used..self.used + 4).map(|bytes| u32_at(bytes, 0));
        self.used += if offset.is_some() { 4 } else { 0 };
        Ok(offset)
    }
}
