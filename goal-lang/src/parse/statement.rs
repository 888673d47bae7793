//! Grammar actions of statements: messages, calc, nop, attributes.

use std::rc::Rc;

use super::block::DependencyKind;
use super::builder::Builder;
use super::operand::{Attributes, Peer};
use crate::diag::{Code, Diagnostic};
use crate::ids::{ANY, ActionId};
use crate::lexer::{Plain, PlainDependency, PlainKind, Token, long_number};
use crate::limits::{Limit, RANK_MAX, TAG_MAX};
use crate::program::{Action, Payload, Placement};
use crate::relative::{RelativePeer, Sign};

impl Builder<'_> {
    pub(crate) fn send(&mut self, start: usize, to: Peer) {
        let attributes = self.attributes;
        if attributes.tag == ANY {
            self.wildcard(attributes.tag_place.unwrap_or(start), "tag");
        }
        let to = match to {
            Peer::Rank(rank) => self.other_end(rank),
            Peer::Relative(peer) => self.relative(peer),
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
            Peer::Relative(peer) => self.relative(peer),
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

    /// Notes and returns the rank at the other end of a message.
    #[inline]
    fn other_end(&mut self, rank: u32) -> u32 {
        self.block.peer_max = self.block.peer_max.max(Some(rank));
        rank
    }

    /// Notes the relative peer of the next action. Returns the number that stands for it.
    fn relative(&mut self, peer: RelativePeer) -> u32 {
        let next = ActionId::new(self.block.body.actions.len());
        self.block.relatives.push((next, peer));
        0
    }

    /// Adds the plain statements of a batch.
    pub(crate) fn batch(&mut self, batch: u8) {
        let batches = Rc::clone(&self.batches);
        for &(start, token, _) in &*batches[usize::from(batch)].borrow() {
            match token {
                Token::Plain(plain) => self.plain(start, plain),
                Token::PlainDependency(plain) => self.plain_dependency(start, plain),
                _ => unreachable!("a batch holds plain statements"),
            }
        }
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

    /// Makes the payload of a message. A message with a function has `operands` buffers.
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

    #[inline]
    pub(crate) fn pattern(&mut self, at: usize, size: u64) {
        self.pattern = Some(self.wide(at, size, "the size in bytes").unwrap_or(0));
    }

    #[inline]
    pub(crate) fn peer(&mut self, at: usize, number: u64) -> Peer {
        match self.narrow(at, number, RANK_MAX, "the rank") {
            Some(rank) => Peer::Rank(rank),
            None => Peer::Rank(0),
        }
    }

    pub(crate) fn relative_peer(&mut self, sign: Sign, at: usize, number: u64) -> Peer {
        let by = self.narrow(at, number, RANK_MAX, "the distance of ranks").unwrap_or(0);
        Peer::Relative(RelativePeer { sign, by })
    }

    pub(crate) fn negative_peer(&mut self, start: usize, end: usize) -> Peer {
        // -2 is `MPI_ANY_SOURCE` of MPICH, which traces have.
        if !self.is_minus_one(start, end) && &self.text[start..end] != b"-2" {
            self.not_any(start, end, "rank");
        }
        Peer::Any(start)
    }

    #[inline]
    pub(crate) fn tag(&mut self, start: usize, at: usize, number: u64) {
        self.once(self.attributes.tag_place, start);
        let tag = if number <= u64::from(TAG_MAX) { number as u32 } else { self.large_tag(at) };
        self.attributes.tag = tag;
        self.attributes.tag_place = Some(start);
    }

    /// Returns a tag of more than 32 bits modulo 2^32 if the options allow it. Otherwise reports
    /// the tag and returns 0.
    #[cold]
    fn large_tag(&mut self, at: usize) -> u32 {
        let value = long_number(&self.text[at..self.number_end(at)]);
        let wrapped = value.map(|value| value as u32).filter(|&tag| tag <= TAG_MAX);
        match wrapped {
            Some(tag) if self.options.wrap_tags => tag,
            Some(_) => {
                self.overflow(at, u64::from(TAG_MAX), "the tag", Some(Limit::Tag));
                0
            }
            None => {
                self.overflow(at, u64::from(TAG_MAX), "the tag", None);
                0
            }
        }
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
        self.attributes.placement.cpu = self.narrow(at, number, u16::MAX, "the cpu").unwrap_or(0);
        self.attributes.cpu_place = Some(start);
    }

    #[inline]
    pub(crate) fn nic(&mut self, start: usize, at: usize, number: u64) {
        self.once(self.attributes.nic_place, start);
        self.attributes.placement.nic = self.narrow(at, number, u8::MAX, "the nic").unwrap_or(0);
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
}
