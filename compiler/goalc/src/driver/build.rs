//! Runs programs through the passes and writes them.

use super::load::{Opened, load_nisa, open};
use super::{Error, Findings, Loaded, Options, Output, check, silence, write_json};
use crate::graph;
use goal_asm::{EncodeError, EncodeOptions, Nisa, encode, loggopsim};
use goal_lang::diag::{Code, Diagnostic};
use goal_lang::{ActionId, Program, Span, Style, print};
use goal_opt::{Pass, PassError, Pipeline, Timings};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// A schedule that is ready to execute, with the findings about its text.
#[derive(Debug)]
pub struct Compiled {
    /// The verified schedule.
    pub nisa: Nisa,
    /// The warnings and the texts.
    pub findings: Findings,
    /// The numbers of actions of all ranks before and after the passes. Both are 0 for a NISA file,
    /// which is taken as it is.
    pub actions: (u64, u64),
}

/// Returns the number of actions of all ranks.
fn num_actions(program: &Program) -> u64 {
    (0..program.num_ranks()).map(|rank| program.body_of(rank).len() as u64).sum()
}

/// Makes a schedule of inputs: a NISA file is verified and taken as it is, everything else is
/// compiled in memory. The whole program is checked if [`Options::check`] is set.
///
/// # Errors
/// Returns an error if the inputs are wrong or can't be read.
pub fn compile(paths: &[PathBuf], options: &Options) -> Result<Compiled, Error> {
    let mut loaded = match open(paths, options)? {
        Opened::Nisa(input) => {
            let nisa = load_nisa(&input, options)?;
            let mut findings = Findings::default();
            if options.check {
                silence::apply(&mut findings, options);
                let mut loaded = Loaded::new(nisa.decode(), findings);
                check(&mut loaded, options)?;
                findings = loaded.findings;
            }
            return Ok(Compiled { nisa, findings, actions: (0, 0) });
        }
        other => other.load(&options.with_places())?,
    };
    if options.check {
        check(&mut loaded, options)?;
    }
    let stated = num_actions(&loaded.program);
    optimize(&mut loaded, options, |_, _| {})?;
    let actions = (stated, num_actions(&loaded.program));
    let mut bytes = Vec::new();
    encode_nisa(&mut loaded, options, &mut bytes).map_err(|error| error.of("the schedule"))?;
    let nisa = options.with_threads(|| Nisa::load(Arc::new(bytes), &options.limits));
    match nisa {
        Ok(nisa) => Ok(Compiled { nisa, findings: loaded.findings, actions }),
        Err(error) => {
            loaded.findings.report.push(error.diagnostic());
            Err(loaded.findings.into())
        }
    }
}

/// Runs the passes of the pipeline, and calls `after` with each pass and the program after it.
/// Notes of passes become warnings.
///
/// # Errors
/// Returns an error if the verifier finds a fault or a pass refuses the program.
pub fn optimize(
    loaded: &mut Loaded,
    options: &Options,
    after: impl FnMut(&Pass, &Program) + Send,
) -> Result<Timings, Error> {
    (options.on_stage)("optimizing");
    let pipeline = Pipeline { verify: options.check, ..options.pipeline.clone() };
    let mut timings = Timings::default();
    let done =
        options.with_threads(|| goal_opt::run(&mut loaded.program, &pipeline, &mut timings, after));
    for (pass, note) in &timings.notes {
        let message = format!("the pass `{pass}`: {note}");
        loaded.findings.report.push(Diagnostic::new(Code::PassNote, message));
    }
    match done {
        Ok(()) => Ok(timings),
        Err(error) => {
            let code = match error {
                PassError::Invalid { .. } => Code::InvalidProgram,
                PassError::Refused { .. } => Code::PassRefused,
            };
            Err(fail(loaded, Diagnostic::new(code, error.to_string())))
        }
    }
}

/// The form that a program is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emit {
    /// The schedule that ranks execute.
    Nisa,
    /// Text in one of the spellings.
    Text(Style),
    /// A graph in graphviz's language for the first rank of each body.
    Dot,
    /// One JSON object.
    Json,
    /// LogGOPSim's binary form. Parts of the program that this form has no place for are dropped
    /// with a warning.
    Loggopsim,
}

impl Emit {
    /// Returns true if the form is no text.
    pub fn is_binary(self) -> bool {
        matches!(self, Emit::Nisa | Emit::Loggopsim)
    }
}

