//! Large Schedgen-form files: what `compile` reads.

use clap::{Args as ClapArgs, ValueEnum};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// `generate`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// The pattern
    #[arg(value_enum)]
    pattern: Pattern,
    /// Ranks
    #[arg(long, default_value_t = 1024)]
    ranks: u32,
    /// Messages that each rank passes on (ring only)
    #[arg(long, default_value_t = 64_000)]
    messages: u32,
    /// The file to write
    #[arg(short)]
    output: PathBuf,
}

/// A communication pattern.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Pattern {
    /// Every rank sends to every other, no dependencies: 1024 ranks make 59 MB, 2.1 million actions
    Alltoall,
    /// Every rank passes messages on to the next, each send waits for its receive and the send before it
    Ring,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    write(args.pattern, args.ranks, args.messages, &args.output)
}

/// Writes `pattern` to `path`.
pub(crate) fn write(pattern: Pattern, ranks: u32, messages: u32, path: &Path) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    writeln!(out, "num_ranks {ranks}\n")?;
    for rank in 0..ranks {
        writeln!(out, "rank {rank} {{")?;
        match pattern {
            Pattern::Alltoall => alltoall(&mut out, rank, ranks)?,
            Pattern::Ring => ring(&mut out, rank, ranks, messages)?,
        }
        writeln!(out, "}}\n")?;
    }
    out.flush()
}

fn alltoall(out: &mut impl Write, rank: u32, ranks: u32) -> io::Result<()> {
    for distance in 1..ranks {
        let label = 2 * distance;
        let (to, from) = ((rank + distance) % ranks, (rank + ranks - distance) % ranks);
        writeln!(out, "l{}: send 8b to {to} tag 0", label - 1)?;
        writeln!(out, "l{label}: recv 8b from {from} tag 0")?;
    }
    Ok(())
}

fn ring(out: &mut impl Write, rank: u32, ranks: u32, messages: u32) -> io::Result<()> {
    let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    for message in 0..messages {
        let recv = 2 * message + 1;
        let send = recv + 1;
        writeln!(out, "l{recv}: recv 4096b from {before} tag 0")?;
        writeln!(out, "l{send}: send 4096b to {next} tag 0")?;
        if rank > 0 {
            writeln!(out, "l{send} requires l{recv}")?;
        }
        if message > 0 {
            writeln!(out, "l{send} requires l{}", send - 2)?;
        }
    }
    Ok(())
}
