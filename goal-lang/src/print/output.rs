//! The two styles, the text so far, and the layout of blocks and statements in each style.

use crate::program::Placement;
use std::io;
use std::io::Write as _;

use crate::ids::ANY;
use crate::relative::Relation;

/// One of the language's two spellings. What a spelling lacks is written in the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// The spelling of the 2009 paper: `rank #0 { a: send 0,4 to 1; requ b -> a; }`.
    Paper2009,
    /// The spelling of Schedgen and LogGOPSim: `rank 0 { a: send 4b to 1 tag 0` and `b requires a`
    /// on lines of their own.
    Schedgen,
}

/// Bytes that are collected before the writer is called.
const CHUNK: usize = 1 << 16;

pub(super) struct Output<'a> {
    out: &'a mut dyn io::Write,
    buffer: Vec<u8>,
    digits: itoa::Buffer,
    pub(super) style: Style,
    /// True if LogGOPSim's parser is to read the text.
    pub(super) for_loggopsim: bool,
    /// The relation of peers and the number of ranks, if the peers of rank 0 stand for those of all
    /// ranks.
    pub(super) relation: Option<(Relation, u32)>,
    indentation: &'static str,
    empty_block: bool,
    first_line: bool,
}

impl<'a> Output<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write, style: Style) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(CHUNK + CHUNK / 4),
            digits: itoa::Buffer::new(),
            style,
            for_loggopsim: false,
            relation: None,
            indentation: "",
            empty_block: false,
            first_line: true,
        }
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    #[inline]
    pub(super) fn number(&mut self, number: u64) {
        self.buffer.extend_from_slice(self.digits.format(number).as_bytes());
    }

    pub(super) fn number_or_any(&mut self, number: u32) {
        match (number, self.style) {
            (ANY, Style::Paper2009) => self.text("any"),
            (ANY, Style::Schedgen) => self.text("-1"),
            _ => self.number(u64::from(number)),
        }
    }

    /// Writes the other rank of a message. The distance of a shift is counted in the direction of
    /// the message.
    pub(super) fn peer(&mut self, peer: u32, is_send: bool) {
        let Some((relation, num_ranks)) = self.relation.filter(|_| peer != ANY) else {
            return self.number_or_any(peer);
        };
        let (sign, by) = match relation {
            Relation::Xor => ("^", peer),
            Relation::Shift if is_send => ("+", peer),
            Relation::Shift => ("-", relation.inverse(peer, num_ranks)),
        };
        self.text("rank");
        self.text(sign);
        self.number(u64::from(by));
    }

    /// Writes the cpu and the nic of an operation, unless they are 0.
    pub(super) fn placement(&mut self, placement: Placement) {
        for (word, number) in [(" cpu ", placement.cpu), (" nic ", placement.nic.into())] {
            if number != 0 {
                self.text(word);
                self.number(u64::from(number));
            }
        }
    }

    #[inline]
    pub(super) fn signed(&mut self, number: i64) {
        self.buffer.extend_from_slice(self.digits.format(number).as_bytes());
    }

    /// Writes the shortest decimal that reads back as `value`, or `nan`.
    pub(super) fn single(&mut self, value: f32) {
        if value.is_nan() {
            self.text("nan");
        } else {
            write!(self.buffer, "{value:?}").expect("a vector takes every byte");
        }
    }

    /// Writes the shortest decimal that reads back as `value`, or `nan`.
    pub(super) fn double(&mut self, value: f64) {
        if value.is_nan() {
            self.text("nan");
        } else {
            write!(self.buffer, "{value:?}").expect("a vector takes every byte");
        }
    }

    /// Opens the block of `ranks`. If these are all ranks of a program with several, `*` is
    /// written, except for LogGOPSim.
    pub(super) fn open_block(&mut self, ranks: &[u32], num_ranks: u32) -> io::Result<()> {
        if ranks.len() == num_ranks as usize && num_ranks > 1 && !self.for_loggopsim {
            self.open_block_of_all();
            return Ok(());
        }
        self.begin_head();
        for (i, &rank) in ranks.iter().enumerate() {
            self.text(match (self.style, i) {
                (Style::Paper2009, 0) => "#",
                (Style::Paper2009, _) => ", #",
                (Style::Schedgen, 0) => "",
                (Style::Schedgen, _) => ", ",
            });
            self.number(u64::from(rank));
            self.spill()?;
        }
        self.end_head();
        Ok(())
    }

    /// Opens the block of all ranks.
    pub(super) fn open_block_of_all(&mut self) {
        self.begin_head();
        self.text("*");
        self.end_head();
    }

    fn begin_head(&mut self) {
        if !self.first_line {
            self.text("\n");
        }
        self.text("rank ");
    }

    fn end_head(&mut self) {
        self.text(" {");
        // LogGOPSim's parser refuses blanks before a statement.
        self.indentation = if self.style == Style::Schedgen { "" } else { "  " };
        self.empty_block = true;
        self.first_line = false;
    }

    pub(super) fn close_block(&mut self) -> io::Result<()> {
        self.text("}\n");
        self.indentation = "";
        self.empty_block = false;
        self.spill()
    }

    /// Begins a statement's line.
    #[inline]
    pub(super) fn begin_statement(&mut self) {
        if self.empty_block {
            self.text("\n");
            self.empty_block = false;
        }
        self.text(self.indentation);
    }

    /// Ends a statement and its line.
    #[inline]
    pub(super) fn end_statement(&mut self) -> io::Result<()> {
        self.text(match self.style {
            Style::Paper2009 => ";\n",
            Style::Schedgen => "\n",
        });
        self.first_line = false;
        self.spill()
    }

    /// Passes the buffer to the writer if the buffer holds [`CHUNK`] bytes or more.
    #[inline]
    pub(super) fn spill(&mut self) -> io::Result<()> {
        if self.buffer.len() < CHUNK { Ok(()) } else { self.flush() }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}
