//! Large programs as text, for `compile` and `passes`. The programs are correct: every message has
//! its receive and no two actions race. If the real algorithm has data, the program states the
//! expected result.

mod collective;
mod layered;
mod stream;
#[cfg(test)]
mod tests;

use clap::{Args as ClapArgs, ValueEnum};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// `generate`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    shape: Shape,
    /// The file to write
    #[arg(short)]
    output: PathBuf,
}

/// A program to generate; the same shape makes the same bytes.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct Shape {
    /// The pattern
    #[arg(value_enum)]
    pattern: Pattern,
    /// Ranks [default: 1024; ring 64, dissemination 16384, binomial 262144, layered and dense 8]
    #[arg(long)]
    ranks: Option<u32>,
    /// Messages that each rank passes on (ring)
    #[arg(long, default_value_t = 47_000)]
    messages: u32,
    /// Messages carry bytes of memory, as in the real algorithm, and not a size alone (alltoall,
    /// ring)
    #[arg(long)]
    memory: bool,
    /// Actions in all, spread evenly over the ranks (layered, dense)
    #[arg(long, default_value_t = 1_000_000)]
    actions: u64,
    /// Actions of a layer of a rank (layered, dense)
    #[arg(long, default_value_t = 64)]
    width: u64,
    /// Dependencies of an action at most (layered, dense) [default: 2; dense 8]
    #[arg(long)]
    degree: Option<u64>,
    /// Seed of random choices (layered, dense)
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A communication pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pattern {
    /// Every rank sends to every other, no dependencies: 1024 ranks make 59 MB, 2.1 million actions
    Alltoall,
    /// Every rank passes messages on to the next, each send waits for its receive and the send
    /// before it: 12 million lines
    Ring,
    /// A sum over all ranks in rounds: each sends to the rank 1, 2, 4, ... above it; a power of two
    /// ranks
    Dissemination,
    /// A broadcast along a binomial tree
    Binomial,
    /// Wavefronts from each corner of a square grid of ranks in turn, as in sweep3d; a square
    /// number of ranks
    Sweep,
    /// Random: layers of local operations and messages, dependencies on the layer before
    Layered,
    /// As layered, but dependencies reach back to any layer: adverse to what follows paths
    Dense,
}

impl Shape {
    /// Creates the pattern with its defaults.
    pub(crate) fn new(pattern: Pattern) -> Self {
        Self {
            pattern,
            ranks: None,
            messages: 47_000,
            memory: false,
            actions: 1_000_000,
            width: 64,
            degree: None,
            seed: 1,
        }
    }

    /// Sets the number of ranks.
    #[cfg(test)]
    pub(crate) fn ranks(self, ranks: u32) -> Self {
        Self { ranks: Some(ranks), ..self }
    }

    /// Sets the number of messages that each rank passes on.
    pub(crate) fn messages(self, messages: u32) -> Self {
        Self { messages, ..self }
    }

    /// Sets the number of actions in all.
    #[cfg(test)]
    pub(crate) fn actions(self, actions: u64) -> Self {
        Self { actions, ..self }
    }

    /// Makes messages carry bytes of memory.
    pub(crate) fn memory(self) -> Self {
        Self { memory: true, ..self }
    }

    fn num_ranks(&self) -> u32 {
        self.ranks.unwrap_or(match self.pattern {
            Pattern::Alltoall | Pattern::Sweep => 1024,
            Pattern::Ring => 64,
            Pattern::Dissemination => 16_384,
            Pattern::Binomial => 262_144,
            Pattern::Layered | Pattern::Dense => 8,
        })
    }

    fn degree(&self) -> u64 {
        self.degree.unwrap_or(if self.pattern == Pattern::Dense { 8 } else { 2 })
    }

    /// Returns an error if the pattern can't have this shape.
    fn check(&self) -> Result<(), String> {
        let ranks = self.num_ranks();
        let side = ranks.isqrt();
        match self.pattern {
            _ if ranks == 0 => {
                Err("a program needs at least one rank: give --ranks 1 or more".to_owned())
            }
            Pattern::Dissemination if !ranks.is_power_of_two() => Err(format!(
                "{ranks} ranks: dissemination adds each value once only among 2, 4, 8, ... ranks"
            )),
            Pattern::Sweep if side * side != ranks => {
                Err(format!("{ranks} ranks make no square grid: give a square number with --ranks"))
            }
            Pattern::Layered | Pattern::Dense if !(1..=self.width).contains(&self.degree()) => {
                let degree = self.degree();
                Err(format!(
                    "--degree {degree}: an action may depend on 1 to --width {} others",
                    self.width
                ))
            }
            Pattern::Layered | Pattern::Dense if self.actions > u64::from(u32::MAX) => Err(
                format!("--actions {}: tags tell at most {} actions apart", self.actions, u32::MAX),
            ),
            _ => Ok(()),
        }
    }
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    write(&args.shape, &args.output)
}

/// Writes a program to `path`.
///
/// # Errors
/// The pattern can't have this shape, or the file can't be written.
pub(crate) fn write(shape: &Shape, path: &Path) -> io::Result<()> {
    shape.check().map_err(|message| io::Error::new(io::ErrorKind::InvalidInput, message))?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    write_to(shape, &mut out)?;
    out.flush()
}

/// Writes a program rank by rank; nothing of it is held in memory.
fn write_to(shape: &Shape, out: &mut impl Write) -> io::Result<()> {
    let ranks = shape.num_ranks();
    writeln!(out, "num_ranks {ranks}\n")?;
    for rank in 0..ranks {
        writeln!(out, "rank {rank} {{")?;
        match shape.pattern {
            Pattern::Alltoall => stream::alltoall(out, rank, ranks, shape.memory)?,
            Pattern::Ring => stream::ring(out, rank, ranks, shape.messages, shape.memory)?,
            Pattern::Dissemination => collective::dissemination(out, rank, ranks)?,
            Pattern::Binomial => collective::binomial(out, rank, ranks)?,
            Pattern::Sweep => stream::sweep(out, rank, ranks.isqrt())?,
            Pattern::Layered | Pattern::Dense => layered::Layers::new(shape).write(out, rank)?,
        }
        writeln!(out, "}}\n")?;
    }
    Ok(())
}
