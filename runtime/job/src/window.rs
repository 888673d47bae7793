//! Opens windows over schedules in files. Ranks run these schedules through windows.

use crate::WindowSettings;
use goal_asm::Nisa;
use goal_asm::nisa::{Outline, SectionPlace, StreamError, StreamLimits};
use goal_lang::limits::Limits;
use goal_shm::Sealed;
use std::fs::File;
use std::sync::Arc;

/// A file with a rank's section, and the section's place in it.
#[derive(Debug, Clone)]
pub struct SectionFile {
    /// The file with the section.
    pub file: Arc<File>,
    /// The place of the section in the file.
    pub place: SectionPlace,
}

/// The window through which all ranks run their schedules, with the file that contains the
/// schedules.
#[derive(Debug, Clone)]
pub struct Window {
    /// The file with the schedules. Rank processes inherit its descriptor; other programs do not.
    pub file: Arc<File>,
    /// The contents of the file without its sections.
    pub outline: Arc<Outline>,
    /// The size of the window, and limits on reading ahead.
    pub settings: WindowSettings,
}

impl Window {
    /// Opens a window of `size` actions over the sections of a file. `reading` limits the memory
    /// for reading ahead. Reads the file once to compare its checksums.
    ///
    /// # Errors
    /// The file is not valid, or can't be read.
    pub fn open(
        file: File,
        limits: &Limits,
        size: u32,
        reading: StreamLimits,
    ) -> Result<Self, StreamError> {
        let outline = Arc::new(Outline::read(&file, limits)?);
        let settings = WindowSettings { size, limits: reading };
        Ok(Self { file: Arc::new(file), outline, settings })
    }

    /// Opens a window over a sealed copy of a schedule in memory.
    ///
    /// # Errors
    /// The system has no memory for the copy.
    pub fn over(
        nisa: &Nisa,
        limits: &Limits,
        size: u32,
        reading: StreamLimits,
    ) -> Result<Self, StreamError> {
        let sealed = Sealed::copy_of(nisa.bytes())?;
        Self::open(File::from(sealed.fd().try_clone_to_owned()?), limits, size, reading)
    }

    /// Returns the schedule with which a job that uses this window must be started. It has no
    /// sections.
    pub fn nisa(&self) -> &Arc<Nisa> {
        &self.outline.nisa
    }

    /// Returns the file and the place of the section of `rank`.
    pub fn section(&self, rank: u32) -> SectionFile {
        SectionFile { file: Arc::clone(&self.file), place: self.outline.place(rank) }
    }
}
