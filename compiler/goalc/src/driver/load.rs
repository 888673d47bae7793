//! Reads inputs as one program.

use super::flags::name_flag;
use super::loaded::Loaded;
use super::treat::treat;
use super::{
    Collectives, Error, Findings, Form, Input, Options, name_flags, name_foreign, refused, silence,
};
use goal_asm::Nisa;
use goal_asm::loggopsim::{self, Ranks};
use goal_lang::diag::{Code, Diagnostic};
use goal_lang::{
    ParseOptions, Parsed, SourceMap, SymmetricProgram, parse, parse_symmetric, unexpanded,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Reads a program: text files that belong together, or one binary of either form.
///
/// # Errors
/// Returns an error if the inputs are wrong or can't be read.
pub fn load_program(paths: &[PathBuf], options: &Options) -> Result<Loaded, Error> {
    open(paths, options)?.load(options)
}

impl From<Input> for Opened {
    fn from(input: Input) -> Self {
        match input.form {
            Form::Text => {
                let mut sources = SourceMap::default();
                sources.add(input.name, input.bytes);
                Self::Text(sources)
            }
            Form::Nisa => Self::Nisa(input),
            Form::Loggopsim => Self::Loggopsim(input),
        }
    }
}

impl Opened {
    /// Reads the program.
    ///
    /// # Errors
    /// Returns an error if the inputs are wrong.
    pub fn load(self, options: &Options) -> Result<Loaded, Error> {
        match self {
            Opened::Text(sources) => parse_text(sources, options),
            Opened::Nisa(input) => {
                let program = load_nisa(&input, options)?.decode();
                // Findings name the file. Its text is empty, because a binary has none to show.
                let mut findings = Findings::default();
                findings.sources.add(input.name, Arc::new(Vec::new()));
                silence::apply(&mut findings, options);
                Ok(Loaded::new(program, findings))
            }
            Opened::Loggopsim(input) => {
                let program = loggopsim::read(&input.bytes, &options.limits)
                    .map_err(|error| unreadable_bytes(&input, options, &error))?;
                let mut findings = Findings::default();
                silence::apply(&mut findings, options);
                let mut loaded = Loaded::new(program, findings);
                treat(&mut loaded, &input.name, options)?;
                loaded.binary = Some(input.bytes);
                Ok(loaded)
            }
        }
    }
}

/// Returns the finding about a LogGOPSim binary that can't be read.
fn unreadable_bytes(input: &Input, options: &Options, error: &loggopsim::ReadError) -> Diagnostic {
    if error.limit().is_none() && loggopsim::is_second_form(&input.bytes, &options.limits) {
        return second_form(&input.name);
    }
    unreadable(&input.name, error)
}

/// Returns the finding about a binary of LogGOPSim2.
pub(super) fn second_form(name: &str) -> Diagnostic {
    let message = format!("{name} is a binary of LogGOPSim2 (G2), not of LogGOPSim");
    Diagnostic::new(Code::ForeignFormat, message).help(
        "make a LogGOPSim binary of a text with sends, receives and calcs: LogGOPSim's txt2bin, or goalc build --emit loggopsim",
    )
}

/// Returns the finding about a LogGOPSim binary that can't be read, without a look at its bytes.
pub(super) fn unreadable(name: &str, error: &loggopsim::ReadError) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::LoggopsimFormat, format!("{name}: {error}"));
    let Some(limit) = error.limit() else {
        return diagnostic.help(
            "make the file again with LogGOPSim's txt2bin, or with goalc build --emit loggopsim",
        );
    };
    let mut diagnostic = diagnostic.limit(limit);
    name_flag(&mut diagnostic);
    diagnostic
}

/// The inputs of one command, opened.
pub enum Opened {
    /// Texts that belong together.
    Text(SourceMap),
    /// A NISA file.
    Nisa(Input),
    /// A LogGOPSim binary.
    Loggopsim(Input),
}

