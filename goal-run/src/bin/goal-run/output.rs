//! Prints the output of the command line: reports, errors and warnings.
//!
//! Threat: they contain texts of ranks and of other hosts, which a terminal must not obey: see
//! [`shown`].

use super::findings;
use super::values::Format;
use goal_lang::diag::Severity;
use goal_launch::report::{Report, Status, shown};
use goalc::driver::{self, Error};
use std::io::{self, Write};
use std::sync::OnceLock;

/// The reason why there is no report.
pub(super) enum Failure {
    /// An error of the inputs, or of a file.
    Driver(Error),
    /// The command line asks for something impossible, or the system refused something.
    System(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

/// Prints a report and returns the exit status.
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

/// Prints the reason why there is no report. Returns its text and the exit status.
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

/// Prints a line on standard output and returns `status`, also if the reader has gone away.
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

/// The name of this host, if the launcher of another host has started this one.
static HOST: OnceLock<String> = OnceLock::new();

/// Puts the name of this host before errors and warnings.
pub(super) fn name_host(name: &str) {
    // Nobody names it twice.
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

/// Prints a line on standard error, if reports are text.
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
