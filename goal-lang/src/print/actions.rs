//! Prints actions and their dependencies.

use std::io;

use super::collectives;
use super::labels::Names;
use super::output::{Output, Style};
use crate::ids::ActionId;
use crate::program::{
    Action, Body, Csr, Edge, Payload, Piece, Pieces, Reduction, Space, StatedRows,
};

/// Prints all actions in order. Each dependency comes after the later of its two actions, or later
/// if the stated order of dependencies requires it.
pub(super) fn print(out: &mut Output<'_>, body: &Body) -> io::Result<()> {
    let names = Names::new(body, out.for_loggopsim);
    let order = body.debug.order.as_deref();
    let stated = order.map(|order| &order.requires);
    let mut requires = Edges::new(&body.requires, stated, body.len(), "requires");
    let stated = order.map(|order| &order.irequires);
    let mut irequires = Edges::new(&body.irequires, stated, body.len(), "irequires");
    for id in body.ids() {
        out.begin_statement();
        if requires.names(id) || irequires.names(id) || names.own(id).is_some() {
            names.write(out, id);
            out.text(": ");
        }
        match body.collective(id) {
            Some(stated) => collectives::print(out, stated),
            None => print_action(out, body, body.action(id)),
        }
        out.end_statement()?;
        requires.print_up_to(out, &names, id)?;
        irequires.print_up_to(out, &names, id)?;
    }
    Ok(())
}

/// The dependencies of one kind, by prerequisite and by waiter.
struct Edges<'a> {
    waiters: &'a Csr,
    prerequisites: Csr,
    keyword: &'static str,
    /// The rows with a stated order of their own; they are printed from `late`.
    stated: Option<&'a StatedRows>,
    /// The dependencies of the rows in `stated`, in the order in which they are printed. Each comes
    /// with the action that it is printed after.
    late: std::iter::Peekable<std::vec::IntoIter<(ActionId, Edge)>>,
}

impl<'a> Edges<'a> {
    fn new(
        waiters: &'a Csr,
        stated: Option<&'a StatedRows>,
        actions: usize,
        keyword: &'static str,
    ) -> Self {
        let mut late = Vec::new();
        for (prerequisite, row) in stated.into_iter().flat_map(StatedRows::iter) {
            let mut after = prerequisite;
            for &waiter in row {
                after = after.max(waiter);
                late.push((after, Edge { waiter, prerequisite }));
            }
        }
        late.sort_by_key(|&(after, _)| after);
        let late = late.into_iter().peekable();
        Self { waiters, prerequisites: waiters.transposed(actions), keyword, stated, late }
    }

    fn is_late(&self, prerequisite: ActionId) -> bool {
        self.stated.is_some_and(|stated| stated.row(prerequisite).is_some())
    }

    fn names(&self, id: ActionId) -> bool {
        !self.waiters.row(id).is_empty() || !self.prerequisites.row(id).is_empty()
    }

    /// Prints the dependencies between `id` and actions up to `id`. Then prints the dependencies of
    /// `late` that come after `id`.
    fn print_up_to(
        &mut self,
        out: &mut Output<'_>,
        names: &Names<'_>,
        id: ActionId,
    ) -> io::Result<()> {
        for &prerequisite in self.prerequisites.row(id).iter().take_while(|&&other| other <= id) {
            if !self.is_late(prerequisite) {
                self.print_edge(out, names, id, prerequisite)?;
            }
        }
        if !self.is_late(id) {
            for &waiter in self.waiters.row(id).iter().take_while(|&&other| other < id) {
                self.print_edge(out, names, waiter, id)?;
            }
        }
        while let Some((_, edge)) = self.late.next_if(|&(after, _)| after == id) {
            self.print_edge(out, names, edge.waiter, edge.prerequisite)?;
        }
        Ok(())
    }

    fn print_edge(
        &self,
        out: &mut Output<'_>,
        names: &Names<'_>,
        waiter: ActionId,
        prerequisite: ActionId,
    ) -> io::Result<()> {
        out.begin_statement();
        if out.style == Style::Paper2009 && self.keyword == "requires" {
            out.text("requ ");
            names.write(out, waiter);
            out.text(" -> ");
        } else {
            names.write(out, waiter);
            out.text(" ");
            out.text(self.keyword);
            out.text(" ");
        }
        names.write(out, prerequisite);
        out.end_statement()
    }
}

