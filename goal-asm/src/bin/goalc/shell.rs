//! `goalc completions` and `goalc man`.

use crate::{Cli, print};
use clap::CommandFactory;
use clap_complete::Shell;
use goal_asm::driver::Error;
use std::fs;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc completions bash > ~/.local/share/bash-completion/completions/goalc")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn completions(arguments: &Completions) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "goalc", &mut script);
    print(|out| out.write_all(&script))
}

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// The folder, made where it is missing: goalc.1 and a page a command
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn man(arguments: &Man) -> Result<(), Error> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .map_err(|error| Error::io(folder.display().to_string(), error))
}
