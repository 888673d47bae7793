//! The builder that the grammar's actions write into: it collects the blocks of a part of a text.

use super::block::{Block, Chunk, Declared, Dependencies, Member};
use super::labels::LabelTable;
use super::operand::{Attributes, DatumBuilder, Mark};
use super::options::ParseOptions;
pub(crate) use crate::diag::quote;
use crate::diag::{Code, Diagnostic, Report};
use crate::ids::ActionId;
use crate::lexer::Batches;
use crate::limits::Limit;
use crate::program::{Action, Body, Csr, Piece, StatedOrder};
use crate::source::{Position, Span};

/// The note on a limit that is exceeded.
pub(super) const LIMITS_NOTE: &str =
    "limits keep a mistake from taking all of the machine's memory";

/// Blocks with fewer actions are copied into a vector of their exact size. A larger block keeps the
/// builder's buffer, which is cheaper than a copy.
const COPIED_ACTIONS_MAX: usize = 1 << 16;

/// Collects blocks, statement by statement. It reuses the buffers of a finished block for the next
/// one.
pub(crate) struct Builder<'a> {
    pub(super) text: &'a [u8],
    /// The lexer's buffers of plain statements.
    pub(super) batches: Batches,
    pub(super) base: Position,
    pub(super) options: &'a ParseOptions,
    pub(super) report: Report,
    pub(super) chunk: Chunk,
    /// The offset at which the open block's head ends.
    open: Option<usize>,
    /// The ranks in the head of the block that opens next.
    ranks: Vec<(u32, Position)>,
    every: bool,

    pub(super) block: Block,
    pub(super) labels: LabelTable,
    pub(super) requires: Dependencies,
    pub(super) irequires: Dependencies,

    /// Start and length of the label of the current statement.
    label: Option<(usize, u32)>,
    pub(super) pattern: Option<u64>,
    pub(super) pieces: Vec<Piece>,
    pub(super) operands: Vec<Mark>,
    pub(super) vector_start: Option<usize>,
    pub(super) attributes: Attributes,
    pub(super) datum: Option<DatumBuilder>,
    /// True if an operand of the current statement was already refused.
    pub(super) broken: bool,
    /// Offset of the first token.
    pub(super) first: usize,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(
        text: &'a [u8],
        batches: Batches,
        base: Position,
        options: &'a ParseOptions,
    ) -> Self {
        Self {
            text,
            batches,
            base,
            options,
            report: Report::default(),
            chunk: Chunk::default(),
            open: None,
            ranks: Vec::new(),
            every: false,
            block: Block::default(),
            labels: LabelTable::default(),
            requires: Dependencies::default(),
            irequires: Dependencies::default(),
            label: None,
            pattern: None,
            pieces: Vec::new(),
            operands: Vec::new(),
            vector_start: None,
            attributes: Attributes::default(),
            datum: None,
            broken: false,
            first: 0,
        }
    }

    /// Returns the blocks and findings of the text. The text ends at `end`, and its last closing
    /// brace ends at `closed`.
    pub(super) fn finish(mut self, end: usize, closed: usize) -> (Chunk, Report) {
        let last = self.chunk.blocks.last().map(|block| block.end);
        self.chunk.ends_with_block =
            closed == end && last == Some(self.position(end)) && !self.chunk.bare;
        (self.chunk, self.report)
    }

    /// Returns the end of the open block's head, if a block is open.
    pub(super) fn open_block(&self) -> Option<usize> {
        self.open
    }

    #[inline]
    pub(super) fn position(&self, offset: usize) -> Position {
        self.base + offset as Position
    }

    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span { start: self.position(start), end: self.position(end) }
    }

    pub(super) fn slice(&self, start: usize, len: u32) -> &'a [u8] {
        &self.text[start..start + len as usize]
    }

    pub(super) fn quote(&self, start: usize, end: usize) -> String {
        quote(&self.text[start..end])
    }

    pub(crate) fn num_ranks(&mut self, start: usize, at: usize, number: u64) {
        let ranks_max = self.options.limits.ranks_max;
        let end = self.number_end(at);
        let span = self.span(start, end);
        let Some(number) = self.narrow(at, number, u32::MAX, "the number of ranks") else {
            return;
        };
        if number == 0 {
            self.report.add(Code::EmptyGroup, || {
                Diagnostic::new(Code::EmptyGroup, "a group has at least one rank")
                    .label(span, "no rank at all")
                    .note("ranks count from 0, so the smallest group is rank 0 alone")
                    .help("write the number of ranks, or leave `num_ranks` out")
            });
        } else if number > ranks_max {
            self.report.add(Code::LimitExceeded, || {
                Diagnostic::new(
                    Code::LimitExceeded,
                    format!("{number} ranks are more than the limit of {ranks_max}"),
                )
                .label(span, "this many ranks")
                .note(LIMITS_NOTE)
                .limit(Limit::Ranks)
            });
        } else {
            self.chunk.declared.push((number, span));
        }
    }

    pub(crate) fn every_rank(&mut self, _start: usize) {
        self.every = true;
    }

    #[inline]
    pub(crate) fn rank(&mut self, at: usize, number: u64) {
        let place = self.position(at);
        let ranks_max = self.options.limits.ranks_max;
        let Some(rank) = self.narrow(at, number, crate::limits::RANK_MAX, "the rank") else {
            return;
        };
        if rank >= ranks_max {
            let span = self.span(at, self.number_end(at));
            self.report.add(Code::LimitExceeded, || {
                let message = format!("rank {rank} is past the limit of {ranks_max} ranks");
                Diagnostic::new(Code::LimitExceeded, message)
                    .label(span, "a rank this large")
                    .note(LIMITS_NOTE)
                    .limit(Limit::Ranks)
            });
            return;
        }
        self.ranks.push((rank, place));
    }

    /// Opens a block whose head ends at `end`; the brace follows.
    #[inline]
    pub(crate) fn begin_block(&mut self, end: usize) {
        self.open = Some(end);
        self.block.start = self.position(end);
    }

    /// Forgets the ranks of a block's head after an error in it.
    pub(super) fn abandon_head(&mut self) {
        self.ranks.clear();
        self.every = false;
    }

    /// Closes the open block. `end` is the offset behind its brace.
    pub(crate) fn end_block(&mut self, end: usize) {
        self.open = None;
        self.block.end = self.position(end);
        self.resolve_pending();
        let body = self.take_body();
        let block = Block { body, ..std::mem::take(&mut self.block) };
        let index = self.chunk.blocks.len() as u32;
        self.chunk.blocks.push(block);
        self.chunk.members.extend(self.ranks.drain(..).map(|(rank, place)| Member {
            rank,
            place,
            block: index,
        }));
        if std::mem::take(&mut self.every) {
            self.chunk.every.push(index);
        }
        self.labels.clear();
    }

    /// Notes the label of the next action, which is at `start`.
    #[inline]
    pub(crate) fn label(&mut self, start: usize, len: u32) {
        self.label = Some((start, len));
    }

    /// Adds the action of the statement whose first word after the label is at `start`.
    #[inline]
    pub(super) fn push(&mut self, start: usize, action: Action) {
        let Ok(id) = u32::try_from(self.block.body.actions.len()) else {
            return self.too_many("actions", start);
        };
        let id = ActionId(id);
        let start = match self.label.take() {
            Some((label, len)) => {
                self.define(label, len, id);
                label
            }
            None => {
                if self.options.debug {
                    self.block.body.debug.labels.push("");
                }
                start
            }
        };
        self.block.body.debug.actions.push(self.base + start as Position);
        self.block.body.actions.push(action);
    }

    fn take_body(&mut self) -> Body {
        if self.requires.edges.len().max(self.irequires.edges.len()) > u32::MAX as usize {
            self.too_many("dependencies", (self.block.start - self.base) as usize);
            self.requires.clear();
            self.irequires.clear();
            self.block.pending.clear();
        }
        let mut taken = Body { scratch: self.block.body.scratch, ..Body::default() };
        if self.block.pending.is_empty() {
            let actions = self.block.body.actions.len();
            let Dependencies { edges, places } = &self.requires;
            let requires;
            (taken.requires, taken.debug.requires, requires) = Csr::stated(actions, edges, places);
            let Dependencies { edges, places } = &self.irequires;
            let irequires;
            (taken.irequires, taken.debug.irequires, irequires) =
                Csr::stated(actions, edges, places);
            taken.debug.order =
                StatedOrder { requires, irequires, ..StatedOrder::default() }.boxed();
            self.requires.clear();
            self.irequires.clear();
        } else {
            let unresolved =
                [std::mem::take(&mut self.requires), std::mem::take(&mut self.irequires)];
            self.block.unresolved = Some(Box::new(unresolved));
        }
        let body = &mut self.block.body;
        taken.pieces = std::mem::take(&mut body.pieces);
        taken.collectives = std::mem::take(&mut body.collectives);
        taken.debug.labels = body.debug.labels.take();
        taken.actions = take_exact(&mut body.actions);
        taken.debug.actions = take_exact(&mut body.debug.actions);
        taken
    }

    pub(super) fn declare(&mut self, declared: Declared) {
        self.block.data.push(declared);
    }

    /// Notes the label of a statement that an error cut short. Does nothing if the statement has
    /// already become an action.
    pub(super) fn unfinished(&mut self, label: (usize, u32)) {
        if self.block.body.debug.actions.last() != Some(&self.position(label.0)) {
            self.label = Some(label);
        }
    }

    /// Forgets the current statement. Its label stays defined, so that its uses are not reported as
    /// unknown too.
    pub(super) fn abandon_statement(&mut self) {
        if let Some((start, _)) = self.label {
            self.push(start, Action::Nop);
        }
        self.datum = None;
        self.vector_start = None;
        self.next_statement();
    }

    #[cold]
    pub(super) fn too_many(&mut self, what: &str, offset: usize) {
        let span = self.span(offset, (offset + 1).min(self.text.len()));
        self.report.add(Code::LimitExceeded, || {
            Diagnostic::new(Code::LimitExceeded, format!("a block has more than 2^32 {what}"))
                .label(span, "in this block")
                .note("actions, dependencies and pieces of a rank are counted in 32 bits")
                .help("distribute the work over more ranks")
        });
    }
}

/// Moves the elements of `buffer` into a vector of their exact size.
fn take_exact<T: Copy>(buffer: &mut Vec<T>) -> Vec<T> {
    if buffer.len() <= COPIED_ACTIONS_MAX {
        let copy = buffer.as_slice().to_vec();
        buffer.clear();
        return copy;
    }
    // The next block is probably as large.
    let next = Vec::with_capacity(buffer.len());
    let mut taken = std::mem::replace(buffer, next);
    taken.shrink_to_fit();
    taken
}
