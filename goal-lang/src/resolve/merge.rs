//! Bodies made of several blocks, whose labels are visible in all of them.

use super::labels::{Duplicate, RankLabels, text_of};
use super::resolver::Resolver;
use crate::diag::{Code, Diagnostic};
use crate::ids::ActionId;
use crate::parse::{Block, Dependencies, DependencyKind, Pending, quote};
use crate::program::{
    Action, Body, CollectiveStatement, Csr, Edge, Payload, Pieces, StatedEdges, StatedOrder,
    StatedRows,
};
use crate::source::{Position, SourceMap, Span};
use crate::suggest::nearest;
use rustc_hash::FxHashSet;

/// The most labels that are compared with an unknown label to find a suggestion.
const CANDIDATES_MAX: usize = 1 << 14;

/// The dependencies of one kind in all blocks. Those of one prerequisite are in the order of the
/// text.
#[derive(Default)]
struct Edges {
    edges: Vec<Edge>,
    places: Vec<Position>,
    /// The indices of placeholders for dependencies with unknown labels, ascending.
    unknown: Vec<usize>,
}

impl Edges {
    fn push(&mut self, edge: Edge, offset: u32) {
        let shift = |id: ActionId| ActionId(id.0 + offset);
        self.edges
            .push(Edge { waiter: shift(edge.waiter), prerequisite: shift(edge.prerequisite) });
    }

    /// Appends the dependencies of a block with `actions` actions. `offset` is the number of
    /// actions before the block.
    fn extend(
        &mut self,
        csr: &Csr,
        stated: StatedEdges<'_>,
        places: &[Position],
        (actions, offset): (usize, u32),
    ) {
        for prerequisite in (0..actions).map(ActionId::new).take_while(|_| !csr.is_empty()) {
            for &waiter in stated.row(prerequisite) {
                let edge = Edge { waiter, prerequisite };
                self.push(edge, offset);
                if !places.is_empty() {
                    let place = csr.position(edge).and_then(|at| places.get(at));
                    self.places.push(place.copied().unwrap_or(Position::MAX));
                }
            }
        }
    }

    /// Returns the dependencies whose labels are known.
    fn known(&self) -> impl Iterator<Item = Edge> {
        let is_known = |&(at, _): &(usize, &Edge)| self.unknown.binary_search(&at).is_err();
        self.edges.iter().enumerate().filter(is_known).map(|(_, &edge)| edge)
    }

    /// Returns the rows, the places of the dependencies, and the rows that were not stated in
    /// ascending order. Dependencies with unknown labels are left out.
    fn finish(mut self, actions: usize) -> (Csr, Vec<Position>, StatedRows) {
        if !self.unknown.is_empty() {
            let has_places = !self.places.is_empty();
            let is_known = |at: &usize| self.unknown.binary_search(at).is_err();
            let known: Vec<usize> = (0..self.edges.len()).filter(is_known).collect();
            self.edges = known.iter().map(|&at| self.edges[at]).collect();
            self.places = known.iter().filter(|_| has_places).map(|&at| self.places[at]).collect();
        }
        Csr::stated(actions, &self.edges, &self.places)
    }
}

