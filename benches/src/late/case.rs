//! The cases of a measurement, and the lines in which a rank of either side prints its figures.

use crate::overlap::AnyCase;
use std::fmt;
use std::str::FromStr;

/// The ranks that compute after their start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Nobody,
    /// No rank, but all computed before, so that the operands have left the caches.
    Before,
    /// The last rank; the others wait.
    Last,
    All,
}

impl Who {
    pub(crate) const ALL: [Who; 4] = [Who::Nobody, Who::Before, Who::Last, Who::All];

    /// Returns the name in the raw data.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Who::Nobody => "nobody",
            Who::Before => "before",
            Who::Last => "last",
            Who::All => "all",
        }
    }
}

/// A case of the measurement. As text `late:WHO:BYTES:BUSY:ITERATIONS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) who: Who,
    /// Bytes of the allreduce.
    pub(crate) bytes: u64,
    /// The time for which they compute, in nanoseconds.
    pub(crate) busy_ns: u64,
    pub(crate) iterations: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "late:{}:{}:{}:{}", self.who as u8, self.bytes, self.busy_ns, self.iterations)
    }
}

impl AnyCase for Case {
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let mut words = text.strip_prefix("late:")?.split(':');
            let mut number = || words.next()?.parse::<usize>().ok();
            let case = Self {
                who: *Who::ALL.get(number()?)?,
                bytes: number()? as u64,
                busy_ns: number()? as u64,
                iterations: number()?,
            };
            words.next().is_none().then_some(case)
        };
        parse().ok_or_else(|| format!("`{text}` is no late:WHO:BYTES:BUSY:ITERATIONS"))
    }
}

/// One iteration on one rank: times of the clock that all share, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Turn {
    rank: u32,
    started: f64,
    computed: f64,
    ended: f64,
}

impl Case {
    /// Returns the figure of each iteration in nanoseconds. If all ranks compute, the figure is the
    /// mean time that a rank waits after its computation. Otherwise it is the time from the last
    /// start until all ranks that only wait have ended.
    ///
    /// # Errors
    /// A line of a rank is missing or garbled.
    pub(crate) fn figures<'a>(
        self,
        ranks: u32,
        lines: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<f64>, String> {
        let name = self.to_string();
        let mut turns: Vec<Vec<Turn>> = vec![Vec::new(); ranks as usize];
        for line in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.first() != Some(&name.as_str()) {
                continue;
            }
            let wrong = || format!("a rank says `{line}`");
            let [_, rank, started, computed, ended] = words[..] else { return Err(wrong()) };
            let time = |text: &str| text.parse::<f64>().map_err(|_| wrong());
            let rank = rank.parse().ok().filter(|&rank| rank < ranks).ok_or_else(wrong)?;
            let turn = Turn {
                rank,
                started: time(started)?,
                computed: time(computed)?,
                ended: time(ended)?,
            };
            turns[rank as usize].push(turn);
        }
        if let Some(rank) = turns.iter().position(|turns| turns.len() != self.iterations) {
            let told = turns[rank].len();
            return Err(format!(
                "{name}: rank {rank} told {told} of {} iterations",
                self.iterations
            ));
        }
        let iteration = |at: usize| self.figure(ranks, turns.iter().map(move |turns| turns[at]));
        Ok((0..self.iterations).map(iteration).collect())
    }

    fn figure(self, ranks: u32, turns: impl Iterator<Item = Turn> + Clone) -> f64 {
        if self.who == Who::All {
            return turns.map(|turn| turn.ended - turn.computed).sum::<f64>() / f64::from(ranks);
        }
        let last_start = turns.clone().map(|turn| turn.started).fold(0.0, f64::max);
        let waits = |turn: &Turn| self.who != Who::Last || turn.rank != ranks - 1;
        turns.filter(waits).map(|turn| turn.ended - last_start).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::{Case, Who};

    #[test]
    fn text_and_back() {
        for who in Who::ALL {
            let case = Case { who, bytes: 8, busy_ns: 100_000_000, iterations: 5 };
            assert_eq!(case.to_string().parse(), Ok(case));
        }
        for wrong in ["", "late:0:8:1", "late:4:8:1:1", "late:0:8:1:1:1", "0:8:1:1"] {
            assert!(wrong.parse::<Case>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn figures_of_each_iteration() {
        let figures = |who: u8| {
            let name = format!("late:{who}:8:50:2");
            let turns = ["1 20 70 75", "0 10 11 40", "0 110 111 170", "1 100 150 151"];
            let lines: Vec<String> = turns.iter().map(|turn| format!("{name} {turn}")).collect();
            let case: Case = name.parse().expect("a case");
            case.figures(2, lines.iter().map(String::as_str)).expect("figures")
        };
        // The last start is rank 1's, then rank 0's.
        assert_eq!(figures(0), [55.0, 60.0]);
        assert_eq!(figures(1), [55.0, 60.0]);
        assert_eq!(figures(2), [20.0, 60.0]);
        assert_eq!(figures(3), [(29.0 + 5.0) / 2.0, (59.0 + 1.0) / 2.0]);
    }

    #[test]
    fn what_is_missing_is_told() {
        let case: Case = "late:0:8:1:1".parse().expect("a case");
        let error = |lines: &[&str]| case.figures(2, lines.iter().copied()).expect_err("an error");
        assert_eq!(error(&["late:0:8:1:1 0 1 2 3"]), "late:0:8:1:1: rank 1 told 0 of 1 iterations");
        assert_eq!(error(&["late:0:8:1:1 2 1 2 3"]), "a rank says `late:0:8:1:1 2 1 2 3`");
        assert_eq!(error(&["late:0:8:1:1 0 1 2"]), "a rank says `late:0:8:1:1 0 1 2`");
    }
}
