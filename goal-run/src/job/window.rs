//! A schedule in a file, which ranks run through a window.

use super::WindowSettings;
use goal_asm::Nisa;
use goal_asm::nisa::{Outline, SectionPlace, StreamError};
use goal_lang::limits::Limits;
use goal_shm::Sealed;
use std::fs::File;
use std::sync::Arc;

/// Where a rank's section is read where it is run through a window.
#[derive(Debug, Clone)]
pub struct SectionFile {
    /// The file.
    pub file: Arc<File>,
    /// Where the section lies in it.
    pub place: SectionPlace,
}

/// A window that all ranks run their schedules through, and the file that has these.
#[derive(Debug, Clone)]
pub struct Window {
    /// The file. Rank processes inherit its descriptor, other programs don't.
    pub file: Arc<File>,
    /// What the file has beside its sections; the schedule that the job is started with is the
    /// outline's.
    pub outline: Arc<Outline>,
    /// Its size, and what reading ahead may take.
    pub settings: WindowSettings,
}

impl Window {
    /// A window over the sections of a file, which is read once to compare its checksums.
    ///
    /// # Errors
    /// What is wrong with the file, or why it can't be read.
    pub fn open(
        file: File,
        limits: &Limits,
        settings: WindowSettings,
    ) -> Result<Self, StreamError> {
        let outline = Arc::new(Outline::read(&file, limits)?);
        Ok(Self { file: Arc::new(file), outline, settings })
    }

    /// A window over the sections of a schedule that is in memory, which a sealed copy replaces.
    ///
    /// # Errors
    /// Where there is no room for the copy.
    pub fn over(
        nisa: &Nisa,
        limits: &Limits,
        settings: WindowSettings,
    ) -> Result<Self, StreamError> {
        let sealed = Sealed::copy_of(nisa.bytes())?;
        Self::open(File::from(sealed.fd().try_clone_to_owned()?), limits, settings)
    }

    /// Where a rank's section is read.
    pub(crate) fn section(&self, rank: u32) -> SectionFile {
        SectionFile { file: Arc::clone(&self.file), place: self.outline.place(rank) }
    }
}
