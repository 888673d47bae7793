//! Checks that all ranks get the same bits if rounding depends on the order of combination.

use super::execute::Execution;
use super::layout::Layout;
use super::memory::Part;
use super::trail::Trail;
use crate::places::Places;
use goal_lang::diag::{Code, Diagnostic};
use goal_lang::{CollectiveKind, Function, Op, Piece, Space};

/// Returns a finding if a rank combines the inputs of an allreduce in another order than rank 0, or
/// groups them differently. Compares only sums and products of floats. Swapped operands of one
/// operation make no difference.
pub(super) fn check(
    execution: &mut Execution<'_>,
    layout: &Layout,
    places: &Places<'_>,
) -> Option<Diagnostic> {
    let rounds = matches!(
        layout.collective.function,
        Function::Predefined(Op::Sum | Op::Prod, datatype) if datatype.is_float()
    );
    if !rounds || layout.collective.kind != CollectiveKind::Allreduce {
        return None;
    }
    let mut output = |rank| {
        let mut all = Vec::new();
        layout.visit_outputs(rank, |wanted| {
            let piece = Piece { addr: wanted.addr, size: wanted.size, space: Space::Memory };
            all = execution.read(rank, piece);
        });
        all
    };
    let first = output(0);
    let found = (1..layout.ranks).find_map(|rank| {
        difference(&first, &output(rank))
            .map(|(byte, parts)| (rank, layout.collective.output + byte, parts))
    });
    let (rank, addr, parts) = found?;
    Some(finding(rank, addr, parts, &execution.trail, places))
}

/// Returns the offset of the first byte in which two lists of parts differ, and the two parts that
/// contain it. The lists must have the same length in bytes.
fn difference(a: &[Part], b: &[Part]) -> Option<(u64, [Part; 2])> {
    let (mut a, mut b) = (a.iter().copied(), b.iter().copied());
    let (mut x, mut y, mut at) = (a.next()?, b.next()?, 0);
    loop {
        if x.value != y.value {
            return Some((at, [x, y]));
        }
        let size = x.size.min(y.size);
        at += size;
        (x, y) = (x.split(size).1, y.split(size).1);
        if x.size == 0 {
            x = a.next()?;
        }
        if y.size == 0 {
            y = b.next()?;
        }
    }
}

fn finding(
    rank: u32,
    addr: u64,
    parts: [Part; 2],
    trail: &Trail,
    places: &Places<'_>,
) -> Diagnostic {
    let message = format!(
        "byte {addr} of ranks 0 and {rank} comes of the same inputs combined in different orders, so that roundings may differ"
    );
    let mut diagnostic = Diagnostic::new(Code::CombinationOrder, message);
    for part in parts {
        if let Some(stored) = trail.stored(part.step) {
            let text = format!("{} stores the result here", places.name(stored.vertex));
            diagnostic = places.label(diagnostic, stored.vertex, text);
        }
    }
    diagnostic
        .note("MPI advises that all ranks get the same result, bit by bit")
        .help("combine the same pairs at all ranks, as recursive doubling does, or at one rank that passes the result on")
}
