//! Prints the output of the command line: reports, errors and warnings.
//!
//! Threat: the output contains texts of ranks and of other hosts, which a terminal must not obey.
//! See [`shown`].

use super::findings;
use super::values::Format;
use goal_lang::diag::Severity;
use goal_launch::report::{Report, Status, shown};
use goalc::driver::{self, Error};
use std::io::{self, Write};
use std::sync::OnceLock;

/// The reason why a run has no report.
pub(super) enum Failure {
    /// The inputs have an error, or a file can't be read or written.
    Driver(Error),
    /// The command line asks for something impossible, or the system refuses something.
    System(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

/// Prints a report. Returns the exit status of this process.
pub(super) fn tell(report: &Report, format: Format) -> u8 {
    for error in report.errors() {
        complain(error);
    }
    if let Some(warning) = report.warning() {
        warn(&warning);
    }
    let text = match format {
        Format::Json => report.to_json(),
        Format::Text => {
            let summary = (report.status() == Status::Ok).then(|| report.summary());
            let parts: Vec<String> = summary.into_iter().chain(report.table()).collect();
            if parts.is_empty() {
                return report.exit_status();
            }
            parts.join("\n")
        }
    };
    print(&text, report.exit_status())
}

/// Prints the reason why there is no report. Returns its text and the exit status of this process.
pub(super) fn complain_of(failure: &Failure) -> (String, u8) {
    match failure {
        Failure::Driver(error) => {
            driver::note_error("goal-run", error, findings::format());
            (error.to_string(), error.status() as u8)
        }
        Failure::System(text) => {
            complain(text);
            (text.clone(), 2)
        }
    }
}

/// Prints a line on standard output. Returns `status`, even if the reader has closed its end.
pub(super) fn print(text: &str, status: u8) -> u8 {
    driver::clear_stage();
    let text = shown(text);
    match driver::stdout().and_then(|mut out| writeln!(out, "{text}").and_then(|()| out.flush())) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("<stdout>: {error}"));
            2
        }
        _ => status,
    }
}

/// The name of this host. Set only if the launcher of another host has started this launcher.
static HOST: OnceLock<String> = OnceLock::new();

/// Sets the name that precedes errors and warnings of this host.
pub(super) fn name_host(name: &str) {
    // Only one caller sets the name, so this does not fail.
    let _ = HOST.set(name.to_owned());
}

fn named(text: &str) -> String {
    let text = HOST.get().map_or_else(|| text.to_owned(), |host| format!("host {host}: {text}"));
    shown(&text).into_owned()
}

/// Prints an error on standard error.
pub(super) fn complain(text: &str) {
    let text = &named(text);
    driver::note_message("goal-run", findings::KIND, Severity::Error, text, findings::format());
}

/// Prints a line on standard error. Does nothing if reports are JSON.
pub(super) fn note(text: &str) {
    if !driver::asks_for_json() {
        driver::clear_stage();
        let _ = writeln!(io::stderr(), "goal-run: {}", named(text));
    }
}

/// Prints a warning on standard error.
pub(super) fn warn(text: &str) {
    let text = &named(text);
    driver::note_message("goal-run", findings::KIND, Severity::Warning, text, findings::format());
}
