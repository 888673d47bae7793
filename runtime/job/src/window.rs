//! Opens windows over schedules in files. Ranks run such schedules through the windows.

use crate::WindowSettings;
use goal_asm::Nisa;
use goal_asm::nisa::{Outline, SectionPlace, StreamError, StreamLimits};
use goal_lang::limits::Limits;
use goal_shm::Sealed;
use std::fs::File;
use std::sync::Arc;

/// The place of a rank's section in a file.
#[derive(Debug, Clone)]
pub struct SectionFile {
    /// The file.
    pub file: Arc<File>,
    /// The position of the section.
    pub place: SectionPlace,
}

/// A window that all ranks run their schedules through, with the file that holds the schedules.
#[derive(Debug, Clone)]
pub struct Window {
    /// The file. Rank processes inherit its descriptor; other programs do not.
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

    /// Opens a window over a schedule in memory. Makes a sealed copy of it.
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

    /// Returns the schedule with which a job in this window must be started. It has no sections.
    pub fn nisa(&self) -> &Arc<Nisa> {
        &self.outline.nisa
    }

    /// Returns the place of the section of `rank`.
    pub fn section(&self, rank: u32) -> SectionFile {
        SectionFile { file: Arc::clone(&self.file), place: self.outline.place(rank) }
    }
}
