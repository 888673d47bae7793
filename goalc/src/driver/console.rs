//! Writes findings and errors to the standard streams.

use super::stage::clear_stage;
use super::{Error, Findings, streams};
use goal_lang::diag::{
    Severity, render, render_json, render_json_error, render_rest, render_sarif,
};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU8, Ordering};

/// The format of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// For programs, on standard output, one object a line
    Json,
    /// For code hosts and editors, on standard output: SARIF 2.1.0
    Sarif,
}

/// The condition on which reports have colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
#[repr(u8)]
pub enum Color {
    /// On a terminal that is not dumb, unless `NO_COLOR` is set; anywhere, where `CLICOLOR_FORCE`
    /// is
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Nowhere
    Never,
}

static COLOR: AtomicU8 = AtomicU8::new(Color::Auto as u8);

/// Sets the condition on which reports of this process have colours.
pub(super) fn set_color(color: Color) {
    COLOR.store(color as u8, Ordering::Relaxed);
}

/// Returns true if reports on standard error have colours. The environment is not trusted; it
/// decides about colours only.
fn is_colored() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match COLOR.load(Ordering::Relaxed) {
        color if color == Color::Always as u8 => true,
        color if color == Color::Never as u8 => false,
        _ if is_set("NO_COLOR") => false,
        _ if is_set("CLICOLOR_FORCE") => {
            std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0")
        }
        _ => io::stderr().is_terminal() && !is_dumb(),
    }
}

/// Returns true if the terminal knows no control sequences.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Writes findings and the number of those that were not kept: for people on standard error, for
/// programs on standard output.
///
/// # Errors
/// Those of standard output. Errors of standard error are ignored.
pub fn report(findings: &Findings, format: Format) -> Result<(), Error> {
    clear_stage();
    if format == Format::Text {
        note(findings, format);
        return Ok(());
    }
    let write = || {
        let mut out = io::BufWriter::new(streams::stdout()?);
        let write = if format == Format::Json { render_json } else { render_sarif };
        write(&findings.report, &findings.sources, &mut out)?;
        out.flush()
    };
    write().map_err(|error| Error::io("<stdout>", error))?;
    let _ = render_rest(&findings.report, &mut io::stderr().lock());
    Ok(())
}

/// Writes findings to standard error, for people or as JSON. For commands whose result goes to
/// standard output.
pub fn note(findings: &Findings, format: Format) {
    clear_stage();
    let Findings { report, sources } = findings;
    let mut err = io::BufWriter::new(io::stderr().lock());
    let written = match format {
        Format::Json => render_json(report, sources, &mut err),
        _ => render(report, sources, is_colored(), &mut err),
    };
    // If standard error is closed, the message is lost.
    let _ = written.and_then(|()| err.flush());
}

/// Writes a text to standard output.
///
/// # Errors
/// Those of standard output.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    clear_stage();
    let all = || {
        let mut out = io::BufWriter::new(streams::stdout()?);
        write(&mut out)?;
        out.flush()
    };
    all().map_err(|error| Error::io("<stdout>", error))
}

/// Writes a line about the work to standard error.
pub fn print_line(line: &str) {
    clear_stage();
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes the reason why the command `program` failed, to the stream that [`report`] uses.
pub fn report_error(program: &str, error: &Error, format: Format) {
    match error {
        Error::Input(findings) => {
            let _ = report(findings, format);
        }
        error => say_failure(program, error, format, &mut io::stdout()),
    }
}

/// Writes the reason why the command `program` failed to standard error, as [`note`] does.
pub fn note_error(program: &str, error: &Error, format: Format) {
    match error {
        Error::Input(findings) => note(findings, format),
        error => say_failure(program, error, format, &mut io::stderr()),
    }
}

fn say_failure(program: &str, error: &Error, format: Format, out: &mut dyn Write) {
    clear_stage();
    let (kind, file) = match error {
        error if error.is_broken_pipe() => return,
        Error::Io { name, .. } => ("io", Some(name.as_str())),
        _ => ("usage", None),
    };
    let _ = match format {
        Format::Json => {
            render_json_error(kind, Severity::Error, &error.to_string(), None, file, out)
        }
        _ => writeln!(io::stderr(), "{program}: {error}"),
    };
}

/// Writes a message that is no finding to standard error. `kind` names it for programs.
pub fn note_message(program: &str, kind: &str, severity: Severity, message: &str, format: Format) {
    clear_stage();
    // If standard error is closed, the message is lost.
    let _ = match (format, severity) {
        (Format::Json, _) => {
            render_json_error(kind, severity, message, None, None, &mut io::stderr())
        }
        (_, Severity::Error) => writeln!(io::stderr(), "{program}: {message}"),
        (_, Severity::Warning) => writeln!(io::stderr(), "{program}: warning: {message}"),
    };
}

/// Reports an error of the command line as JSON.
pub(super) fn report_wrong_arguments(message: &str, help: Option<&str>) {
    let _ = render_json_error("usage", Severity::Error, message, help, None, &mut io::stdout());
}
