//! Writes a program that is made one rank at a time.

use super::sharing::Sharing;
use super::{Emit, Error, Findings, Loaded, Options, Output, Target, emit, optimize};
use goal_asm::loggopsim::{RankWriter, WriteError};
use goal_lang::diag::{Code, Diagnostic};
use goal_lang::{Body, MemoryImage};
use goal_opt::{Level, Pipeline};

/// Writes a program of `num_ranks` ranks. `rank` makes the body and the memory of each rank in
/// order. LogGOPSim's binary form is written as ranks are made, if `target` is a file and
/// `is_streamed` is true. Otherwise the program is held in memory first. Returns warnings.
///
/// # Errors
/// Those of `rank`, and an error if the form can't hold the program or can't be written.
pub fn write_ranks(
    target: &Target,
    form: Emit,
    options: &Options,
    (num_ranks, is_streamed): (u32, bool),
    rank: impl FnMut(u32) -> Result<(Body, Option<MemoryImage>), Error>,
) -> Result<Findings, Error> {
    let out = Output::create(target, form.is_binary())?;
    (options.on_stage)("writing");
    match is_streamed && form == Emit::Loggopsim && out.is_seekable() {
        true => write_as_made(out, num_ranks, rank),
        false => write_whole(out, form, options, num_ranks, rank),
    }
}

fn write_as_made(
    out: Output,
    num_ranks: u32,
    mut rank: impl FnMut(u32) -> Result<(Body, Option<MemoryImage>), Error>,
) -> Result<Findings, Error> {
    let name = out.name().to_owned();
    let failed = |error| match error {
        WriteError::Io(error) => Error::io(&name, error),
        error => Diagnostic::new(Code::LoggopsimOverflow, error.to_string()).into(),
    };
    let mut writer = RankWriter::new(out, num_ranks).map_err(|error| failed(error.into()))?;
    for number in 0..num_ranks {
        writer.rank(&rank(number)?.0).map_err(failed)?;
    }
    writer.finish().map_err(|error| failed(error.into()))?.finish()?;
    Ok(Findings::default())
}

fn write_whole(
    mut out: Output,
    form: Emit,
    options: &Options,
    num_ranks: u32,
    mut rank: impl FnMut(u32) -> Result<(Body, Option<MemoryImage>), Error>,
) -> Result<Findings, Error> {
    let mut program = Sharing::default();
    for number in 0..num_ranks {
        let (body, image) = rank(number)?;
        program.rank(body, image);
    }
    let program = program.finish();
    let mut loaded = Loaded::new(program, Findings::default());
    if form == Emit::Nisa {
        // The passes that the form needs.
        let pipeline = Pipeline::new(Level::O0);
        optimize(&mut loaded, &Options { pipeline, ..options.clone() }, |_, _| {})?;
    }
    emit(&mut loaded, form, options, &mut out)?;
    out.finish()?;
    Ok(loaded.findings)
}
