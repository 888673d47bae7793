//! The raw data of `connections` as a picture: the part of the performance that is left, over the
//! number of other connections.

use super::draw::{COLORS, Drawn};
use crate::connections::CSV_HEADER;
use crate::measure::median;
use plotters::prelude::*;
use std::collections::BTreeMap;

const SIZE: (u32, u32) = (640, 420);

/// A line of the picture: its name, and the part that is left at each number of connections.
#[derive(Debug, PartialEq)]
struct Line {
    name: String,
    points: Vec<(u32, f64)>,
}

/// Returns the picture.
///
/// # Errors
/// The first line that is not what `connections` writes.
pub(super) fn svg(csv: &str) -> Result<String, String> {
    let mut text = String::new();
    draw(&parse(csv)?, &mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

fn parse(csv: &str) -> Result<Vec<Line>, String> {
    let mut samples: BTreeMap<(&str, u64, &str), BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
    for (number, line) in (1..).zip(csv.lines()).skip(1) {
        let sample = || {
            let [wait, figure, bytes, connections, _turn, value] =
                line.split(',').collect::<Vec<_>>()[..]
            else {
                return None;
            };
            let value = value.parse().ok().filter(|&value: &f64| value > 0.0)?;
            let connections = connections.parse().ok().filter(|&connections| connections > 0)?;
            Some(((figure, bytes.parse().ok()?, wait), connections, value))
        };
        let (key, connections, value) =
            sample().ok_or_else(|| format!("line {number}: `{line}` is no sample"))?;
        samples.entry(key).or_default().entry(connections).or_default().push(value);
    }
    if samples.is_empty() {
        return Err(format!("there are no samples behind `{CSV_HEADER}`"));
    }
    let line = |((figure, bytes, wait), of): ((&str, u64, &str), BTreeMap<u32, Vec<f64>>)| {
        let medians: Vec<(u32, f64)> = of.into_iter().map(|(at, of)| (at, median(of))).collect();
        let first = medians[0].1;
        let left = |&(at, value): &(u32, f64)| match figure {
            "latency" => (at, first / value),
            _ => (at, value / first),
        };
        Line {
            name: format!("{figure}, {bytes} B, {wait}"),
            points: medians.iter().map(left).collect(),
        }
    };
    Ok(samples.into_iter().map(line).collect())
}

fn draw(lines: &[Line], text: &mut String) -> Drawn {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = f64::from(points().map(|&(at, _)| at).max().unwrap_or(1));
    let high = points().map(|&(_, left)| left).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d((0.8..most * 1.3).log_scale(), 0.0..high * 1.1)?;
    chart
        .configure_mesh()
        .x_desc("other open connections of each rank (logarithmic)")
        .y_desc("part of the performance that is left")
        .y_label_formatter(&|left| format!("{:.0} %", 100.0 * left))
        .axis_desc_style(("sans-serif", 14))
        .label_style(("sans-serif", 12))
        .light_line_style(WHITE.mix(0.0))
        .bold_line_style(BLACK.mix(0.12))
        .draw()?;
    for (number, line) in lines.iter().enumerate() {
        let color = COLORS[number % COLORS.len()];
        // More lines than colours differ in their marks.
        let size = 3 + 2 * (number / COLORS.len()) as i32;
        let points = || line.points.iter().map(|&(at, left)| (f64::from(at), left));
        chart
            .draw_series(LineSeries::new(points(), color.stroke_width(2)))?
            .label(line.name.as_str())
            .legend(move |(x, y)| Circle::new((x + 10, y), size, color.filled()));
        chart.draw_series(points().map(|at| Circle::new(at, size, color.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .label_font(("sans-serif", 13))
        .background_style(WHITE.filled())
        .border_style(BLACK.mix(0.3))
        .draw()?;
    root.present()?;
    drop(chart);
    drop(root);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{CSV_HEADER, Line, parse, svg};

    #[test]
    fn lines_of_medians_by_the_first_number() {
        let rows = [
            "spin,latency,8,1,1,10",
            "spin,latency,8,1,2,12",
            "spin,latency,8,1,3,90",
            "spin,latency,8,100,1,15",
            "spin,bandwidth,4096,1,1,1000",
            "spin,bandwidth,4096,100,1,900",
        ];
        let csv = format!("{CSV_HEADER}\n{}\n", rows.join("\n"));
        let line =
            |name: &str, left| Line { name: name.to_owned(), points: vec![(1, 1.0), (100, left)] };
        let wanted = [line("bandwidth, 4096 B, spin", 0.9), line("latency, 8 B, spin", 0.8)];
        assert_eq!(parse(&csv).expect("samples"), wanted);
        let picture = svg(&csv).expect("a picture");
        assert!(picture.contains("latency, 8 B, spin") && picture.ends_with("</svg>\n"));
        assert_eq!(picture.matches("<circle").count(), 4 + 2);
    }

    #[test]
    fn other_lines_are_refused() {
        let error =
            parse(&format!("{CSV_HEADER}\nspin,latency,8,0,1,10\n")).expect_err("no sample");
        assert!(error.starts_with("line 2: "), "{error}");
        assert!(parse(CSV_HEADER).expect_err("empty").starts_with("there are no samples"));
    }
}
