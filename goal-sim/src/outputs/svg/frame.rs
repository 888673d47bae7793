//! The parts that all pictures have: title, legend, rows, axis and caption.

use super::super::decimal::{Decimal, Duration, Unit};
use super::Title;
use goalc::graph::escaped_xml;
use std::fmt::Write;

const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 24.0;
/// The space at the right end, for half of a number at the axis.
const RIGHT: f64 = 44.0;
/// The upper end of the first row.
const TOP: f64 = 112.0;
/// The height of the axis with its numbers and its title.
const AXIS: f64 = 52.0;
const LINE: f64 = 20.0;
const FONT: f64 = 13.0;
/// Most ticks of the axis.
const TICKS_MAX: u64 = 10;

const TEXT: &str = "#212529";
const GREY: &str = "#495057";
const FAINT: &str = "#dee2e6";

/// A picture that is being drawn. Its parts come from top to bottom.
pub(super) struct Frame {
    svg: String,
    finish: u64,
    end: u64,
    left: f64,
    bottom: f64,
}

impl Frame {
    /// Begins a picture of a simulation that finishes at `finish`, with an axis until `end`. Both
    /// are in picoseconds.
    pub(super) fn new(title: &Title, finish: u64, end: u64) -> Self {
        let mut frame = Self { svg: String::new(), finish, end, left: 0.0, bottom: TOP };
        let ranks = if title.ranks == 1 { "1 rank" } else { &format!("{} ranks", title.ranks) };
        let heading = format!("{}: {ranks}, ends at {}", title.name, Duration(finish));
        let _ = writeln!(frame.svg, "<title>{}</title>", escaped_xml(&heading));
        frame.rectangle("width=\"100%\" height=\"100%\" rx=\"14\" fill=\"#ffffff\"");
        frame.text(MARGIN, 38.0, &heading, "font-size=\"18\" font-weight=\"bold\"");
        frame.text(MARGIN, 60.0, &title.machine, &format!("fill=\"{GREY}\""));
        frame
    }

    pub(super) fn raw(&mut self, svg: std::fmt::Arguments<'_>) {
        let _ = self.svg.write_fmt(svg);
    }

    fn rectangle(&mut self, attributes: &str) {
        let _ = writeln!(self.svg, "<rect {attributes}/>");
    }

