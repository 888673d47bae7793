//! The parts that all pictures have: title, legend, axis, findings and notes.

use super::item::{Anchor, Item, Scene};
use crate::diagram::{Axis, Body, Diagram, Finding};
use crate::limits::LINE_CHARS_MAX;
use crate::unit::{Duration, decimal, shortened, ticks, unit_of};

/// A picture has the form of a slide, 16 to 9, unless it needs more height.
const WIDTH: f64 = 1280.0;
/// The least width, for few steps.
const WIDTH_MIN: f64 = 860.0;
pub(super) const HEIGHT: f64 = 720.0;
pub(super) const MARGIN: f64 = 24.0;
/// The upper end of the first lane.
pub(super) const TOP: f64 = 104.0;
/// The title of the axis of steps.
pub(super) const STEPS: &str = "step of the longest chain of actions";
/// The height of the axis with its numbers.
const AXIS: f64 = 44.0;
const LINE: f64 = 17.0;
/// The space of a legend's shape.
pub(super) const SWATCH: f64 = 22.0;

/// A picture that is being drawn, from the lowest part to the highest.
pub(super) struct Frame {
    items: Vec<Item>,
    pub(super) bottom: f64,
    /// The ends of the lanes.
    pub(super) left: f64,
    pub(super) right: f64,
    size: f64,
    lines: Vec<(Tone, String)>,
}

impl Frame {
    /// Begins a picture that would like to be `wanted` wide.
    pub(super) fn new(diagram: &Diagram, wanted: f64) -> Self {
        let size = wanted.clamp(WIDTH_MIN, WIDTH);
        let mut frame = Self {
            items: Vec::new(),
            bottom: TOP,
            left: MARGIN,
            right: size - MARGIN - 8.0,
            size,
            lines: lines(diagram, ((size - 2.0 * MARGIN - 22.0) / 6.9) as usize),
        };
        let title = shortened(&diagram.title, (size / 12.0) as usize);
        frame.text("bold", MARGIN, 36.0, 19.0, Anchor::Start, &title);
        let subtitle = shortened(&diagram.subtitle, (size / 7.6) as usize);
        frame.text("faint", MARGIN, 57.0, 13.0, Anchor::Start, &subtitle);
        frame
    }

    /// Returns the height that lanes may take if the picture keeps the form of a slide.
    pub(super) fn room(&self) -> f64 {
        HEIGHT - TOP - AXIS - self.lines.len() as f64 * LINE - 12.0
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn path(&mut self, class: &'static str, path: String) {
        self.items.push(Item::Path { class, path, tip: None });
    }

    pub(super) fn tipped(&mut self, class: &'static str, path: String, tip: String) {
        self.items.push(Item::Path { class, path, tip: Some(tip) });
    }

    pub(super) fn text(
        &mut self,
        class: &'static str,
        x: f64,
        y: f64,
        size: f64,
        anchor: Anchor,
        text: &str,
    ) {
        let text = text.to_owned();
        self.items.push(Item::Text { class, x, y, size, anchor, text });
    }

    /// Draws the legend: the classes and outlines of shapes, and what they mean.
    pub(super) fn legend(&mut self, entries: &[Entry]) {
        let (mut x, y) = (MARGIN, 83.0);
        for entry in entries {
            let width = SWATCH + 6.0 + width_of(&entry.text, 12.0);
            if x + width > self.size - MARGIN {
                break;
            }
            for (class, path) in (entry.shape)(x, y) {
                self.path(class, path);
            }
            self.text("", x + SWATCH + 6.0, y + 4.3, 12.0, Anchor::Start, &entry.text);
            x += width + 20.0;
        }
    }

    /// Draws the axis of times below the lanes, and lines through them. `x` gives places.
    pub(super) fn time_axis(&mut self, diagram: &Diagram, x: impl Fn(u64) -> f64) {
        let (unit, length) = unit_of(diagram.end);
        let bottom = self.bottom;
        for time in ticks(diagram.end, 10) {
            let x = x(time);
            self.path("line", format!("M{x:.1},{:.1}V{:.1}", TOP - 4.0, bottom + 5.0));
            let number = decimal(time as f64 / length as f64);
            self.text("", x, bottom + 19.0, 12.0, Anchor::Middle, &number);
        }
        let what = if diagram.axis == Axis::Measured { "measured" } else { "simulated" };
        self.axis_line(&format!("{what} time in {unit}"));
        let Some(finish) = diagram.finish else { return };
        let at = x(finish);
        self.path("end", format!("M{at:.1},{:.1}V{bottom:.1}", TOP - 4.0));
        let end = format!("end {}", Duration(finish));
        self.text("", at, TOP - 8.0, 12.0, Anchor::End, &end);
    }

    /// Draws the line of the axis, and its title.
    pub(super) fn axis_line(&mut self, title: &str) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        self.path("axis", format!("M{left:.1},{bottom:.1}H{right:.1}"));
        self.text("faint", (left + right) / 2.0, bottom + 36.0, 12.0, Anchor::Middle, title);
    }

