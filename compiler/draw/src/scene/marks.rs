//! The lines of a detailed picture: messages, dependencies, waits and markers. The legend names
//! those that are there.

use super::frame::{Entry, Frame, SWATCH};
use super::outline::{Rectangle, outline};
use super::places::Places;
use crate::diagram::{Axis, Detail, Diagram, Kind, Message, Shape, State};

/// Most shapes of a finding that get its number.
const BADGES_MAX: usize = 16;

/// Most lanes whose messages have arrowheads.
const LANES_WITH_TIPS: usize = 24;

/// Draws messages and dependencies. Those on the longest chain come last.
pub(super) fn messages(frame: &mut Frame, places: &Places, detail: &Detail) {
    let shape = |at: u32| &detail.shapes[at as usize];
    let is_under_way = |message: &Message| shape(message.from).state != State::Unstarted;
    let many = detail.lanes.len() > LANES_WITH_TIPS;
    for critical in [false, true] {
        for link in detail.dependencies.iter().filter(|link| link.critical == critical) {
            let class = match (link.critical, link.start) {
                (true, _) => "cd",
                (false, true) => "di",
                (false, false) => "d",
            };
            let skips = places.is_by_steps() && shape(link.to).begin > shape(link.from).begin + 1;
            let [from, to] = [link.from, link.to].map(|at| places.rectangle(shape(at)));
            frame.path(class, dependency(from, to, link.start, skips));
        }
        for message in detail.messages.iter().filter(|message| message.critical == critical) {
            let class = match (message.received, message.critical) {
                (false, _) if !is_under_way(message) => continue,
                (false, _) => "e",
                (true, false) if many => "mt",
                (true, false) => "m",
                (true, true) => "cm",
            };
            let path = line(places, shape(message.from), shape(message.to));
            frame.path(class, path);
        }
    }
}

/// Returns the line of a dependency. One that skips steps runs below its row, around the shapes of
/// these steps.
fn dependency(from: Rectangle, to: Rectangle, is_start: bool, skips: bool) -> String {
    let (x1, y1) = (if is_start { from.x } else { from.right() }, from.middle());
    let (x2, y2) = (to.x, to.middle());
    if !skips {
        return format!("M{x1:.1},{y1:.1}L{x2:.1},{y2:.1}");
    }
    let low = from.bottom() + from.height * 0.17;
    let bend = ((x2 - x1) * 0.2).clamp(6.0, 40.0);
    format!(
        "M{x1:.1},{y1:.1}C{:.1},{y1:.1} {x1:.1},{low:.1} {:.1},{low:.1}H{:.1}\
         C{x2:.1},{low:.1} {:.1},{y2:.1} {x2:.1},{y2:.1}",
        x1 + bend / 2.0,
        x1 + bend,
        x2 - bend,
        x2 - bend / 2.0
    )
}

/// Returns the line of a message.
fn line(places: &Places, send: &Shape, receive: &Shape) -> String {
    let [from, to] = [send, receive].map(|shape| places.rectangle(shape));
    if places.is_by_steps() {
        let notch = to.x + if receive.kind == Kind::Receive { to.point() * 0.8 } else { 0.0 };
        let (x1, y1, y2) = (from.right(), from.middle(), to.middle());
        if notch <= x1 {
            // A message that is never received may run back.
            let bend = (x1 - notch).max(30.0);
            return format!(
                "M{x1:.1},{y1:.1}C{:.1},{y1:.1} {:.1},{y2:.1} {notch:.1},{y2:.1}",
                x1 + bend,
                notch - bend
            );
        }
        return format!("M{x1:.1},{y1:.1}L{notch:.1},{y2:.1}");
    }
    // Between the facing sides. A message of a rank to itself stays below its row.
    let side = |rectangle: &Rectangle, is_lower: bool| match is_lower {
        true => rectangle.bottom(),
        false => rectangle.y,
    };
    let (y1, y2) = (side(&from, to.y >= from.y), side(&to, to.y <= from.y));
    let x2 = to.x;
    let x1 = from.right().min(x2).max(from.x.min(x2));
    format!("M{x1:.1},{y1:.1}L{x2:.1},{y2:.1}")
}

/// Draws the markers of lanes.
pub(super) fn marks(frame: &mut Frame, places: &Places, detail: &Detail) {
    for mark in &detail.marks {
        let [top, bottom] = places.lane(mark.lane);
        let x = places.x(mark.at);
        frame.tipped("mark", format!("M{x:.1},{top:.1}V{bottom:.1}"), mark.tip.clone());
    }
}

/// Draws the waits of findings: together they are a circle.
pub(super) fn waits(frame: &mut Frame, places: &Places, diagram: &Diagram, detail: &Detail) {
    let shape = |at: u32| &detail.shapes[at as usize];
    for finding in &diagram.findings {
        for &[waiter, awaited] in &finding.waits {
            let [from, to] = [waiter, awaited].map(|at| places.rectangle(shape(at)));
            let tip = format!(
                "waits: rank {}, {}\nfor rank {}, {}",
                detail.lanes[shape(waiter).lane as usize].rank,
                shape(waiter).label,
                detail.lanes[shape(awaited).lane as usize].rank,
                shape(awaited).label
            );
            frame.tipped("wait", wire(from, to), tip);
        }
    }
}

