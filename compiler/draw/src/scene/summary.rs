//! Places the sums of a large program: a row for each group of ranks, and shares of its time that
//! stack up.

use super::frame::{Entry, Frame, MARGIN, STEPS, SWATCH, TOP, width_of};
use super::item::Anchor;
use super::outline::{Rectangle, outline};
use crate::diagram::{Axis, Diagram, Group, Kind, Summary};
use crate::unit::{decimal, ticks};
use std::fmt::Write;

const ROW_MAX: f64 = 48.0;
const GAP: f64 = 2.0;

/// The kinds of work in the order of shares, from below.
const WORKS: [(&str, &str); 4] =
    [("ka", "computing"), ("sa", "sending"), ("ra", "receiving"), ("w", "waiting")];

pub(super) fn draw(frame: &mut Frame, diagram: &Diagram, summary: &Summary) {
    let names: Vec<String> = summary.groups.iter().map(name).collect();
    let widest = names.iter().map(|name| width_of(name, 11.0)).fold(0.0, f64::max);
    frame.left = MARGIN + widest + 10.0;
    frame.legend(&legend(summary));
    let count = summary.groups.len().max(1) as f64;
    let row = (frame.room() / count - GAP).min(ROW_MAX);
    let (left, width) = (frame.left, frame.width());
    let x = |time: u64| left + width * (time as f64 / diagram.end.max(1) as f64);
    let top = |group: usize| TOP + group as f64 * (row + GAP);
    frame.bottom = top(summary.groups.len());
    match diagram.axis {
        Axis::Steps => steps(frame, diagram),
        Axis::Simulated | Axis::Measured => frame.time_axis(diagram, x),
    }
    for (group, name) in names.iter().enumerate() {
        let top = top(group);
        frame.text("", left - 8.0, top + row / 2.0 + 4.0, 11.0, Anchor::End, name);
        frame.path("lane", format!("M{left:.1},{top:.1}h{width:.1}v{row:.1}h-{width:.1}z"));
        let bins: Vec<f64> = (0..=summary.shares[group].len() as u64)
            .map(|bin| x(bin.saturating_mul(summary.bin).min(diagram.end)))
            .collect();
        // The largest sum is drawn first, so that the smaller ones cover a part of it.
        for work in (0..WORKS.len()).rev() {
            let heights = summary.shares[group]
                .iter()
                .map(|shares| shares[..=work].iter().map(|share| u32::from(*share)).sum::<u32>());
            let path = stacked(&bins, heights, top + row, row);
            if !path.is_empty() {
                frame.path(WORKS[work].0, path);
            }
        }
        let mut places: Vec<i64> =
            summary.marks[group].iter().map(|&time| x(time).round() as i64).collect();
        places.sort_unstable();
        places.dedup();
        if !places.is_empty() {
            let mut path = String::new();
            for x in places {
                let _ = write!(path, "M{x},{top:.1}v{row:.1}");
            }
            frame.path("mark", path);
        }
    }
}

fn name(group: &Group) -> String {
    match group {
        Group { first, last } if first == last => format!("rank {first}"),
        Group { first, last } => format!("ranks {first}-{last}"),
    }
}

/// Draws the axis of steps.
fn steps(frame: &mut Frame, diagram: &Diagram) {
    let (left, width, bottom) = (frame.left, frame.width(), frame.bottom);
    for step in ticks(diagram.end, 20) {
        let x = left + width * (step as f64 / diagram.end.max(1) as f64);
        frame.path("line", format!("M{x:.1},{:.1}V{:.1}", TOP - 4.0, bottom + 5.0));
        frame.text("", x, bottom + 18.0, 12.0, Anchor::Middle, &step.to_string());
    }
    frame.axis_line(STEPS);
}

/// Returns the area below steps of these heights in thousandths of a row.
fn stacked(bins: &[f64], heights: impl Iterator<Item = u32>, ground: f64, row: f64) -> String {
    let mut path = String::new();
    let mut before = 0;
    let mut end = 0;
    for (at, height) in heights.enumerate() {
        let height = height.min(1000);
        end = at + 1;
        if height == before {
            continue;
        }
        let y = ground - row * f64::from(height) / 1000.0;
        let x = bins[at];
        let _ = match path.is_empty() {
            true => write!(path, "M{x:.1},{ground:.1}V{y:.1}"),
            false => write!(path, "H{x:.1}V{y:.1}"),
        };
        before = height;
    }
    if !path.is_empty() {
        let _ = write!(path, "H{:.1}V{ground:.1}z", bins[end]);
    }
    path
}

fn legend(summary: &Summary) -> Vec<Entry> {
    let mut entries: Vec<Entry> = WORKS
        .iter()
        .zip(summary.all)
        .map(|(&(class, name), share)| {
            let percent = decimal(f64::from(share) / 10.0);
            Entry::new(format!("{name} {percent} %"), move |x, y| {
                let rectangle = Rectangle { x, y: y - 7.0, width: SWATCH, height: 14.0 };
                vec![(class, outline(Kind::Calculation, rectangle))]
            })
        })
        .collect();
    if summary.marks.iter().any(|marks| !marks.is_empty()) {
        entries.push(Entry::new("marker", |x, y| {
            vec![("mark", format!("M{:.1},{:.1}v14", x + SWATCH / 2.0, y - 7.0))]
        }));
    }
    entries
}
