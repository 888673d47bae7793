//! Every statement form, cut at every byte, before every kind of healthy line: errors are told on
//! the line that was cut.

use std::sync::Arc;

use super::*;
use crate::diag::{Code, Severity};

/// Every form of a statement, in both spellings. `a`, `b` and `requires` are labels of the block.
const FORMS: &[&str] = &[
    "x: send 8b to 1 tag 3 cpu 1 nic 2",
    "send 0,4 to 1 tag any",
    "recv 0,4 from any tag -1 nic 1;",
    "x: recv [0,4 @8,4] from -1;",
    "recv 0,4 from 1 with sumInt32 4,4 tag 9",
    "send 0,4 to 1 with sumInt32 [4,2, 6,2];",
    "x: calc 500 cpu 1",
    "calc 0x10;",
    "exec sumInt32 with 0,8 8,8 @0,8",
    "x: exec user 5 with [0,8], 8,8;",
    "x: nop;",
    "nop",
    "requ a -> b;",
    "b requires a",
    "b irequires a;",
    "a requires requires",
    "init 0 = Int32 1 -2 3",
    "expect 8 = Float32 1.5e3 -inf nan;",
    "scratch 64",
];

/// Lines with nothing wrong in them.
const HEALTHY: &[&str] = &[
    "send 8b to 1",
    "y: send 0,4 to 1 tag 2;",
    "recv [0,4] from any",
    "calc 5",
    "y: calc 5;",
    "exec maxInt32 with 0,8 8,8",
    "nop",
    "y: nop;",
    "requ b -> a;",
    "b requires a",
    "b irequires a",
    "init 64 = Int32 5",
    "expect 64 = Int32 5;",
    "scratch 8",
    "# a comment\n  nop",
    "; nop",
];

/// The code and line of every error.
fn errors(text: &str) -> Vec<(Code, u64)> {
    let mut sources = SourceMap::default();
    sources.add("a.goal", Arc::new(text.as_bytes().to_vec()));
    let report = parse(&sources, &ParseOptions::default()).report;
    let found = report.diagnostics.iter().filter(|found| found.severity() == Severity::Error);
    let line = |span: crate::Span| sources.line_column(span.start).map_or(0, |place| place.0);
    found
        .map(|found| (found.code, found.labels.first().map_or(0, |label| line(label.span))))
        .collect()
}

/// Returns true if all errors of `text` are on the line `wanted`, and there is one where the
/// statement is not whole.
#[track_caller]
fn check(cut: &str, next: &str, text: &str, wanted: u64, is_whole: bool) {
    let found = errors(text);
    assert!(
        found.iter().all(|&(_, line)| line == wanted),
        "{cut:?} before {next:?}: {found:?}\n{text}"
    );
    // A label alone on its line belongs to the operation on the next one.
    let is_label = cut.trim_end().ends_with(':');
    assert!(
        is_whole || is_label || !found.is_empty(),
        "{cut:?} before {next:?} is no error\n{text}"
    );
}

#[test]
fn a_statement_that_breaks_off_is_told_on_its_line() {
    let mut cuts = 0;
    for form in FORMS {
        for at in 1..form.len() {
            let cut = &form[..at];
            let labels = "a: nop\n b: nop\n requires: nop";
            let is_whole =
                errors(&format!("num_ranks 2 rank 0 {{\n {labels}\n {cut} ;\n}} rank 1 {{ }}"))
                    .is_empty();
            for next in HEALTHY {
                let block = format!(
                    "num_ranks 2 rank 0 {{\n {labels}\n {cut}\n {next}\n}}\nrank 1 {{\n calc 1\n}}\n"
                );
                check(cut, next, &block, 5, is_whole);
                let bare = format!("{labels}\n{cut}\n{next}\n");
                if !bare.contains("to 1") && !bare.contains("from 1") {
                    check(cut, next, &bare, 4, is_whole);
                }
                cuts += 1;
            }
            let last = format!("num_ranks 2 rank 0 {{\n {labels}\n {cut}\n\n}}\nrank 1 {{ }}\n");
            let whole_or_label = is_whole && !cut.ends_with(':');
            check(cut, "}", &last, 5, whole_or_label);
            // The block that is not closed is told at its beginning.
            let open = errors(&format!("num_ranks 2 rank 1 {{ }} rank 0 {{ {labels}\n {cut}\n\n"));
            assert!(
                open.iter().all(|&(_, line)| line == 1 || line == 4),
                "{cut:?} before the end: {open:?}"
            );
            assert!(
                whole_or_label || cut.ends_with(':') || open.iter().any(|&(_, line)| line == 4),
                "{cut:?}: {open:?}"
            );
        }
    }
    assert!(cuts > 5000, "{cuts}");
}

#[test]
fn a_block_without_its_end_is_told_beside_the_statement_that_breaks_off() {
    let text = "num_ranks 2\nrank 0 {\n send 8b to\n\nrank 1 {\n nop\n}\n";
    assert_eq!(errors(text), [(Code::Syntax, 2), (Code::Syntax, 3)]);
}

#[test]
fn heads_that_break_off_are_told_on_their_line() {
    for head in ["num_ranks 2", "rank 0 {", "rank 0, 1 {", "rank #0, #1 {", "rank * {"] {
        for at in 1..head.len() - 1 {
            let cut = &head[..at];
            let (text, line) = match head.starts_with("num") {
                true if cut == "num_ranks " || !cut.ends_with(' ') => {
                    (format!("# head\n{cut}\nrank 0 {{\n nop\n}}\nrank 1 {{ }}\n"), 2)
                }
                _ => (
                    format!(
                        "num_ranks 2\n{cut}\n a: nop\n send 8b to 1\n requ a -> a2;\n a2: nop\n}}\n"
                    ),
                    2,
                ),
            };
            let found = errors(&text);
            assert!(
                !found.is_empty() && found.iter().all(|found| found.1 == line),
                "{cut:?}: {found:?}"
            );
        }
    }
}

#[test]
fn a_statement_over_several_lines_is_none_that_breaks_off() {
    let text = "num_ranks 2\nrank 0 {\n a:\n send\n [0,4\n 8,4]\n to\n 1\n tag 5\n requ\n a\n ->\n a2\n a2: nop\n a2 requires\n a\n}\nrank 1 { recv\n 8b from 0 tag 5 }";
    assert_eq!(errors(&text.replace("requ\n a\n ->\n a2\n", "")), []);
    // An error in such a statement is reported at its own place.
    assert_eq!(errors("rank 0 {\n send 0,4\n too 0\n}"), [(Code::Syntax, 3)]);
    assert_eq!(errors("rank 0 {\n send 0,4 to\n $\n}"), [(Code::Syntax, 3)]);
    assert_eq!(errors("rank 0 {\n a: nop\n b: nop\n a requires\n b nope\n}"), [(Code::Syntax, 5)]);
}

#[test]
fn a_wrong_statement_after_a_cut_is_told_once() {
    // Read as the start of a statement, the word after the cut is not taken for a label a second
    // time.
    for follows in
        ["l1 requires l\u{e9}", "l1: \u{e9}", "l1: nop \u{e9}", "l1 requires\nl1 requires l\u{e9}"]
    {
        let found = errors(&format!("rank 0 {{\nl1 requires\n{follows}\n}}"));
        let lines: Vec<_> = found.iter().map(|found| found.1).collect();
        let expected = if follows.contains('\n') { vec![2, 3, 4] } else { vec![2, 3] };
        assert_eq!(lines, expected, "{follows}");
    }
}
