//! Heights: every vertex is as close as possible to its neighbours in other columns, at a distance
//! from those above and below it.

use super::layers::Layers;
use goal_lang::Body;

const SWEEPS: usize = 10;

/// Distance between the middles of two boxes, one above the other.
pub(super) const BOX_PITCH: f64 = 36.0;
/// Distance between two lines, one above the other.
const LINE_PITCH: f64 = 12.0;
/// The weight of a bend relative to an action: high, so that long lines are straight.
const BEND_WEIGHT: f64 = 6.0;

/// Returns the height of the middle of each vertex. The smallest height is 0.
pub(super) fn place(layers: &Layers, body: &Body) -> Vec<f64> {
    let mut heights = vec![0.0; layers.column_of.len()];
    for column in &layers.columns {
        let mut at = 0.0;
        for pair in column.windows(2) {
            at += pitch(layers, body, pair[0], pair[1]);
            heights[pair[1]] = at;
        }
        column.iter().for_each(|&vertex| heights[vertex] -= at / 2.0);
    }
    for sweep in 0..SWEEPS {
        let last = sweep + 2 >= SWEEPS;
        let forward = sweep % 2 == 0;
        for i in 0..layers.columns.len() {
            let column = &layers.columns[if forward { i } else { layers.columns.len() - 1 - i }];
            let wanted: Vec<(f64, f64)> = column
                .iter()
                .map(|&vertex| {
                    let (near, far) = (&layers.before[vertex], &layers.after[vertex]);
                    let (near, far) = if forward { (near, far) } else { (far, near) };
                    let far = if last || near.is_empty() { &far[..] } else { &[] };
                    let sum: f64 = near.iter().chain(far).map(|&other| heights[other]).sum();
                    let count = near.len() + far.len();
                    let wanted = if count == 0 { heights[vertex] } else { sum / count as f64 };
                    (wanted, if layers.is_bend(vertex, body) { BEND_WEIGHT } else { 1.0 })
                })
                .collect();
            for (&vertex, height) in column.iter().zip(spread(layers, body, column, &wanted)) {
                heights[vertex] = height;
            }
        }
    }
    close_gaps(&mut heights);
    heights
}

/// Moves everything up to height 0, and closes empty bands.
pub(super) fn close_gaps(heights: &mut [f64]) {
    let mut ascending: Vec<usize> = (0..heights.len()).collect();
    ascending.sort_by(|&a, &b| heights[a].total_cmp(&heights[b]));
    let (mut before, mut up) = (None, 0.0f64);
    for vertex in ascending {
        let height: f64 = heights[vertex];
        up += match before {
            None => height,
            Some(before) => f64::max(height - before - BOX_PITCH, 0.0),
        };
        before = Some(height);
        heights[vertex] = height - up;
    }
}

fn pitch(layers: &Layers, body: &Body, above: usize, below: usize) -> f64 {
    let half =
        |vertex| if layers.is_bend(vertex, body) { LINE_PITCH / 2.0 } else { BOX_PITCH / 2.0 };
    half(above) + half(below)
}

/// Returns the heights that keep the column's order and distances and are closest to the wanted
/// ones, in the weighted sum of squares. With the distances subtracted this is a regression to an
/// ascending sequence, in which neighbours in the wrong order share their mean.
fn spread(layers: &Layers, body: &Body, column: &[usize], wanted: &[(f64, f64)]) -> Vec<f64> {
    let mut offsets = vec![0.0; column.len()];
    for i in 1..column.len() {
        offsets[i] = offsets[i - 1] + pitch(layers, body, column[i - 1], column[i]);
    }
    // Runs that move together: mean, weight, members.
    let mut runs: Vec<(f64, f64, usize)> = Vec::new();
    for (&(height, weight), offset) in wanted.iter().zip(&offsets) {
        let mut run = (height - offset, weight, 1);
        while let Some(above) = runs.pop_if(|above| above.0 >= run.0) {
            let weight = above.1 + run.1;
            run = ((above.0 * above.1 + run.0 * run.1) / weight, weight, above.2 + run.2);
        }
        runs.push(run);
    }
    let means = runs.into_iter().flat_map(|(mean, _, members)| std::iter::repeat_n(mean, members));
    means.zip(offsets).map(|(mean, offset)| mean + offset).collect()
}
