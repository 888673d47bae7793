//! One rank of an allreduce in the kernels of two hosts, beside a product.

use super::Product;
use super::case::{Calls, Case};
use crate::frames::pin;
use crate::measure::median;
use crate::mpi::{Operands, Operation};
use crate::offload::{InKernel, mac_of};
use clap::Args as ClapArgs;
use goal_shm::Barrier;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

/// Iterations that are not counted.
const WARM: u32 = 2;

/// `overlap-kernel-rank`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[arg(long)]
    rank: u32,
    /// The rank's processor, if it has one of its own
    #[arg(long)]
    processor: Option<usize>,
    /// The file of the barrier before everything that is timed
    #[arg(long)]
    meeting: PathBuf,
    #[arg(long)]
    mtu: u32,
    /// The hosts' Ethernet addresses
    #[arg(long, value_delimiter = ',')]
    macs: Vec<String>,
    #[arg(long)]
    case: Case,
}

/// Prints what a rank of [`overlap-rank`](super::rank) prints.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    let Case { order, bytes, calls, iterations } = args.case;
    if let Some(processor) = args.processor {
        pin(processor)?;
    }
    let macs: Option<Vec<_>> = args.macs.iter().map(|text| mac_of(text)).collect();
    let macs = macs.ok_or_else(|| io::Error::other("no Ethernet addresses"))?;
    let (rank, ranks) = (args.rank, macs.len() as u32);
    let file = File::options().read(true).write(true).open(&args.meeting)?;
    let barrier = Barrier::open(file.into())?;
    let program = Operation::Allreduce.program_between_hosts(ranks, bytes);
    let mut kernel = InKernel::open(&program, rank, &macs, args.mtu)?;
    let mut memory = vec![0; kernel.len()];
    let operands = Operands { operation: Operation::Allreduce, rank, ranks, bytes, times: 1 };
    let mut product = Product::new(order);
    let idle: fn() = match args.processor {
        Some(_) => std::hint::spin_loop,
        None => std::thread::yield_now,
    };
    let [mut alone, mut more, mut waiting] = [const { Vec::new() }; 3];
    for iteration in 0..WARM + iterations {
        barrier.wait(ranks, idle);
        let begin = Instant::now();
        product.multiply(|| Ok(()))?;
        let took = begin.elapsed().as_nanos() as f64;
        operands.write(&mut memory, iteration);
        barrier.wait(ranks, idle);
        let begin = Instant::now();
        kernel.start(&memory)?;
        match calls {
            Calls::None => product.multiply(|| Ok(()))?,
            Calls::Block => product.multiply(|| kernel.test().map(drop))?,
        }
        let computed = begin.elapsed();
        kernel.wait()?;
        kernel.read(&mut memory);
        let ended = begin.elapsed();
        operands.check(&memory, iteration)?;
        if iteration >= WARM {
            alone.push(took);
            more.push(ended.as_nanos() as f64 - took);
            waiting.push((ended - computed).as_nanos() as f64);
        }
    }
    // A rank that is late may ask this one's kernel for what was lost.
    barrier.wait(ranks, std::thread::yield_now);
    let [alone, more, waiting] = [alone, more, waiting].map(median);
    let both = alone + more;
    say!("{} {rank} {alone:.1} {both:.1} {waiting:.1} {}", args.case, product.checksum());
    Ok(())
}
