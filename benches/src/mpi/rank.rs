//! One rank of a timed operation.

use super::schedules::Operation;
use crate::member::Place;
use clap::Args as ClapArgs;
use goal_run::job::Mode;
use std::io;
use std::time::Instant;

/// `mpi-rank`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
    #[arg(long)]
    operation: Operation,
    #[arg(long)]
    bytes: u64,
    #[arg(long)]
    iterations: u32,
    #[arg(long)]
    progress: Mode,
}

/// Prints the mean time of an operation in nanoseconds.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    let shared = args.place.open(&args.operation.program(args.place.ranks, args.bytes))?;
    shared.fill(1);
    let total_ns = shared.with_member(args.progress, |mut member| {
        let warm = args.iterations / 10 + 2;
        let mut total_ns = 0;
        for iteration in 0..warm + args.iterations {
            member.meet();
            let begin = Instant::now();
            member.start()?;
            member.wait()?;
            if iteration >= warm {
                total_ns += begin.elapsed().as_nanos();
            }
            member.finish()?;
        }
        member.leave();
        Ok(total_ns)
    })?;
    println!("{}", total_ns as f64 / f64::from(args.iterations));
    Ok(())
}
