//! The verifier of the program model. Every pass may rely on the rules that it checks, and must
//! keep them.

mod fault;

pub use fault::{Fault, Faults, Rule};

use goal_lang::limits::RANK_MAX;
use goal_lang::{
    ANY, Action, ActionId, Body, Cycle, Datatype, Datum, Function, LocalOperation, Op, Operand,
    Payload, Piece, Pieces, Program, Reduction, Space, is_legal, is_marker, overlaps_itself,
    partly_overlap, topological_order,
};

/// The most actions of a cycle that a fault names.
const NAMED_MAX: usize = 8;

/// Checks structure, operations, buffers, peers, images and acyclicity of the bodies that ranks
/// run. Linear, but for sorting the pieces of scattered buffers.
///
/// # Errors
/// All broken rules.
pub fn verify(program: &Program) -> Result<(), Faults> {
    let mut faults = Faults::default();
    if program.ranks.len() as u64 > u64::from(RANK_MAX) + 1 {
        faults.push(None, None, Rule::TooManyRanks(program.ranks.len()));
        return Err(faults);
    }
    let mut seen_bodies = vec![false; program.bodies.len()];
    let mut seen_images = vec![false; program.images.len()];
    for (rank, entry) in program.ranks.iter().enumerate() {
        let rank = rank as u32;
        match seen_bodies.get_mut(entry.body.index()) {
            None => faults.push(Some(rank), None, Rule::NoBody(entry.body)),
            Some(true) => {}
            Some(seen) => {
                *seen = true;
                let body = &program.bodies[entry.body.index()];
                BodyVerifier { body, rank, ranks: program.num_ranks(), faults: &mut faults }
                    .verify();
            }
        }
        if let Some(id) = entry.image {
            match seen_images.get_mut(id.index()) {
                None => faults.push(Some(rank), None, Rule::NoImage(id)),
                Some(true) => {}
                Some(seen) => {
                    *seen = true;
                    let image = &program.images[id.index()];
                    verify_data(&image.init, "init", rank, &mut faults);
                    verify_data(&image.expect, "expect", rank, &mut faults);
                }
            }
        }
    }
    if faults.count == 0 { Ok(()) } else { Err(faults) }
}

struct BodyVerifier<'a> {
    body: &'a Body,
    rank: u32,
    ranks: u32,
    faults: &'a mut Faults,
}

