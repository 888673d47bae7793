//! Reports for programs: one JSON object a line.

use std::io::{self, Write};

use serde::Serialize;

use super::{Diagnostic, Fix, Report};
use crate::source::{SourceMap, Span};

#[derive(Serialize)]
struct Line<'a> {
    code: String,
    kind: &'a str,
    severity: &'a str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u64>,
    column: Option<u64>,
    spans: Vec<Place<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Change<'a>>,
}

#[derive(Serialize)]
struct Change<'a> {
    title: &'a str,
    insertions: Vec<Addition<'a>>,
}

#[derive(Serialize)]
struct Addition<'a> {
    file: &'a str,
    line: u64,
    column: u64,
    text: &'a str,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: u64,
    column: u64,
    label: &'a str,
}

/// Writes every kept finding as one JSON object a line. Lines and columns are 1-based, columns in bytes.
///
/// # Errors
/// Those of `out`.
pub fn render_json(report: &Report, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
    for diagnostic in &report.diagnostics {
        serde_json::to_writer(&mut *out, &line(diagnostic, sources))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn line<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Line<'a> {
    let first: Option<Span> = diagnostic.labels.first().map(|label| label.span);
    let place = first.and_then(|span| sources.line_column(span.start));
    Line {
        code: diagnostic.code.to_string(),
        kind: diagnostic.code.kind(),
        severity: diagnostic.severity().name(),
        message: &diagnostic.message,
        file: first.and_then(|span| sources.source_of(span.start)).map(|source| source.name.as_str()),
        line: place.map(|place| place.0),
        column: place.map(|place| place.1),
        spans: diagnostic
            .labels
            .iter()
            .filter_map(|label| {
                let file = &sources.source_of(label.span.start)?.name;
                let (line, column) = sources.line_column(label.span.start)?;
                Some(Place { file, line, column, label: &label.text })
            })
            .collect(),
        note: diagnostic.note.as_deref(),
        help: diagnostic.help.as_deref(),
        fix: diagnostic.fix.as_ref().map(|fix| change(fix, sources)),
    }
}

fn change<'a>(fix: &'a Fix, sources: &'a SourceMap) -> Change<'a> {
    let insertions = fix.insertions.iter().filter_map(|insertion| {
        let file = &sources.source_of(insertion.at)?.name;
        let (line, column) = sources.line_column(insertion.at)?;
        Some(Addition { file, line, column, text: &insertion.text })
    });
    Change { title: &fix.title, insertions: insertions.collect() }
}
