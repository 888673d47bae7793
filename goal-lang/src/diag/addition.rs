//! Statements that fixes add to a text, each on a line of its own and in the spelling of the text.

use super::Insertion;
use crate::lexer::{Lexer, Token, end_of_statement};
use crate::print::Style;
use crate::source::{Position, Source};

/// The number of bytes at the start of a text that decide its spelling.
const SPELLING_BYTES: usize = 1 << 16;

/// Returns the style of most dependencies near the start of a text. Without dependencies, the
/// text's ranks and statements decide.
pub fn spelling(source: &Source) -> Style {
    let text = &source.bytes[..source.bytes.len().min(SPELLING_BYTES)];
    let (mut paper, mut schedgen, mut semicolons) = (0usize, 0usize, 0usize);
    for (_, token, _) in Lexer::new(text, 0, text.len()) {
        match token {
            Token::Requ => paper += 1,
            Token::Requires => schedgen += 1,
            Token::Semicolon | Token::Hash => semicolons += 1,
            _ => {}
        }
    }
    match (paper + schedgen, paper >= schedgen) {
        (0, _) if semicolons > 0 => Style::Paper2009,
        (0, _) | (_, false) => Style::Schedgen,
        (_, true) => Style::Paper2009,
    }
}

/// Returns the statement of a dependency in the spelling `style`, without a semicolon.
pub fn dependency(style: Style, waiter: &str, prerequisite: &str) -> String {
    match style {
        Style::Paper2009 => format!("requ {waiter} -> {prerequisite}"),
        Style::Schedgen => format!("{waiter} requires {prerequisite}"),
    }
}

/// Returns the insertions that put `addition` on a line of its own behind the statement that begins
/// at `start`. The line has the statement's indentation and the text's line ends. It has a
/// semicolon if the statement has one.
pub fn line_after(source: &Source, start: Position, addition: &str) -> Vec<Insertion> {
    let text: &[u8] = &source.bytes;
    let start = ((start - source.base) as usize).min(text.len());
    let newline = match memchr::memchr(b'\n', text) {
        Some(at) if at > 0 && text[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    };
    let indentation = indentation(text, start);
    let (end, semicolon) = end_of_statement(text, start);
    let line =
        format!("{newline}{indentation}{addition}{}", if semicolon.is_some() { ";" } else { "" });
    let end = semicolon.unwrap_or(end);
    let at = |offset: usize| source.base + offset as Position;
    match end_of_line(text, end) {
        Some(end) => vec![Insertion { at: at(end), text: line }],
        None => {
            // What follows on the line moves to a new line. The blanks before it are kept as part
            // of that line's indentation.
            let blanks = text[end..].iter().take_while(|&&byte| byte == b' ').count();
            let rest = if text.get(end + blanks) == Some(&b'}') { "" } else { &indentation };
            let rest = &rest[..rest.len().saturating_sub(blanks)];
            vec![
                Insertion { at: at(end), text: line },
                Insertion { at: at(end), text: format!("{newline}{rest}") },
            ]
        }
    }
}

/// Returns the blanks before a statement added behind the one at `start`: those of that statement's
/// line. Two more blanks are added if the line opens the block.
fn indentation(text: &[u8], start: usize) -> String {
    let line_start = memchr::memrchr(b'\n', &text[..start]).map_or(0, |newline| newline + 1);
    let before = &text[line_start..start];
    let blanks = before.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
    let opens = Lexer::new(text, line_start, start).any(|(_, token, _)| token == Token::OpenBrace);
    format!("{}{}", String::from_utf8_lossy(&before[..blanks]), if opens { "  " } else { "" })
}

/// Returns the end of the line of `at`. Returns `None` if anything but blanks and comments follows
/// `at` on the line.
fn end_of_line(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match text.get(at) {
            None | Some(b'\n') => return Some(at),
            Some(b'\r') if text.get(at + 1) == Some(&b'\n') => return Some(at),
            Some(b' ' | b'\t' | b'\r') => at += 1,
            Some(b'#') => return Some(line_end(text, at)),
            Some(b'/') if text[at..].starts_with(b"//") => return Some(line_end(text, at)),
            Some(b'/') => {
                // The `*` that opens a comment does not close it, as in `/*/`.
                let inside = at + 2;
                let end = inside + memchr::memmem::find(text.get(inside..)?, b"*/")? + 2;
                if text[at..end].contains(&b'\n') {
                    return None;
                }
                at = end;
            }
            Some(_) => return None,
        }
    }
}

