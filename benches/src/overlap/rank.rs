//! One rank of an allreduce beside a product.

use super::Product;
use super::case::{Calls, Case};
use crate::measure::median;
use crate::member::RankPlace;
use crate::mpi::{Operands, Operation};
use clap::Args as ClapArgs;
use goal_job::Mode;
use goal_run::named;
use std::io;
use std::time::Instant;

/// Iterations that are not counted.
const WARM: u32 = 2;

/// `overlap-rank`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    place: RankPlace,
    #[arg(long, value_parser = named::<Mode>())]
    progress: Mode,
    #[arg(long)]
    case: Case,
}

/// Prints the case, the rank, the medians in nanoseconds of the product alone, of both and of the
/// time spent waiting after the product, and the product's checksum. That of both is the median of
/// the product alone and the median of the differences of pairs.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    let Case { order, bytes, calls, iterations } = args.case;
    let (rank, ranks) = (args.place.rank, args.place.ranks);
    let shared = args.place.open(&Operation::Allreduce.program(ranks, bytes))?;
    shared.fill(0);
    let operands = Operands { operation: Operation::Allreduce, rank, ranks, bytes, times: 1 };
    let mut product = Product::new(order);
    let times = shared.with_member(args.progress, |mut member| {
        let [mut alone, mut more, mut waiting] = [const { Vec::new() }; 3];
        // Each with the allreduce beside one without, so that both see the same phase of the
        // machine.
        for iteration in 0..WARM + iterations {
            member.meet();
            let begin = Instant::now();
            product.multiply(|| Ok(()))?;
            let took = begin.elapsed().as_nanos() as f64;
            member.with_memory(|memory| operands.write(memory, iteration))?;
            member.meet();
            let begin = Instant::now();
            member.start()?;
            match calls {
                Calls::None => product.multiply(|| Ok(()))?,
                Calls::Block => product.multiply(|| member.test().map(drop))?,
            }
            let computed = begin.elapsed();
            member.wait()?;
            let ended = begin.elapsed();
            member.with_memory(|memory| operands.check(memory, iteration))??;
            if iteration >= WARM {
                alone.push(took);
                more.push(ended.as_nanos() as f64 - took);
                waiting.push((ended - computed).as_nanos() as f64);
            }
        }
        member.leave();
        Ok([alone, more, waiting])
    })?;
    let [alone, more, waiting] = times.map(median);
    let both = alone + more;
    say!("{} {rank} {alone:.1} {both:.1} {waiting:.1} {}", args.case, product.checksum());
    Ok(())
}