impl BodyVerifier<'_> {
    fn verify(mut self) {
        for id in self.body.ids() {
            if let Err(rule) = self.check_action(self.body.action(id)) {
                self.faults.push(Some(self.rank), Some(id), rule);
            }
        }
        let body = self.body;
        let edges = || body.requires.edges().chain(body.irequires.edges());
        if let Some(edge) =
            edges().find(|edge| edge.waiter.index().max(edge.prerequisite.index()) >= body.len())
        {
            let last = edge.waiter.max(edge.prerequisite);
            self.faults.push(Some(self.rank), Some(last), Rule::DependencyOutside(body.len()));
        } else if edges().any(|edge| edge.prerequisite >= edge.waiter)
            && let Err(Cycle(path)) = topological_order(body)
        {
            let first = path.iter().take(NAMED_MAX).map(|&id| self.name(id)).collect();
            let cycle = Rule::Cycle { first, length: path.len() };
            self.faults.push(Some(self.rank), Some(path[0]), cycle);
        }
        self.check_debug();
    }

    fn name(&self, id: ActionId) -> String {
        self.body
            .debug
            .labels
            .get(id)
            .map_or_else(|| id.to_string(), |label| format!("{id} ({label})"))
    }

    fn check_action(&self, action: &Action) -> Result<(), Rule> {
        match *action {
            Action::Send { payload, to, tag, .. } => {
                self.check_peer(to)?;
                if tag == ANY {
                    return Err(Rule::SendWithoutTag);
                }
                self.check_payload(payload, 2)?;
            }
            Action::Recv { payload, from, .. } => {
                if from != ANY {
                    self.check_peer(from)?;
                }
                self.check_payload(payload, 1)?;
            }
            Action::ExecVector { operands: [a, b, c], .. } => {
                self.check_vector(a)?;
                self.check_vector(b)?;
                if c.len > 0 {
                    self.check_vector(c)?;
                }
            }
            Action::User { operands, .. } => {
                for operand in operands {
                    self.check_pieces(operand)?;
                    if operand.len > 1 {
                        self.check_vector(operand)?;
                    }
                }
            }
            Action::Exec { .. } | Action::Calc { .. } | Action::Wtime { .. } | Action::Nop => {}
            Action::Marker { tag: ANY, .. } => return Err(Rule::SendWithoutTag),
            Action::Marker { to, .. } => {
                if !is_marker(0, to, self.ranks) {
                    return Err(Rule::NoMarker { to, ranks: self.ranks });
                }
            }
        }
        self.check_bounds(action)?;
        match *action {
            Action::Exec { op, datatype, .. } | Action::ExecVector { op, datatype, .. } => {
                let local = self.body.local_operation(action).expect("an operation with operands");
                check_operation(op, datatype, &local)
            }
            Action::Send { .. } | Action::Recv { .. } => match self.body.reduction(action) {
                Some(reduction) => check_reduction(&reduction),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn check_peer(&self, peer: u32) -> Result<(), Rule> {
        if peer < self.ranks { Ok(()) } else { Err(Rule::NoRank { peer, ranks: self.ranks }) }
    }

    /// Checks the payload of a message. If the payload combines, it has `operands` buffers.
    fn check_payload(&self, payload: Payload, operands: u32) -> Result<(), Rule> {
        match payload {
            Payload::Reduced { operands: first, .. } => {
                self.check_pieces(Pieces { first, len: operands })
            }
            Payload::Vector(pieces) => self.check_vector(pieces),
            Payload::Pattern { .. } | Payload::Buffer(_) => Ok(()),
        }
    }

    /// Checks that there is a piece at least, and that all are in the table.
    fn check_pieces(&self, pieces: Pieces) -> Result<(), Rule> {
        let end = u64::from(pieces.first) + u64::from(pieces.len);
        if pieces.len == 0 {
            return Err(Rule::NoPieces);
        }
        if end > self.body.pieces.len() as u64 {
            return Err(Rule::PiecesOutside { end, length: self.body.pieces.len() });
        }
        Ok(())
    }

    fn check_vector(&self, pieces: Pieces) -> Result<(), Rule> {
        self.check_pieces(pieces)?;
        let sizes = || self.body.slice(pieces).iter().map(|piece| piece.size);
        if sizes().any(|size| size == 0) {
            return Err(Rule::EmptyPiece);
        }
        match sizes().try_fold(0u64, u64::checked_add) {
            Some(_) => Ok(()),
            None => Err(Rule::BufferTooLarge),
        }
    }

    fn check_bounds(&self, action: &Action) -> Result<(), Rule> {
        let mut result = Ok(());
        self.body.visit_pieces(action, |piece| {
            let limit = match piece.space {
                Space::Memory => u64::MAX,
                Space::Scratch => self.body.scratch,
            };
            if piece.addr.checked_add(piece.size).is_none_or(|end| end > limit) {
                let &Piece { size, addr, space } = piece;
                result = Err(Rule::BufferOutside { size, addr, limit, space });
            }
        });
        result
    }

    fn check_debug(&mut self) {
        let (body, debug) = (self.body, &self.body.debug);
        let tables = [
            ("labels", debug.labels.len(), body.len()),
            ("places of actions", debug.actions.len(), body.len()),
            ("lines", debug.lines.len(), body.len()),
            ("places of dependencies", debug.requires.len(), body.requires.len()),
            ("places of start dependencies", debug.irequires.len(), body.irequires.len()),
        ];
        for (table, entries, expected) in tables {
            if entries != 0 && entries != expected {
                let rule = Rule::DebugTable { table, entries, expected };
                self.faults.push(Some(self.rank), None, rule);
            }
        }
        let mut edges = body.requires.edges().chain(body.irequires.edges());
        let inside = edges.all(|edge| edge.waiter.index() < body.len());
        if inside && debug.order.as_ref().is_some_and(|order| !order.fits(body)) {
            self.faults.push(Some(self.rank), None, Rule::StatedOrder);
        }
    }
}

fn check_reduction(reduction: &Reduction) -> Result<(), Rule> {
    let &Reduction { op, datatype, a, b } = reduction;
    if op == Op::Copy {
        return Err(Rule::CopyOfMessage);
    }
    let (a, b) = (Operand::One(a.unwrap_or(b)), Operand::One(b));
    let function = Function::Predefined(op, datatype);
    check_operation(op, datatype, &LocalOperation { function, a, b, c: None })
}

fn check_operation(op: Op, datatype: Datatype, local: &LocalOperation<'_>) -> Result<(), Rule> {
    if !is_legal(op, datatype) {
        return Err(Rule::UndefinedOperation(op, datatype));
    }
    if op == Op::Copy && local.c.is_some() {
        return Err(Rule::CopyWithThird);
    }
    let (a, b) = (local.a.pieces(), local.b.pieces());
    let sizes = [local.a.size(), local.b.size(), local.result().size()];
    if sizes.iter().any(|&size| size != sizes[0]) {
        let (first, other) = (sizes[0], sizes[1].max(sizes[2]));
        return Err(Rule::SizesDiffer { op, datatype, first, other });
    }
    if !sizes[0].is_multiple_of(datatype.width()) {
        return Err(Rule::PartOfElement { size: sizes[0], datatype });
    }
    let result = local.result();
    let overlap = partly_overlap(a, b)
        || local.c.is_some_and(|c| partly_overlap(a, c.pieces()) || partly_overlap(b, c.pieces()))
        || result.pieces().len() > 1 && overlaps_itself(result.pieces());
    if overlap { Err(Rule::PartialOverlap(op, datatype)) } else { Ok(()) }
}

fn verify_data(data: &[Datum], kind: &'static str, rank: u32, faults: &mut Faults) {
    let mut sorted: Vec<&Datum> = data.iter().collect();
    sorted.sort_by_key(|datum| datum.addr);
    let mut end = 0;
    for datum in sorted {
        let (addr, length) = (datum.addr, datum.bytes.len() as u64);
        if length == 0 || length % datum.datatype.width() != 0 || datum.datatype == Datatype::Float8
        {
            let rule = Rule::NotValues { kind, addr, length, datatype: datum.datatype };
            faults.push(Some(rank), None, rule);
        }
        if addr < end {
            faults.push(Some(rank), None, Rule::DataOverlap { kind, addr });
        }
        match addr.checked_add(length) {
            Some(datum_end) => end = end.max(datum_end),
            None => faults.push(Some(rank), None, Rule::DatumOutside { kind, addr }),
        }
    }
}
