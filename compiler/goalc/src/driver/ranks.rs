//! A program whose ranks are read one at a time.
//!
//! A LogGOPSim binary in a plain file may be larger than memory, and come from anywhere. It is read
//! rank by rank, and each rank is checked again whenever it is read. All other inputs are held in
//! memory.

use super::load::{second_form, unexpanded_in, unreadable};
use super::sharing::Sharing;
use super::treat::treat;
use super::{Collectives, Error, Findings, Loaded, Options, load_program, silence};
use crate::expand::Expansions;
use goal_asm::loggopsim::{self, RankFile, RankFileError, RankRecords};
use goal_lang::diag::{Code, Diagnostic};
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
    /// The programs that collective statements became.
    pub expanded: Expansions,
    source: Source,
    /// True to refuse collective statements of a file.
    has_messages_only: bool,
    /// Most bytes of a file that is read into memory.
    input_bytes_max: u64,
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
        // Collectives are expanded in memory.
        let expands = matches!(options.collectives, Collectives::Expand(_));
        if let [path] = paths
            && !expands
            && let Some(file) = plain_binary(path)
        {
            (options.on_stage)("reading");
            let file = RankFile::open(file, &options.limits).map_err(|error| of(&name, error))?;
            let mut findings = Findings::default();
            silence::apply(&mut findings, options);
            let source = Source::File(file);
            let has_messages_only = matches!(options.collectives, Collectives::Refuse);
            let input_bytes_max = options.input_bytes_max;
            let expanded = Expansions::default();
            return Ok(Self {
                name,
                findings,
                expanded,
                source,
                has_messages_only,
                input_bytes_max,
            });
        }
        let Loaded { program, findings, expanded, .. } = load_program(paths, options)?;
        Ok(Self { findings, expanded, ..Self::new(name, program) })
    }

    /// Makes the ranks of a program.
    pub fn new(name: impl Into<String>, program: Program) -> Self {
        Self {
            name: name.into(),
            findings: Findings::default(),
            expanded: Expansions::default(),
            source: Source::Memory(program),
            has_messages_only: false,
            input_bytes_max: u64::MAX,
        }
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
            Source::File(file) => {
                let records = records(&self.name, file, rank, self.has_messages_only)?;
                Ok(Cow::Owned(records.body()))
            }
        }
    }

    /// Calls `visit` with a rank as it lies in a file.
    ///
    /// # Errors
    /// As [`body`](Self::body).
    ///
    /// # Panics
    /// If there is no such rank, or if ranks are not read from a file.
    pub(super) fn with_records<T>(
        &mut self,
        rank: u32,
        visit: impl FnOnce(RankRecords<'_>) -> T,
    ) -> Result<T, Error> {
        match &mut self.source {
            Source::Memory(_) => panic!("the program is in memory"),
            Source::File(file) => {
                Ok(visit(records(&self.name, file, rank, self.has_messages_only)?))
            }
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
                let records = records(&self.name, file, rank, self.has_messages_only)?;
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

    /// Reads the whole program into memory, and returns it. `why` says why that is needed.
    ///
    /// # Errors
    /// As [`body`](Self::body), or the file has more bytes than may be held in memory.
    pub fn hold(&mut self, why: &str) -> Result<&Program, Error> {
        if let Source::File(file) = &self.source {
            let (name, size) = (&self.name, file.size());
            if size > self.input_bytes_max {
                let message =
                    format!("{name}: {size} bytes, and they have to be held in memory: {why}");
                let help = "raise the limit with --max-input";
                return Err(Diagnostic::new(Code::InputLimit, message).help(help).into());
            }
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

    /// Returns the whole program, as [`hold`](Self::hold) does, with its findings.
    ///
    /// # Errors
    /// As [`hold`](Self::hold), or the collective statements of a file contradict each other.
    pub fn load(mut self, why: &str, options: &Options) -> Result<Loaded, Error> {
        let is_read = self.is_streamed();
        self.hold(why)?;
        let Source::Memory(program) = self.source else { unreachable!("it was read") };
        let mut loaded = Loaded::new(program, self.findings);
        loaded.expanded = self.expanded;
        if is_read {
            treat(&mut loaded, &self.name, options)?;
        }
        Ok(loaded)
    }
}

fn records<'a>(
    name: &str,
    file: &'a mut RankFile<File>,
    rank: u32,
    has_messages_only: bool,
) -> Result<RankRecords<'a>, Error> {
    let records = file.rank(rank).map_err(|error| of(name, error))?;
    match records.num_collectives().checked_sub(1) {
        Some(rest) if has_messages_only => Err(unexpanded_in(name, rest.into()).into()),
        _ => Ok(records),
    }
}

fn of(name: &str, error: RankFileError) -> Error {
    match error {
        RankFileError::SecondForm => second_form(name).into(),
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
