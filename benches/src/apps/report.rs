//! The raw data of a measurement, and its table.

use super::application::{Application, Size};
use crate::library::goal::LIBGOAL;
use crate::measure::median;
use crate::table;
use std::collections::BTreeMap;
use std::fmt;
use std::io;

/// The time that a program tells.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    pub(super) application: Application,
    pub(super) ranks: u32,
    pub(super) size: Size,
    pub(super) library: String,
    pub(super) way: &'static str,
    pub(super) run: u32,
    /// Microseconds of an iteration.
    pub(super) us: f64,
}

pub(super) const HEADER: &str = "application,ranks,class,contestant,way,run,us";

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { application, ranks, size, library, way, run, us } = self;
        let (application, size) = (application.name(), size.name());
        write!(f, "{application},{ranks},{size},{library},{way},{run},{us:.2}")
    }
}

/// Returns the microseconds of an iteration in the lines of a program.
///
/// # Errors
/// No line has them.
pub(super) fn parse(lines: &[String]) -> io::Result<f64> {
    let us = |line: &String| {
        line.strip_prefix("time: ")?.strip_suffix(" us an iteration")?.parse::<f64>().ok()
    };
    let found = lines.iter().find_map(us).filter(|us| us.is_finite());
    found.ok_or_else(|| io::Error::other(format!("no time in `{}`", lines.join("\n"))))
}

/// Prints a row for each library in its fastest way.
pub(super) fn print(samples: &[Sample]) {
    let header = ["application", "ranks", "class", "by", "us", "least", "most", "libgoal of it"];
    table::print(&header, &rows(samples));
}

fn rows(samples: &[Sample]) -> Vec<Vec<String>> {
    let mut cells: BTreeMap<(Application, u32, Size), Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        let cell = (sample.application, sample.ranks, sample.size);
        cells.entry(cell).or_default().push(sample);
    }
    let mut rows = Vec::new();
    for ((application, ranks, size), samples) in cells {
        let fastest = fastest(&samples);
        let ours = fastest.iter().find(|of| of.library == LIBGOAL).map(|of| of.us);
        for of in &fastest {
            let mut row = vec![application.name().to_owned(), ranks.to_string()];
            let name = match of.library {
                LIBGOAL => LIBGOAL.to_owned(),
                library => format!("{library}, {}", of.way),
            };
            row.extend([size.name().to_owned(), name]);
            row.extend([of.us, of.least, of.most].map(|us| format!("{us:.1}")));
            let ratio = ours.filter(|_| of.library != LIBGOAL).map(|ours| ours / of.us);
            row.push(ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")));
            rows.push(row);
        }
    }
    rows
}

/// The times of a library in its fastest way.
struct Fastest<'a> {
    library: &'a str,
    way: &'static str,
    /// The median.
    us: f64,
    least: f64,
    most: f64,
}

/// Returns the fastest way of each library, in the order in which the libraries occur.
fn fastest<'a>(samples: &[&'a Sample]) -> Vec<Fastest<'a>> {
    let mut ways: Vec<(&str, &'static str, Vec<f64>)> = Vec::new();
    for sample in samples {
        let of = ways.iter_mut().find(|of| (of.0, of.1) == (sample.library.as_str(), sample.way));
        match of {
            Some((.., times)) => times.push(sample.us),
            None => ways.push((&sample.library, sample.way, vec![sample.us])),
        }
    }
    let mut fastest: Vec<Fastest<'a>> = Vec::new();
    for (library, way, times) in ways {
        let (least, most) =
            times.iter().fold((f64::MAX, f64::MIN), |(l, m), &us| (l.min(us), m.max(us)));
        let new = Fastest { library, way, us: median(times), least, most };
        match fastest.iter_mut().find(|of| of.library == library) {
            Some(of) if of.us <= new.us => {}
            Some(of) => *of = new,
            None => fastest.push(new),
        }
    }
    fastest
}

#[cfg(test)]
mod tests {
    use super::{Application, HEADER, LIBGOAL, Sample, Size, parse, rows};

    fn sample(library: &str, way: &'static str, run: u32, us: f64) -> Sample {
        let (application, size, library) = (Application::Is, Size::W, library.to_owned());
        Sample { application, ranks: 2, size, library, way, run, us }
    }

    #[test]
    fn the_time_in_the_lines_of_a_program() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let said = lines("2 ranks: right\ntime: 12.50 us an iteration");
        assert_eq!(parse(&said).expect("a time"), 12.5);
        for wrong in ["2 ranks: right", "time: us an iteration", "time: NaN us an iteration"] {
            let error = parse(&lines(wrong)).expect_err("no time").to_string();
            assert_eq!(error, format!("no time in `{wrong}`"));
        }
    }

    #[test]
    fn a_row_for_the_fastest_way_of_each_library() {
        let samples = [
            sample(LIBGOAL, "prepared", 1, 3.0),
            sample("A", "blocking", 1, 8.0),
            sample("A", "messages", 1, 4.0),
            sample(LIBGOAL, "prepared", 2, 1.0),
            sample("A", "blocking", 2, 9.0),
            sample("A", "messages", 2, 6.0),
        ];
        let wanted = [
            ["is", "2", "W", LIBGOAL, "2.0", "1.0", "3.0", "-"],
            ["is", "2", "W", "A, messages", "5.0", "4.0", "6.0", "0.40"],
        ];
        assert_eq!(rows(&samples), wanted);
        assert_eq!(samples[2].to_string(), "is,2,W,A,messages,1,4.00");
        assert_eq!(HEADER.split(',').count(), samples[0].to_string().split(',').count());
    }
}
