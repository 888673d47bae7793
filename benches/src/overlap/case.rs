//! The cases of a measurement, and the lines in which a rank of either side prints its figures.

use super::AnyCase;
use std::fmt;
use std::str::FromStr;

/// The calls of the program between start and wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// Nothing: progress is implicit.
    None,
    /// A test after each block: progress is explicit.
    Block,
}

impl Calls {
    pub(crate) const ALL: [Calls; 2] = [Calls::None, Calls::Block];

    /// Returns the name in the raw data.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Calls::None => "none",
            Calls::Block => "block",
        }
    }
}

/// A product beside an allreduce. As text `ORDER:BYTES:CALLS:ITERATIONS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    /// Rows of each matrix.
    pub(crate) order: usize,
    /// Bytes of the allreduce.
    pub(crate) bytes: u64,
    pub(crate) calls: Calls,
    /// The number of times that each of both is timed.
    pub(crate) iterations: u32,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { order, bytes, calls, iterations } = self;
        write!(f, "{order}:{bytes}:{}:{iterations}", u32::from(*calls == Calls::Block))
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
            let mut words = text.split(':');
            let order = words.next()?.parse().ok()?;
            let bytes = words.next()?.parse().ok()?;
            let calls = *Calls::ALL.get(words.next()?.parse::<usize>().ok()?)?;
            let iterations = words.next()?.parse().ok()?;
            words.next().is_none().then_some(Self { order, bytes, calls, iterations })
        };
        parse().ok_or_else(|| format!("`{text}` is no ORDER:BYTES:CALLS:ITERATIONS"))
    }
}

/// The mean over the ranks of their medians, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// The product alone.
    pub(crate) alone: f64,
    /// The product with the allreduce around it.
    pub(crate) both: f64,
    /// Of that, the time spent waiting after the product.
    pub(crate) waiting: f64,
    /// The checksum of the product.
    pub(crate) checksum: u32,
}

impl Sample {
    /// Returns the cost of the allreduce for the program.
    pub(crate) fn overhead(&self) -> f64 {
        self.both - self.alone
    }

    /// Reads the lines of all ranks, among which there may be those of other cases.
    ///
    /// # Errors
    /// A line of a rank is missing or garbled, or two ranks computed different products.
    pub(crate) fn of_case<'a>(
        case: Case,
        ranks: u32,
        lines: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let mut mean = Sample { alone: 0.0, both: 0.0, waiting: 0.0, checksum: 0 };
        let mut seen = 0;
        let name = case.to_string();
        for line in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.first() != Some(&name.as_str()) {
                continue;
            }
            let wrong = || format!("a rank says `{line}`");
            let [_, _, alone, both, waiting, checksum] = words[..] else { return Err(wrong()) };
            let share = |text: &str| {
                text.parse::<f64>().map(|ns| ns / f64::from(ranks)).map_err(|_| wrong())
            };
            mean.alone += share(alone)?;
            mean.both += share(both)?;
            mean.waiting += share(waiting)?;
            let checksum = checksum.parse().map_err(|_| wrong())?;
            if seen > 0 && checksum != mean.checksum {
                return Err(format!("{name}: two ranks computed different products"));
            }
            mean.checksum = checksum;
            seen += 1;
        }
        if seen == ranks {
            Ok(mean)
        } else {
            Err(format!("{name}: {seen} of {ranks} ranks told their times"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Calls, Case, Sample};

    #[test]
    fn text_and_back() {
        for calls in Calls::ALL {
            let case = Case { order: 128, bytes: 1 << 20, calls, iterations: 7 };
            assert_eq!(case.to_string().parse(), Ok(case));
        }
        for wrong in ["", "128:8:0", "128:8:2:1", "128:8:0:1:1", "a:8:0:1"] {
            assert!(wrong.parse::<Case>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_mean_over_the_ranks_of_one_case() {
        let case: Case = "64:8:1:9".parse().expect("a case");
        let other = "64:8:0:9 0 1.0 2.0 3.0 4";
        let lines = [other, "64:8:1:9 1 10.0 20.0 5.0 7", "64:8:1:9 0 30.0 60.0 15.0 7"];
        let sample = Sample::of_case(case, 2, lines).expect("a sample");
        assert_eq!(sample, Sample { alone: 20.0, both: 40.0, waiting: 10.0, checksum: 7 });
        assert_eq!(sample.overhead(), 20.0);
    }

    #[test]
    fn what_is_missing_or_differs_is_told() {
        let case: Case = "64:8:1:9".parse().expect("a case");
        let error =
            |lines: &[&str]| Sample::of_case(case, 2, lines.iter().copied()).expect_err("an error");
        assert_eq!(error(&["64:8:1:9 0 1 2 3 4"]), "64:8:1:9: 1 of 2 ranks told their times");
        assert_eq!(error(&["64:8:1:9 0 1 2 x 4"]), "a rank says `64:8:1:9 0 1 2 x 4`");
        assert_eq!(error(&["64:8:1:9 0 1 2"]), "a rank says `64:8:1:9 0 1 2`");
        let differ = ["64:8:1:9 0 1 2 3 4", "64:8:1:9 1 1 2 3 5"];
        assert_eq!(error(&differ), "64:8:1:9: two ranks computed different products");
    }
}
