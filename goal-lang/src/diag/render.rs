//! Reports for people, drawn by ariadne.

use std::io::{self, Write};

use ariadne::{CharSet, Color, Config, IndexType, Label, Report as Drawing, ReportKind, Source};

use super::excerpt::{Excerpt, excerpts};
use super::margin::{mark, renumber};
use super::{Diagnostic, Report, Severity};
use crate::source::SourceMap;

/// The most findings that are shown. Further findings are only counted.
const SHOWN_MAX: usize = 20;

/// Draws a report: at most 20 findings with the lines they are about, then the number of all
/// findings.
///
/// # Errors
/// Those of `out`.
pub fn render(
    report: &Report,
    sources: &SourceMap,
    color: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    // Errors are shown first, and warnings in the room that is left.
    let (errors, warnings): (Vec<_>, Vec<_>) =
        report.diagnostics.iter().partition(|diagnostic| diagnostic.severity() == Severity::Error);
    let shown_errors = errors.len().min(SHOWN_MAX);
    let shown_warnings = warnings.len().min(SHOWN_MAX - shown_errors);
    for diagnostic in errors.iter().take(shown_errors).chain(warnings.iter().take(shown_warnings)) {
        draw(diagnostic, sources, color, out)?;
    }
    more(report.errors - shown_errors as u64, "error", out)?;
    more(report.warnings - shown_warnings as u64, "warning", out)
}

/// Writes the number of findings that the report does not keep, if any.
///
/// # Errors
/// Those of `out`.
pub fn render_rest(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let kept = |severity| {
        report.diagnostics.iter().filter(|found| found.severity() == severity).count() as u64
    };
    more(report.errors - kept(Severity::Error), "error", out)?;
    more(report.warnings - kept(Severity::Warning), "warning", out)
}

fn more(count: u64, what: &str, out: &mut dyn Write) -> io::Result<()> {
    match count {
        0 => Ok(()),
        1 => writeln!(out, "... and 1 more {what}"),
        _ => writeln!(out, "... and {count} more {what}s"),
    }
}

type Place = (usize, std::ops::Range<usize>);

fn draw(
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    color: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let excerpts = excerpts(diagnostic, sources);
    let (kind, kind_color) = match diagnostic.severity() {
        Severity::Error => ("error", Color::Red),
        Severity::Warning => ("warning", Color::Yellow),
    };
    let Some(first) = diagnostic.labels.first() else { return plain(diagnostic, kind, out) };
    let place = |span| -> Option<Place> {
        let index = excerpts.iter().position(|excerpt| excerpt.covers(span))?;
        Some((index, excerpts[index].range(span)))
    };
    let Some(main) = place(first.span) else { return plain(diagnostic, kind, out) };
    let config = Config::default()
        .with_color(color)
        .with_char_set(CharSet::Unicode)
        .with_index_type(IndexType::Char)
        .with_tab_width(4);
    let mut drawing = Drawing::build(ReportKind::Custom(kind, kind_color), main)
        .with_config(config)
        .with_code(diagnostic.code)
        .with_message(&diagnostic.message);
    let places: Vec<(usize, Place)> = diagnostic
        .labels
        .iter()
        .enumerate()
        .filter_map(|(i, label)| Some((i, place(label.span)?)))
        .collect();
    let mut order: Vec<usize> = (0..places.len()).collect();
    // Ariadne draws an excerpt once if its labels come in a row and in the order of the text.
    order.sort_by_key(|&i| {
        let (_, (excerpt, ref range)) = places[i];
        (places.iter().position(|(_, other)| other.0 == excerpt), range.start, range.end)
    });
    for (i, place) in order.into_iter().map(|at| places[at].clone()) {
        let label = &diagnostic.labels[i];
        let tint = if i == 0 { kind_color } else { Color::Cyan };
        drawing = drawing.with_label(Label::new(place).with_message(&label.text).with_color(tint));
    }
    if let Some(note) = &diagnostic.note {
        drawing = drawing.with_note(note);
    }
    if let Some(help) = &diagnostic.help {
        drawing = drawing.with_help(help);
    }
    let mut drawn = Vec::new();
    drawing.finish().write(Cache::new(&excerpts), &mut drawn)?;
    let lines_before: Vec<usize> = excerpts.iter().map(|excerpt| excerpt.lines_before).collect();
    let drawn = renumber(&String::from_utf8_lossy(&drawn), &lines_before);
    match drawn.split_once('\n') {
        // Ariadne colours the name of a custom kind even if colours are off.
        Some((_, rest)) if !color => {
            writeln!(out, "[{}] {kind}: {}", diagnostic.code, diagnostic.message)?;
            out.write_all(rest.as_bytes())
        }
        _ => out.write_all(drawn.as_bytes()),
    }
}

fn plain(diagnostic: &Diagnostic, kind: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "[{}] {kind}: {}", diagnostic.code, diagnostic.message)?;
    for (word, text) in [("Note", &diagnostic.note), ("Help", &diagnostic.help)] {
        if let Some(text) = text {
            writeln!(out, "  {word}: {text}")?;
        }
    }
    Ok(())
}

/// The excerpts for ariadne. An excerpt's id is its index in the list that [`excerpts`] returns.
struct Cache<'a> {
    excerpts: &'a [Excerpt],
    drawn: Vec<Source<&'a str>>,
}

impl<'a> Cache<'a> {
    fn new(excerpts: &'a [Excerpt]) -> Self {
        let drawn = excerpts.iter().map(|excerpt| {
            Source::from(excerpt.text.as_str()).with_display_line_offset(excerpt.lines_before)
        });
        Self { excerpts, drawn: drawn.collect() }
    }
}

impl<'a> ariadne::Cache<usize> for Cache<'a> {
    type Storage = &'a str;

    fn fetch(&mut self, id: &usize) -> Result<&Source<&'a str>, impl std::fmt::Debug> {
        self.drawn.get(*id).ok_or("no such excerpt")
    }

    fn display<'b>(&self, id: &'b usize) -> Option<impl std::fmt::Display + 'b> {
        Some(mark(*id, &self.excerpts.get(*id)?.name))
    }
}
