//! The comments of a text, in order.

use crate::lexer::{Raw, RawLexer};

/// A comment, with its place in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comment {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Comment {
    /// Writes the comment without its first `skipped` bytes and without spaces at its end. Line
    /// ends become newlines without carriage returns.
    pub(super) fn write(self, text: &[u8], skipped: usize, out: &mut Vec<u8>) {
        let comment = text[self.start + skipped..self.end].trim_ascii_end();
        for line in comment.split_inclusive(|&byte| byte == b'\n') {
            match line.strip_suffix(b"\r\n") {
                Some(line) => {
                    out.extend_from_slice(line);
                    out.push(b'\n');
                }
                None => out.extend_from_slice(line),
            }
        }
    }

    /// Returns true if the comment reaches to the end of its line, so that a token behind the
    /// comment needs a new line.
    pub(super) fn ends_line(self, text: &[u8]) -> bool {
        !text[self.start..].starts_with(b"/*")
    }
}

/// Finds the comments of a text in order, with one comment of lookahead.
pub(super) struct Comments<'a> {
    raw: RawLexer<'a>,
    next: Option<Comment>,
}

impl<'a> Comments<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let mut comments =
            Self { raw: RawLexer::new(text, 0, text.len()).keep_comments(), next: None };
        comments.find();
        comments
    }

    /// Returns the next comment if it begins before `end`.
    pub(super) fn before(&mut self, end: usize) -> Option<Comment> {
        let comment = self.next.filter(|comment| comment.start < end)?;
        self.find();
        Some(comment)
    }

    fn find(&mut self) {
        self.next = None;
        while let Some(token) = self.raw.next() {
            if token.raw == Raw::Comment {
                self.next = Some(Comment { start: token.start, end: token.end });
                return;
            }
        }
    }
}
