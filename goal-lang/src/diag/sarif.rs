//! Findings as SARIF 2.1.0, which code hosts and editors read: one run of one tool, a result a
//! finding. Columns count code points, as `columnKind` says, and ends are exclusive, as in SARIF
//! itself.

use super::{Code, Diagnostic, Label, LineLabel, Report, Severity};
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes a report as one SARIF log. The first place of a finding becomes its location, and the
/// others become related locations.
///
/// # Errors
/// Those of `out`.
pub fn render_sarif(report: &Report, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
    let mut codes: Vec<Code> = report.diagnostics.iter().map(|found| found.code).collect();
    codes.sort_unstable_by_key(|&code| code as u16);
    codes.dedup();
    let rules: Vec<Value> = codes.iter().map(|&code| rule(code)).collect();
    let results: Vec<Value> =
        report.diagnostics.iter().map(|found| result(found, &codes, sources)).collect();
    let artifacts: Vec<Value> = sources
        .sources()
        .iter()
        .map(|source| json!({ "location": { "uri": uri(&source.name) } }))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "goalc", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "artifacts": artifacts,
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.to_string(),
        "name": code.kind(),
        "shortDescription": { "text": code.kind().replace('-', " ") },
        "help": { "text": format!("goalc explain {code}"), "markdown": code.page() },
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn result(found: &Diagnostic, codes: &[Code], sources: &SourceMap) -> Value {
    let mut text = found.message.clone();
    for (name, extra) in [("Note", &found.note), ("Help", &found.help)] {
        if let Some(extra) = extra {
            text.push_str(&format!("\n{name}: {extra}"));
        }
    }
    let labels =
        found.labels.iter().enumerate().filter_map(|(id, label)| location(id, label, sources));
    let lines = (found.labels.len()..).zip(&found.lines);
    let mut places = labels.chain(lines.filter_map(|(id, label)| line(id, label, sources)));
    let first: Vec<Value> = places.next().into_iter().collect();
    let mut result = json!({
        "ruleId": found.code.to_string(),
        "ruleIndex": codes.iter().position(|&code| code == found.code),
        "level": level(found.severity()),
        "message": { "text": text },
        "locations": first,
        "relatedLocations": places.collect::<Vec<_>>(),
    });
    if let Some(fix) = &found.fix {
        let changes: Vec<Value> = (fix.insertions.iter())
            .filter_map(|insertion| {
                let source = sources.source_of(insertion.at)?;
                let (line, column) = sources.line_column(insertion.at)?;
                let region = json!({
                    "startLine": line, "startColumn": column, "endLine": line, "endColumn": column,
                });
                Some(json!({
                    "artifactLocation": { "uri": uri(&source.name) },
                    "replacements": [{ "deletedRegion": region, "insertedContent": { "text": insertion.text } }],
                }))
            })
            .collect();
        if !changes.is_empty() {
            result["fixes"] =
                json!([{ "description": { "text": fix.title }, "artifactChanges": changes }]);
        }
    }
    result
}

fn location(id: usize, label: &Label, sources: &SourceMap) -> Option<Value> {
    let source = sources.source_of(label.span.start)?;
    let (line, column) = sources.line_column(label.span.start)?;
    let (end_line, end_column) = sources.line_column(label.span.end)?;
    Some(json!({
        "id": id,
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&source.name) },
            "region": {
                "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column,
            },
        },
        "message": { "text": label.text },
    }))
}

fn line(id: usize, label: &LineLabel, sources: &SourceMap) -> Option<Value> {
    let source = sources.sources().first()?;
    Some(json!({
        "id": id,
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&source.name) },
            "region": { "startLine": label.line },
        },
        "message": { "text": label.text },
    }))
}

/// Returns a file's name as a URI reference. A byte that may not stand in a URI is written as `%`
/// and its number.
fn uri(name: &str) -> String {
    let mut uri = String::new();
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char)
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