impl Resolver<'_> {
    /// Returns a body with the actions of all blocks in order. The labels of dependencies are
    /// looked up in all blocks.
    pub(super) fn merge(&mut self, blocks: &[&Block]) -> Body {
        let mut body = Body::default();
        let (mut requires, mut irequires) = (Edges::default(), Edges::default());
        // Unresolved dependencies, each with the index of its block's first edge in `requires` and
        // in `irequires`.
        let mut pending: Vec<(Pending, [usize; 2])> = Vec::new();
        let mut backward = false;
        let mut scratch_end = 0;
        let debug = blocks.iter().any(|block| !block.body.debug.labels.is_empty());
        for block in blocks {
            let offset = body.actions.len() as u32;
            let part = &block.body;
            let first_piece = body.pieces.len() as u32;
            body.actions
                .extend(part.actions.iter().map(|action| with_pieces_at(*action, first_piece)));
            body.pieces.extend_from_slice(&part.pieces);
            body.collectives.extend(part.collectives.iter().map(|stated| CollectiveStatement {
                action: ActionId(stated.action.0 + offset),
                ..*stated
            }));
            body.scratch = body.scratch.max(part.scratch);
            body.debug.actions.extend_from_slice(&part.debug.actions);
            if debug {
                part.ids()
                    .for_each(|id| body.debug.labels.push(part.debug.labels.get(id).unwrap_or("")));
            }
            let begin = [requires.edges.len(), irequires.edges.len()];
            pending.extend(block.pending.iter().map(|&dependency| (dependency, begin)));
            if let Some(unresolved) = &block.unresolved {
                let kinds = [&mut requires, &mut irequires];
                for (edges, Dependencies { edges: stated, places }) in
                    kinds.into_iter().zip(&**unresolved)
                {
                    stated.iter().for_each(|&edge| edges.push(edge, offset));
                    edges.places.extend_from_slice(places);
                }
            } else {
                let size = (part.len(), offset);
                requires.extend(&part.requires, part.stated_requires(), &part.debug.requires, size);
                irequires.extend(
                    &part.irequires,
                    part.stated_irequires(),
                    &part.debug.irequires,
                    size,
                );
            }
            backward |= block.backward;
            scratch_end = scratch_end.max(block.scratch_end);
        }
        let has_duplicates = blocks.iter().any(|block| block.has_duplicates);
        if blocks.len() > 1 || !pending.is_empty() || has_duplicates {
            let labels = RankLabels::new(self.sources, &body.debug.actions);
            for (dependency, begin) in &pending {
                let (edges, begin) = match dependency.kind {
                    DependencyKind::Completion => (&mut requires, begin[0]),
                    DependencyKind::Start => (&mut irequires, begin[1]),
                };
                let at = begin + dependency.at as usize;
                match self.resolve(&labels, dependency) {
                    Some(edge) => {
                        backward |= edge.waiter <= edge.prerequisite;
                        edges.edges[at] = edge;
                    }
                    None => edges.unknown.push(at),
                }
            }
            if !labels.duplicates.is_empty() {
                self.tell_duplicates(&labels, [&requires, &irequires]);
            }
        }
        let actions = body.actions.len();
        let mut order = StatedOrder::default();
        (body.requires, body.debug.requires, order.requires) = requires.finish(actions);
        (body.irequires, body.debug.irequires, order.irequires) = irequires.finish(actions);
        body.debug.order = order.boxed();
        if scratch_end > body.scratch {
            self.scratch_out_of_range(&body);
        }
        if backward {
            self.check_cycle(blocks, &body);
        }
        body
    }

    /// Reports the labels that are defined twice. Without a dependency that names it, a label means
    /// nothing, so the program can be used.
    fn tell_duplicates(&mut self, labels: &RankLabels, kinds: [&Edges; 2]) {
        let named: FxHashSet<ActionId> = kinds
            .into_iter()
            .flat_map(Edges::known)
            .flat_map(|edge| [edge.waiter, edge.prerequisite])
            .collect();
        for &Duplicate { name, first, second } in &labels.duplicates {
            // A dependency names the first action, or one in its own block.
            let code = match named.contains(&first.0) || named.contains(&second.0) {
                true => Code::DuplicateLabel,
                false => Code::UnusedDuplicate,
            };
            let (first, second) = (first.1, second.1);
            self.report_once(code, second, || duplicate_label(code, name, second, first));
        }
    }

    fn resolve(&mut self, labels: &RankLabels, dependency: &Pending) -> Option<Edge> {
        if labels.find(b"nop").is_none() && is_operation(self.sources, dependency) {
            let place = dependency.prerequisite.start;
            self.report_once(Code::Syntax, place, || breaks_off(dependency));
            return None;
        }
        let mut find = |span: Span| {
            let name = text_of(self.sources, span);
            let found = labels.find(name);
            if found.is_none() {
                self.report_once(Code::UnknownLabel, span.start, || {
                    unknown_label(labels, name, span)
                });
            }
            found
        };
        let (waiter, prerequisite) = (find(dependency.waiter), find(dependency.prerequisite));
        Some(Edge { waiter: waiter?, prerequisite: prerequisite? })
    }
}

