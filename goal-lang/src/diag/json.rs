//! Reports for programs: one JSON object a line.

use std::io::{self, Write};

use serde::Serialize;

use super::{Diagnostic, Fix, Report};
use crate::source::SourceMap;

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

#[derive(Serialize, Clone, Copy)]
struct Place<'a> {
    file: &'a str,
    line: u64,
    column: Option<u64>,
    label: &'a str,
}

/// Writes every kept finding as one JSON object a line. Lines and columns are 1-based, columns in bytes; where there is no text
/// they are null.
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
    let labels = diagnostic.labels.iter().filter_map(|label| {
        let file = &sources.source_of(label.span.start)?.name;
        let (line, column) = sources.line_column(label.span.start)?;
        Some(Place { file, line, column: Some(column), label: &label.text })
    });
    let lines = diagnostic.lines.iter().filter_map(|label| {
        let file = &sources.sources().first()?.name;
        Some(Place { file, line: label.line, column: None, label: &label.text })
    });
    let spans: Vec<Place<'_>> = labels.chain(lines).collect();
    let first = spans.first().copied();
    Line {
        code: diagnostic.code.to_string(),
        kind: diagnostic.code.kind(),
        severity: diagnostic.severity().name(),
        message: &diagnostic.message,
        file: first.map(|place| place.file),
        line: first.map(|place| place.line),
        column: first.and_then(|place| place.column),
        spans,
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
