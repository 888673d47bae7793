//! Places actions and messages one by one.

use super::Anchor;
use super::frame::{Frame, MARGIN, STEPS, TOP, width_of};
use super::marks::{badges, legend, marks, messages, waits};
use super::outline::{Edge, Rectangle, class, outline};
use crate::diagram::{Axis, Body, Detail, Diagram, Kind, Shape, State};

/// The least height of a row, and of one whose labels are easy to read.
const ROW_MIN: f64 = 12.5;
const ROW_GOOD: f64 = 18.0;
const ROW_MAX: f64 = 62.0;
/// The least width of a shape with an edge, and of one with the thick edge of the longest chain.
const EDGED_MIN: f64 = 3.0;
const THICKLY_EDGED_MIN: f64 = 9.0;
/// The column of a step that needs no more.
const COLUMN_GOOD: f64 = 230.0;
/// The largest shape of a picture by steps.
const CELL_MAX: f64 = 150.0;
/// The least and the largest size of letters in shapes.
const LETTERS_MIN: f64 = 8.0;
const LETTERS_MAX: f64 = 12.0;
const SHAPE_HEIGHT_MAX: f64 = 30.0;

/// The places of a diagram's parts.
pub(super) struct Places {
    /// By lane, its upper end and the number of its rows.
    lanes: Vec<(f64, u32)>,
    row: f64,
    padding: f64,
    pub(super) shape_height: f64,
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
    fn new(frame: &Frame, diagram: &Diagram, detail: &Detail) -> Self {
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
    fn unit(&self) -> f64 {
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

pub(super) fn draw(frame: &mut Frame, diagram: &Diagram, detail: &Detail) {
    let name = |rank: u32| format!("rank {rank}");
    let names = detail.lanes.iter().map(|lane| width_of(&name(lane.rank), 12.0));
    frame.left = MARGIN + names.fold(0.0, f64::max) + 12.0;
    let places = Places::new(frame, diagram, detail);
    frame.legend(&legend(diagram, detail));
    for (at, lane) in (0..).zip(&detail.lanes) {
        let [top, bottom] = places.lane(at);
        let (left, width) = (frame.left, frame.width());
        if at % 2 == 0 {
            frame.path("lane", format!("M{left:.1},{top:.1}h{width:.1}V{bottom:.1}h-{width:.1}z"));
        }
        let size = (places.row * 0.9).clamp(9.0, 13.0);
        let y = (top + bottom) / 2.0 + size * 0.36;
        frame.text("", left - 10.0, y, size, Anchor::End, &name(lane.rank));
        frame.bottom = bottom;
    }
    frame.bottom += 4.0;
    axis(frame, diagram, &places);
    let is_wait = |shape: &&Shape| shape.kind == Kind::Waiting;
    detail.shapes.iter().filter(is_wait).for_each(|shape| area(frame, &places, shape));
    messages(frame, &places, detail);
    waits(frame, &places, diagram, detail);
    let solid = || detail.shapes.iter().filter(|shape| shape.kind != Kind::Waiting);
    solid().filter(|shape| !shape.critical).for_each(|shape| area(frame, &places, shape));
    solid().filter(|shape| shape.critical).for_each(|shape| area(frame, &places, shape));
    solid().for_each(|shape| label(frame, &places, shape));
    marks(frame, &places, detail);
    badges(frame, &places, diagram, detail);
}

/// Draws the axis, with lines between steps or at times.
fn axis(frame: &mut Frame, diagram: &Diagram, places: &Places) {
    if !places.is_by_steps() {
        return frame.time_axis(diagram, |time| places.x(time));
    }
    let bottom = frame.bottom;
    let every = (26.0 / places.unit()).ceil().max(1.0) as u64;
    let every = [1, 2, 5, 10, 20, 50, 100].into_iter().find(|&step| step >= every).unwrap_or(200);
    for step in 0..diagram.end {
        let [left, right] = [places.x(step), places.x(step + 1)];
        if step > 0 && places.unit() >= 12.0 {
            frame.path("line", format!("M{left:.1},{TOP:.1}V{bottom:.1}"));
        }
        if step % every == 0 {
            let x = match places.unit() * 0.66 > CELL_MAX {
                true => left + (places.unit() - CELL_MAX) * 0.3 + CELL_MAX / 2.0,
                false => (left + right) / 2.0 - places.unit() * 0.07,
            };
            frame.text("", x, bottom + 18.0, 12.0, Anchor::Middle, &step.to_string());
        }
    }
    frame.axis_line(STEPS);
}

fn area(frame: &mut Frame, places: &Places, shape: &Shape) {
    let rectangle = places.rectangle(shape);
    if shape.busy > shape.end && !places.is_by_steps() {
        let (from, to, y) = (rectangle.right(), places.x(shape.busy), rectangle.middle());
        let class = if shape.kind == Kind::Receive { "ri" } else { "si" };
        frame.path(class, format!("M{from:.1},{y:.1}H{to:.1}"));
    }
    let edge = match rectangle.width {
        ..EDGED_MIN => Edge::None,
        ..THICKLY_EDGED_MIN => Edge::Thin,
        _ if shape.critical => Edge::Thick,
        _ => Edge::Thin,
    };
    let (class, path) = (class(shape, edge), outline(shape.kind, rectangle));
    let tip = match shape.tip.is_empty() {
        true => shape.label.clone(),
        false => format!("{}\n{}", shape.label, shape.tip),
    };
    frame.tipped(class, path, tip);
}

/// Writes the longer text that fits into a shape.
fn label(frame: &mut Frame, places: &Places, shape: &Shape) {
    let rectangle = places.rectangle(shape);
    let largest = (rectangle.height * 0.62).clamp(LETTERS_MIN, LETTERS_MAX).floor();
    if rectangle.height < largest + 1.0 {
        return;
    }
    let point = match shape.kind {
        Kind::Send | Kind::Receive => rectangle.point(),
        _ => 0.0,
    };
    let room = rectangle.width - point - 3.0;
    // The long text in any size before the short one.
    let sizes = |text| [largest, 10.0, 9.0, LETTERS_MIN].map(|size| (text, size));
    let all = [&shape.label, &shape.short].map(sizes);
    let fits = |&(text, size): &(&String, f64)| {
        !text.is_empty() && size <= largest && width_of(text, size) <= room
    };
    let Some((text, size)) = all.into_iter().flatten().find(fits) else { return };
    let aside = match shape.kind {
        Kind::Send => -point / 2.0,
        Kind::Receive => point / 2.0,
        _ => 0.0,
    };
    let x = rectangle.x + rectangle.width / 2.0 + aside;
    let class = if shape.state == State::Done { "in" } else { "" };
    frame.text(class, x, rectangle.middle() + size * 0.36, size, Anchor::Middle, text);
}
