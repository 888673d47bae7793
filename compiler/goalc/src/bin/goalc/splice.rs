//! The inputs and results of `goalc slice`, `goalc concat` and `goalc merge`, in any form.

use super::style::Spelling;
use goal_lang::{Body, MemoryImage};
use goalc::driver::{
    self, Emit, Error, Format, InputArguments, Options, Ranks, Target, note, report, write_ranks,
};
use std::path::{Path, PathBuf};

/// The result.
#[derive(clap::Args)]
pub(crate) struct OutputArguments {
    /// Result: a schedule if its name ends in .nisa, LogGOPSim's binary form if in .bin, else text;
    /// - or nothing is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
    /// Spelling of a text
    #[arg(long, value_enum, default_value_t, value_name = "STYLE")]
    style: Spelling,
}

impl OutputArguments {
    /// Returns the destination, which must not be an input.
    pub(crate) fn target(&self, files: Vec<PathBuf>) -> Result<Target, Error> {
        Target::new(&self.output).apart_from(files)
    }

    /// Writes a program as [`write_ranks`] does, and its warnings.
    pub(crate) fn write(
        &self,
        target: &Target,
        options: &Options,
        size: (u32, bool),
        rank: impl FnMut(u32) -> Result<(Body, Option<MemoryImage>), Error>,
    ) -> Result<(), Error> {
        let form = match self.output.extension().and_then(|extension| extension.to_str()) {
            Some("nisa") => Emit::Nisa,
            Some("bin") => Emit::Loggopsim,
            _ => Emit::Text(self.style.style()),
        };
        report(&write_ranks(target, form, options, size, rank)?, Format::Text)
    }
}

/// Opens each input as a program, and shows the warnings about texts.
pub(crate) fn programs(input: &InputArguments, options: &Options) -> Result<Vec<Ranks>, Error> {
    let streams = |path: &&PathBuf| path.as_path() == Path::new("-");
    if input.inputs.iter().filter(streams).count() > 1 {
        let message = "standard input can be read only once: give - once";
        return Err(Error::Usage(message.to_owned()));
    }
    let open = |path: &PathBuf| program(std::slice::from_ref(path), options);
    input.inputs.iter().map(open).collect()
}

/// Opens inputs that make one program.
pub(crate) fn program(paths: &[PathBuf], options: &Options) -> Result<Ranks, Error> {
    let ranks = Ranks::open(paths, options)?;
    note(&ranks.findings, Format::Text);
    Ok(ranks)
}

/// Writes a line to standard error.
pub(crate) fn tell(line: &str) {
    driver::print_line(&format!("goalc: {line}"));
}
