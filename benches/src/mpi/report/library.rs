//! The table of the C library's calls.

use super::interval::interval;
use super::{Figures, Group, Value, times, us};
use crate::library::goal::LIBGOAL;
use crate::mpi::samples::{By, Memory, WAYS};
use crate::table;

const HEADER: [&str; 21] = [
    "ranks",
    "operation",
    "bytes",
    "of",
    "best peer",
    "its us",
    "persistent us",
    "least",
    "most",
    "ratio",
    "95 % of it",
    "non-blocking us",
    "ratio",
    "blocking us",
    "ratio",
    "times the limit",
    "of schedule",
    "best peer's span",
    "its us",
    "persistent span us",
    "ratio",
];

/// Prints the calls of the rows beside the best MPI library's, whichever way that is called.
pub(super) fn print(memory: Memory, groups: &[&Group<'_>]) {
    let rows: Vec<Vec<String>> = groups.iter().flat_map(|group| rows(group)).collect();
    if !rows.is_empty() {
        let memory = match memory {
            Memory::Malloc => "memory from malloc",
            Memory::Shared => "memory from GOAL_Alloc",
        };
        say!(
            "\nPrograms in C: calls of libgoal in the same loop, {memory}, beside the best peer. A span is from the last rank's beginning to the last one's end."
        );
        table::print(&HEADER, &rows);
    }
}

/// Returns the cells of the library's variants, as it is first.
fn rows(group: &Group<'_>) -> Vec<Vec<String>> {
    let mut variants: Vec<&str> = Vec::new();
    for sample in &group.samples {
        if let By::Library { variant, .. } = &sample.by
            && !variants.contains(&variant.as_str())
        {
            variants.push(variant);
        }
    }
    variants.sort_by_key(|variant| !variant.is_empty());
    variants.into_iter().map(|variant| cells(group, variant)).collect()
}

fn cells(group: &Group<'_>, variant: &str) -> Vec<String> {
    let [later, span]: [Value; 2] = [|sample| sample.later, |sample| sample.span];
    let by = |wanted: &str| {
        let is_wanted = |by: &&By| match by {
            By::Library { variant: of, way, .. } => of == variant && way == wanted,
            _ => false,
        };
        group.samples.iter().map(|sample| &sample.by).find(is_wanted)
    };
    let of = |way: &str, value: Value| group.figures(by(way)?, value);
    let [blocking, nonblocking, persistent] = WAYS.map(|way| of(way, later));
    let best = group.best(later);
    let runs = |by: &By| group.values(by, later).collect::<Vec<_>>();
    let sure = by(WAYS[2]).zip(best.as_ref());
    let sure = sure.and_then(|(ours, (best, _))| interval(&runs(ours), &runs(best)));
    let sure = sure.map_or("-".to_owned(), |[low, high]| format!("{low:.2} to {high:.2}"));
    let peer = best.as_ref().map(|(_, best)| best.median);
    let name = |by: Option<&By>| by.map_or("-".to_owned(), |by| by.to_string().replace(':', " "));
    let middle = |of: Option<Figures>| of.map(|of| of.median);
    let cell = |ns: Option<f64>| ns.filter(|ns| !ns.is_nan()).map_or("-".to_owned(), us);
    let mut cells = vec![
        group.row.ranks.to_string(),
        group.row.operation.clone(),
        group.row.bytes.to_string(),
        if variant.is_empty() { LIBGOAL } else { variant }.to_owned(),
        name(best.map(|(by, _)| by)),
        cell(peer),
    ];
    cells.extend(Figures::cells(persistent));
    cells.extend([times(middle(persistent), peer), sure]);
    for way in [nonblocking, blocking] {
        cells.extend([cell(middle(way)), times(middle(way), peer)]);
    }
    cells.push(times(middle(persistent), group.limit()));
    cells.push(times(middle(persistent), middle(group.figures(&By::Schedule, later))));
    let (best, ours) = (group.best(span), middle(of(WAYS[2], span)));
    let peer = best.as_ref().map(|(_, best)| best.median);
    cells.extend([name(best.map(|(by, _)| by)), cell(peer), cell(ours), times(ours, peer)]);
    cells
}
