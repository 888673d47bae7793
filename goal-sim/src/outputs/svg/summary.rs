//! Pictures of programs with many ranks or jobs: shares of time.

use super::super::decimal::Duration;
use super::super::tracks::{Part, Track};
use super::bins::Bins;
use super::frame::Frame;
use super::{MARKER, ROWS_MAX, Work, marker_entry, swatch};
use std::fmt::Write;

const IDLE: &str = "#e9ecef";

/// The units of a row's height in the paths of shares.
const UNITS: u128 = 1000;

/// The work of rows, each of one rank or of several side by side.
pub(super) struct Summary {
    ranks: usize,
    ranks_a_row: usize,
    /// By row, the processors.
    processors: Vec<u64>,
    bins: Bins,
    /// The row and the time of each marker.
    marks: Vec<(usize, u64)>,
}

impl Summary {
    pub(super) fn new(ranks: usize, tracks: &[Track]) -> Self {
        let ranks_a_row = ranks.div_ceil(ROWS_MAX).max(1);
        let rows = ranks.div_ceil(ranks_a_row);
        let (processors, bins, marks) = (vec![0; rows], Bins::new(rows), Vec::new());
        let mut summary = Self { ranks, ranks_a_row, processors, bins, marks };
        for track in tracks.iter().filter(|track| track.part == Part::Processor) {
            let row = summary.row_of(track.rank);
            summary.processors[row] += 1;
        }
        summary
    }

    /// Returns the row of a rank.
    pub(super) fn row_of(&self, rank: u32) -> usize {
        rank as usize / self.ranks_a_row
    }

    /// Adds the work of a row's processor, with times in picoseconds.
    pub(super) fn add(&mut self, row: usize, work: Work, start: u64, end: u64) {
        self.bins.add(row, work, start, end);
    }

    /// Adds a marker that a rank reaches at a time.
    pub(super) fn mark(&mut self, rank: u32, time: u64) {
        self.marks.push((self.row_of(rank), time));
    }

    pub(super) fn draw(self, frame: &mut Frame) {
        let rows = self.processors.len();
        let height = match rows {
            0..=8 => 48.0,
            9..=16 => 30.0,
            _ => 18.0,
        };
        frame.legend(&self.legend(frame.end()));
        let names: Vec<String> = (0..rows).map(|row| self.name(row)).collect();
        let tops = frame.rows(&names, height, 3.0, IDLE);
        frame.axis();
        for (row, &top) in tops.iter().enumerate() {
            self.draw_row(frame, row, top, height);
        }
        self.draw_marks(frame, &tops, height);
        frame.caption(&self.caption());
    }

    fn name(&self, row: usize) -> String {
        let first = row * self.ranks_a_row;
        let last = (first + self.ranks_a_row).min(self.ranks) - 1;
        if first == last { format!("rank {first}") } else { format!("ranks {first}-{last}") }
    }

    fn caption(&self) -> Vec<String> {
        let of = match self.ranks_a_row {
            1 => "a rank",
            count => &format!("{count} ranks"),
        };
        vec![
            format!(
                "A row has the processors of {of}. Colours stack up to the shares of their time."
            ),
            format!(
                "A step is some {} wide. Messages are not drawn one by one: they are too many.",
                Duration(rounded(self.bins.width()))
            ),
        ]
    }

    /// Returns the colours with their shares of the time of all processors.
    fn legend(&self, end: u64) -> Vec<(String, String)> {
        let whole = self.processors.iter().map(|&count| u128::from(count)).sum::<u128>();
        let whole = whole * u128::from(end);
        let mut busy = 0;
        let mut entries = Vec::new();
        for work in Work::ALL {
            let sum = self.sum(work);
            busy += sum;
            entries.push(entry(work.colour(), work.name(), sum, whole));
        }
        entries.push(entry(IDLE, "idle", whole.saturating_sub(busy), whole));
        if !self.marks.is_empty() {
            entries.push(marker_entry());
        }
        entries
    }

    fn sum(&self, work: Work) -> u128 {
        let rows = 0..self.processors.len();
        rows.flat_map(|row| self.bins.row(row)).map(|sums| sums[work as usize]).sum()
    }

