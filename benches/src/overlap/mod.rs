//! Measures the cost of an allreduce for a program that computes at the same time (thesis 6.6).
//!
//! The computation is a blocked matrix product. It runs alone, and with an allreduce that starts
//! before it and is awaited after it. In between the program makes no call, or tests after each
//! block.

mod case;
mod contestant;
mod hosts;
mod kernel;
mod product;
mod rank;

pub(crate) use contestant::{AnyCase, Contestants};
pub(crate) use kernel::{Args as KernelRankArgs, run as run_kernel_rank};
pub(crate) use product::Product;
pub(crate) use rank::{Args as RankArgs, run as run_rank};

use crate::measure::median;
use crate::mpi::bytes;
use crate::table;
use case::{Calls, Case, Sample};
use clap::Args as ClapArgs;
use contestant::Contestant;
use product::BLOCK;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

/// Ranks, each with a processor.
const RANKS: u32 = 2;

/// `overlap`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    contestants: Contestants,
    /// Rows of the matrices, multiples of 32
    #[arg(long, value_delimiter = ',', default_values_t = [128, 256, 384], value_parser = order)]
    order: Vec<usize>,
    /// Bytes of the allreduce, multiples of 4
    #[arg(long, value_delimiter = ',', default_values_t = [8 << 10, 64 << 10, 1 << 20], value_parser = bytes)]
    size: Vec<u64>,
    /// Measure between two hosts of a test bench, a rank on each: libgoal over ESP, Open MPI over
    /// TCP. Needs root
    #[arg(long)]
    between_hosts: bool,
    /// Bytes of a frame between hosts, behind Ethernet's header
    #[arg(long, default_value_t = 1500)]
    mtu: usize,
    /// Products of each kind in a run [default: as many as take a tenth of a second]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Counted runs
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Write every sample there, as lines of order, bytes, contestant, calls, run, and nanoseconds
    /// of the product alone, of both, and of waiting after the product
    #[arg(long)]
    csv: Option<PathBuf>,
}

fn order(text: &str) -> Result<usize, String> {
    let order = text.parse().ok().filter(|&order: &usize| order > 0 && order.is_multiple_of(BLOCK));
    order.ok_or_else(|| format!("give a multiple of {BLOCK}"))
}

/// The first line of the raw data.
pub(crate) const HEADER: &str = "order,bytes,contestant,calls,run,alone_ns,both_ns,waiting_ns";

pub(crate) fn run(args: &Args) -> io::Result<()> {
    if args.between_hosts {
        say!("two hosts, MTU {}", args.mtu);
        return hosts::with(&args.contestants, args.mtu, |contestants| measure(args, contestants));
    }
    let folder = tempfile::tempdir()?;
    let built = args.contestants.build(folder.path())?;
    measure(args, &args.contestants.of(&built))
}