/// Writes a program. LogGOPSim's form has no names that could be dropped, so [`Options::strip`]
/// doesn't change it.
///
/// # Errors
/// Returns an error if the form can't hold the program, or if `out` fails.
pub fn emit(
    loaded: &mut Loaded,
    emit: Emit,
    options: &Options,
    out: &mut Output,
) -> Result<(), Error> {
    (options.on_stage)("writing");
    if options.strip && emit != Emit::Loggopsim {
        loaded.program.strip();
    }
    let written = match emit {
        Emit::Nisa => encode_nisa(loaded, options, out),
        Emit::Text(style) => print(&loaded.program, style, out).map_err(EmitError::Io),
        Emit::Dot => write_dot(&loaded.program, out).map_err(EmitError::Io),
        Emit::Json => {
            write_json(&loaded.program, Some(&loaded.findings.sources), out).map_err(EmitError::Io)
        }
        Emit::Loggopsim => write_loggopsim(loaded, options, out),
    };
    written.map_err(|error| error.of(out.name()))
}

enum EmitError {
    Io(io::Error),
    Input(Error),
}

impl EmitError {
    fn of(self, name: &str) -> Error {
        match self {
            EmitError::Io(error) => Error::io(name, error),
            EmitError::Input(error) => error,
        }
    }
}

fn encode_nisa(
    loaded: &mut Loaded,
    options: &Options,
    out: &mut (dyn Write + Send),
) -> Result<(), EmitError> {
    let encode_options = EncodeOptions { strip: options.strip, threads: options.threads };
    let Loaded { program, findings, .. } = loaded;
    let encoded =
        options.with_threads(|| encode(program, &encode_options, Some(&findings.sources), out));
    encoded.map_err(|error| match error {
        EncodeError::Io(error) => EmitError::Io(error),
        error => {
            EmitError::Input(fail(loaded, Diagnostic::new(Code::NisaOverflow, error.to_string())))
        }
    })
}

fn write_dot(program: &Program, out: &mut dyn Write) -> io::Result<()> {
    let mut drawn = vec![false; program.bodies.len()];
    for (rank, entry) in program.ranks.iter().enumerate() {
        if !std::mem::replace(&mut drawn[entry.body.index()], true) {
            graph::dot(program.body_of(rank as u32), rank as u32, out)?;
        }
    }
    Ok(())
}

/// Writes LogGOPSim's form. If the program was read from such a binary and is unchanged, the
/// binary's own bytes are written, because its appendix may have another layout than ours.
fn write_loggopsim(
    loaded: &mut Loaded,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), EmitError> {
    if let Some(bytes) = &loaded.binary
        && !loggopsim::is_written_as(&loaded.program, bytes)
        && loggopsim::read(bytes, &options.limits)
            .is_ok_and(|program| loggopsim::are_same(&program, &loaded.program))
    {
        return out.write_all(bytes).map_err(EmitError::Io);
    }
    let loss = loggopsim::losses(&loaded.program);
    if !loss.is_none() {
        loaded.findings.report.push(Diagnostic::new(Code::LoggopsimLoss, loss.message()));
    }
    loggopsim::write(&loaded.program, out).map_err(|error| match error {
        loggopsim::WriteError::Io(error) => EmitError::Io(error),
        error => {
            let mut diagnostic = Diagnostic::new(Code::LoggopsimOverflow, error.to_string());
            if let loggopsim::WriteError::HighCpu { rank, action, .. } = error {
                diagnostic = place(diagnostic, loaded, rank, action)
                    .help("use cpus up to 255, or write NISA or text, which take cpus up to 65535");
            }
            EmitError::Input(fail(loaded, diagnostic))
        }
    })
}

/// Adds the place of an action, if it is known.
fn place(diagnostic: Diagnostic, loaded: &Loaded, rank: u32, action: ActionId) -> Diagnostic {
    let debug = &loaded.program.body_of(rank).debug;
    let sources = loaded.findings.sources.sources();
    if let Some(&start) = debug.actions.get(action.index())
        && let Some(source) = sources.iter().rfind(|source| source.base <= start)
        && let Some(text) = source.bytes.get((start - source.base) as usize..)
    {
        let line = &text[..memchr::memchr2(b'\n', b'}', text).unwrap_or(text.len())];
        let end = start + line.trim_ascii_end().len() as u64;
        return diagnostic.label(Span { start, end }, "this action");
    }
    match debug.lines.get(action.index()) {
        Some(&line) if line > 0 => diagnostic.line(line.into(), "this action"),
        _ => diagnostic,
    }
}

/// Adds an error to the findings, and returns all findings as an error.
fn fail(loaded: &mut Loaded, diagnostic: Diagnostic) -> Error {
    let mut findings = std::mem::take(&mut loaded.findings);
    findings.report.push(diagnostic);
    findings.into()
}
