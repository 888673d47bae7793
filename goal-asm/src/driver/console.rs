//! What a command says on its terminal: findings and errors.

use super::stage::clear_stage;
use super::{Error, Findings};
use goal_lang::diag::{render, render_json, render_rest, render_sarif};
use std::io::{self, IsTerminal, Write};

/// How findings are written.
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

/// Writes findings, and how many more there are. Colours appear on a terminal only, and not where `NO_COLOR` is set.
///
/// # Errors
/// Those of standard output; that of people is not waited for.
pub fn tell(findings: &Findings, format: Format) -> Result<(), Error> {
    clear_stage();
    match format {
        Format::Text => {
            let mut err = io::BufWriter::new(io::stderr().lock());
            let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            // Where standard error is closed there is nobody to tell.
            let _ = render(&findings.report, &findings.sources, color, &mut err).and_then(|()| err.flush());
            Ok(())
        }
        Format::Json | Format::Sarif => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            let write = if format == Format::Json { render_json } else { render_sarif };
            write(&findings.report, &findings.sources, &mut out)
                .and_then(|()| out.flush())
                .map_err(|error| Error::io("<stdout>", error))?;
            let _ = render_rest(&findings.report, &mut io::stderr().lock());
            Ok(())
        }
    }
}

/// Writes a line about what was done.
pub(super) fn say(line: &str) {
    clear_stage();
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes why the command `program` failed.
pub fn tell_error(program: &str, error: &Error, format: Format) {
    match error {
        Error::Input(findings) => {
            let _ = tell(findings, format);
        }
        error if error.is_broken_pipe() => clear_stage(),
        error => {
            clear_stage();
            let _ = writeln!(io::stderr(), "{program}: {error}");
        }
    }
}
