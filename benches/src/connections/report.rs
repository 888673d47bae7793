//! The table of a run, and its raw data.

use super::{Figure, Sample};
use crate::measure::median;
use crate::table;

/// The least part of the performance with the fewest connections that is left with more (O2G).
const GOAL: f64 = 0.98;

pub(crate) const CSV_HEADER: &str = "wait,figure,bytes,connections,turn,value";

/// Returns the line of a sample in the raw data.
pub(super) fn line(sample: &Sample, turn: u32) -> String {
    let Sample { wait, figure, connections, value } = sample;
    let (name, bytes) = figure.named();
    format!("{wait},{name},{bytes},{connections},{turn},{value:.4}\n")
}

const HEADER: [&str; 10] = [
    "wait",
    "figure",
    "bytes",
    "connections",
    "median",
    "least",
    "most",
    "of the first",
    "goal",
    "met",
];

/// Prints a row for each way to wait, figure and number of connections.
pub(super) fn print(samples: &[Sample]) {
    say!(
        "\nHalf a round trip in us, streams in MB/s. Of the first: the part of the performance with the first number of connections that is left."
    );
    table::print(&HEADER, &rows(samples));
}

/// Returns the values in the order in which they occur first.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

fn rows(samples: &[Sample]) -> Vec<Vec<String>> {
    let groups = |of: &Sample| (of.wait, of.figure);
    let mut rows = Vec::new();
    for (wait, figure) in distinct(samples.iter().map(groups)) {
        let of_group = || samples.iter().filter(|of| (of.wait, of.figure) == (wait, figure));
        let mut first = None;
        for connections in distinct(of_group().map(|of| of.connections)) {
            let values = of_group().filter(|of| of.connections == connections).map(|of| of.value);
            let middle = median(values.clone());
            let first = *first.get_or_insert(middle);
            let (name, bytes) = figure.named();
            let left = match figure {
                Figure::Latency => first / middle,
                Figure::Bandwidth(_) => middle / first,
            };
            let least = values.clone().fold(f64::MAX, f64::min);
            let most = values.fold(0.0, f64::max);
            let mut row = vec![wait.to_owned(), name.to_owned(), bytes.to_string()];
            row.push(connections.to_string());
            row.extend([middle, least, most].map(|value| format!("{value:.2}")));
            row.extend([format!("{:.1} %", 100.0 * left), format!("{:.0} %", 100.0 * GOAL)]);
            row.push(if left >= GOAL { "yes" } else { "no" }.to_owned());
            rows.push(row);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{Figure, Sample, rows};

    #[test]
    fn parts_of_the_first_number_of_connections() {
        let sample =
            |figure, connections, value| Sample { wait: "spin", figure, connections, value };
        let bandwidth = Figure::Bandwidth(4096);
        let samples = [
            sample(Figure::Latency, 1, 10.0),
            sample(bandwidth, 1, 1000.0),
            sample(Figure::Latency, 100, 12.5),
            sample(bandwidth, 100, 990.0),
            sample(Figure::Latency, 1, 20.0),
            sample(Figure::Latency, 1, 9.0),
        ];
        let rows: Vec<String> = rows(&samples).iter().map(|row| row.join(" ")).collect();
        let wanted = [
            "spin latency 8 1 10.00 9.00 20.00 100.0 % 98 % yes",
            "spin latency 8 100 12.50 12.50 12.50 80.0 % 98 % no",
            "spin bandwidth 4096 1 1000.00 1000.00 1000.00 100.0 % 98 % yes",
            "spin bandwidth 4096 100 990.00 990.00 990.00 99.0 % 98 % yes",
        ];
        assert_eq!(rows, wanted);
    }
}
