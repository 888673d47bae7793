//! One rank of an allreduce that some ranks compute beside.

use super::case::{Case, Who};
use crate::member::RankPlace;
use crate::mpi::{Operands, Operation};
use crate::overlap::Product;
use clap::Args as ClapArgs;
use goal_eth::now_ns;
use goal_job::Mode;
use goal_run::named;
use std::io;

/// Rows of the product that ranks compute until their time is over: a sixth of a millisecond.
const ORDER: usize = 128;

/// `late-rank`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    place: RankPlace,
    #[arg(long, value_parser = named::<Mode>())]
    progress: Mode,
    #[arg(long)]
    case: Case,
}

/// Prints for each iteration the case, the rank, and the times in nanoseconds at which it started,
/// had computed and ended, by the clock that all ranks share.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    let Case { who, bytes, busy_ns, iterations } = args.case;
    let RankPlace { rank, ranks, .. } = args.place;
    let shared = args.place.open(&Operation::Allreduce.program(ranks, bytes))?;
    shared.fill(0);
    let operands = Operands { operation: Operation::Allreduce, rank, ranks, bytes, times: 1 };
    shared.with_member(args.progress, |mut member| {
        let mut product = Product::new(ORDER);
        let computes = who == Who::All || who == Who::Last && rank == ranks - 1;
        // The first iteration is not counted.
        for iteration in 0..=iterations {
            let round = iteration as u32;
            member.with_memory(|memory| operands.write(memory, round))?;
            if who == Who::Before {
                product.multiply_until(now_ns() + busy_ns)?;
            }
            member.meet();
            let started = now_ns();
            member.start()?;
            if computes {
                product.multiply_until(started + busy_ns)?;
            }
            let computed = now_ns();
            member.wait()?;
            let ended = now_ns();
            member.with_memory(|memory| operands.check(memory, round))??;
            if iteration > 0 {
                say!("{} {rank} {started} {computed} {ended}", args.case);
            }
        }
        member.leave();
        Ok(())
    })
}