/// Draws the numbers of findings at their shapes.
pub(super) fn badges(frame: &mut Frame, places: &Places, diagram: &Diagram, detail: &Detail) {
    let shape = |at: u32| &detail.shapes[at as usize];
    for (number, finding) in diagram.findings.iter().enumerate() {
        for &at in finding.shapes.iter().take(BADGES_MAX) {
            let rectangle = places.rectangle(shape(at));
            frame.badge(rectangle.x + 2.0, rectangle.y + 1.0, number + 1);
        }
    }
}

/// Returns the line of a wait, between the sides of two shapes that face each other.
fn wire(from: Rectangle, to: Rectangle) -> String {
    if (from.y - to.y).abs() < 1.0 && to.right() <= from.x {
        // A dependency in a row.
        let (x1, x2, y) = (from.x, to.right(), from.middle());
        return format!("M{x1:.1},{y:.1}H{x2:.1}");
    }
    let (y1, y2) = match from.y < to.y {
        true => (from.bottom(), to.y),
        false => (from.y, to.bottom()),
    };
    // Wires of both directions stay apart.
    let share = if from.y < to.y { 0.65 } else { 0.35 };
    let (x1, x2) = (from.x + from.width * share, to.x + to.width * share);
    let bend = ((y2 - y1).abs() * 0.5).max(14.0).copysign(y2 - y1);
    format!("M{x1:.1},{y1:.1}C{x1:.1},{:.1} {x2:.1},{:.1} {x2:.1},{y2:.1}", y1 + bend, y2 - bend)
}

/// Returns the legend of what the picture has.
pub(super) fn legend(diagram: &Diagram, detail: &Detail) -> Vec<Entry> {
    let mut entries = Vec::new();
    let swatch = |kind: Kind, class: &'static str| {
        move |x: f64, y: f64| {
            let rectangle = Rectangle { x, y: y - 7.0, width: SWATCH, height: 14.0 };
            vec![(class, outline(kind, rectangle))]
        }
    };
    let shapes = &detail.shapes;
    for (kind, class, text) in [
        (Kind::Send, "s", "send"),
        (Kind::Receive, "r", "receive"),
        (Kind::Operation, "o", "operation"),
        (Kind::Calculation, "k", "computation"),
        (Kind::Nop, "n", "nop"),
    ] {
        if shapes.iter().any(|shape| shape.kind == kind && shape.state == State::Done) {
            entries.push(Entry::new(text, swatch(kind, class)));
        }
    }
    if shapes.iter().any(|shape| shape.kind == Kind::Waiting && shape.state == State::Done) {
        entries.push(Entry::new("waiting", |x, y| {
            let rectangle = Rectangle { x, y: y - 4.0, width: SWATCH, height: 8.0 };
            vec![("w", outline(Kind::Waiting, rectangle))]
        }));
    }
    let stroke = |class: &'static str| {
        move |x: f64, y: f64| vec![(class, format!("M{x:.1},{:.1}l{SWATCH},10", y - 5.0))]
    };
    if detail.messages.iter().any(|message| message.received) {
        entries.push(Entry::new("message", stroke("m")));
    }
    let is_under_way = |message: &Message| {
        !message.received && shapes[message.from as usize].state != State::Unstarted
    };
    if detail.messages.iter().any(is_under_way) {
        entries.push(Entry::new("message that is not received", stroke("e")));
    }
    if shapes.iter().any(|shape| shape.busy > shape.end) {
        entries.push(Entry::new("interface busy", |x, y| {
            vec![("si", format!("M{x:.1},{y:.1}h{SWATCH}"))]
        }));
    }
    if detail.dependencies.iter().any(|link| !link.critical && !link.start) {
        entries.push(Entry::new("after the end", |x, y| {
            vec![("d", format!("M{x:.1},{y:.1}h{SWATCH}"))]
        }));
    }
    if detail.dependencies.iter().any(|link| !link.critical && link.start) {
        entries.push(Entry::new("after the start", |x, y| {
            vec![("di", format!("M{x:.1},{y:.1}h{SWATCH}"))]
        }));
    }
    if shapes.iter().any(|shape| shape.critical) {
        let text = match diagram.axis {
            Axis::Simulated => "critical path",
            Axis::Steps | Axis::Measured => "longest chain",
        };
        entries.push(Entry::new(text, |x, y| vec![("cd", format!("M{x:.1},{y:.1}h{SWATCH}"))]));
    }
    for (state, class, text) in [
        (State::Blocked, "b", "waits for ever"),
        (State::Unmatched, "x", "no other end"),
        (State::Unstarted, "u", "never starts"),
    ] {
        if shapes.iter().any(|shape| shape.state == state) {
            entries.push(Entry::new(text, swatch(Kind::Calculation, class)));
        }
    }
    if diagram.findings.iter().any(|finding| !finding.waits.is_empty()) {
        entries.push(Entry::new("waits for", |x, y| {
            vec![("wait", format!("M{x:.1},{y:.1}h{SWATCH}"))]
        }));
    }
    if !detail.marks.is_empty() {
        entries.push(Entry::new("marker", |x, y| {
            vec![("mark", format!("M{:.1},{:.1}v14", x + SWATCH / 2.0, y - 7.0))]
        }));
    }
    entries
}
