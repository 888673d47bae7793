use crate::diag::{Code, Diagnostic, Report, render};
use crate::source::{SourceMap, Span};
use std::sync::Arc;

/// A finding with places in lines 2 and 1205.
fn drawn(color: bool) -> String {
    let mut sources = SourceMap::default();
    let text = format!("first\nsecond{}last\n", "\n".repeat(1203));
    let last = text.find("last").expect("there") as u64;
    sources.add("file", Arc::new(text.into_bytes()));
    let mut report = Report::default();
    report.push(
        Diagnostic::new(Code::DuplicateLabel, "twice")
            .label(Span { start: last, end: last + 4 }, "here")
            .label(Span { start: 6, end: 12 }, "and here"),
    );
    let mut out = Vec::new();
    render(&report, &sources, color, &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

#[test]
fn the_margin_has_the_numbers_of_the_file() {
    let drawn = drawn(false);
    let mut lines = drawn.lines().map(str::trim_end);
    for wanted in [
        "[G0003] error: twice",
        "      ╭─[ file:1205:1 ]",
        "      │",
        " 1205 │ last",
        "      │ ──┬─",
        "      │   ╰─── here",
        "      │",
        "      ├─[ file:2:1 ]",
        "      │",
        "    2 │ second",
        "      │ ───┬──",
        "      │    ╰──── and here",
        "──────╯",
    ] {
        assert_eq!(lines.next(), Some(wanted), "in\n{drawn}");
    }
}

#[test]
fn colours_change_nothing_else() {
    let (plain, mut coloured) = (drawn(false), drawn(true));
    assert!(!plain.contains('\u{1b}'));
    while let Some(start) = coloured.find('\u{1b}') {
        let end = coloured[start..].find('m').expect("the end of a change of colour");
        coloured.replace_range(start..=start + end, "");
    }
    assert_eq!(plain, coloured);
}
