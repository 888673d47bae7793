//! One rank of a timed operation.

use super::Operation;
use super::operands::Operands;
use super::plan::Plan;
use super::replay::Replay;
use crate::member::RankPlace;
use clap::Args as ClapArgs;
use goal_eth::now_ns;
use goal_job::Mode;
use goal_run::named;
use std::io;
use std::path::PathBuf;

/// `mpi-rank`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    place: RankPlace,
    #[arg(long, required_unless_present = "replay")]
    operation: Option<Operation>,
    /// A program to replay
    #[arg(long)]
    replay: Option<PathBuf>,
    #[arg(long, default_value_t = 0)]
    bytes: u64,
    #[arg(long, value_parser = named::<Mode>())]
    progress: Mode,
    /// Counted rounds at most
    #[arg(long, default_value_t = u32::MAX)]
    rounds: u32,
}

/// Prints the nanoseconds of an operation in the first round, and their mean in the counted rounds.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    let (bytes, rank, ranks) = (args.bytes, args.place.rank, args.place.ranks);
    let operation = args.operation.unwrap_or(Operation::Replay);
    let replay = args.replay.as_deref().map(Replay::load).transpose()?;
    let Plan { rounds, warm, times } = Plan::new(operation, ranks, bytes).at_most(args.rounds);
    // The long schedule has all steps of a round.
    let starts = if operation.is_long() { 1 } else { times };
    let operands = Operands { operation, rank, ranks, bytes, times };
    let shared = match &replay {
        Some(replay) => args.place.open(&replay.program)?,
        None => args.place.open(&operation.program(ranks, bytes))?,
    };
    shared.fill(0);
    let clock_ns = clock_cost_ns();
    let [first, total] = shared.with_member(args.progress, |mut member| {
        let [mut first, mut total] = [0.0; 2];
        for round in 0..rounds {
            match &replay {
                Some(replay) => member.with_memory(|memory| replay.write(rank, memory))?,
                None => member.with_memory(|memory| operands.write(memory, round))?,
            }
            member.meet();
            let begin_ns = now_ns();
            for _ in 0..starts {
                member.start()?;
                member.wait()?;
            }
            let end_ns = now_ns();
            let took_ns = member.span_ns(begin_ns, end_ns) as f64 - clock_ns;
            if round == 0 {
                first = took_ns;
            }
            if round >= warm {
                total += took_ns;
            }
            match &replay {
                Some(replay) => member.with_memory(|memory| replay.check(rank, memory))??,
                None => member.with_memory(|memory| operands.check(memory, round))??,
            }
        }
        member.leave();
        Ok([first, total])
    })?;
    let times = f64::from(times);
    say!("{} {}", first / times, total / f64::from(rounds - warm) / times);
    Ok(())
}

/// Returns the nanoseconds between two reads of the clock in a row, as `benches/c/clock.h` does. It
/// is the least of several means: the one in which no other program had the processor.
fn clock_cost_ns() -> f64 {
    const MEANS: u32 = 20;
    const READS: u32 = 1000;
    let read = |_| {
        let begin_ns = now_ns();
        now_ns() - begin_ns
    };
    let mean = |_| (0..READS).map(read).sum::<u64>() as f64 / f64::from(READS);
    (0..MEANS).map(mean).fold(f64::MAX, f64::min)
}