/// Returns true if the dependency's second label is really the statement `nop` on the next line. A
/// `nop` is the only statement of one word, so the grammar can't tell it from a label.
fn is_operation(sources: &SourceMap, dependency: &Pending) -> bool {
    let Pending { waiter, prerequisite, .. } = *dependency;
    let between = Span { start: waiter.end, end: prerequisite.start };
    text_of(sources, prerequisite) == b"nop" && text_of(sources, between).contains(&b'\n')
}

/// Returns the finding about a label that a rank has twice. `second` and `first` are the starts of
/// its definitions.
fn duplicate_label(code: Code, name: &[u8], second: Position, first: Position) -> Diagnostic {
    let span = |start| Span { start, end: start + name.len() as Position };
    let diagnostic = Diagnostic::new(code, format!("the label {} is defined twice", quote(name)))
        .label(span(second), "defined again here")
        .label(span(first), "first defined here")
        .note("labels belong to the rank: all its blocks share them");
    match code {
        Code::UnusedDuplicate => {
            diagnostic.help("no dependency names it: leave the label out, or rename one of the two")
        }
        _ => diagnostic.help("rename one of the two"),
    }
}

fn breaks_off(dependency: &Pending) -> Diagnostic {
    Diagnostic::new(Code::Syntax, "this statement breaks off")
        .label(dependency.waiter, "expected another label at the end of this line")
        .label(dependency.prerequisite, "the next statement begins here")
        .help("write the label of the action that is waited for")
}

fn unknown_label(labels: &RankLabels, name: &[u8], span: Span) -> Diagnostic {
    let diagnostic =
        Diagnostic::new(Code::UnknownLabel, format!("this rank has no label {}", quote(name)))
            .label(span, "not defined in any block of this rank")
            .note("a label is known to its own rank only");
    let candidates = labels.by_name.keys().take(CANDIDATES_MAX).map(|name| name.to_vec());
    match nearest(name, candidates) {
        Some(near) => {
            let place = labels.by_name.get(near.as_slice()).map_or(0, |&(_, place)| place);
            diagnostic
                .label(
                    Span { start: place, end: place + near.len() as Position },
                    "a label like it is defined here",
                )
                .help(format!("did you mean {}?", quote(&near)))
        }
        None => diagnostic.help("put the label and a colon before the operation it stands for"),
    }
}

/// Returns the action with its scattered buffers moved by `first` entries in the table of pieces.
fn with_pieces_at(action: Action, first: u32) -> Action {
    let moved = |pieces: Pieces| Pieces { first: pieces.first + first, len: pieces.len };
    let payload_moved = |payload| match payload {
        Payload::Vector(pieces) => Payload::Vector(moved(pieces)),
        Payload::Reduced { op, datatype, operands } => {
            Payload::Reduced { op, datatype, operands: operands + first }
        }
        other => other,
    };
    match action {
        Action::Send { payload, to, tag, placement } => {
            Action::Send { payload: payload_moved(payload), to, tag, placement }
        }
        Action::Recv { payload, from, tag, placement } => {
            Action::Recv { payload: payload_moved(payload), from, tag, placement }
        }
        Action::ExecVector { op, datatype, operands } => {
            Action::ExecVector { op, datatype, operands: operands.map(moved) }
        }
        Action::User { function, operands } => {
            Action::User { function, operands: operands.map(moved) }
        }
        other => other,
    }
}
