//! Turns messages into JSON objects, in the form of `goalc check --format json`.

use goal_lang::diag::{Severity, render_json, render_json_error};
use goal_launch::report::Report;
use goalc::driver::{self, Findings};
use serde_json::Value;
use std::io;

/// The kind of messages that are not about the input files.
pub(crate) const KIND: &str = "run";

/// Returns the format of messages on standard error.
pub(crate) fn format() -> driver::Format {
    match driver::asks_for_json() {
        true => driver::Format::Json,
        false => driver::Format::Text,
    }
}

/// Returns the findings about the input files.
pub(crate) fn of(found: &Findings) -> Vec<Value> {
    lines(|out| render_json(&found.report, &found.sources, out))
}

/// Returns the findings about the input files, and the errors and the warning of a report.
pub(crate) fn objects(found: &Findings, report: &Report) -> Vec<Value> {
    let told = lines(|out| {
        for error in report.errors() {
            render_json_error(KIND, Severity::Error, error, None, None, out)?;
        }
        match report.warning() {
            Some(warning) => render_json_error(KIND, Severity::Warning, &warning, None, None, out),
            None => Ok(()),
        }
    });
    of(found).into_iter().chain(told).collect()
}

fn lines(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Vec<Value> {
    let mut text = Vec::new();
    write(&mut text).expect("memory takes every byte");
    serde_json::Deserializer::from_slice(&text)
        .into_iter()
        .map(|value| value.expect("it was just written"))
        .collect()
}