/// Returns the offset at which the line of `at` ends, before its `\n` or `\r\n`.
fn line_end(text: &[u8], at: usize) -> usize {
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline);
    if end > at && text[end - 1] == b'\r' { end - 1 } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Fix, apply};
    use crate::source::SourceMap;
    use std::sync::Arc;

    /// The text with a dependency of `b` on `a` after the statement that begins with `marked`.
    fn fixed(text: &str, marked: &str) -> String {
        let mut sources = SourceMap::default();
        sources.add("before.goal", Arc::new(b"nop".to_vec()));
        let base = sources.add("a.goal", Arc::new(text.as_bytes().to_vec()));
        let source = &sources.sources()[1];
        let start = base + text.find(marked).expect("it is there") as Position;
        let insertions = line_after(source, start, &dependency(spelling(source), "b", "a"));
        let fix = Fix { title: String::new(), insertions };
        String::from_utf8(apply([&fix], source)).expect("text")
    }

    #[test]
    fn additions_look_like_the_text_around_them() {
        for (text, marked, wanted) in [
            (
                "rank 0 {\n    b: send 4b to 1\n    c requires d\n}\n",
                "b: send",
                "rank 0 {\n    b: send 4b to 1\n    b requires a\n    c requires d\n}\n",
            ),
            (
                "rank #0 {\r\n\tb: send 4b\r\n\t to 1; // last\r\n}\r\n",
                "b: send",
                "rank #0 {\r\n\tb: send 4b\r\n\t to 1; // last\r\n\trequ b -> a;\r\n}\r\n",
            ),
            ("b: nop\nrequ c -> d", "b: nop", "b: nop\nrequ b -> a\nrequ c -> d"),
            ("b: nop", "b: nop", "b: nop\nb requires a"),
            ("rank 0 { b: nop; c: nop; }", "b:", "rank 0 { b: nop;\n  requ b -> a;\n  c: nop; }"),
            ("rank 0 { a: nop b: nop }", "b:", "rank 0 { a: nop b: nop\n  b requires a\n }"),
            (
                "rank 0 {\n b: nop /* x */ # }\n}",
                "b:",
                "rank 0 {\n b: nop /* x */ # }\n b requires a\n}",
            ),
            (
                "rank 0 {\n b: nop /*/ # \n */ c: nop\n}",
                "b:",
                "rank 0 {\n b: nop\n b requires a\n /*/ # \n */ c: nop\n}",
            ),
            ("rank 0 {\n b: nop /*/ # */\n}", "b:", "rank 0 {\n b: nop /*/ # */\n b requires a\n}"),
            ("rank 0 {\n/* { */ b: nop\n}", "b:", "rank 0 {\n/* { */ b: nop\nb requires a\n}"),
            (
                "rank 0 {\n b: exec user 5 with 0,4, 4,4 nop }",
                "b:",
                "rank 0 {\n b: exec user 5 with 0,4, 4,4\n b requires a\n nop }",
            ),
        ] {
            assert_eq!(fixed(text, marked), wanted, "{text:?}");
        }
    }

    #[test]
    fn most_dependencies_decide_how_one_is_spelled() {
        let of = |text: &str| {
            let mut sources = SourceMap::default();
            sources.add("a.goal", Arc::new(text.as_bytes().to_vec()));
            spelling(&sources.sources()[0])
        };
        assert_eq!(of("requ a -> b; requ c -> d; a requires c"), Style::Paper2009);
        assert_eq!(of("requ a -> b; c requires d # requ requ\na requires c"), Style::Schedgen);
        assert_eq!(of("rank 0 { nop }"), Style::Schedgen);
        assert_eq!(of("rank 0 { nop; }"), Style::Paper2009);
        assert_eq!(of("rank #0 { nop }"), Style::Paper2009);
    }
}
