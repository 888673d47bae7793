//! Lines of formatted text: indentation, empty lines, comments in and between statements.

use super::comments::Comment;

/// Spaces before a statement in a block, and what further lines of a statement get in addition.
const INDENTATION: usize = 2;

pub(super) struct Writer<'a> {
    text: &'a [u8],
    out: Vec<u8>,
    /// Whether the text is inside a block.
    indented: bool,
    /// Whether the last thing written is the brace that opened a block.
    after_brace: bool,
    /// Comments whose place shows when the next token is known.
    pending: Vec<Comment>,
    /// End of the last token or comment that was dealt with, in the source.
    reached: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            out: Vec::with_capacity(text.len()),
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

    /// A comment comes next; it is written with the token after it.
    pub(super) fn comment(&mut self, comment: Comment) {
        self.pending.push(comment);
    }

    /// The last token ends here in the source; comments before it that are still to be written count from where they are.
    pub(super) fn reach(&mut self, end: usize) {
        if self.pending.is_empty() {
            self.reached = end;
        }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.after_brace = false;
    }

    /// Begins a line for what begins at `start` in the source.
    pub(super) fn begin_line(&mut self, start: usize) {
        if !self.out.is_empty() {
            self.out.push(b'\n');
            if !self.after_brace && has_empty_line(&self.text[self.reached..start]) {
                self.out.push(b'\n');
            }
        }
        self.after_brace = false;
        self.indent(usize::from(self.indented));
    }

    /// Writes pending comments into a statement that goes on. Says whether there were any: then a space is there, too.
    pub(super) fn comments_inside(&mut self) -> bool {
        let any = !self.pending.is_empty();
        for comment in std::mem::take(&mut self.pending) {
            if !self.out.ends_with(b" ") {
                self.out.push(b' ');
            }
            comment.write(self.text, &mut self.out);
            if comment.ends_line(self.text) {
                self.out.push(b'\n');
                self.indent(usize::from(self.indented) + 1);
            } else {
                self.out.push(b' ');
            }
        }
        any
    }

    /// Writes pending comments after a statement or a brace: on its line if they are there, or on lines of their own.
    pub(super) fn comments_between(&mut self) {
        for comment in std::mem::take(&mut self.pending) {
            let gap = &self.text[self.reached..comment.start];
            if self.out.is_empty() || gap.contains(&b'\n') {
                self.begin_line(comment.start);
            } else {
                self.out.push(b' ');
            }
            comment.write(self.text, &mut self.out);
            self.after_brace = false;
            self.reached = comment.end;
        }
    }

    pub(super) fn open_block(&mut self) {
        self.indented = true;
        self.after_brace = true;
    }

    pub(super) fn close_block(&mut self) {
        self.indented = false;
        if !self.after_brace {
            self.out.push(b'\n');
        }
        self.put(b"}");
    }

    fn indent(&mut self, steps: usize) {
        self.out.resize(self.out.len() + steps * INDENTATION, b' ');
    }
}

/// Whether there is a line without anything on it.
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
