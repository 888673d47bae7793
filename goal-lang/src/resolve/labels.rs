//! The labels of a rank that has several blocks or an error. They are read from the text a second
//! time.

use rustc_hash::FxHashMap;

use crate::ids::ActionId;
use crate::lexer::{Lexer, Token};
use crate::parse::Block;
use crate::source::{Position, SourceMap, Span};

/// A rank's labels, each with its action and the place of its definition.
pub(super) struct RankLabels<'a> {
    pub(super) by_name: FxHashMap<&'a [u8], (ActionId, Position)>,
    pub(super) duplicates: Vec<Duplicate<'a>>,
}

/// A label that is defined twice, with both actions and the places of both definitions.
pub(super) struct Duplicate<'a> {
    pub(super) name: &'a [u8],
    pub(super) first: (ActionId, Position),
    pub(super) second: (ActionId, Position),
}

impl<'a> RankLabels<'a> {
    /// Collects the labels of a body's actions, which begin at `places`, in order.
    pub(super) fn new(sources: &'a SourceMap, places: &[Position]) -> Self {
        let mut labels = Self { by_name: FxHashMap::default(), duplicates: Vec::new() };
        for (i, &place) in places.iter().enumerate() {
            let Some(name) = label_at(sources, place) else { continue };
            let second = (ActionId::new(i), place);
            let first = *labels.by_name.entry(name).or_insert(second);
            if first != second {
                labels.duplicates.push(Duplicate { name, first, second });
            }
        }
        labels
    }

    pub(super) fn find(&self, name: &[u8]) -> Option<ActionId> {
        self.by_name.get(name).map(|&(id, _)| id)
    }
}

/// Returns the label of the statement at `place`, if it has one.
pub(super) fn label_at(sources: &SourceMap, place: Position) -> Option<&[u8]> {
    let (text, offset, _) = sources.text_at(place);
    match Lexer::new(text, offset, text.len()).next() {
        Some((start, Token::LabelDef(length), _)) => Some(&text[start..start + length as usize]),
        _ => None,
    }
}

/// Returns the bytes of a span.
pub(super) fn text_of(sources: &SourceMap, span: Span) -> &[u8] {
    let (text, start, _) = sources.text_at(span.start);
    &text[start..start + (span.end - span.start) as usize]
}

/// Calls `visit` for every dependency in a block. `visit` gets the label of the waiter, the label
/// of the prerequisite, and the span from the first label to the second.
pub(super) fn visit_dependencies<'a>(
    sources: &'a SourceMap,
    block: &Block,
    mut visit: impl FnMut(&'a [u8], &'a [u8], Span),
) {
    let (text, start, base) = sources.text_at(block.start);
    let end = (block.end - base) as usize;
    let mut waiter: Option<(usize, u32)> = None;
    for (start, token, end) in Lexer::new(text, start, end) {
        match token {
            Token::Waiter(length) => waiter = Some((start, length)),
            Token::Name(length) => match waiter.take() {
                Some((first, first_length)) => {
                    let span =
                        Span { start: base + first as Position, end: base + end as Position };
                    let names = (
                        &text[first..first + first_length as usize],
                        &text[start..start + length as usize],
                    );
                    visit(names.0, names.1, span);
                }
                None => waiter = Some((start, length)),
            },
            Token::Arrow | Token::Requires | Token::Irequires => {}
            _ => waiter = None,
        }
    }
}
