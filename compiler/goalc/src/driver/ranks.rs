//! A program whose ranks are read one at a time.
//!
//! A LogGOPSim binary in a plain file may be larger than memory, and come from anywhere. It is read
//! rank by rank, and each rank is checked again whenever it is read. All other inputs are held in
//! memory.

use super::load::unreadable;
use super::sharing::Sharing;
use super::{Error, Findings, Options, load_program};
use goal_asm::loggopsim::{self, RankFile, RankFileError, RankRecords};
use goal_lang::{Action, Body, MemoryImage, Program};
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A program whose ranks are read one at a time.
pub struct Ranks {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// The warnings about a text.
    pub findings: Findings,
    source: Source,
}

enum Source {
    Memory(Program),
    File(RankFile<File>),
}

impl Ranks {
    /// Opens texts that belong together, or one binary of either form.
    ///
    /// # Errors
    /// Returns an error if the inputs are wrong or can't be read.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<Self, Error> {
        let name = paths.first().map_or(String::new(), |path| match path.to_str() {
            Some("-") => "<stdin>".to_owned(),
            _ => path.display().to_string(),
        });
        if let [path] = paths
            && let Some(file) = plain_binary(path)
        {
            (options.on_stage)("reading");
            let file = RankFile::open(file, &options.limits).map_err(|error| of(&name, error))?;
            return Ok(Self { name, findings: Findings::default(), source: Source::File(file) });
        }
        let loaded = load_program(paths, options)?;
        Ok(Self { name, findings: loaded.findings, source: Source::Memory(loaded.program) })
    }

    /// Makes the ranks of a program.
    pub fn new(name: impl Into<String>, program: Program) -> Self {
        let findings = Findings::default();
        Self { name: name.into(), findings, source: Source::Memory(program) }
    }

    /// Returns true if the ranks are read from a file each time.
    pub fn is_streamed(&self) -> bool {
        matches!(self.source, Source::File(_))
    }

    /// Returns the number of ranks.
    pub fn num_ranks(&self) -> u32 {
        match &self.source {
            Source::Memory(program) => program.num_ranks(),
            Source::File(file) => file.num_ranks(),
        }
    }

    /// Returns the number of actions of all ranks.
    ///
    /// # Errors
    /// Returns an error if the program can't be read.
    pub fn num_actions(&self) -> Result<u64, Error> {
        let count = |rank| match &self.source {
            Source::Memory(program) => Ok(program.body_of(rank).len() as u64),
            Source::File(file) => match file.num_actions(rank) {
                Ok(count) => Ok(u64::from(count)),
                Err(error) => Err(of(&self.name, error)),
            },
        };
        (0..self.num_ranks()).map(count).sum()
    }

    /// Returns the graph of a rank.
    ///
    /// # Errors
    /// Returns an error if the rank is wrong or can't be read.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn body(&mut self, rank: u32) -> Result<Cow<'_, Body>, Error> {
        match &mut self.source {
            Source::Memory(program) => Ok(Cow::Borrowed(program.body_of(rank))),
            Source::File(file) => Ok(Cow::Owned(records(&self.name, file, rank)?.body())),
        }
    }

    /// Calls `visit` with each action of a rank.
    ///
    /// # Errors
    /// As [`body`](Self::body).
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn visit_actions(
        &mut self,
        rank: u32,
        mut visit: impl FnMut(&Action),
    ) -> Result<(), Error> {
        match &mut self.source {
            Source::Memory(program) => program.body_of(rank).actions.iter().for_each(visit),
            Source::File(file) => {
                let records = records(&self.name, file, rank)?;
                (0..records.len()).for_each(|index| visit(&records.action(index)));
            }
        }
        Ok(())
    }

    /// Returns the initial and the expected memory of a rank.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn image(&self, rank: u32) -> Option<&MemoryImage> {
        match &self.source {
            Source::Memory(program) => program.image_of(rank),
            Source::File(_) => None,
        }
    }

    /// Reads the whole program into memory, and returns it.
    ///
    /// # Errors
    /// As [`body`](Self::body).
    pub fn hold(&mut self) -> Result<&Program, Error> {
        if self.is_streamed() {
            let mut program = Sharing::default();
            for rank in 0..self.num_ranks() {
                program.rank(self.body(rank)?.into_owned(), None);
            }
            self.source = Source::Memory(program.finish());
        }
        match &self.source {
            Source::Memory(program) => Ok(program),
            Source::File(_) => unreachable!("it was read"),
        }
    }
}

fn records<'a>(
    name: &str,
    file: &'a mut RankFile<File>,
    rank: u32,
) -> Result<RankRecords<'a>, Error> {
    file.rank(rank).map_err(|error| of(name, error))
}

fn of(name: &str, error: RankFileError) -> Error {
    match error {
        RankFileError::Format(error) => unreadable(name, &error).into(),
        RankFileError::Io(error) => Error::io(name, error),
    }
}

/// Opens a plain file that is a LogGOPSim binary. Returns `None` for everything else, also if it
/// can't be read.
fn plain_binary(path: &Path) -> Option<File> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut file = File::open(path).ok()?;
    let mut magic = [0; 8];
    file.read_exact(&mut magic).ok()?;
    let known = [loggopsim::MAGIC, loggopsim::MAGIC_USED_UP];
    known.contains(&u64::from_le_bytes(magic)).then_some(file)
}
