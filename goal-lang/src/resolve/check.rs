//! Checks that need the group or a whole body.

use super::group::Group;
use super::resolver::Resolver;
use crate::diag::{Code, Diagnostic, Report};
use crate::ids::ANY;
use crate::lexer::{Lexer, Token};
use crate::parse::Block;
use crate::program::{Action, Body, MARKERS, Payload, Space, is_marker};
use crate::source::{Position, SourceMap, Span};

/// Makes markers of the sends that are some ([`is_marker`]), and reports other messages to and from
/// ranks outside of the group.
pub(super) fn peers(sources: &SourceMap, blocks: &mut [Block], group: &Group, report: &mut Report) {
    let num_ranks = group.num_ranks;
    let is_outside = |block: &&mut Block| block.peer_max.is_some_and(|peer| peer >= num_ranks);
    for block in blocks.iter_mut().filter(is_outside) {
        for (action, &place) in block.body.actions.iter_mut().zip(&block.body.debug.actions) {
            let (peer, word) = match *action {
                Action::Send { payload: Payload::Pattern { size }, to, tag, placement }
                    if is_marker(size, to, num_ranks) =>
                {
                    *action = Action::Marker { to, tag, placement };
                    continue;
                }
                Action::Send { to, .. } => (to, "to"),
                Action::Recv { from, .. } if from != ANY => (from, "from"),
                _ => continue,
            };
            if peer < num_ranks {
                continue;
            }
            report.add(Code::PeerOutOfRange, || {
                let ranks = if num_ranks == 1 { "rank" } else { "ranks" };
                let message =
                    format!("a message {word} rank {peer}, but the group has {num_ranks} {ranks}");
                let mut diagnostic = Diagnostic::new(Code::PeerOutOfRange, message).label(
                    peer_span(sources, place),
                    format!("the last rank is {}", num_ranks - 1),
                );
                if let Some(span) = group.declared {
                    diagnostic = diagnostic.label(span, "the group's size is set here");
                }
                let way_out =
                    "name a rank of the group, or add one: `num_ranks N`, or `rank N { }`";
                let way_out = match MARKERS.contains(&peer) {
                    true => format!("write `send 0b to {peer}` for a marker, or {way_out}"),
                    false => way_out.to_owned(),
                };
                diagnostic.note("ranks count from 0").help(way_out)
            });
        }
    }
}

/// Reports collective statements, which nothing executes.
pub(super) fn collectives(sources: &SourceMap, blocks: &[Block], report: &mut Report) {
    let count = |block: &Block| block.body.collectives.len() as u64;
    let Some(block) = blocks.iter().find(|&block| count(block) > 0) else { return };
    let first = block.body.collectives[0].action;
    let span = sources.statement(block.body.debug.actions[first.index()]);
    let rest = blocks.iter().map(count).sum::<u64>() - 1;
    report.push(unexpanded(span, rest));
}

/// Returns the finding about a collective statement where only messages can be used. `rest` is the
/// number of further ones.
pub fn unexpanded(first: Option<Span>, rest: u64) -> Diagnostic {
    let message = match rest {
        0 => "a collective statement has to be expanded into messages first".to_owned(),
        _ => format!("{} collective statements have to be expanded into messages first", rest + 1),
    };
    let finding = Diagnostic::new(Code::UnexpandedCollective, message)
        .note("a collective statement names a collective, and not the messages that perform it")
        .help("write the messages in their place, or expand the statements");
    match first {
        Some(span) if rest == 0 => finding.label(span, "this one"),
        Some(span) => finding.label(span, "the first one"),
        None => finding,
    }
}

/// Returns the span of the other rank in the message at `place`.
pub(super) fn peer_span(sources: &SourceMap, place: Position) -> Span {
    let (text, offset, base) = sources.text_at(place);
    let mut tokens = Lexer::new(text, offset, text.len());
    let found =
        tokens.find(|token| matches!(token.1, Token::To | Token::From)).and_then(|_| tokens.next());
    match found {
        Some((start, Token::Relative(_), end)) => {
            // The number follows.
            let end = tokens.next().map_or(end, |(.., end)| end);
            Span { start: base + start as Position, end: base + end as Position }
        }
        Some((start, _, end)) => {
            Span { start: base + start as Position, end: base + end as Position }
        }
        None => Span { start: place, end: place },
    }
}

/// Returns the span of the label of the statement at `place`, or of its first word.
pub(super) fn statement_span(sources: &SourceMap, place: Position) -> Span {
    let (text, offset, _) = sources.text_at(place);
    let word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let length = text[offset..].iter().take_while(word).count() as Position;
    Span { start: place, end: place + length }
}

impl Resolver<'_> {
    /// Reports scratch buffers that end past the scratch memory that the rank declares.
    pub(super) fn check_scratch(&mut self, block: &Block, body: &Body) {
        if block.scratch_end > body.scratch {
            self.scratch_out_of_range(body);
        }
    }

    #[cold]
    pub(super) fn scratch_out_of_range(&mut self, body: &Body) {
        let declared = body.scratch;
        for (action, &place) in body.actions.iter().zip(&body.debug.actions) {
            let mut end = 0;
            body.visit_pieces(action, |piece| {
                if piece.space == Space::Scratch {
                    end = end.max(piece.addr + piece.size);
                }
            });
            if end <= declared {
                continue;
            }
            let span = scratch_span(self.sources, place, declared);
            self.report_once(Code::ScratchOutOfRange, place, || {
                let has = match declared {
                    0 => "the rank declares none".to_owned(),
                    _ => format!("the rank has {declared} bytes of it"),
                };
                Diagnostic::new(
                    Code::ScratchOutOfRange,
                    format!("a buffer ends at byte {end} of scratch memory, but {has}"),
                )
                .label(span, "past the end of scratch memory")
                .note("the largest `scratch` in the blocks of a rank says how much it has")
                .help(format!("write `scratch {end}` in the rank's block"))
            });
        }
    }
}

/// Returns the span of the first scratch buffer of the statement at `place` that ends past
/// `declared`.
fn scratch_span(sources: &SourceMap, place: Position, declared: u64) -> Span {
    let (text, offset, base) = sources.text_at(place);
    let mut tokens = Lexer::new(text, offset, text.len());
    while let Some((start, token, _)) = tokens.next() {
        if token != Token::At {
            continue;
        }
        if let (Some((_, Token::Int(addr), _)), _, Some((_, Token::Int(size), end))) =
            (tokens.next(), tokens.next(), tokens.next())
            && addr.saturating_add(size) > declared
        {
            return Span { start: base + start as Position, end: base + end as Position };
        }
    }
    statement_span(sources, place)
}
