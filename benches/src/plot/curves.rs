//! From samples to curves: a panel for each size of the allreduce, a curve for each contestant
//! without and with calls, a point for each product.

use crate::measure::median;
use crate::overlap::HEADER;
use std::collections::BTreeMap;

/// All curves of one size of the allreduce.
#[derive(Debug, PartialEq)]
pub(super) struct Panel {
    pub(super) bytes: u64,
    /// The curves in the order in which they occur.
    pub(super) curves: Vec<Curve>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Curve {
    pub(super) contestant: String,
    pub(super) calls: String,
    /// The points by the products, the smallest first.
    pub(super) points: Vec<Point>,
}

/// A point of a curve: medians in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) order: usize,
    /// The product alone, by all contestants.
    pub(super) alone: f64,
    /// The time that the allreduce adds.
    pub(super) overhead: f64,
}

/// The contestant and the calls of a curve.
type Name<'a> = (&'a str, &'a str);

struct Row<'a> {
    order: usize,
    bytes: u64,
    of: Name<'a>,
    alone: f64,
    overhead: f64,
}

/// # Errors
/// The first line that is not what `overlap` writes.
pub(super) fn parse(csv: &str) -> Result<Vec<Panel>, String> {
    let mut lines = csv.lines();
    if lines.next() != Some(HEADER) {
        return Err(format!("line 1 is not `{HEADER}`, as `overlap --csv` writes it"));
    }
    let row =
        |(number, line)| row(line).ok_or_else(|| format!("line {number}: `{line}` is no sample"));
    let rows = (2..).zip(lines).map(row).collect::<Result<Vec<_>, String>>()?;
    if rows.is_empty() {
        return Err("there are no samples".to_owned());
    }
    Ok(panels(&rows))
}

fn row(line: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = line.split(',').collect();
    let [order, bytes, contestant, calls, _run, alone, both, _waiting] = cells[..] else {
        return None;
    };
    let us =
        |cell: &str| cell.parse::<f64>().ok().filter(|ns| ns.is_finite()).map(|ns| ns / 1000.0);
    let (alone, both) = (us(alone).filter(|&us| us > 0.0)?, us(both)?);
    let (order, bytes) = (order.parse().ok()?, bytes.parse().ok()?);
    Some(Row { order, bytes, of: (contestant, calls), alone, overhead: both - alone })
}

fn panels(rows: &[Row<'_>]) -> Vec<Panel> {
    let mut alone: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut overheads: BTreeMap<(u64, Name<'_>), BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
    let mut names: Vec<Name<'_>> = Vec::new();
    for row in rows {
        alone.entry(row.order).or_default().push(row.alone);
        let curve = overheads.entry((row.bytes, row.of)).or_default();
        curve.entry(row.order).or_default().push(row.overhead);
        if !names.contains(&row.of) {
            names.push(row.of);
        }
    }
    let alone: BTreeMap<usize, f64> =
        alone.into_iter().map(|(order, samples)| (order, median(samples))).collect();
    let mut sizes: Vec<u64> = rows.iter().map(|row| row.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let curve = |bytes, of: Name<'_>| {
        let points = overheads.get(&(bytes, of))?.iter().map(|(&order, samples)| Point {
            order,
            alone: alone[&order],
            overhead: median(samples.iter().copied()),
        });
        Some(Curve {
            contestant: of.0.to_owned(),
            calls: of.1.to_owned(),
            points: points.collect(),
        })
    };
    let panel =
        |bytes| Panel { bytes, curves: names.iter().filter_map(|&of| curve(bytes, of)).collect() };
    sizes.into_iter().map(panel).collect()
}

#[cfg(test)]
mod tests {
    use super::{Point, parse};
    use crate::overlap::HEADER;

    #[test]
    fn medians_by_size_contestant_and_product() {
        let rows = [
            "256,8192,mpi,none,1,2000,2500,100",
            "128,8192,mpi,none,1,1000,1250,10",
            "128,8192,mpi,none,2,1000,1500,10",
            "128,8192,mpi,none,3,1000,1900,10",
            "128,8192,caller,block,1,4000,4000,0",
            "128,64,caller,block,1,1000,900,0",
        ];
        let panels = parse(&format!("{HEADER}\n{}\n", rows.join("\n"))).expect("samples");
        assert_eq!(panels.iter().map(|panel| panel.bytes).collect::<Vec<_>>(), [64, 8192]);
        let names: Vec<_> = panels[1]
            .curves
            .iter()
            .map(|curve| (curve.contestant.as_str(), curve.calls.as_str()))
            .collect();
        assert_eq!(names, [("mpi", "none"), ("caller", "block")]);
        let point = |order, alone, overhead| Point { order, alone, overhead };
        assert_eq!(panels[1].curves[0].points, [point(128, 1.0, 0.5), point(256, 2.0, 0.5)]);
        assert_eq!(panels[1].curves[1].points, [point(128, 1.0, 0.0)]);
        assert_eq!(panels[0].curves.len(), 1);
    }

    #[test]
    fn other_files_are_refused() {
        let error = |text: &str| parse(text).expect_err("an error");
        assert!(error("a,b\n").starts_with("line 1 is not `order,bytes"));
        assert_eq!(error(HEADER), "there are no samples");
        let wrong = "128,8192,mpi,none,1,0,1,1";
        assert_eq!(
            error(&format!("{HEADER}\n{wrong}\n")),
            format!("line 2: `{wrong}` is no sample")
        );
        assert!(error(&format!("{HEADER}\n128,8,mpi,none,1,nan,1,1\n")).starts_with("line 2"));
    }
}
