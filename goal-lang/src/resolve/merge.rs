//! A body made of several blocks, with labels that reach across them.

use super::Resolver;
use super::labels::{RankLabels, text_of};
use super::suggest::nearest;
use crate::diag::{Code, Diagnostic};
use crate::ids::ActionId;
use crate::parse::{Block, DependencyKind, Pending, duplicate_label, quote};
use crate::program::{Action, Body, Csr, Edge, Payload, Pieces};
use crate::source::{Position, Span};

/// Most labels looked at for one that was meant.
const CANDIDATES_MAX: usize = 1 << 14;

#[derive(Default)]
struct Edges {
    edges: Vec<Edge>,
    places: Vec<Position>,
}

impl Edges {
    fn extend(&mut self, csr: &Csr, places: &[Position], offset: u32) {
        let shift = |id: ActionId| ActionId(id.0 + offset);
        self.edges.extend(
            csr.edges()
                .map(|edge| Edge { waiter: shift(edge.waiter), prerequisite: shift(edge.prerequisite) }),
        );
        self.places.extend_from_slice(places);
    }
}

impl Resolver<'_> {
    /// The actions of all blocks in order; what their dependencies name is looked up among all of them.
    pub(super) fn merge(&mut self, blocks: &[Block], list: &[u32]) -> Body {
        let blocks: Vec<&Block> = list.iter().map(|&block| &blocks[block as usize]).collect();
        let mut body = Body::default();
        let (mut requires, mut irequires) = (Edges::default(), Edges::default());
        let mut pending: Vec<Pending> = Vec::new();
        let mut backward = false;
        let mut scratch_end = 0;
        let debug = blocks.iter().any(|block| !block.body.debug.labels.is_empty());
        for block in &blocks {
            let offset = body.actions.len() as u32;
            let part = &block.body;
            let first_piece = body.pieces.len() as u32;
            body.actions.extend(part.actions.iter().map(|action| with_pieces_at(*action, first_piece)));
            body.pieces.extend_from_slice(&part.pieces);
            body.scratch = body.scratch.max(part.scratch);
            body.debug.actions.extend_from_slice(&part.debug.actions);
            if debug {
                part.ids().for_each(|id| body.debug.labels.push(part.debug.labels.get(id).unwrap_or("")));
            }
            requires.extend(&part.requires, &part.debug.requires, offset);
            irequires.extend(&part.irequires, &part.debug.irequires, offset);
            pending.extend_from_slice(&block.pending);
            backward |= block.backward;
            scratch_end = scratch_end.max(block.scratch_end);
        }
        if blocks.len() > 1 || !pending.is_empty() {
            let labels = RankLabels::new(self.sources, &body.debug.actions);
            if blocks.len() > 1 {
                self.tell_duplicates(&labels);
            }
            for dependency in &pending {
                let Some(edge) = self.resolve(&labels, dependency) else { continue };
                let edges = match dependency.kind {
                    DependencyKind::Completion => &mut requires,
                    DependencyKind::Start => &mut irequires,
                };
                backward |= edge.waiter <= edge.prerequisite;
                edges.edges.push(edge);
                if debug {
                    edges.places.push(dependency.waiter.start);
                }
            }
        }
        let actions = body.actions.len();
        (body.requires, body.debug.requires) = Csr::with_places(actions, &requires.edges, &requires.places);
        (body.irequires, body.debug.irequires) =
            Csr::with_places(actions, &irequires.edges, &irequires.places);
        if scratch_end > body.scratch {
            self.scratch_out_of_range(&body);
        }
        if backward {
            self.check_cycle(&blocks, &body);
        }
        body
    }

    fn tell_duplicates(&mut self, labels: &RankLabels) {
        for &(name, second, first) in &labels.duplicates {
            let span = Span { start: second, end: second + name.len() as Position };
            self.tell(Code::DuplicateLabel, second, || duplicate_label(name, span, first));
        }
    }

    fn resolve(&mut self, labels: &RankLabels, dependency: &Pending) -> Option<Edge> {
        let mut find = |span: Span| {
            let name = text_of(self.sources, span);
            let found = labels.find(name);
            if found.is_none() {
                self.tell(Code::UnknownLabel, span.start, || unknown_label(labels, name, span));
            }
            found
        };
        let (waiter, prerequisite) = (find(dependency.waiter), find(dependency.prerequisite));
        Some(Edge { waiter: waiter?, prerequisite: prerequisite? })
    }
}

fn unknown_label(labels: &RankLabels, name: &[u8], span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::UnknownLabel, format!("this rank has no label {}", quote(name)))
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

/// The action with its scattered buffers `first` entries further on in the table of pieces.
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
        Action::User { function, operands } => Action::User { function, operands: operands.map(moved) },
        other => other,
    }
}
