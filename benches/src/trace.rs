//! Large traces in LogGOPSim's binary form: a pattern of messages that all ranks repeat, with
//! computation of uneven length before each repetition. One rank at a time is in memory.

use clap::{Args as ClapArgs, ValueEnum};
use goal_asm::loggopsim::{RankWriter, WriteError};
use goal_lang::{Action, ActionId, Body, BodyBuilder, Payload, Placement};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// `trace`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// The pattern that ranks repeat
    #[arg(value_enum)]
    pattern: Pattern,
    /// Largest size of the file in 10^9 bytes
    #[arg(long, value_name = "SIZE", conflicts_with = "steps")]
    gigabytes: Option<f64>,
    /// Steps, each a computation and its messages [default: 100]
    #[arg(long, value_name = "K")]
    steps: Option<u32>,
    /// Ranks; a square number for a stencil
    #[arg(long, value_name = "N", default_value_t = 1024)]
    ranks: u32,
    /// Bytes of a message
    #[arg(long, value_name = "BYTES", default_value_t = 8192)]
    bytes: u64,
    /// Mean nanoseconds of a computation, from half of it to one and a half
    #[arg(long, value_name = "NS", default_value_t = 100_000)]
    nanos: u64,
    /// The file to write
    #[arg(short)]
    output: PathBuf,
}

/// The messages of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pattern {
    /// With the four neighbours in a grid
    Stencil,
    /// In rounds: to the rank 1, 2, 4, ... above
    Dissemination,
    /// From rank 0 along a binomial tree
    Binomial,
    /// From every rank to every other
    Alltoall,
}

/// A trace: the same shape makes the same bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) pattern: Pattern,
    pub(crate) ranks: u32,
    pub(crate) steps: u32,
    /// Bytes of a message.
    pub(crate) bytes: u64,
    /// Mean nanoseconds of a computation.
    pub(crate) nanos: u64,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let &Args { pattern, ranks, bytes, nanos, .. } = args;
    let mut shape = Shape { pattern, ranks, steps: args.steps.unwrap_or(100), bytes, nanos };
    let wrong = |message| io::Error::new(io::ErrorKind::InvalidInput, message);
    shape.check().map_err(wrong)?;
    if let Some(gigabytes) = args.gigabytes {
        shape.steps = shape.steps_of((gigabytes * 1e9) as u64).map_err(wrong)?;
    }
    let length = shape.write(&args.output)?;
    say!("{ranks} ranks, {} steps, {length} bytes", shape.steps);
    Ok(())
}

impl Shape {
    /// Writes the trace, and returns its bytes.
    pub(crate) fn write(&self, path: &Path) -> io::Result<u64> {
        let written = |error| match error {
            WriteError::Io(error) => error,
            error => io::Error::other(error.to_string()),
        };
        let mut out = RankWriter::new(File::create(path)?, self.ranks)?;
        for rank in 0..self.ranks {
            out.rank(&self.body(rank)).map_err(written)?;
        }
        Ok(out.finish()?.metadata()?.len())
    }

