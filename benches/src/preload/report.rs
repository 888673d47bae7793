//! The table of unmodified benchmarks.

use super::{PRELOADED, Sample};
use crate::measure::median;
use crate::table;

const HEADER: [&str; 13] = [
    "ranks",
    "benchmark",
    "bytes",
    "best MPI",
    "its us",
    "least",
    "of the slowest rank",
    "preloaded us",
    "least",
    "of the slowest rank",
    "ratio",
    "ratio of the slowest rank",
    "as schedules",
];

/// Medians over the jobs: of the ranks' mean and of the slowest rank, and the least mean.
struct Medians {
    mean: f64,
    least: f64,
    slowest: f64,
}

/// Prints the preloaded library beside the fastest setting of MPI.
pub(super) fn print(samples: &[Sample], shares: &[(String, u32, Option<f64>)]) {
    let mut keys: Vec<(u32, &str, u64)> = Vec::new();
    for Sample { ranks, benchmark, bytes, .. } in samples {
        let key = (*ranks, benchmark.as_str(), *bytes);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let rows = keys.into_iter().filter_map(|key| row(samples, shares, key));
    say!("Medians of the jobs, of the mean over the ranks and of the slowest rank.");
    table::print(&HEADER, &rows.collect::<Vec<_>>());
}

fn row(
    samples: &[Sample],
    shares: &[(String, u32, Option<f64>)],
    (ranks, benchmark, bytes): (u32, &str, u64),
) -> Option<Vec<String>> {
    let of_row: Vec<&Sample> = samples
        .iter()
        .filter(|of| of.ranks == ranks && of.benchmark == benchmark && of.bytes == bytes)
        .collect();
    let medians = |contestant: &str| {
        let of = of_row.iter().filter(|of| of.contestant == contestant);
        let means = of.clone().map(|of| of.figures[0]);
        means.clone().next()?;
        Some(Medians {
            mean: median(means.clone()),
            least: means.fold(f64::MAX, f64::min),
            slowest: median(of.map(|of| of.figures[2])),
        })
    };
    let native = of_row.iter().map(|of| of.contestant.as_str()).filter(|of| *of != PRELOADED);
    let native = native.filter_map(|of| Some((of, medians(of)?)));
    let (name, best) = native.min_by(|(_, x), (_, y)| x.mean.total_cmp(&y.mean))?;
    let ours = medians(PRELOADED)?;
    let share = shares.iter().find(|(of, number, _)| of == benchmark && *number == ranks);
    let share = share.and_then(|(.., share)| *share);
    let us = |us: f64| format!("{us:.3}");
    let ratio = |x: f64, y: f64| format!("{:.2}", x / y);
    let mut cells =
        vec![ranks.to_string(), benchmark.to_owned(), bytes.to_string(), name.to_owned()];
    cells.extend([best.mean, best.least, best.slowest].map(us));
    cells.extend([ours.mean, ours.least, ours.slowest].map(us));
    cells.extend([ratio(ours.mean, best.mean), ratio(ours.slowest, best.slowest)]);
    cells.push(share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share)));
    Some(cells)
}