    /// Returns the scene, with findings and notes below the axis.
    pub(super) fn finish(mut self, diagram: &Diagram) -> Scene {
        let mut y = self.bottom + AXIS + 12.0;
        for (tone, line) in std::mem::take(&mut self.lines) {
            let (x, class) = match tone {
                Tone::Code(number) => {
                    self.badge(MARGIN + 8.0, y - 4.0, number);
                    (MARGIN + 22.0, "bad")
                }
                Tone::Text => (MARGIN + 22.0, ""),
                Tone::Note => (MARGIN, "faint"),
            };
            self.text(class, x, y, 12.0, Anchor::Start, &line);
            y += LINE;
        }
        let description =
            std::iter::once(&diagram.subtitle).chain(&diagram.notes).cloned().collect::<Vec<_>>();
        Scene {
            width: self.size,
            height: y.max(self.bottom + AXIS + 12.0).ceil(),
            title: shortened(&diagram.title, LINE_CHARS_MAX),
            description: description.join(". ").replace("..", "."),
            items: self.items,
        }
    }

    /// Draws the number of a finding.
    pub(super) fn badge(&mut self, x: f64, y: f64, number: usize) {
        let circle = format!("M{:.1},{y:.1}a7,7 0 1 0 14,0a7,7 0 1 0 -14,0z", x - 7.0);
        self.path("dot", circle);
        self.text("badge", x, y + 3.6, 10.0, Anchor::Middle, &number.to_string());
    }
}

/// The paths of a legend's entry, by the point at its left.
type Swatch = Box<dyn Fn(f64, f64) -> Vec<(&'static str, String)>>;

/// An entry of a legend.
pub(super) struct Entry {
    /// Returns the paths around the middle of the left end.
    pub(super) shape: Swatch,
    pub(super) text: String,
}

impl Entry {
    pub(super) fn new(
        text: impl Into<String>,
        shape: impl Fn(f64, f64) -> Vec<(&'static str, String)> + 'static,
    ) -> Self {
        Self { shape: Box::new(shape), text: text.into() }
    }
}

/// The look of a line below the picture.
enum Tone {
    /// The code of the finding with a number.
    Code(usize),
    /// The text of a finding.
    Text,
    Note,
}

/// Returns the lines of findings and of notes, with at most `max` characters each.
fn lines(diagram: &Diagram, max: usize) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    for (at, Finding { code, text, .. }) in diagram.findings.iter().enumerate() {
        if !code.is_empty() {
            lines.push((Tone::Code(at + 1), code.clone()));
        }
        lines.extend(wrapped(text, max).into_iter().map(|line| (Tone::Text, line)));
    }
    if let Body::Summary(summary) = &diagram.body {
        let rows = wrapped(&summary.rows(diagram.axis), max).into_iter();
        lines.extend(rows.map(|line| (Tone::Note, line)));
    }
    let notes = diagram.notes.iter().flat_map(|note| wrapped(note, max));
    lines.extend(notes.map(|line| (Tone::Note, line)));
    lines
}

/// Breaks a text into lines of at most `max` characters, between words where it has some.
fn wrapped(text: &str, max: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in text.split_whitespace() {
        let word = shortened(word, max);
        let chars = word.chars().count();
        if length > 0 && length + 1 + chars > max {
            lines.push(String::new());
            length = 0;
        }
        let line = lines.last_mut().expect("a line");
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(&word);
        length += chars;
    }
    lines
}

/// Returns an upper bound on the width of a text in most fonts.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    let width = |character: char| match character {
        'i' | 'l' | 'j' | '.' | ',' | ' ' | '1' | 't' | 'f' | 'r' => 0.45,
        'm' | 'w' | 'M' | 'W' | '\u{2192}' | '\u{2190}' => 0.95,
        _ if character.is_ascii() => 0.64,
        _ => 1.0,
    };
    text.chars().map(width).sum::<f64>() * size
}