/// Measures these contestants in turn, and prints their figures.
fn measure(args: &Args, contestants: &[Contestant<'_>]) -> io::Result<()> {
    let cases: Vec<Case> = cases(args).collect();
    let mut csv = format!("{HEADER}\n");
    // The samples of each contestant in each case.
    let mut samples = vec![vec![Vec::new(); cases.len()]; contestants.len()];
    // The sizes that each contestant leaves out.
    let mut left_out = vec![Vec::new(); contestants.len()];
    for (contestant, left_out) in contestants.iter().zip(&mut left_out) {
        for &bytes in &args.size {
            if let Err(why) = contestant.check(RANKS, bytes) {
                say!("{} leaves out {bytes} bytes: {why}", contestant.name());
                left_out.push(bytes);
            }
        }
    }
    for run in 0..=args.runs {
        let mut products = vec![None; cases.len()];
        let all = contestants.iter().zip(&mut samples).zip(&left_out);
        for ((&contestant, samples), left_out) in all {
            let runs = |case: &Case| !left_out.contains(&case.bytes);
            let own: Vec<Case> = cases.iter().filter(|case| runs(case)).copied().collect();
            let lines = contestant.lines(RANKS, args.contestants.memory, &own, "overlap-rank")?;
            for ((case, samples), product) in cases.iter().zip(samples).zip(&mut products) {
                if !runs(case) {
                    continue;
                }
                let lines = lines.iter().map(String::as_str);
                let sample = Sample::of_case(*case, RANKS, lines).map_err(io::Error::other)?;
                if *product.get_or_insert(sample.checksum) != sample.checksum {
                    return Err(io::Error::other(format!(
                        "{case}: two contestants computed different products"
                    )));
                }
                if run > 0 {
                    let _ = write!(csv, "{},{},{},", case.order, case.bytes, contestant.name());
                    let _ = write!(csv, "{},{run},{:.1},", case.calls.name(), sample.alone);
                    let _ = writeln!(csv, "{:.1},{:.1}", sample.both, sample.waiting);
                    samples.push(sample);
                }
            }
        }
    }
    print(args.runs, &cases, contestants, &samples);
    match &args.csv {
        Some(path) => std::fs::write(path, csv),
        None => Ok(()),
    }
}

fn cases(args: &Args) -> impl Iterator<Item = Case> {
    let orders =
        args.size.iter().flat_map(|&bytes| args.order.iter().map(move |&order| (bytes, order)));
    orders.flat_map(|(bytes, order)| {
        let product_ns = (order * order * order) as u64 / 10 + bytes / 4;
        let iterations = args.iterations.unwrap_or((100_000_000 / product_ns).clamp(8, 400) as u32);
        Calls::ALL.map(|calls| Case { order, bytes, calls, iterations })
    })
}

fn print(
    runs: usize,
    cases: &[Case],
    contestants: &[Contestant<'_>],
    samples: &[Vec<Vec<Sample>>],
) {
    let us = |value: f64| format!("{:.1}", value / 1000.0);
    let middle = |samples: &[Sample], value: fn(&Sample) -> f64| median(samples.iter().map(value));
    // The least overhead of the libraries, without and with calls.
    let best = |case: &Case| {
        let of_mpi = contestants.iter().zip(samples).filter(|(contestant, _)| contestant.is_mpi());
        let alike = of_mpi
            .flat_map(|(_, samples)| cases.iter().zip(samples))
            .filter(|(other, _)| (other.order, other.bytes) == (case.order, case.bytes));
        alike.map(|(_, samples)| middle(samples, Sample::overhead)).reduce(f64::min)
    };
    let mut rows = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        for (contestant, samples) in contestants.iter().zip(samples) {
            let samples = &samples[at];
            if samples.is_empty() {
                continue;
            }
            let overhead = middle(samples, Sample::overhead);
            let overheads = samples.iter().map(Sample::overhead);
            let (least, most) =
                overheads.fold((f64::MAX, f64::MIN), |(l, m), ns| (l.min(ns), m.max(ns)));
            // A median that is not above 0 is noise. The least and the most value show the size of
            // the noise.
            let ratio = best(case).filter(|&best| best > 0.0 && overhead > 0.0);
            rows.push(vec![
                format!("{0} x {0}", case.order),
                case.bytes.to_string(),
                contestant.name(),
                case.calls.name().to_owned(),
                us(middle(samples, |sample| sample.alone)),
                us(middle(samples, |sample| sample.both)),
                if overhead > 0.0 { us(overhead) } else { "none".to_owned() },
                us(least),
                us(most),
                us(middle(samples, |sample| sample.waiting)),
                ratio.map_or("-".to_owned(), |best| format!("{:.2}", overhead / best)),
            ]);
        }
    }
    say!("median of {runs} runs, mean over {RANKS} ranks");
    let header = [
        "product",
        "bytes",
        "by",
        "calls",
        "alone us",
        "both us",
        "overhead us",
        "least",
        "most",
        "waiting us",
        "of MPI's best",
    ];
    table::print(&header, &rows);
}
