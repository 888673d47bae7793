//! The figures as a table for people.

use super::{Largest, Stats};
use std::fmt;

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![
            Row::new("ranks", self.ranks),
            Row::new("distinct bodies", self.bodies),
            Row::new("actions", self.actions),
        ];
        let kinds = self.kinds.iter().filter(|&(_, count)| count > 0);
        rows.extend(kinds.map(|(kind, count)| Row::new(format!("  {}", kind.name()), count)));
        rows.extend([
            Row::new("requires", self.requires),
            Row::new("irequires", self.irequires),
            Row::new("messages", self.messages),
            Row::new("bytes sent", self.bytes),
            Row::new("calc, ns", self.calc_ns),
            Row::of_all("depth", self.depth),
            Row::largest("  within a rank", self.depth_within_rank),
            Row::largest("width", self.width),
            Row::of_all("critical path, ns", self.critical_path_ns),
            Row::largest("  calc within a rank", self.critical_path_within_rank_ns),
        ]);
        rows.extend(self.makespan_ns.map(|end| Row::largest("makespan, ns", end)));
        rows.extend([
            Row::largest("largest indegree", self.indegree),
            Row::new("memory, bytes", self.memory),
            Row::largest("  largest", self.memory_largest),
            Row::new("scratch, bytes", self.scratch),
            Row::largest("  largest", self.scratch_largest),
        ]);
        let names = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
        let values = rows.iter().map(|row| row.value.len()).max().unwrap_or(0);
        for Row { name, value, rank } in rows {
            write!(f, "{name:names$}  {value:>values$}")?;
            match rank {
                Some(rank) => writeln!(f, "  on rank {rank}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

struct Row {
    name: String,
    value: String,
    rank: Option<u32>,
}

impl Row {
    fn new(name: impl Into<String>, value: u64) -> Self {
        Self { name: name.into(), value: value.to_string(), rank: None }
    }

    /// A figure about all ranks together, which some programs don't have.
    fn of_all(name: &str, figure: Option<Largest>) -> Self {
        match figure {
            Some(figure) => Self::largest(name, figure),
            None => Self { name: name.to_owned(), value: "-".to_owned(), rank: None },
        }
    }

    fn largest(name: &str, Largest { value, rank }: Largest) -> Self {
        Self { rank: (value > 0).then_some(rank), ..Self::new(name, value) }
    }
}