    /// Returns an error if the pattern can't have this shape.
    fn check(&self) -> Result<(), String> {
        let (ranks, side) = (self.ranks, self.ranks.isqrt());
        match self.pattern {
            _ if ranks < 2 => Err("messages need two ranks: give --ranks 2 or more".to_owned()),
            Pattern::Stencil if side * side != ranks => {
                Err(format!("{ranks} ranks make no square grid: give a square number with --ranks"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of steps that fit into a file of `size` bytes.
    fn steps_of(&self, size: u64) -> Result<u32, String> {
        let bytes = |steps| {
            let shape = Self { steps, ..*self };
            // The file's header and table, and what each rank has.
            14 + (0..self.ranks).map(|rank| 16 + bytes_of(&shape.body(rank))).sum::<u64>()
        };
        let (two, three) = (bytes(2), bytes(3));
        let more = size.checked_sub(two).map(|rest| rest / (three - two));
        match more.map(|more| u32::try_from(more + 2)) {
            Some(Ok(steps)) => Ok(steps),
            _ => Err(format!("{size} bytes: two steps have {two}, and 2^32 are too many")),
        }
    }

    /// Returns the actions of a rank.
    fn body(&self, rank: u32) -> Body {
        let mut rank = RankTrace { shape: *self, rank, body: BodyBuilder::default() };
        // What the next step waits for.
        let mut last = Vec::new();
        for step in 0..self.steps {
            let calc = rank.calc(step, &last);
            last = match self.pattern {
                Pattern::Stencil => rank.stencil(calc),
                Pattern::Dissemination => rank.dissemination(step, calc),
                Pattern::Binomial => rank.binomial(step, calc),
                Pattern::Alltoall => rank.alltoall(step, calc),
            };
        }
        rank.body.finish()
    }
}

/// The actions of a rank. Each pattern adds the messages of a step after `calc`, and returns what
/// the next step waits for.
struct RankTrace {
    shape: Shape,
    rank: u32,
    body: BodyBuilder,
}

impl RankTrace {
    fn calc(&mut self, step: u32, after: &[ActionId]) -> ActionId {
        let nanos = self.shape.nanos;
        let nanos = nanos / 2 + mixed(self.rank, step) % (nanos + 1);
        self.add(Action::Calc { nanos, placement: Placement::default() }, after)
    }

    fn send(&mut self, to: u32, tag: u32, after: ActionId) -> ActionId {
        let payload = Payload::Pattern { size: self.shape.bytes };
        self.add(Action::Send { payload, to, tag, placement: Placement::default() }, &[after])
    }

    fn recv(&mut self, from: u32, tag: u32, after: ActionId) -> ActionId {
        let payload = Payload::Pattern { size: self.shape.bytes };
        self.add(Action::Recv { payload, from, tag, placement: Placement::default() }, &[after])
    }

    fn add(&mut self, action: Action, after: &[ActionId]) -> ActionId {
        let id = self.body.action(action);
        after.iter().for_each(|&before| self.body.requires(id, before));
        id
    }

    /// Returns the rank that is `distance` above, and the one that is `distance` below.
    fn around(&self, distance: u64) -> (u32, u32) {
        let (rank, ranks) = (u64::from(self.rank), u64::from(self.shape.ranks));
        (((rank + distance) % ranks) as u32, ((rank + ranks - distance) % ranks) as u32)
    }

    fn stencil(&mut self, calc: ActionId) -> Vec<ActionId> {
        let (rank, side) = (self.rank, self.shape.ranks.isqrt());
        let (row, column) = (rank / side, rank % side);
        let neighbours = [
            (row > 0).then(|| rank - side),
            (row + 1 < side).then(|| rank + side),
            (column > 0).then(|| rank - 1),
            (column + 1 < side).then(|| rank + 1),
        ];
        let both = |peer| [self.recv(peer, 0, calc), self.send(peer, 0, calc)];
        neighbours.into_iter().flatten().flat_map(both).collect()
    }

    fn dissemination(&mut self, step: u32, calc: ActionId) -> Vec<ActionId> {
        let (mut last, mut before) = (Vec::new(), calc);
        let mut distance = 1;
        while distance < u64::from(self.shape.ranks) {
            let (to, from) = self.around(distance);
            last.push(self.send(to, step, before));
            before = self.recv(from, step, before);
            distance *= 2;
        }
        last.push(before);
        last
    }

    fn binomial(&mut self, step: u32, calc: ActionId) -> Vec<ActionId> {
        let (rank, ranks) = (self.rank, self.shape.ranks);
        // The lowest set bit of the rank, beyond which it has no children.
        let low = if rank == 0 { ranks.next_power_of_two() } else { rank & rank.wrapping_neg() };
        let first = if rank == 0 { calc } else { self.recv(rank - low, step, calc) };
        let mut last = vec![first];
        for bit in (0..low.ilog2()).rev() {
            let to = u64::from(rank) + (1 << bit);
            if to < u64::from(ranks) {
                last.push(self.send(to as u32, step, first));
            }
        }
        last
    }

    fn alltoall(&mut self, step: u32, calc: ActionId) -> Vec<ActionId> {
        let mut last = Vec::new();
        for distance in 1..u64::from(self.shape.ranks) {
            let (to, from) = self.around(distance);
            last.extend([self.recv(from, step, calc), self.send(to, step, calc)]);
        }
        last
    }
}

/// Returns the bytes of a rank: its counts, its roots, its operations and their dependents.
fn bytes_of(body: &Body) -> u64 {
    let roots = body.indegrees().iter().filter(|&&indegree| indegree == 0).count();
    (8 + 4 * roots + 39 * body.len() + 4 * (body.requires.len() + body.irequires.len())) as u64
}

/// Returns a number that a rank and a step decide, spread over 64 bits (SplitMix64).
fn mixed(rank: u32, step: u32) -> u64 {
    let mut bits = (u64::from(rank) << 32 | u64::from(step)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Shape, bytes_of};
    use clap::ValueEnum;
    use goal_check::{Options, check};
    use goal_lang::ProgramBuilder;

    #[test]
    fn traces_are_right_and_fit_their_size() {
        for &pattern in Pattern::value_variants() {
            let shape = Shape { pattern, ranks: 16, steps: 5, bytes: 100, nanos: 1000 };
            let mut program = ProgramBuilder::default();
            (0..shape.ranks).for_each(|rank| program.rank_with(shape.body(rank)));
            let program = program.finish();
            let report = check(&program, None, &Options { eager_limit: 0, ..Options::default() });
            assert!(report.diagnostics.is_empty(), "{pattern:?}: {:?}", report.diagnostics);
            let bytes = 14 + program.bodies.iter().map(|body| 16 + bytes_of(body)).sum::<u64>();
            let mut written = Vec::new();
            goal_asm::loggopsim::write(&program, &mut written).expect("written");
            assert_eq!(written.len() as u64, bytes, "{pattern:?}");
            assert_eq!(shape.steps_of(bytes), Ok(5), "{pattern:?}");
            assert_eq!(shape.steps_of(bytes - 1), Ok(4), "{pattern:?}");
            assert!(shape.steps_of(100).is_err(), "{pattern:?}");
        }
    }

    #[test]
    fn shapes_without_messages_or_a_grid_are_refused() {
        let shape = Shape { pattern: Pattern::Stencil, ranks: 16, steps: 1, bytes: 1, nanos: 1 };
        assert_eq!(shape.check(), Ok(()));
        assert!(Shape { ranks: 15, ..shape }.check().is_err());
        assert!(Shape { ranks: 1, ..shape }.check().is_err());
    }
}
