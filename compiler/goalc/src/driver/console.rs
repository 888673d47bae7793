//! Writes findings and errors to the standard streams. An error of standard output is reported on
//! standard error. An error of standard error is reported by the exit status.

use super::stage::clear_stage;
use super::{Error, Findings, Status, streams};
use goal_lang::diag::{
    Severity, render, render_json, render_json_error, render_rest, render_sarif,
};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

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

/// True once something could not be written to standard error.
static LOST: AtomicBool = AtomicBool::new(false);

/// Writes to standard error. If this fails, [`exit_status`] later reports that something was lost.
/// A reader that has closed the stream wants nothing more, so this is no failure.
fn tell(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    clear_stage();
    let mut err = io::BufWriter::new(io::stderr().lock());
    let written = write(&mut err).and_then(|()| err.flush());
    if written.is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe) {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Returns the exit status of a process that would end with `status`: [`Status::System`] in place
/// of a lower one if something could not be written to standard error.
pub fn exit_status(status: u8) -> u8 {
    let least = if LOST.load(Ordering::Relaxed) { Status::System } else { Status::Success };
    status.max(least as u8)
}

/// Writes to standard output.
fn write_out(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    clear_stage();
    let all = || {
        let mut out = io::BufWriter::new(streams::stdout()?);
        write(&mut out)?;
        out.flush()
    };
    all().map_err(|error| Error::io(STDOUT, error))
}

/// The name of standard output in errors.
const STDOUT: &str = "<stdout>";

/// Writes findings, and the number of findings that were not kept. Findings as text go to standard
/// error, and as JSON or SARIF to standard output. The number always goes to standard error.
///
/// # Errors
/// An error of standard output.
pub fn report(findings: &Findings, format: Format) -> Result<(), Error> {
    if format == Format::Text {
        note(findings, format);
        return Ok(());
    }
    let write = if format == Format::Json { render_json } else { render_sarif };
    write_out(|out| write(&findings.report, &findings.sources, out))?;
    tell(|err| render_rest(&findings.report, err));
    Ok(())
}

/// Writes findings to standard error, for people or as JSON. For commands whose result goes to
/// standard output.
pub fn note(findings: &Findings, format: Format) {
    let Findings { report, sources } = findings;
    tell(|err| match format {
        Format::Json => render_json(report, sources, err),
        _ => render(report, sources, is_colored(), err),
    });
}

/// Writes a text to standard output.
///
/// # Errors
/// An error of standard output.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    write_out(write)
}

/// Writes a line about the work to standard error.
pub fn print_line(line: &str) {
    tell(|err| writeln!(err, "{line}"));
}

/// Writes the reason why the command `program` failed, to the stream that [`report`] uses. Returns
/// the exit status. If that stream can't be written, writes the reason for this to standard error.
pub fn report_error(program: &str, error: &Error, format: Format) -> Status {
    let written = match error {
        error if error.is_broken_pipe() => return Status::Success,
        Error::Input(findings) => report(findings, format),
        Error::Io { name, .. } if name == STDOUT => {
            note_error(program, error, Format::Text);
            Ok(())
        }
        error if format == Format::Json => write_out(|out| failure_object(error, out)),
        error => {
            note_error(program, error, format);
            Ok(())
        }
    };
    match written {
        Err(lost) if !lost.is_broken_pipe() => {
            note_error(program, &lost, Format::Text);
            Status::System
        }
        _ => error.status(),
    }
}

/// Writes the reason why the command `program` failed to standard error, as [`note`] does.
pub fn note_error(program: &str, error: &Error, format: Format) {
    match error {
        error if error.is_broken_pipe() => {}
        Error::Input(findings) => note(findings, format),
        error if format == Format::Json => tell(|err| failure_object(error, err)),
        error => tell(|err| writeln!(err, "{program}: {error}")),
    }
}

/// Writes an error that is no finding as a JSON object.
fn failure_object(error: &Error, out: &mut dyn Write) -> io::Result<()> {
    let (kind, file) = match error {
        Error::Io { name, .. } => ("io", Some(name.as_str())),
        _ => ("usage", None),
    };
    render_json_error(kind, Severity::Error, &error.to_string(), None, file, out)
}

/// Writes a message that is no finding to standard error. `kind` is the kind of the message in the
/// JSON object.
pub fn note_message(program: &str, kind: &str, severity: Severity, message: &str, format: Format) {
    tell(|err| match (format, severity) {
        (Format::Json, _) => render_json_error(kind, severity, message, None, None, err),
        (_, Severity::Error) => writeln!(err, "{program}: {message}"),
        (_, Severity::Warning) => writeln!(err, "{program}: warning: {message}"),
    });
}

/// Reports an error of the command line of `program` as JSON.
pub(super) fn report_wrong_arguments(program: &str, message: &str, help: Option<&str>) {
    let written =
        write_out(|out| render_json_error("usage", Severity::Error, message, help, None, out));
    if let Err(lost) = written {
        note_error(program, &lost, Format::Text);
    }
}
