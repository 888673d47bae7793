//! Rounds: the loop that a rank of every contestant runs, and the times that it leaves.

use super::Operation;
use super::way::Way;
use goal_eth::now_ns;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time that ranks get to become ready.
const READY_MAX: Duration = Duration::from_secs(60);
/// The time between two looks at a file.
const LOOK: Duration = Duration::from_millis(2);
/// The time from the moment when all ranks are ready to the first round.
const AHEAD_NS: u64 = 50_000_000;

/// An operation that is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) operation: Operation,
    /// Bytes of the allreduce.
    pub(super) bytes: u64,
    pub(super) rounds: u32,
    /// Microseconds from the beginning of a round to the next one's.
    pub(super) period_us: u64,
}

/// The times of a rank in a round, in nanoseconds of the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    /// When the call began.
    pub(super) began: u64,
    /// When the result was in memory.
    pub(super) ended: u64,
    /// When the call returned.
    pub(super) returned: u64,
}

/// Medians and tails.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) median: f64,
    pub(super) p99: f64,
}

impl Figures {
    pub(super) fn from_values(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        let at = |percent: usize| match values.len() {
            0 => f64::NAN,
            len => values[len * percent / 100],
        };
        Self { median: at(50), p99: at(99) }
    }
}

fn file(folder: &Path, name: &str, rank: u32) -> PathBuf {
    folder.join(format!("{name}.{rank}"))
}

/// Runs the rounds of a rank that is ready, and writes their times.
///
/// # Errors
/// The way fails, a result is wrong, or nobody says when to begin.
pub(super) fn run(
    way: &mut Way,
    (rank, ranks): (u32, u32),
    case: &Case,
    folder: &Path,
) -> io::Result<()> {
    std::fs::write(file(folder, "ready", rank), "")?;
    let (since, go) = (Instant::now(), folder.join("go"));
    let begin: u64 = loop {
        match std::fs::read_to_string(&go) {
            Ok(text) => break text.trim().parse().map_err(io::Error::other)?,
            Err(_) if since.elapsed() < READY_MAX => sleep(LOOK),
            Err(error) => return Err(error),
        }
    };
    let mut operands = vec![0u64; case.bytes as usize / 8];
    let mut lines = String::new();
    for round in 0..u64::from(case.rounds) {
        let start = begin + round * case.period_us * 1000;
        sleep(Duration::from_nanos(start.saturating_sub(now_ns())));
        for (i, operand) in operands.iter_mut().enumerate() {
            *operand = u64::from(rank) + round + i as u64;
        }
        let began = now_ns();
        let ended = way.call(round as u32, &mut operands)?;
        let returned = now_ns();
        let count = u64::from(ranks);
        let sum_of_ranks = count * (count - 1) / 2;
        for (i, &sum) in operands.iter().enumerate() {
            if sum != sum_of_ranks + count * (round + i as u64) {
                let text = format!("rank {rank}, round {round}: element {i} is {sum}");
                return Err(io::Error::other(text));
            }
        }
        let _ = writeln!(lines, "{began} {} {returned}", ended.unwrap_or(returned));
    }
    std::fs::write(file(folder, "times", rank), lines)
}

/// Waits until all ranks are ready, and tells them when the first round begins.
///
/// # Errors
/// A rank does not become ready, or `check` fails.
pub(super) fn go(
    folder: &Path,
    ranks: u32,
    mut check: impl FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let since = Instant::now();
    while let Some(rank) = (0..ranks).find(|&rank| !file(folder, "ready", rank).exists()) {
        check()?;
        if since.elapsed() > READY_MAX {
            return Err(io::Error::other(format!("rank {rank} does not become ready")));
        }
        sleep(LOOK);
    }
    let (new, go) = (folder.join("go.new"), folder.join("go"));
    std::fs::write(&new, format!("{}\n", now_ns() + AHEAD_NS))?;
    std::fs::rename(new, go)
}

/// Reads the times that the ranks left: by rank and round.
///
/// # Errors
/// A file is not there or has another form, or ranks left a round before all had begun it.
pub(super) fn read(folder: &Path, ranks: u32, case: &Case) -> io::Result<Vec<Vec<Times>>> {
    let of_rank = |rank| {
        let text = std::fs::read_to_string(file(folder, "times", rank))?;
        let times: Option<Vec<Times>> = text.lines().map(times_of).collect();
        match times {
            Some(times) if times.len() == case.rounds as usize => Ok(times),
            _ => Err(io::Error::other(format!("rank {rank} has left other times"))),
        }
    };
    (0..ranks).map(of_rank).collect()
}

fn times_of(line: &str) -> Option<Times> {
    let mut words = line.split(' ').map(|word| word.parse().ok());
    let mut next = || words.next().flatten();
    Some(Times { began: next()?, ended: next()?, returned: next()? })
}

/// Returns the time from the last rank's beginning until the last rank's end, and until the last
/// call has returned.
///
/// # Errors
/// A rank has ended before all had begun: no barrier and no allreduce may do so.
pub(super) fn span(times: &[Times]) -> io::Result<(f64, f64)> {
    let began = times.iter().map(|times| times.began).max().unwrap_or(0);
    let ends = || times.iter().map(|times| times.ended);
    if ends().any(|ended| ended < began) {
        return Err(io::Error::other("a rank has ended before all had begun"));
    }
    let ended = ends().max().unwrap_or(0);
    let returned = times.iter().map(|times| times.returned).max().unwrap_or(0);
    Ok(((ended - began) as f64, (returned - began) as f64))
}

#[cfg(test)]
mod tests {
    use super::{Figures, Times, span, times_of};

    #[test]
    fn a_round_takes_from_the_last_beginning_to_the_last_end() {
        let times = |began, ended, returned| Times { began, ended, returned };
        let round = [times(10, 60, 90), times(50, 70, 80)];
        assert_eq!(span(&round).unwrap(), (20.0, 40.0));
        let text = span(&[times(10, 40, 90), times(50, 70, 80)]).unwrap_err().to_string();
        assert_eq!(text, "a rank has ended before all had begun");
        assert_eq!(times_of("1 2 3"), Some(times(1, 2, 3)));
        assert_eq!(times_of("1 2"), None);
    }

    #[test]
    fn tails_are_of_all_values() {
        let figures = Figures::from_values((0..200).rev().map(f64::from));
        assert_eq!((figures.median, figures.p99), (100.0, 198.0));
        assert!(Figures::from_values(std::iter::empty()).median.is_nan());
    }
}
