//! One rank of a timed operation: a process of its own, bound to a processor where each rank has one.

use super::layout;
use super::schedules::Operation;
use crate::engine::assemble;
use clap::Args as ClapArgs;
use goal_run::engine::{Engine, Options, Schedule, Storage};
use goal_run::rank::Pause;
use goal_run::shm::{Mapping, Meeting, Segment};
use goal_run::transport::ShmTransport;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// `mpi-rank`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[arg(long)]
    operation: Operation,
    #[arg(long)]
    rank: u32,
    #[arg(long)]
    ranks: u32,
    #[arg(long)]
    bytes: u64,
    #[arg(long)]
    iterations: u32,
    /// The file of the segment.
    #[arg(long)]
    segment: PathBuf,
    /// The file of the barrier before each operation.
    #[arg(long)]
    meeting: PathBuf,
    /// The processor to stay on.
    #[arg(long)]
    cpu: Option<usize>,
}

/// Prints the mean time of an operation in nanoseconds.
pub(crate) fn run(args: &Args) -> io::Result<()> {
    if let Some(cpu) = args.cpu {
        let mut set = CpuSet::new();
        set.set(cpu)?;
        sched_setaffinity(Pid::from_raw(0), &set)?;
    }
    let open = |path: &PathBuf| File::options().read(true).write(true).open(path).map(OwnedFd::from);
    let nisa = Arc::new(assemble(&args.operation.program(args.ranks, args.bytes))?);
    let segment = Segment::open(open(&args.segment)?, layout(&nisa)?)?;
    let page = Mapping::open(open(&args.meeting)?, size_of::<Meeting>())?;
    let meeting: &Meeting = page.words(0);
    let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), args.rank));
    let crowded = args.cpu.is_none();
    let pause = || {
        if crowded {
            std::thread::yield_now()
        }
    };
    let areas = segment.rank(args.rank);
    let split = areas.instance.start + 8 * schedule.state_sizes().finished;
    let mut storage = Storage {
        memory: segment.region(&areas.memory),
        scratch: segment.region(&areas.scratch),
        finished: segment.cells(&(areas.instance.start..split)),
        counters: segment.cells(&(split..areas.instance.end)),
        matches: None,
    };
    storage.memory.whole().write(|bytes| bytes.fill(1));
    let mut engine = Engine::new(args.rank, ShmTransport::new(&segment, args.rank), Options::default());
    let status = segment.status(args.rank);
    let warm = args.iterations / 10 + 2;
    let mut total_ns = 0;
    for iteration in 0..warm + args.iterations {
        meeting.wait(args.ranks, pause);
        let begin = Instant::now();
        let handle = engine.start(&schedule, 0, storage);
        let mut rest = Pause::new(crowded);
        while !engine.test(&handle) {
            let progress = engine.poll(0).map_err(|failure| io::Error::other(format!("{failure:?}")))?;
            if progress.worked {
                rest.over();
            } else {
                rest.rest(status, engine.transport(), progress.waiting);
            }
        }
        if iteration >= warm {
            total_ns += begin.elapsed().as_nanos();
        }
        storage = engine.finish(handle);
    }
    // What others still ask for leaves before this rank does.
    meeting.wait(args.ranks, || {
        let _ = engine.poll(0);
        pause();
    });
    println!("{}", total_ns as f64 / f64::from(args.iterations));
    Ok(())
}
