//! Grammar actions of statements: messages, calc, nop, attributes, buffers.

use super::block::DependencyKind;
use super::builder::{Builder, LIMITS_NOTE};
use crate::diag::{Code, Diagnostic};
use crate::ids::ANY;
use crate::lexer::{Plain, PlainDependency, PlainKind};
use crate::limits::{Limit, RANK_MAX, TAG_MAX};
use crate::program::{Action, Payload, Piece, Pieces, Placement, Space};
use std::ops::Range;

/// The other end of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Peer {
    Rank(u32),
    /// `any` or `-1`, with its place.
    Any(usize),
}

/// An operand: a range of the pieces of the current statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(super) first: usize,
    pub(super) len: usize,
    /// True if it was written in brackets.
    pub(super) vector: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The attributes of a statement, with their places.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Attributes {
    tag: u32,
    placement: Placement,
    tag_place: Option<usize>,
    cpu_place: Option<usize>,
    nic_place: Option<usize>,
    with_place: Option<usize>,
    /// Start and length of the function behind `with`.
    function: Option<(usize, u32)>,
}

impl Builder<'_> {
    pub(crate) fn send(&mut self, start: usize, to: Peer) {
        let attributes = self.attributes;
        if attributes.tag == ANY {
            self.wildcard(attributes.tag_place.unwrap_or(start), "tag");
        }
        let to = match to {
            Peer::Rank(rank) => self.other_end(rank),
            Peer::Any(place) => {
                self.wildcard(place, "destination");
                0
            }
        };
        let payload = self.message(2);
        let tag = if attributes.tag == ANY { 0 } else { attributes.tag };
        self.push(start, Action::Send { payload, to, tag, placement: attributes.placement });
        self.next_statement();
    }

    pub(crate) fn recv(&mut self, start: usize, from: Peer) {
        let Attributes { tag, placement, .. } = self.attributes;
        let from = match from {
            Peer::Rank(rank) => self.other_end(rank),
            Peer::Any(_) => ANY,
        };
        let payload = self.message(1);
        self.push(start, Action::Recv { payload, from, tag, placement });
        self.next_statement();
    }

    pub(crate) fn calc(&mut self, start: usize, at: usize, nanos: u64) {
        let nanos = self.wide(at, nanos, "the time in nanoseconds").unwrap_or(0);
        let placement = self.attributes.placement;
        self.push(start, Action::Calc { nanos, placement });
        self.next_statement();
    }

    /// Notes the rank at a message's other end.
    #[inline]
    fn other_end(&mut self, rank: u32) -> u32 {
        self.block.peer_max = self.block.peer_max.max(Some(rank));
        rank
    }

    /// Adds a plain message or calc.
    #[inline]
    pub(crate) fn plain(&mut self, start: usize, plain: Plain) {
        if plain.label > 0 {
            self.label(start, plain.label);
        }
        let placement = Placement { cpu: plain.cpu, nic: plain.nic };
        let (payload, tag) = (Payload::Pattern { size: plain.size }, plain.tag);
        let action = match plain.kind {
            PlainKind::Send => {
                Action::Send { payload, to: self.other_end(plain.peer), tag, placement }
            }
            PlainKind::Recv => {
                Action::Recv { payload, from: self.other_end(plain.peer), tag, placement }
            }
            PlainKind::Calc => Action::Calc { nanos: plain.size, placement },
        };
        self.push(start, action);
    }

    /// Adds a plain dependency.
    #[inline]
    pub(crate) fn plain_dependency(&mut self, start: usize, plain: PlainDependency) {
        let kind = if plain.start { DependencyKind::Start } else { DependencyKind::Completion };
        self.depend(kind, (start, plain.waiter), (start + plain.name as usize, plain.name_len));
    }

    pub(crate) fn nop(&mut self, start: usize) {
        self.push(start, Action::Nop);
    }

    #[inline]
    pub(super) fn next_statement(&mut self) {
        self.broken = false;
        self.attributes = Attributes::default();
        self.pattern = None;
        self.pieces.clear();
        self.operands.clear();
    }

    /// Makes the payload of a message, which has `operands` buffers if it has a function.
    #[inline]
    fn message(&mut self, operands: usize) -> Payload {
        if let Some((at, len)) = self.attributes.function
            && let Some(reduced) = self.reduced(at, len, operands)
        {
            return reduced;
        }
        self.payload()
    }

    #[inline]
    fn payload(&mut self) -> Payload {
        if let Some(size) = self.pattern {
            return Payload::Pattern { size };
        }
        match self.operands.first().copied() {
            Some(mark) if mark.vector => Payload::Vector(self.store(mark)),
            Some(mark) => Payload::Buffer(self.pieces[mark.first]),
            None => Payload::Pattern { size: 0 },
        }
    }

    /// Moves an operand's pieces into the block's table.
    pub(super) fn store(&mut self, mark: Mark) -> Pieces {
        self.store_pieces(mark.first..mark.first + mark.len, mark.start)
    }

    /// Moves pieces of the statement at `start` into the block's table.
    pub(super) fn store_pieces(&mut self, range: Range<usize>, start: usize) -> Pieces {
        let pieces = &mut self.block.body.pieces;
        let len = range.len() as u32;
        match u32::try_from(pieces.len() + range.len()) {
            Ok(end) => {
                pieces.extend_from_slice(&self.pieces[range]);
                Pieces { first: end - len, len }
            }
            Err(_) => {
                self.too_many("pieces", start);
                Pieces { first: 0, len: 0 }
            }
        }
    }

    #[inline]
    pub(crate) fn pattern(&mut self, at: usize, size: u64) {
        self.pattern = Some(self.wide(at, size, "the size in bytes").unwrap_or(0));
    }

    #[inline]
    pub(crate) fn peer(&mut self, at: usize, number: u64) -> Peer {
        match self.narrow_u32(at, number, RANK_MAX, "the rank") {
            Some(rank) => Peer::Rank(rank),
            None => Peer::Rank(0),
        }
    }

    pub(crate) fn negative_peer(&mut self, start: usize, end: usize) -> Peer {
        if !self.is_minus_one(start, end) {
            self.not_any(start, end, "rank");
        }
        Peer::Any(start)
    }

    #[inline]
    pub(crate) fn tag(&mut self, start: usize, at: usize, number: u64) {
        self.once(self.attributes.tag_place, start);
        let tag = self.narrow_u32(at, number, TAG_MAX, "the tag").unwrap_or(0);
        self.attributes.tag = tag;
        self.attributes.tag_place = Some(start);
    }

    pub(crate) fn any_tag(&mut self, start: usize) {
        self.once(self.attributes.tag_place, start);
        self.attributes.tag = ANY;
        self.attributes.tag_place = Some(start);
    }

    pub(crate) fn negative_tag(&mut self, start: usize, at: usize, end: usize) {
        if !self.is_minus_one(at, end) {
            self.not_any(at, end, "tag");
        }
        self.any_tag(start);
    }

    /// Notes the function of a message. The first operand of a send was already read.
    pub(crate) fn with(&mut self, start: usize, at: usize, len: u32) {
        self.once(self.attributes.with_place, start);
        self.attributes.function = Some((at, len));
        self.attributes.with_place = Some(start);
    }

    #[inline]
    pub(crate) fn cpu(&mut self, start: usize, at: usize, number: u64) {
        self.once(self.attributes.cpu_place, start);
        self.attributes.placement.cpu = self.narrow_u8(at, number, "the cpu").unwrap_or(0);
        self.attributes.cpu_place = Some(start);
    }

    #[inline]
    pub(crate) fn nic(&mut self, start: usize, at: usize, number: u64) {
        self.once(self.attributes.nic_place, start);
        self.attributes.placement.nic = self.narrow_u8(at, number, "the nic").unwrap_or(0);
        self.attributes.nic_place = Some(start);
    }

    #[inline]
    fn once(&mut self, before: Option<usize>, start: usize) {
        if let Some(before) = before {
            self.twice(before, start);
        }
    }

    #[cold]
    fn twice(&mut self, before: usize, start: usize) {
        let (first, second) =
            (self.span(before, self.number_end(before)), self.span(start, self.number_end(start)));
        let name = self.quote(start, self.number_end(start));
        self.report.add(Code::DuplicateAttribute, || {
            Diagnostic::new(Code::DuplicateAttribute, format!("{name} is given twice"))
                .label(second, "given again here")
                .label(first, "first given here")
                .note("an operation has each attribute at most once")
                .help("leave one of them out")
        });
    }

    fn is_minus_one(&self, start: usize, end: usize) -> bool {
        &self.text[start..end] == b"-1"
    }

    #[cold]
    fn not_any(&mut self, start: usize, end: usize, what: &str) {
        let (span, number) = (self.span(start, end), self.quote(start, end));
        self.report.add(Code::NumberOverflow, || {
            Diagnostic::new(Code::NumberOverflow, format!("{number} is no {what}"))
                .label(span, format!("a {what} is not negative"))
                .note("-1 alone has a meaning: any")
                .help(format!("write `any` (or -1) for any {what} of a receive"))
        });
    }

    #[cold]
    fn wildcard(&mut self, place: usize, what: &str) {
        let end = place
            + self.text[place..]
                .iter()
                .take_while(|b| b.is_ascii_alphanumeric() || **b == b'-')
                .count();
        let span = self.span(place, end);
        self.report.add(Code::WildcardSend, || {
            Diagnostic::new(Code::WildcardSend, format!("a send needs a {what} of its own"))
                .label(span, format!("any {what} means nothing here"))
                .note("only a receive can leave open what it takes")
                .help(format!("name the {what}"))
        });
    }

    #[inline]
    pub(crate) fn piece(&mut self, start: usize, addr: u64, size: u64, end: usize, space: Space) {
        let limit = match space {
            Space::Memory => self.options.limits.memory_bytes_max,
            Space::Scratch => self.options.limits.scratch_bytes_max,
        };
        let past = addr.saturating_add(size);
        let piece = if past <= limit {
            Piece { addr, size, space }
        } else {
            self.too_far(start, end, space, addr.checked_add(size).is_none());
            Piece { addr: 0, size: 0, space }
        };
        if self.vector_start.is_some() && size == 0 {
            self.empty_piece(start, end);
        }
        if space == Space::Scratch {
            self.block.scratch_end = self.block.scratch_end.max(piece.addr + piece.size);
        }
        if self.vector_start.is_none() {
            self.operands.push(Mark {
                first: self.pieces.len(),
                len: 1,
                vector: false,
                start,
                end,
            });
        }
        self.pieces.push(piece);
    }

    /// Reports a piece that ends past the limit or past 64 bits.
    #[cold]
    pub(super) fn too_far(&mut self, start: usize, end: usize, space: Space, overflows: bool) {
        let (span, text) = (self.span(start, end), self.quote(start, end));
        self.broken = true;
        let limits = self.options.limits;
        let (most, limit, what) = match space {
            Space::Memory => (limits.memory_bytes_max, Limit::Memory, "memory"),
            Space::Scratch => (limits.scratch_bytes_max, Limit::Scratch, "scratch memory"),
        };
        if overflows {
            return self.report.add(Code::NumberOverflow, || {
                Diagnostic::new(Code::NumberOverflow, format!("the end of {text} is past 64 bits"))
                    .label(span, "address and size together are too large")
                    .note(format!("the largest address is {}", u64::MAX))
                    .help("use a smaller address or size")
            });
        }
        self.report.add(Code::LimitExceeded, || {
            Diagnostic::new(
                Code::LimitExceeded,
                format!("{text} ends past the limit of {most} bytes of {what}"),
            )
            .label(span, "a buffer this far")
            .note(LIMITS_NOTE)
            .limit(limit)
        });
    }

    #[cold]
    fn empty_piece(&mut self, start: usize, end: usize) {
        let span = self.span(start, end);
        self.report.add(Code::EmptyPiece, || {
            Diagnostic::new(Code::EmptyPiece, "a piece of a scattered buffer has 0 bytes")
                .label(span, "nothing to send, receive or compute")
                .note("a message may have 0 bytes, a piece of a scattered buffer may not")
                .help("leave the piece out")
        });
    }

    pub(crate) fn begin_vector(&mut self, start: usize) {
        self.vector_start = Some(start);
        self.operands.push(Mark {
            first: self.pieces.len(),
            len: 0,
            vector: true,
            start,
            end: start,
        });
    }

    pub(crate) fn end_vector(&mut self, end: usize) {
        self.vector_start = None;
        if let Some(mark) = self.operands.last_mut() {
            mark.len = self.pieces.len() - mark.first;
            mark.end = end;
            let size = self.pieces[mark.first..]
                .iter()
                .try_fold(0u64, |sum, piece| sum.checked_add(piece.size));
            let (start, len) = (mark.start, mark.len);
            if size.is_none() {
                self.too_far(start, end, Space::Memory, true);
            }
            if u32::try_from(len).is_err() {
                self.too_many("pieces", start);
            }
        }
    }

    pub(crate) fn scratch(&mut self, at: usize, bytes: u64) {
        let limit = self.options.limits.scratch_bytes_max;
        if bytes > limit {
            if self.wide(at, bytes, "the size in bytes").is_some() {
                self.too_far(at, self.number_end(at), Space::Scratch, false);
            }
            return;
        }
        // Several blocks of a rank may state its scratch memory. The largest statement counts.
        let scratch = &mut self.block.body.scratch;
        *scratch = bytes.max(*scratch);
    }
}