    fn draw_row(&self, frame: &mut Frame, row: usize, top: f64, height: f64) {
        let (end, width) = (frame.end(), self.bins.width());
        let scale_x = frame.width() * (width as f64 / end as f64);
        let scale_y = height / UNITS as f64;
        frame.raw(format_args!(
            "<g transform=\"translate({:.1},{:.1}) scale({scale_x:.6},{scale_y:.4})\">\n",
            frame.left(),
            top + height
        ));
        let steps = self.steps(row, end);
        let last = (end as f64 / width as f64).min(steps.len() as f64);
        // The largest sum is drawn first, so that the smaller ones cover a part of it.
        for work in Work::ALL.into_iter().rev() {
            let heights = steps.iter().map(|heights| heights[work as usize]);
            let path = path(heights, last);
            if !path.is_empty() {
                let colour = work.colour();
                frame.raw(format_args!("<path fill=\"{colour}\" d=\"{path}\"/>\n"));
            }
        }
        frame.raw(format_args!("</g>\n"));
    }

    /// Draws the markers: at most one for each row and two units of width, so that they stay few.
    fn draw_marks(&self, frame: &mut Frame, tops: &[f64], height: f64) {
        let x = |time| 2 * (frame.x(time) / 2.0).round() as i64;
        let mut places: Vec<(usize, i64)> =
            self.marks.iter().map(|&(row, time)| (row, x(time))).collect();
        places.sort_unstable();
        places.dedup();
        if places.is_empty() {
            return;
        }
        frame.raw(format_args!("<path {MARKER} d=\""));
        for (row, x) in places {
            frame.raw(format_args!("M{x},{:.1}v{height:.1}", tops[row]));
        }
        frame.raw(format_args!("\"/>\n"));
    }

    /// Returns, by bin, the height of each kind of work on top of those before it.
    fn steps(&self, row: usize, end: u64) -> Vec<[u128; 3]> {
        let width = self.bins.width();
        let used = end.div_ceil(width) as usize;
        let bins = self.bins.row(row).iter().take(used).enumerate();
        bins.map(|(at, sums)| {
            let length = (end - at as u64 * width).min(width);
            stacked(sums, u128::from(length) * u128::from(self.processors[row]))
        })
        .collect()
    }
}

/// Returns a time with its first three digits only.
fn rounded(ps: u64) -> u64 {
    let unit = 10_u64.pow(ps.checked_ilog10().unwrap_or(0).saturating_sub(2));
    ps - ps % unit
}

/// Returns the sums up to each kind of work, in [`UNITS`] of the whole.
fn stacked(sums: &[u128; 3], whole: u128) -> [u128; 3] {
    let mut sum = 0;
    sums.map(|part| {
        sum += part;
        (sum * UNITS).checked_div(whole).unwrap_or(0).min(UNITS)
    })
}

/// Returns the outline of steps of one unit each. The last one ends at `end`.
fn path(heights: impl Iterator<Item = u128>, end: f64) -> String {
    let mut path = String::new();
    let mut before = 0;
    for (at, height) in heights.enumerate() {
        if height == before {
            continue;
        }
        let _ = match path.is_empty() {
            true => write!(path, "M{at},0V-{height}"),
            false => write!(path, "H{at}V{}", -(height as i128)),
        };
        before = height;
    }
    if before > 0 {
        let _ = write!(path, "H{end:.2}V0");
    }
    path
}

fn entry(colour: &str, name: &str, part: u128, whole: u128) -> (String, String) {
    let percent = part as f64 * 100.0 / whole.max(1) as f64;
    let text = match part > 0 && percent < 0.05 {
        true => format!("{name} < 0.1 %"),
        false => format!("{name} {percent:.1} %"),
    };
    (swatch(colour), text)
}

#[cfg(test)]
mod tests {
    use super::{UNITS, path, stacked};

    #[test]
    fn shares_stack_up_to_the_whole() {
        assert_eq!(stacked(&[1, 2, 1], 4), [UNITS / 4, UNITS * 3 / 4, UNITS]);
        assert_eq!(stacked(&[0, 0, 0], 0), [0; 3]);
        let most = u128::from(u64::MAX);
        assert_eq!(stacked(&[most, 0, 0], most * 1000), [1; 3]);
    }

    #[test]
    fn a_path_returns_to_the_ground() {
        assert_eq!(path([0, 5, 5, 0, 7].into_iter(), 4.5), "M1,0V-5H3V0H4V-7H4.50V0");
        assert_eq!(path([0, 0].into_iter(), 2.0), "");
    }
}
