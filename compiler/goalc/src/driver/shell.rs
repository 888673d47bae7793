//! Shell completions and manual pages, the same way for every command.

use super::{Error, print};
use clap::CommandFactory;
use clap_complete::Shell;
use std::fs;
use std::path::PathBuf;

/// The arguments of the command that writes completions.
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Writes the completions of the command `program`, whose arguments are `C`, to standard
    /// output.
    ///
    /// # Errors
    /// An error of standard output.
    pub fn run<C: CommandFactory>(&self, program: &str) -> Result<(), Error> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut C::command(), program, &mut script);
        print(|out| out.write_all(&script))
    }
}

/// The arguments of the command that writes manual pages.
#[derive(Debug, clap::Args)]
pub struct Man {
    /// The folder, created if it is missing: a page for the command, and one for each of its
    /// commands
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    /// Writes the pages of the command whose arguments are `C`.
    ///
    /// # Errors
    /// Returns an error if the pages can't be written.
    pub fn run<C: CommandFactory>(&self) -> Result<(), Error> {
        let folder = &self.folder;
        fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(C::command(), folder))
            .map_err(|error| Error::io(folder.display().to_string(), error))
    }
}
