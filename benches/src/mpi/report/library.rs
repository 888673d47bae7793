//! The table of the C library's calls.

use super::{Figures, Group, Value, us};
use crate::mpi::samples::{By, Memory, WAYS};
use crate::table;

const HEADER: [&str; 14] = [
    "ranks",
    "operation",
    "bytes",
    "best peer",
    "its us",
    "persistent us",
    "least",
    "most",
    "ratio",
    "non-blocking us",
    "ratio",
    "blocking us",
    "ratio",
    "persistent, of schedule",
];

/// Prints the calls of the rows beside the best MPI library's, whichever way that is called.
pub(super) fn print(memory: Memory, groups: &[&Group<'_>]) {
    let rows: Vec<Vec<String>> = groups.iter().filter_map(|group| cells(group)).collect();
    if !rows.is_empty() {
        let memory = match memory {
            Memory::Malloc => "memory from malloc",
            Memory::Shared => "memory from GOAL_Alloc",
        };
        say!("\nPrograms in C: calls of libgoal in the same loop, {memory}, beside the best peer.");
        table::print(&HEADER, &rows);
    }
}

/// Returns the cells of a row, if the library was measured there.
fn cells(group: &Group<'_>) -> Option<Vec<String>> {
    let later: Value = |sample| sample.later;
    let of = |way: &str| {
        let is_way = |by: &&By| matches!(by, By::Library { way: of, .. } if of == way);
        let by = group.samples.iter().map(|sample| &sample.by).find(is_way)?;
        group.figures(by, later)
    };
    let [blocking, nonblocking, persistent] = WAYS.map(of);
    persistent.or(nonblocking).or(blocking)?;
    let best = group.best(later);
    let ratio = |ours: Option<Figures>, to: Option<f64>| {
        let ratio = ours.zip(to).map(|(ours, to)| ours.median / to);
        ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
    };
    let peer = best.as_ref().map(|(_, best)| best.median);
    let median = |of: Option<Figures>| of.map_or("-".to_owned(), |of| us(of.median));
    let mut cells = vec![
        group.row.ranks.to_string(),
        group.row.operation.clone(),
        group.row.bytes.to_string(),
        best.map_or("-".to_owned(), |(by, _)| by.to_string().replace(':', " ")),
        peer.map_or("-".to_owned(), us),
    ];
    cells.extend(Figures::cells(persistent));
    cells.push(ratio(persistent, peer));
    cells.extend([median(nonblocking), ratio(nonblocking, peer)]);
    cells.extend([median(blocking), ratio(blocking, peer)]);
    let schedule = group.figures(&By::Schedule, later).map(|of| of.median);
    cells.push(ratio(persistent, schedule));
    Some(cells)
}
