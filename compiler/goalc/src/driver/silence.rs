//! Comments that allow findings: `# goal: allow(timing-dependent-match)` at the end of a line, or
//! on a line of its own above.
//!
//! The text is not trusted. Comments are searched only in texts that were read without an error, in
//! which only a comment can contain these bytes. Each comment is handled once, so the work is
//! linear in the text.

use super::{Findings, Options};
use goal_lang::Span;
use goal_lang::diag::{Code, Diagnostic, Silence};

const MARK: &[u8] = b"goal: allow(";

/// Removes the findings that the options or comments in the texts allow, both earlier findings and
/// later ones. Reports a comment that names no kind of finding.
pub(super) fn apply(findings: &mut Findings, options: &Options) {
    let mut silence = Silence { codes: options.allow.clone(), places: Vec::new() };
    let mut unknown = Vec::new();
    for source in findings.sources.sources() {
        let text: &[u8] = &source.bytes;
        for start in memchr::memmem::find_iter(text, MARK) {
            let names = start + MARK.len();
            let end = memchr::memchr2(b')', b'\n', &text[names..])
                .map_or(text.len(), |length| names + length);
            let lines = lines(text, start);
            let span =
                Span { start: source.base + lines.0 as u64, end: source.base + lines.1 as u64 };
            for name in text[names..end].split(|&byte| byte == b',') {
                let name = String::from_utf8_lossy(name.trim_ascii());
                match Code::named(&name).filter(|&code| Silence::may_cover(code)) {
                    Some(code) => silence.places.push((code, span)),
                    None => unknown.push((
                        name.into_owned(),
                        Span { start: source.base + start as u64, end: source.base + end as u64 },
                    )),
                }
            }
        }
    }
    findings.report.silence(silence);
    for (name, span) in unknown {
        findings.report.push(
            Diagnostic::new(
                Code::UnknownAllow,
                format!("`{name}` is no kind of finding that can be allowed"),
            )
            .label(span, "this comment has no effect")
            .note("findings with G03 in their code and warnings can be allowed")
            .help("write a code or a kind of a report; `goalc explain` lists all"),
        );
    }
}

/// Returns the range of a comment's line, which includes the next line if the comment stands alone.
fn lines(text: &[u8], comment: usize) -> (usize, usize) {
    let start = memchr::memrchr(b'\n', &text[..comment]).map_or(0, |newline| newline + 1);
    let line_end = |from: usize| {
        memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |length| from + length + 1)
    };
    let end = line_end(comment);
    let is_alone = text[start..comment].iter().all(|byte| b" \t#/*".contains(byte));
    (start, if is_alone { line_end(end) } else { end })
}
