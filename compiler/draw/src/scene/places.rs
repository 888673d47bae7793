//! The geometry of a detailed picture: rows of lanes, columns of steps, and places of times.

use super::frame::{Frame, TOP};
use super::outline::Rectangle;
use crate::diagram::{Axis, Body, Detail, Diagram, Kind, Shape};

/// The least height of a row, and of one whose labels are easy to read.
const ROW_MIN: f64 = 12.5;
const ROW_GOOD: f64 = 18.0;
const ROW_MAX: f64 = 62.0;
/// The column of a step that needs no more.
const COLUMN_GOOD: f64 = 230.0;
/// The largest shape of a picture by steps.
pub(super) const CELL_MAX: f64 = 150.0;
const SHAPE_HEIGHT_MAX: f64 = 30.0;

/// The places of a diagram's parts.
pub(super) struct Places {
    /// By lane, its upper end and the number of its rows.
    lanes: Vec<(f64, u32)>,
    pub(super) row: f64,
    padding: f64,
    shape_height: f64,
    columns: Columns,
}

/// The places of moments.
enum Columns {
    /// Steps, each with the left end of its columns. A step has several columns if a lane has more
    /// shapes in it than rows.
    Steps { lefts: Vec<f64>, unit: f64 },
    /// Times.
    Times { left: f64, width: f64, end: u64 },
}

impl Places {
    pub(super) fn new(frame: &Frame, diagram: &Diagram, detail: &Detail) -> Self {
        let count = detail.lanes.len().max(1) as f64;
        let padding = if count > 24.0 { 2.0 } else { 6.0 };
        let lane = frame.room() / count - padding;
        let is_steps = diagram.axis == Axis::Steps;
        // By steps, shapes of one moment may stand side by side, too.
        let rows_max = match is_steps {
            true => ((lane / ROW_GOOD) as u32).max(1),
            false => u32::MAX,
        };
        let rows = |slots: u32| slots.clamp(1, rows_max);
        let all: u32 = detail.lanes.iter().map(|lane| rows(lane.slots)).sum();
        let room = frame.room() - count * padding;
        let row = (room / f64::from(all.max(1))).clamp(ROW_MIN, ROW_MAX);
        let mut top = TOP;
        let mut lanes = Vec::new();
        for lane in &detail.lanes {
            lanes.push((top, rows(lane.slots)));
            top += f64::from(rows(lane.slots)) * row + padding;
        }
        let columns = match is_steps {
            true => steps(frame, diagram.end, detail, &lanes),
            false => {
                Columns::Times { left: frame.left, width: frame.width(), end: diagram.end.max(1) }
            }
        };
        let shape_height = (row * 0.78).min(SHAPE_HEIGHT_MAX);
        Self { lanes, row, padding, shape_height, columns }
    }

    /// Returns the upper and the lower end of a lane.
    pub(super) fn lane(&self, lane: u32) -> [f64; 2] {
        let (top, rows) = self.lanes[lane as usize];
        [top, top + f64::from(rows) * self.row + self.padding]
    }

    /// Returns the place of a time.
    pub(super) fn x(&self, time: u64) -> f64 {
        match &self.columns {
            Columns::Times { left, width, end } => {
                left + width * (time.min(*end) as f64 / *end as f64)
            }
            Columns::Steps { lefts, .. } => lefts[(time as usize).min(lefts.len() - 1)],
        }
    }

    /// Returns the rectangle of a shape.
    pub(super) fn rectangle(&self, shape: &Shape) -> Rectangle {
        let (top, rows) = self.lanes[shape.lane as usize];
        let row = f64::from(shape.slot % rows);
        let height = match shape.kind {
            Kind::Waiting => (self.shape_height * 0.4).min(8.0),
            _ => self.shape_height,
        };
        let y = top + self.padding / 2.0 + row * self.row + (self.row - height) / 2.0;
        match &self.columns {
            Columns::Times { .. } => {
                let x = self.x(shape.begin);
                Rectangle { x, y, width: (self.x(shape.end) - x).max(2.0), height }
            }
            Columns::Steps { lefts, unit } => {
                let column = f64::from(shape.slot / rows);
                let width = (unit * 0.66).min(CELL_MAX);
                let gap = (unit - width) * 0.3;
                let x = lefts[shape.begin as usize] + column * unit + gap;
                Rectangle { x, y, width, height }
            }
        }
    }

    pub(super) fn is_by_steps(&self) -> bool {
        matches!(self.columns, Columns::Steps { .. })
    }

    /// Returns the width of a column.
    pub(super) fn unit(&self) -> f64 {
        match &self.columns {
            Columns::Steps { unit, .. } => *unit,
            Columns::Times { .. } => 0.0,
        }
    }
}

/// Returns the columns of steps.
fn steps(frame: &Frame, end: u64, detail: &Detail, lanes: &[(f64, u32)]) -> Columns {
    let mut columns = vec![1_u32; end.max(1) as usize];
    for shape in &detail.shapes {
        let rows = lanes[shape.lane as usize].1;
        let column = &mut columns[shape.begin as usize];
        *column = (*column).max(shape.slot / rows + 1);
    }
    let unit = frame.width() / f64::from(columns.iter().sum::<u32>());
    let mut left = frame.left;
    let mut lefts = Vec::with_capacity(columns.len() + 1);
    for count in columns {
        lefts.push(left);
        left += f64::from(count) * unit;
    }
    lefts.push(left);
    Columns::Steps { lefts, unit }
}

/// Returns the width beyond which a picture gains nothing.
pub(super) fn wanted_width(diagram: &Diagram) -> f64 {
    match (diagram.axis, &diagram.body) {
        (Axis::Steps, Body::Detail(detail)) => {
            let slots = detail.lanes.iter().map(|lane| lane.slots).max().unwrap_or(1);
            120.0 + diagram.end as f64 * COLUMN_GOOD * f64::from(slots.div_ceil(3))
        }
        _ => f64::INFINITY,
    }
}
