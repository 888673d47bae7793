//! Places actions and messages one by one.

use super::frame::{Frame, MARGIN, STEPS, TOP, width_of};
use super::item::Anchor;
use super::marks::{badges, legend, marks, messages, waits};
use super::outline::{Edge, class, outline};
use super::places::{CELL_MAX, Places};
use crate::diagram::{Detail, Diagram, Kind, Shape, State};

/// The least width of a shape with an edge, and of one with the thick edge of the longest chain.
const EDGED_MIN: f64 = 3.0;
const THICKLY_EDGED_MIN: f64 = 9.0;
/// The least and the largest size of letters in shapes.
const LETTERS_MIN: f64 = 8.0;
const LETTERS_MAX: f64 = 12.0;

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
