//! The verifier of the program model: what every pass may rely on and must leave so.

use goal_lang::limits::RANK_MAX;
use goal_lang::{
    ANY, Action, ActionId, Body, Cycle, Datatype, Datum, Function, LocalOperation, Op, Operand,
    Payload, Pieces, Program, Reduction, Space, is_legal, overlaps_itself, partly_overlap,
    topological_order,
};
use std::fmt;

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// A rank that it concerns, where it is one rank's.
    pub rank: Option<u32>,
    /// The action that it concerns, where it is one action's.
    pub action: Option<ActionId>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rank) = self.rank {
            write!(f, "rank {rank}")?;
            if let Some(action) = self.action {
                write!(f, ", action {action}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

/// All broken rules, of which the first are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    /// The first ones.
    pub first: Vec<Fault>,
    /// How many there are.
    pub count: u64,
}

/// How many faults are kept.
const KEPT: usize = 20;

impl Faults {
    fn push(&mut self, rank: Option<u32>, action: Option<ActionId>, message: impl Into<String>) {
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(Fault { rank, action, message: message.into() });
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.first.iter().enumerate() {
            let separator = if i > 0 { "; " } else { "" };
            write!(f, "{separator}{fault}")?;
        }
        match self.count - self.first.len() as u64 {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// Checks structure, operations, buffers, peers, images and acyclicity of the bodies that ranks
/// run. Linear, but for sorting the pieces of scattered buffers.
///
/// # Errors
/// Every broken rule.
pub fn verify(program: &Program) -> Result<(), Faults> {
    let mut faults = Faults::default();
    if program.ranks.len() as u64 > u64::from(RANK_MAX) + 1 {
        faults.push(
            None,
            None,
            format!("{} ranks, and the largest rank number is {RANK_MAX}", program.ranks.len()),
        );
        return Err(faults);
    }
    let mut seen_bodies = vec![false; program.bodies.len()];
    let mut seen_images = vec![false; program.images.len()];
    for (rank, entry) in program.ranks.iter().enumerate() {
        let rank = rank as u32;
        match seen_bodies.get_mut(entry.body.index()) {
            None => faults.push(Some(rank), None, format!("there is no body {}", entry.body)),
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
                None => faults.push(Some(rank), None, format!("there is no memory image {id}")),
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
            if let Err(message) = self.check_action(self.body.action(id)) {
                self.faults.push(Some(self.rank), Some(id), message);
            }
        }
        let body = self.body;
        let edges = || body.requires.edges().chain(body.irequires.edges());
        if let Some(edge) =
            edges().find(|edge| edge.waiter.index().max(edge.prerequisite.index()) >= body.len())
        {
            let message = format!("a dependency names an action past the last, {}", body.len());
            self.faults.push(Some(self.rank), Some(edge.waiter.max(edge.prerequisite)), message);
        } else if edges().any(|edge| edge.prerequisite >= edge.waiter)
            && let Err(Cycle(path)) = topological_order(body)
        {
            let names: Vec<String> = path.iter().take(8).map(|&id| self.name(id)).collect();
            let more = if path.len() > names.len() { ", ..." } else { "" };
            let message = format!("actions wait for each other: {}{more}", names.join(", "));
            self.faults.push(Some(self.rank), Some(path[0]), message);
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

    fn check_action(&self, action: &Action) -> Result<(), String> {
        match *action {
            Action::Send { payload, to, tag, .. } => {
                self.check_peer(to)?;
                if tag == ANY {
                    return Err("a send needs a tag".to_owned());
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

    fn check_peer(&self, peer: u32) -> Result<(), String> {
        if peer < self.ranks {
            Ok(())
        } else {
            Err(format!("there is no rank {peer} among {}", self.ranks))
        }
    }

    /// The payload of a message, whose operation would take `operands` buffers.
    fn check_payload(&self, payload: Payload, operands: u32) -> Result<(), String> {
        match payload {
            Payload::Reduced { operands: first, .. } => {
                self.check_pieces(Pieces { first, len: operands })
            }
            Payload::Vector(pieces) => self.check_vector(pieces),
            Payload::Pattern { .. } | Payload::Buffer(_) => Ok(()),
        }
    }

    /// That pieces are in the table, and at least one.
    fn check_pieces(&self, pieces: Pieces) -> Result<(), String> {
        let end = u64::from(pieces.first) + u64::from(pieces.len);
        if pieces.len == 0 {
            return Err("a buffer without pieces".to_owned());
        }
        if end > self.body.pieces.len() as u64 {
            return Err(format!("pieces up to {end} of a table of {}", self.body.pieces.len()));
        }
        Ok(())
    }

    fn check_vector(&self, pieces: Pieces) -> Result<(), String> {
        self.check_pieces(pieces)?;
        let sizes = || self.body.slice(pieces).iter().map(|piece| piece.size);
        if sizes().any(|size| size == 0) {
            return Err("an empty piece in a scattered buffer".to_owned());
        }
        match sizes().try_fold(0u64, u64::checked_add) {
            Some(_) => Ok(()),
            None => Err("a scattered buffer of more than 2^64 bytes".to_owned()),
        }
    }

    fn check_bounds(&self, action: &Action) -> Result<(), String> {
        let mut result = Ok(());
        self.body.visit_pieces(action, |piece| {
            let (limit, name) = match piece.space {
                Space::Memory => (u64::MAX, "memory"),
                Space::Scratch => (self.body.scratch, "scratch memory"),
            };
            if piece.addr.checked_add(piece.size).is_none_or(|end| end > limit) {
                let (size, addr) = (piece.size, piece.addr);
                result = Err(format!(
                    "a buffer of {size} bytes at {addr} ends outside the {limit} bytes of {name}"
                ));
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
        for (name, entries, wanted) in tables {
            if entries != 0 && entries != wanted {
                self.faults.push(
                    Some(self.rank),
                    None,
                    format!("{entries} {name} where {wanted} belong"),
                );
            }
        }
        let mut edges = body.requires.edges().chain(body.irequires.edges());
        let inside = edges.all(|edge| edge.waiter.index() < body.len());
        if inside && debug.order.as_ref().is_some_and(|order| !order.fits(body)) {
            let message = "the stated order of dependencies is not one of this graph";
            self.faults.push(Some(self.rank), None, message.to_owned());
        }
    }
}

fn check_reduction(reduction: &Reduction) -> Result<(), String> {
    let &Reduction { op, datatype, a, b } = reduction;
    if op == Op::Copy {
        return Err("a copy combines nothing with a message".to_owned());
    }
    let (a, b) = (Operand::One(a.unwrap_or(b)), Operand::One(b));
    let function = Function::Predefined(op, datatype);
    check_operation(op, datatype, &LocalOperation { function, a, b, c: None })
}

fn check_operation(op: Op, datatype: Datatype, local: &LocalOperation<'_>) -> Result<(), String> {
    let name = || format!("{}{}", op.name(), datatype.name());
    if !is_legal(op, datatype) {
        return Err(format!("{} is not defined", name()));
    }
    if op == Op::Copy && local.c.is_some() {
        return Err("a copy has no third buffer".to_owned());
    }
    let (a, b) = (local.a.pieces(), local.b.pieces());
    let sizes = [local.a.size(), local.b.size(), local.result().size()];
    if sizes.iter().any(|&size| size != sizes[0]) {
        return Err(format!(
            "the buffers of {} differ in size: {} and {} bytes",
            name(),
            sizes[0],
            sizes[1].max(sizes[2])
        ));
    }
    if !sizes[0].is_multiple_of(datatype.width()) {
        return Err(format!(
            "{} bytes are no whole number of elements of {}",
            sizes[0],
            datatype.name()
        ));
    }
    let result = local.result();
    let overlap = partly_overlap(a, b)
        || local.c.is_some_and(|c| partly_overlap(a, c.pieces()) || partly_overlap(b, c.pieces()))
        || result.pieces().len() > 1 && overlaps_itself(result.pieces());
    if overlap { Err(format!("buffers of {} overlap partly", name())) } else { Ok(()) }
}

fn verify_data(data: &[Datum], kind: &str, rank: u32, faults: &mut Faults) {
    let mut sorted: Vec<&Datum> = data.iter().collect();
    sorted.sort_by_key(|datum| datum.addr);
    let mut end = 0;
    for datum in sorted {
        let (addr, length) = (datum.addr, datum.bytes.len() as u64);
        if length == 0 || length % datum.datatype.width() != 0 || datum.datatype == Datatype::Float8
        {
            faults.push(
                Some(rank),
                None,
                format!(
                    "{kind} at {addr}: {length} bytes are not values of {}",
                    datum.datatype.name()
                ),
            );
        }
        if addr < end {
            faults.push(Some(rank), None, format!("{kind} at {addr} overlaps another"));
        }
        match addr.checked_add(length) {
            Some(datum_end) => end = end.max(datum_end),
            None => faults.push(Some(rank), None, format!("{kind} at {addr} ends past 2^64 bytes")),
        }
    }
}