/// Checks a LogGOPSim binary. Its ranks need no memory for a program.
///
/// # Errors
/// Returns an error if the file is wrong.
pub fn ranks_of<'a>(input: &'a Input, options: &Options) -> Result<Ranks<'a>, Error> {
    let ranks = options
        .with_threads(|| Ranks::check(&input.bytes, &options.limits))
        .map_err(|error| unreadable_bytes(input, options, &error))?;
    match ranks.num_collectives().checked_sub(1) {
        Some(rest) if matches!(options.collectives, Collectives::Refuse) => {
            Err(unexpanded_in(&input.name, rest).into())
        }
        _ => Ok(ranks),
    }
}

/// Returns the finding about collective statements of a LogGOPSim binary. `rest` is the number of
/// those behind the first one.
pub(super) fn unexpanded_in(name: &str, rest: u64) -> Diagnostic {
    let mut finding = unexpanded(None, rest);
    finding.message = format!("{name}: {}", finding.message);
    name_flag(&mut finding);
    finding
}

/// Opens the inputs of one command: texts that belong together, or one binary of either form.
///
/// # Errors
/// Returns an error if an input can't be read, or if binaries are not alone.
pub fn open(paths: &[PathBuf], options: &Options) -> Result<Opened, Error> {
    (options.on_stage)("reading");
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Error::Usage("standard input can be read only once: give - once".to_owned()));
    }
    let mut sources = SourceMap::default();
    for path in paths {
        let input = Input::open(path, options)?;
        if input.form != Form::Text && paths.len() > 1 {
            let what = if input.form == Form::Nisa { "a NISA file" } else { "a LogGOPSim binary" };
            return Err(Error::Usage(format!(
                "{} is {what}: only texts can be put together, a binary is a whole program",
                input.name
            )));
        }
        if input.form != Form::Text {
            return Ok(input.into());
        }
        sources.add(input.name, input.bytes);
    }
    Ok(Opened::Text(sources))
}

/// Verifies a NISA file.
pub(super) fn load_nisa(input: &Input, options: &Options) -> Result<Nisa, Error> {
    (options.on_stage)("verifying");
    let loaded = options.with_threads(|| Nisa::load(input.bytes.clone(), &options.limits));
    loaded.map_err(|error| refused(&input.name, &error).into())
}

/// A text that was read.
pub enum Text {
    /// A program whose ranks differ in their peers only, with its findings.
    Symmetric(Box<SymmetricProgram>, Findings),
    /// Any other program.
    Loaded(Loaded),
}

/// Reads texts that belong together. A program of one block with relative peers stays one rank.
///
/// # Errors
/// Returns an error if the texts are wrong.
pub fn load_text(sources: SourceMap, options: &Options) -> Result<Text, Error> {
    (options.on_stage)("parsing");
    match parse_symmetric(&sources, &parse_options(options)) {
        Ok(program) => {
            let mut findings = Findings { sources, ..Findings::default() };
            silence::apply(&mut findings, options);
            Ok(Text::Symmetric(Box::new(program), findings))
        }
        Err(parsed) => loaded(*parsed, sources, options).map(Text::Loaded),
    }
}

pub(super) fn parse_text(sources: SourceMap, options: &Options) -> Result<Loaded, Error> {
    (options.on_stage)("parsing");
    loaded(parse(&sources, &parse_options(options)), sources, options)
}

fn parse_options(options: &Options) -> ParseOptions {
    ParseOptions {
        limits: options.limits,
        threads: options.threads,
        wrap_tags: options.wrap_tags,
        debug: !options.strip,
        check: options.check,
        collectives: !matches!(options.collectives, Collectives::Refuse),
    }
}

fn loaded(parsed: Parsed, sources: SourceMap, options: &Options) -> Result<Loaded, Error> {
    let mut findings = Findings { report: parsed.report, sources };
    name_flags(&mut findings.report);
    match parsed.program {
        Some(program) => {
            silence::apply(&mut findings, options);
            let name = findings.sources.sources().first().map_or("", |source| &source.name);
            let name = name.to_owned();
            let mut loaded = Loaded::new(program, findings);
            treat(&mut loaded, &name, options)?;
            Ok(loaded)
        }
        None => {
            name_foreign(&mut findings, options);
            Err(findings.into())
        }
    }
}
