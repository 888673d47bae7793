//! The order within each column: sorts columns by barycentres, forwards and backwards, and keeps
//! the order with the fewest crossings.

use super::layers::Layers;

const SWEEPS: usize = 12;

/// Orders the columns.
pub(super) fn order(layers: &mut Layers) {
    let mut best = (crossings(layers), layers.columns.clone());
    let mut positions = positions(layers);
    for sweep in 0..SWEEPS {
        if sweep % 2 == 0 {
            for column in &mut layers.columns {
                sort(column, &layers.before, &mut positions);
            }
        } else {
            for column in layers.columns.iter_mut().rev() {
                sort(column, &layers.after, &mut positions);
            }
        }
        let found = crossings(layers);
        if found < best.0 {
            best = (found, layers.columns.clone());
        }
    }
    layers.columns = best.1;
}

/// Sorts a column by the mean position of each vertex's neighbours on one side; a vertex without
/// such neighbours keeps its position.
fn sort(column: &mut [usize], neighbours: &[Vec<usize>], positions: &mut [usize]) {
    let mean = |vertex: usize| {
        let near = &neighbours[vertex];
        let sum: usize = near.iter().map(|&other| positions[other]).sum();
        if near.is_empty() { positions[vertex] as f64 } else { sum as f64 / near.len() as f64 }
    };
    let mut keyed: Vec<(f64, usize)> =
        column.iter().map(|&vertex| (mean(vertex), vertex)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (position, (_, vertex)) in keyed.into_iter().enumerate() {
        column[position] = vertex;
        positions[vertex] = position;
    }
}

/// Returns the position of each vertex in its column.
fn positions(layers: &Layers) -> Vec<usize> {
    let mut positions = vec![0; layers.column_of.len()];
    for column in &layers.columns {
        for (position, &vertex) in column.iter().enumerate() {
            positions[vertex] = position;
        }
    }
    positions
}

/// Returns the number of pairs of lines between neighbouring columns that cross.
pub(super) fn crossings(layers: &Layers) -> u64 {
    let positions = positions(layers);
    let mut crossings = 0;
    for pair in layers.columns.windows(2) {
        // Takes the lines in the order of their left ends. A line crosses each line before it whose
        // right end lies below its own.
        let mut ending = Counts(vec![0; pair[1].len() + 1]);
        let mut lines = 0;
        for &vertex in &pair[0] {
            let ends: Vec<usize> =
                layers.after[vertex].iter().map(|&other| positions[other]).collect();
            crossings += ends.iter().map(|&end| lines - ending.up_to(end)).sum::<u64>();
            lines += ends.len() as u64;
            ends.into_iter().for_each(|end| ending.add(end));
        }
    }
    crossings
}

/// Prefix sums (a Fenwick tree).
struct Counts(Vec<u64>);

impl Counts {
    fn add(&mut self, at: usize) {
        let mut at = at + 1;
        while at < self.0.len() {
            self.0[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    fn up_to(&self, at: usize) -> u64 {
        let (mut at, mut sum) = (at + 1, 0);
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}