pub(super) fn print_action(out: &mut Output<'_>, body: &Body, action: &Action) {
    match *action {
        Action::Send { payload, to, tag, placement } => {
            out.text("send ");
            print_payload(out, body, payload);
            out.text(" to ");
            out.peer(to, true);
            print_tag(out, tag);
            out.placement(placement);
            print_reduction(out, body, action);
        }
        Action::Recv { payload, from, tag, placement } => {
            out.text("recv ");
            print_payload(out, body, payload);
            out.text(" from ");
            out.peer(from, false);
            print_tag(out, tag);
            out.placement(placement);
            print_reduction(out, body, action);
        }
        Action::Calc { nanos, placement } => {
            out.text("calc ");
            out.number(nanos);
            out.placement(placement);
        }
        Action::Exec { op, datatype, spaces, has_c, a, b, c, size } => {
            print_function(out, op.name(), datatype.name());
            print_piece(out, Piece { addr: a, size, space: spaces[0] });
            out.text(" ");
            print_piece(out, Piece { addr: b, size, space: spaces[1] });
            if has_c {
                out.text(" ");
                print_piece(out, Piece { addr: c, size, space: spaces[2] });
            }
        }
        Action::ExecVector { op, datatype, operands: [a, b, c] } => {
            print_function(out, op.name(), datatype.name());
            print_vector(out, body, a);
            out.text(" ");
            print_vector(out, body, b);
            if c.len > 0 {
                out.text(" ");
                print_vector(out, body, c);
            }
        }
        Action::User { function, operands: [a, b] } => {
            out.text("exec user ");
            out.number(u64::from(function));
            out.text(" with ");
            print_user_operand(out, body, a);
            out.text(" ");
            print_user_operand(out, body, b);
        }
        Action::Wtime { addr, space } => {
            out.text("exec wtime with ");
            print_piece(out, Piece { addr, size: 8, space });
        }
        Action::Nop => out.text("nop"),
        Action::Marker { to, tag, placement } => {
            out.text("send 0b to ");
            out.number(u64::from(to));
            print_tag(out, tag);
            out.placement(placement);
        }
    }
}

/// Prints the function of a message. Also prints the first operand of a send; that of a receive is
/// the message.
fn print_reduction(out: &mut Output<'_>, body: &Body, action: &Action) {
    let Some(Reduction { op, datatype, a, .. }) = body.reduction(action) else { return };
    out.text(" with ");
    out.text(op.name());
    out.text(datatype.name());
    if let Some(a) = a {
        out.text(" ");
        print_piece(out, a);
    }
}

fn print_function(out: &mut Output<'_>, op: &str, datatype: &str) {
    out.text("exec ");
    out.text(op);
    out.text(datatype);
    out.text(" with ");
}

fn print_payload(out: &mut Output<'_>, body: &Body, payload: Payload) {
    match payload {
        Payload::Pattern { size } => {
            out.number(size);
            out.text("b");
        }
        Payload::Buffer(piece) => print_piece(out, piece),
        Payload::Vector(pieces) => print_vector(out, body, pieces),
        Payload::Reduced { operands, .. } => print_piece(out, body.pieces[operands as usize]),
    }
}

fn print_piece(out: &mut Output<'_>, piece: Piece) {
    if piece.space == Space::Scratch {
        out.text("@");
    }
    out.number(piece.addr);
    out.text(",");
    out.number(piece.size);
}

/// Prints a vector, always in brackets. Without brackets, a single piece would come back as a
/// contiguous buffer.
fn print_vector(out: &mut Output<'_>, body: &Body, pieces: Pieces) {
    out.text("[");
    for (i, &piece) in body.slice(pieces).iter().enumerate() {
        if i > 0 {
            out.text(" ");
        }
        print_piece(out, piece);
    }
    out.text("]");
}

/// Prints an operand of a user function. A single piece needs no brackets, because user functions
/// know no contiguous form.
fn print_user_operand(out: &mut Output<'_>, body: &Body, pieces: Pieces) {
    match body.slice(pieces) {
        [piece] => print_piece(out, *piece),
        _ => print_vector(out, body, pieces),
    }
}

/// Prints a tag. Schedgen writes every tag; the paper's form leaves out the default, 0.
fn print_tag(out: &mut Output<'_>, tag: u32) {
    if tag != 0 || out.style == Style::Schedgen {
        out.text(" tag ");
        out.number_or_any(tag);
    }
}
