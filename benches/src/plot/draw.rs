//! Curves as SVG: panels side by side, and the legend below.

use super::curves::{Curve, Panel, Point};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;

/// Sizes in pixels.
const PANEL: (u32, u32) = (440, 380);
const LEGEND_ROW: u32 = 24;

/// Colours that people with any colour vision can tell apart (Okabe and Ito).
pub(super) const COLORS: [RGBColor; 4] =
    [RGBColor(213, 94, 0), RGBColor(0, 114, 178), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Drawn = Result<(), Box<dyn Error + Send + Sync>>;

/// Returns the picture. There must be at least one panel.
pub(super) fn svg(panels: &[Panel]) -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut names: Vec<&str> = Vec::new();
    let mut legend: Vec<&Curve> = Vec::new();
    for curve in panels.iter().flat_map(|panel| &panel.curves) {
        if !names.contains(&curve.contestant.as_str()) {
            names.push(&curve.contestant);
        }
        if !legend
            .iter()
            .any(|known| (&known.contestant, &known.calls) == (&curve.contestant, &curve.calls))
        {
            legend.push(curve);
        }
    }
    let color = |curve: &Curve| {
        let at = names.iter().position(|&name| name == curve.contestant);
        COLORS[at.unwrap_or(0) % COLORS.len()]
    };
    let columns = if panels.len() > 1 { 2 } else { 1 };
    let legend_height = LEGEND_ROW * legend.len().div_ceil(columns) as u32 + 10;
    let size = (PANEL.0 * panels.len() as u32, PANEL.1 + legend_height);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        root.fill(&WHITE)?;
        let (above, below) = root.split_vertically(PANEL.1);
        for (panel, area) in panels.iter().zip(above.split_evenly((1, panels.len()))) {
            draw_panel(panel, &area, color)?;
        }
        for (at, curve) in legend.iter().enumerate() {
            let (row, column) = (at / columns, at % columns);
            let place = (70 + column as i32 * 330, 14 + (row as u32 * LEGEND_ROW) as i32);
            draw_entry(curve, &below, place, color(curve))?;
        }
        root.present()?;
    }
    Ok(text)
}

fn draw_panel(panel: &Panel, area: &Area<'_>, color: impl Fn(&Curve) -> RGBColor) -> Drawn {
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let range = |value: fn(&Point) -> f64| {
        points()
            .map(value)
            .fold((f64::MAX, f64::MIN), |(least, most), x| (least.min(x), most.max(x)))
    };
    let ((left, right), (low, high)) = (range(|point| point.alone), range(|point| point.overhead));
    let (low, high) = (low.min(0.0), high.max(0.0));
    let margin = ((high - low) * 0.08).max(0.1);
    let mut chart = ChartBuilder::on(area)
        .caption(format!("allreduce of {}", size_text(panel.bytes)), ("sans-serif", 17))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d((left * 0.7..right * 1.4).log_scale(), low - margin..high + margin)?;
    chart
        .configure_mesh()
        .x_desc("matrix product alone, µs (logarithmic)")
        .y_desc("overhead of the allreduce, µs")
        .x_label_formatter(&|us| logarithmic(*us))
        .y_label_formatter(&|us| number(*us))
        .axis_desc_style(("sans-serif", 14))
        .label_style(("sans-serif", 12))
        .light_line_style(WHITE.mix(0.0))
        .bold_line_style(BLACK.mix(0.12))
        .draw()?;
    // The line of an allreduce without cost.
    chart
        .draw_series([PathElement::new([(left * 0.7, 0.0), (right * 1.4, 0.0)], BLACK.mix(0.6))])?;
    for curve in &panel.curves {
        let color = color(curve);
        let points: Vec<(f64, f64)> =
            curve.points.iter().map(|point| (point.alone, point.overhead)).collect();
        if has_calls(curve) {
            chart.draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(2)))?;
        } else {
            let dashes = points.iter().copied();
            chart.draw_series(DashedLineSeries::new(dashes, 6, 4, color.stroke_width(2)))?;
        }
        chart.draw_series(points.iter().map(|&at| marker(at, curve, color)))?;
    }
    Ok(())
}

/// Draws a line of the legend at a place of `area`.
fn draw_entry(curve: &Curve, area: &Area<'_>, (x, y): (i32, i32), color: RGBColor) -> Drawn {
    let piece = |from, to| PathElement::new([(x + from, y), (x + to, y)], color.stroke_width(2));
    if has_calls(curve) {
        area.draw(&piece(0, 36))?;
    } else {
        for from in [0, 10, 20, 30] {
            area.draw(&piece(from, from + 6))?;
        }
    }
    area.draw(&marker((x + 18, y), curve, color))?;
    let who = match curve.contestant.as_str() {
        "mpi" => "MPI_Iallreduce".to_owned(),
        "caller" | "thread" | "node" => format!("schedule, progress by {}", curve.contestant),
        library => format!("MPI_Iallreduce of {library}"),
    };
    let calls = if has_calls(curve) { "a test after each block" } else { "no calls" };
    area.draw(&Text::new(format!("{who}, {calls}"), (x + 46, y - 7), ("sans-serif", 14)))?;
    Ok(())
}

/// Draws the mark of a point, full with calls and empty without.
fn marker<C>(at: C, curve: &Curve, color: RGBColor) -> Circle<C, i32> {
    Circle::new(at, 4, if has_calls(curve) { color.filled() } else { color.stroke_width(2) })
}

fn has_calls(curve: &Curve) -> bool {
    curve.calls != "none"
}

fn size_text(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

/// Returns true for 1, 2 and 5 times a power of ten. Other lines have no room for a number.
fn logarithmic(value: f64) -> String {
    let leading = value / 10f64.powf((value.log10() + 1e-9).floor());
    let is_shown = [1.0, 2.0, 5.0].into_iter().any(|shown: f64| (leading - shown).abs() < 1e-6);
    if is_shown { number(value) } else { String::new() }
}

/// Returns a number without needless decimals.
fn number(value: f64) -> String {
    if value.fract().abs() < 1e-6 { format!("{value:.0}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::super::curves::parse;
    use super::{logarithmic, svg};
    use crate::overlap::HEADER;

    #[test]
    fn a_picture_has_a_panel_for_each_size_and_names_every_curve() {
        let rows = [
            "128,8192,mpi,none,1,1000,1500,100",
            "256,8192,mpi,none,1,8000,8500,100",
            "128,8192,caller,block,1,1000,1000,0",
            "256,8192,caller,block,1,8000,7900,0",
            "128,1048576,caller,block,1,1000,9000,0",
        ];
        let panels = parse(&format!("{HEADER}\n{}\n", rows.join("\n"))).expect("samples");
        let picture = svg(&panels).expect("a picture");
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        let words = ["allreduce of 8 KiB", "allreduce of 1 MiB", "overhead of the allreduce, µs"];
        let names =
            ["MPI_Iallreduce, no calls", "schedule, progress by caller, a test after each block"];
        for text in words.into_iter().chain(names) {
            assert!(picture.contains(text), "{text}");
        }
        assert_eq!(picture.matches("<circle").count(), 5 + 2);
    }

    #[test]
    fn a_logarithmic_axis_has_few_numbers() {
        let shown: Vec<String> = (1..=30).map(|tens| logarithmic(f64::from(tens) * 10.0)).collect();
        let shown: Vec<&str> =
            shown.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        assert_eq!(shown, ["10", "20", "50", "100", "200"]);
        assert_eq!(logarithmic(0.5), "0.5");
    }
}
