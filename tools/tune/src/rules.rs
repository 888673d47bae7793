//! Makes the rules of a table from measurements.

use crate::measure::{Point, request};
use goal_collectives::{Rule, Table};
use std::fmt::Write;

/// Returns the measured points by collective and size. In each group the fastest algorithm is
/// first.
fn ranked(points: &[Point]) -> Vec<Vec<&Point>> {
    let mut groups: Vec<Vec<&Point>> = Vec::new();
    for point in points {
        match groups.last_mut() {
            Some(group) if (group[0].kind, group[0].bytes) == (point.kind, point.bytes) => {
                group.push(point);
            }
            _ => groups.push(vec![point]),
        }
    }
    for group in &mut groups {
        group.sort_by_key(|point| point.ns);
    }
    groups
}

/// Returns the table for this number of ranks. The fastest algorithm at a size holds up to the
/// geometric mean of this size and the next. The published rules follow.
pub(crate) fn table(ranks: u32, points: &[Point], time_ms: u64) -> Table {
    let ranked = ranked(points);
    let mut rules: Vec<Rule> = Vec::new();
    for (at, group) in ranked.iter().enumerate() {
        let best = group[0];
        let next = ranked.get(at + 1).filter(|next| next[0].kind == best.kind);
        let until = next.map(|next| ((best.bytes as f64 * next[0].bytes as f64).sqrt()) as u64);
        let begins = rules.last().filter(|rule| rule.collective == best.kind.name());
        let from = begins.and_then(|rule| rule.bytes_below).unwrap_or(0);
        if let Some(last) = rules.last_mut()
            && (last.collective.as_str(), last.algorithm.as_str())
                == (best.kind.name(), best.algorithm)
        {
            last.bytes_below = until;
            continue;
        }
        rules.push(Rule {
            collective: best.kind.name().to_owned(),
            algorithm: best.algorithm.to_owned(),
            source: format!("measured: {} ns at {} B", best.ns, best.bytes),
            ranks: ranks.into(),
            ranks_below: Some(u64::from(ranks) + 1),
            nodes: 0,
            nodes_below: None,
            bytes: from,
            bytes_below: until,
            total_below: None,
        });
    }
    let published = Table::published();
    rules.extend(published.rules);
    let measured = format!(
        "goal-tune on {ranks} ranks, about {time_ms} ms for each algorithm and size: medians of the slowest rank, operands \
         written before and results read after each operation. The rules behind are published: {}",
        published.measured
    );
    Table { measured, rules, transports: None }
}

/// Returns a summary for people: for each size the two fastest algorithms and the published choice.
pub(crate) fn summary(ranks: u32, points: &[Point]) -> String {
    let published = Table::published();
    let mut text = format!("{:<16} {:>8}  fastest on {ranks} ranks\n", "collective", "bytes");
    for group in ranked(points) {
        let best = group[0];
        let chosen = published.choose(&request(ranks, best.kind, best.bytes)).ok();
        let of = |point: &Point| format!("{} {} ns", point.algorithm, point.ns);
        let mut line = format!("{:<16} {:>8}  {}", best.kind.name(), best.bytes, of(best));
        if let Some(second) = group.get(1) {
            let _ = write!(line, "; {}", of(second));
        }
        if let Some((algorithm, _)) = chosen
            && let Some(point) = group.iter().find(|point| point.algorithm == algorithm.name)
        {
            let _ = write!(line, "; published: {}", of(point));
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use goal::CollectiveKind as Kind;

    #[test]
    fn sizes_with_the_same_winner_share_a_rule() {
        let point = |bytes, algorithm, ns| Point { kind: Kind::Bcast, algorithm, bytes, ns };
        let points = [
            point(8, "binomial", 5),
            point(8, "linear", 9),
            point(32, "linear", 8),
            point(32, "binomial", 7),
            point(2048, "binomial", 70),
            point(2048, "linear", 60),
            point(4096, "linear", 80),
            point(4096, "binomial", 90),
        ];
        let table = table(3, &points, 1);
        let ours: Vec<_> =
            table.rules.iter().filter(|rule| rule.source.starts_with("measured")).collect();
        let row = |rule: &&Rule| (rule.algorithm.clone(), rule.bytes, rule.bytes_below);
        assert_eq!(
            ours.iter().map(row).collect::<Vec<_>>(),
            [("binomial".to_owned(), 0, Some(256)), ("linear".to_owned(), 256, None)]
        );
        assert!(Table::parse(&serde_json::to_string(&table).unwrap()).is_ok());
        // A program on this host has rules of its own.
        let text = summary(3, &points);
        assert!(text.contains("binomial 5 ns; linear 9 ns; published: linear 9 ns"), "{text}");
        assert!(text.contains("linear 80 ns; binomial 90 ns; published: binomial 90 ns"), "{text}");
    }
}
