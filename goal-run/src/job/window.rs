//! Schedules that lie in a file and are run through a window.

use super::WindowSettings;
use goal_asm::Nisa;
use goal_asm::nisa::{Outline, SectionPlace, StreamError};
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
    /// The contents of the file without its sections. A job in the window must be started with the
    /// schedule of this outline.
    pub outline: Arc<Outline>,
    /// The size of the window, and limits on reading ahead.
    pub settings: WindowSettings,
}

impl Window {
    /// Opens a window over the sections of a file. Reads the file once to compare its checksums.
    ///
    /// # Errors
    /// The file is not valid, or can't be read.
    pub fn open(
        file: File,
        limits: &Limits,
        settings: WindowSettings,
    ) -> Result<Self, StreamError> {
        let outline = Arc::new(Outline::read(&file, limits)?);
        Ok(Self { file: Arc::new(file), outline, settings })
    }

    /// Opens a window over the sections of a schedule in memory, of which it makes a sealed copy.
    ///
    /// # Errors
    /// The system has no memory for the copy.
    pub fn over(
        nisa: &Nisa,
        limits: &Limits,
        settings: WindowSettings,
    ) -> Result<Self, StreamError> {
        let sealed = Sealed::copy_of(nisa.bytes())?;
        Self::open(File::from(sealed.fd().try_clone_to_owned()?), limits, settings)
    }

    /// Returns the place of the section of `rank`.
    pub(crate) fn section(&self, rank: u32) -> SectionFile {
        SectionFile { file: Arc::clone(&self.file), place: self.outline.place(rank) }
    }
}
