//! Lines of formatted text: indentation, empty lines, comments in and between statements.

use super::comments::Comment;

/// The number of spaces before a statement in a block, and of additional spaces before a
/// statement's further lines.
const INDENTATION: usize = 2;

/// The rules by which the writer sets lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// True if the inside of a block is indented. If not, no comment follows a brace on its line
    /// either.
    pub(super) indented: bool,
    /// True if comments in and after a statement move to lines of their own before it.
    pub(super) comments_apart: bool,
}

pub(super) struct Writer<'a> {
    text: &'a [u8],
    form: Form,
    out: Vec<u8>,
    /// The start in the result of the line with the last statement.
    line: usize,
    /// True if the last thing written is part of a statement.
    after_statement: bool,
    /// True inside a block.
    indented: bool,
    /// True if the last thing written is the brace that opens a block.
    after_brace: bool,
    /// Comments that are placed when the next token is known.
    pending: Vec<Comment>,
    /// The end in the source of the last token or comment that was handled.
    reached: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(text: &'a [u8], form: Form) -> Self {
        Self {
            text,
            form,
            out: Vec::with_capacity(text.len()),
            line: 0,
            after_statement: false,
            indented: false,
            after_brace: false,
            pending: Vec::new(),
            reached: 0,
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
        self.out
    }

    /// Keeps a comment until the next token is known.
    pub(super) fn comment(&mut self, comment: Comment) {
        self.pending.push(comment);
    }

    /// Notes that the last token ends at `end` in the source. Does nothing while comments are
    /// pending, because they are placed by the token before them.
    pub(super) fn reach(&mut self, end: usize) {
        if self.pending.is_empty() {
            self.reached = end;
        }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.after_brace = false;
        self.after_statement = true;
    }

    /// Begins a line for the statement or comment at `start` in the source. Keeps one empty line
    /// before it if the source has any.
    pub(super) fn begin_line(&mut self, start: usize) {
        if !self.out.is_empty() {
            self.out.push(b'\n');
            if !self.after_brace && has_empty_line(&self.text[self.reached..start]) {
                self.out.push(b'\n');
            }
        }
        self.after_brace = false;
        self.after_statement = false;
        self.line = self.out.len();
        self.indent(usize::from(self.indented));
    }

    /// Puts a comment on a line of its own before the last statement.
    fn comment_before(&mut self, comment: Comment) {
        let statement = self.out.split_off(self.line);
        self.write_comment(comment);
        self.out.push(b'\n');
        self.line = self.out.len();
        self.out.extend_from_slice(&statement);
    }

    fn write_comment(&mut self, comment: Comment) {
        let marker = self.form.comments_apart && self.text[comment.start] == b'#';
        if marker {
            self.out.extend_from_slice(b"//");
        }
        comment.write(self.text, usize::from(marker), &mut self.out);
    }

    /// Writes pending comments into a statement that continues. Returns true if it wrote any; then
    /// white space follows them. With `comments_apart`, it writes them before the statement and
    /// returns false.
    pub(super) fn comments_inside(&mut self) -> bool {
        if self.form.comments_apart {
            for comment in std::mem::take(&mut self.pending) {
                self.comment_before(comment);
            }
            return false;
        }
        let any = !self.pending.is_empty();
        for comment in std::mem::take(&mut self.pending) {
            if !self.out.ends_with(b" ") {
                self.out.push(b' ');
            }
            self.write_comment(comment);
            if comment.ends_line(self.text) {
                self.out.push(b'\n');
                self.indent(usize::from(self.indented) + 1);
            } else {
                self.out.push(b' ');
            }
        }
        any
    }

    /// Writes pending comments after a statement or a brace. A comment on another line gets a line
    /// of its own. Without indentation, so does a comment behind a brace. Any other comment stays
    /// on its line, or moves before the statement with `comments_apart`.
    pub(super) fn comments_between(&mut self) {
        for comment in std::mem::take(&mut self.pending) {
            let gap = &self.text[self.reached..comment.start];
            let alone = !self.form.indented && !self.after_statement;
            if self.out.is_empty() || gap.contains(&b'\n') || alone {
                self.begin_line(comment.start);
                self.write_comment(comment);
            } else if self.form.comments_apart {
                self.comment_before(comment);
            } else {
                self.out.push(b' ');
                self.write_comment(comment);
            }
            self.after_brace = false;
            self.reached = comment.end;
        }
    }

    pub(super) fn open_block(&mut self) {
        self.indented = self.form.indented;
        self.after_brace = true;
        self.after_statement = false;
    }

    pub(super) fn close_block(&mut self) {
        self.indented = false;
        if !self.after_brace {
            self.out.push(b'\n');
        }
        self.put(b"}");
        self.after_statement = false;
    }

    fn indent(&mut self, steps: usize) {
        self.out.resize(self.out.len() + steps * INDENTATION, b' ');
    }
}

/// Returns true if `gap` has an empty line.
fn has_empty_line(gap: &[u8]) -> bool {
    let mut newlines = 0;
    gap.iter().any(|&byte| {
        match byte {
            b'\n' => newlines += 1,
            other if other.is_ascii_whitespace() => {}
            _ => newlines = 0,
        }
        newlines > 1
    })
}
