//! The table of a run.

use crate::library::goal::LIBGOAL;
use crate::mpi::{By, Figures, Group, Sample, groups};
use crate::table;

const HEADER: [&str; 14] = [
    "ranks",
    "operation",
    "bytes",
    "best peer",
    "its us",
    "least",
    "most",
    "best of ours",
    "its us",
    "least",
    "most",
    "ratio",
    "goal",
    "met",
];

/// Prints a row for each operation and size: the fastest call of all peers, and of this library.
pub(super) fn print(samples: &[Sample]) {
    say!(
        "\nOver TCP on this machine, memory that the libraries allocate. Operands are written before and results read after. Every peer and {LIBGOAL} by the fastest of its ways."
    );
    let groups = groups(samples);
    table::print(&HEADER, &groups.iter().map(cells).collect::<Vec<_>>());
}

fn cells(group: &Group<'_>) -> Vec<String> {
    let best = |is_one: fn(&By) -> bool| group.best_of(|sample| sample.later, is_one);
    let theirs = best(|by| matches!(by, By::Peer { .. }));
    let ours = best(|by| matches!(by, By::Library { .. }));
    let ratio = ours
        .as_ref()
        .zip(theirs.as_ref())
        .map(|((_, ours), (_, theirs))| ours.median / theirs.median);
    let goal = goal(&group.row.operation, group.row.bytes);
    let mut cells =
        vec![group.row.ranks.to_string(), group.row.operation.clone(), group.row.bytes.to_string()];
    for side in [theirs, ours] {
        let name = side.as_ref().map_or("-".to_owned(), |(by, _)| name(by));
        cells.push(name);
        cells.extend(Figures::cells(side.map(|(_, figures)| figures)));
    }
    cells.push(ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")));
    cells.push(format!("{goal:.1}"));
    let met = ratio.map(|ratio| if ratio <= goal { "yes" } else { "no" });
    cells.push(met.unwrap_or("-").to_owned());
    cells
}

/// Returns the name of a contestant without its memory, which all have alike.
fn name(by: &By) -> String {
    match by {
        By::Peer { library, way, .. } => format!("{library} {way}"),
        By::Library { way, .. } => way.clone(),
        other => other.to_string(),
    }
}

/// Returns the most that an operation may take, as a part of the best peer's time.
fn goal(operation: &str, bytes: u64) -> f64 {
    match operation {
        "barrier" | "allreduce" if bytes <= 1 << 10 => 0.8,
        _ => 1.0,
    }
}