    pub(super) fn text(&mut self, x: f64, y: f64, text: &str, attributes: &str) {
        let (text, space) = (escaped_xml(text), if attributes.is_empty() { "" } else { " " });
        self.raw(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\"{space}{attributes}>{text}</text>\n"
        ));
    }

    /// Draws the legend: shapes around a point, and their texts.
    pub(super) fn legend(&mut self, entries: &[(String, String)]) {
        let (mut x, y) = (MARGIN, 86.0);
        for (shape, text) in entries {
            self.raw(format_args!("<g transform=\"translate({x:.1},{y})\">{shape}</g>\n"));
            self.text(x + 24.0, y + 4.5, text, "");
            x += 24.0 + width_of(text) + 20.0;
        }
    }

    /// Draws the names of rows of a height, and their grounds. Returns the upper ends of the rows.
    pub(super) fn rows(&mut self, names: &[String], height: f64, gap: f64, fill: &str) -> Vec<f64> {
        let widest = names.iter().map(|name| width_of(name)).fold(0.0, f64::max);
        self.left = MARGIN + widest + 10.0;
        let (left, width) = (self.left, self.width());
        let tops: Vec<f64> =
            (0..names.len()).map(|row| TOP + row as f64 * (height + gap)).collect();
        self.bottom = tops.last().map_or(TOP, |top| top + height) + 6.0;
        for (name, &top) in names.iter().zip(&tops) {
            let end = "text-anchor=\"end\"";
            self.text(left - 10.0, top + height / 2.0 + 4.5, name, end);
            self.rectangle(&format!(
                "x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
                 fill=\"{fill}\""
            ));
        }
        tops
    }

    /// Returns the place of a time.
    pub(super) fn x(&self, time: u64) -> f64 {
        self.left + self.width() * (time.min(self.end) as f64 / self.end as f64)
    }

    pub(super) fn left(&self) -> f64 {
        self.left
    }

    /// Returns the width that the whole time has.
    pub(super) fn width(&self) -> f64 {
        WIDTH - RIGHT - self.left
    }

    /// Returns the end of the axis in picoseconds.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Draws the axis with lines through all rows. What is drawn later covers the lines.
    pub(super) fn axis(&mut self) {
        let unit = Unit::of(self.end);
        let bottom = self.bottom;
        for time in ticks(self.end) {
            let x = self.x(time);
            self.raw(format_args!(
                "<path d=\"M{x:.1},{:.1}V{:.1}\" stroke=\"{FAINT}\"/>\n",
                TOP - 6.0,
                bottom + 5.0
            ));
            let number = Decimal(time, unit).to_string();
            self.text(x, bottom + 20.0, &number, "text-anchor=\"middle\" font-size=\"12\"");
        }
        let (left, right) = (self.left, self.left + self.width());
        self.raw(format_args!(
            "<path d=\"M{left:.1},{bottom:.1}H{right:.1}\" stroke=\"{GREY}\"/>\n"
        ));
        let title = format!("time in {}", unit.name());
        let middle = "text-anchor=\"middle\" font-size=\"12\"";
        self.text((left + right) / 2.0, bottom + 40.0, &title, middle);
        self.finish_line();
    }

    fn finish_line(&mut self) {
        let (x, top, bottom) = (self.x(self.finish), TOP - 6.0, self.bottom);
        self.raw(format_args!(
            "<path d=\"M{x:.1},{top:.1}V{bottom:.1}\" stroke=\"{TEXT}\" stroke-width=\"1.5\" \
             stroke-dasharray=\"5 4\"/>\n"
        ));
        let text = format!("end {}", Duration(self.finish));
        let half = width_of(&text) / 2.0;
        let x = x.clamp(self.left + half, WIDTH - MARGIN - half);
        self.text(x, top - 4.0, &text, "text-anchor=\"middle\" font-size=\"12\"");
    }

    /// Draws lines of text below the axis.
    pub(super) fn caption(&mut self, lines: &[String]) {
        self.bottom += AXIS;
        for line in lines {
            self.bottom += LINE;
            let grey = format!("fill=\"{GREY}\" font-size=\"12\"");
            self.text(MARGIN, self.bottom - 6.0, line, &grey);
        }
    }

    /// Returns the picture.
    pub(super) fn finish(self) -> String {
        let (height, svg) = (self.bottom + 14.0, self.svg);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
             width=\"{WIDTH}\" height=\"{height:.0}\" role=\"img\" font-family=\"sans-serif\" \
             font-size=\"{FONT}\" fill=\"{TEXT}\">\n{svg}</svg>\n"
        )
    }
}

/// Returns an upper bound on the width of a text in most fonts.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * FONT * 0.58
}

/// Returns round times from 0 to `end`.
fn ticks(end: u64) -> impl Iterator<Item = u64> {
    let steps = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    let step = steps.into_iter().find(|step| end / step < TICKS_MAX).unwrap_or(end);
    (0..=end / step).map(move |tick| tick * step)
}

#[cfg(test)]
mod tests {
    use super::{TICKS_MAX, ticks};

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(22_168_000).last(), Some(20_000_000));
        for end in [1, 9, 10, 99, 12_345_678, u64::MAX] {
            let all: Vec<u64> = ticks(end).collect();
            assert!(all.len() as u64 <= TICKS_MAX && all.len() >= 2, "{end}: {all:?}");
            assert!(all.iter().all(|&tick| tick <= end), "{end}: {all:?}");
        }
    }
}
