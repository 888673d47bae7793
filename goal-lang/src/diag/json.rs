//! Reports for other programs to read: one JSON object a line.

use std::io::{self, Write};

use serde::Serialize;

use super::{Diagnostic, Fix, Report, Severity};
use crate::source::SourceMap;

#[derive(Serialize)]
struct Line<'a> {
    code: Option<String>,
    kind: &'a str,
    severity: &'a str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u64>,
    column: Option<u64>,
    #[serde(rename = "endLine")]
    end_line: Option<u64>,
    #[serde(rename = "endColumn")]
    end_column: Option<u64>,
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
    #[serde(rename = "endLine")]
    end_line: Option<u64>,
    #[serde(rename = "endColumn")]
    end_column: Option<u64>,
    label: &'a str,
}

/// Writes every finding that the report keeps as one JSON object a line. Lines and columns are
/// 1-based, and columns count code points. The end of a place is the first column behind it.
/// Unknown values are null.
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

/// Writes an error that is no finding, such as a wrong command line or a file that can't be read.
/// The JSON object has the members of a finding. It has a kind, and its code is null.
///
/// # Errors
/// Those of `out`.
pub fn render_json_error(
    kind: &str,
    severity: Severity,
    message: &str,
    help: Option<&str>,
    file: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let line = Line {
        code: None,
        kind,
        severity: severity.name(),
        message,
        file,
        line: None,
        column: None,
        end_line: None,
        end_column: None,
        spans: Vec::new(),
        note: None,
        help,
        fix: None,
    };
    let mut text = serde_json::to_vec(&line)?;
    text.push(b'\n');
    out.write_all(&text)
}

fn line<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Line<'a> {
    let labels = diagnostic.labels.iter().filter_map(|label| {
        let file = &sources.source_of(label.span.start)?.name;
        let (line, column) = sources.line_column(label.span.start)?;
        let (end_line, end_column) = sources.line_column(label.span.end)?;
        let (column, end_line, end_column) = (Some(column), Some(end_line), Some(end_column));
        Some(Place { file, line, column, end_line, end_column, label: &label.text })
    });
    let lines = diagnostic.lines.iter().filter_map(|label| {
        let file = &sources.sources().first()?.name;
        let (column, end_line, end_column) = (None, None, None);
        Some(Place { file, line: label.line, column, end_line, end_column, label: &label.text })
    });
    let spans: Vec<Place<'_>> = labels.chain(lines).collect();
    let first = spans.first().copied();
    Line {
        code: Some(diagnostic.code.to_string()),
        kind: diagnostic.code.kind(),
        severity: diagnostic.severity().name(),
        message: &diagnostic.message,
        file: first.map(|place| place.file),
        line: first.map(|place| place.line),
        column: first.and_then(|place| place.column),
        end_line: first.and_then(|place| place.end_line),
        end_column: first.and_then(|place| place.end_column),
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
