//! Operations over TCP between processes on this machine, as calls of libgoal, beside those of MPI
//! libraries over TCP. The program, its operands and its checks are those of `mpi`; each of our
//! ranks has a launcher of its own, as on hosts of their own.

mod loopback;
mod report;

use crate::host_jobs::Jobs;
use crate::job::{Page, processors};
use crate::library::goal::{self, Table};
use crate::library::{self, Libraries, Over, Peer};
use crate::mpi::{
    By, Calls, Manner, Memory, Operation, RANKS_MAX, Row, Sample, WAYS, append, bytes, parsed,
    right,
};
use clap::Args as ClapArgs;
use goal_job::{Mode, Wait};
use goal_run::named;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

/// `tcp`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    libraries: Libraries,
    /// Operations
    #[arg(long, value_enum, value_delimiter = ',',
        default_values_t = [Operation::Pingpong, Operation::Barrier, Operation::Allreduce])]
    operation: Vec<Operation>,
    /// Numbers of ranks, a launcher of goal-run for each
    #[arg(long, value_delimiter = ',', default_values_t = [2, 4],
        value_parser = clap::value_parser!(u32).range(2..=RANKS_MAX))]
    ranks: Vec<u32>,
    /// Bytes that each rank gives, to each other rank in an alltoall; multiples of 4
    #[arg(long, value_delimiter = ',', value_parser = bytes,
        default_values_t = [8, 1 << 10, 64 << 10, 1 << 20, 4 << 20])]
    size: Vec<u64>,
    #[command(flatten)]
    table: Table,
    /// Mode in which libgoal makes progress
    #[arg(long, value_parser = named::<Mode>(), default_value = "caller")]
    progress: Mode,
    /// Waiting of the ranks of goal-run
    #[arg(long, value_parser = named::<Wait>(), default_value = "adaptive")]
    wait: Wait,
    /// Counted runs
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Counted rounds of a run at most [default: as many as take some milliseconds, 20 to 4000]
    #[arg(long, default_value_t = u32::MAX, hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Append every sample there, as lines of memory, ranks, operation, bytes, contestant, run, and
    /// nanoseconds of the first time and of later ones
    #[arg(long)]
    csv: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    if let Some(path) = &args.csv {
        append(path, &[], &[])?;
    }
    let bench = Bench::new(args)?;
    let mut samples = Vec::new();
    for &ranks in &args.ranks {
        for &operation in &args.operation {
            if !operation.is_in_library() || !operation.allows(ranks) {
                continue;
            }
            if io::stderr().is_terminal() {
                eprintln!("{} over TCP, {ranks} ranks", operation.name());
            }
            let of_case = bench.measure(operation, ranks)?;
            if let Some(path) = &args.csv {
                append(path, &of_case, &[])?;
            }
            samples.extend(of_case);
        }
    }
    report::print(&samples);
    Ok(())
}

/// The place of operands: memory that each library allocates.
const MEMORY: Memory = Memory::Shared;
const KIND: &str = "alloc";

#[derive(Clone, Copy)]
enum Contestant<'a> {
    Peer(&'a Peer),
    Ours,
}

/// The programs of the contestants, compiled.
struct Bench<'a> {
    args: &'a Args,
    jobs: Jobs,
    peers: Vec<Peer>,
    ours: goal::Program,
}

impl<'a> Bench<'a> {
    fn new(args: &'a Args) -> io::Result<Self> {
        let jobs = Jobs::new()?;
        let folder = jobs.folder.path();
        let peers = args.libraries.build(&library::OPERATIONS, folder)?;
        let ours = args.table.build(&library::OPERATIONS, folder)?;
        let ours = ours.ok_or_else(|| io::Error::other("nothing to measure without libgoal"))?;
        Ok(Self { args, jobs, peers, ours })
    }

    /// Runs all contestants in turn. The first runs are not counted: each way of each contestant is
    /// run alone in them, and must send its messages over the loopback interface. A library that
    /// fails then is left out, after a message.
    fn measure(&self, operation: Operation, ranks: u32) -> io::Result<Vec<Sample>> {
        let processors = processors(ranks)?;
        let sizes = if operation == Operation::Barrier { &[0][..] } else { &self.args.size };
        let rounds = self.args.rounds;
        let calls = Calls {
            operation,
            processors: &processors,
            sizes,
            rounds,
            manner: Manner::default(),
            table: None,
        };
        let check = |of| {
            let mut ways = WAYS.into_iter();
            let of_way = |way| loopback::checked(&calls, || self.times(of, &calls, &[way]));
            ways.try_for_each(|way| of_way(way).map(drop))
        };
        let mut contestants = Vec::new();
        for peer in self.peers.iter().filter(|peer| peer.library.can_run(ranks)) {
            match check(Contestant::Peer(peer)) {
                Ok(()) => contestants.push(Contestant::Peer(peer)),
                Err(error) => eprintln!("{}: left out: {error}", operation.name()),
            }
        }
        check(Contestant::Ours)?;
        contestants.push(Contestant::Ours);
        let mut samples = Vec::new();
        for run in 1..=self.args.runs as usize {
            for &of in &contestants {
                let times = self.times(of, &calls, &WAYS)?;
                samples.extend(times.into_iter().map(|sample| sample.of_run(run)));
            }
        }
        Ok(samples)
    }

    /// Runs a contestant's program once.
    fn times(
        &self,
        contestant: Contestant<'_>,
        calls: &Calls<'_>,
        ways: &[&str],
    ) -> io::Result<Vec<Sample>> {
        let page = Page::new()?;
        let arguments = calls.arguments(&page, KIND, ways);
        let Calls { operation, processors, .. } = *calls;
        let row = |bytes| Row {
            memory: MEMORY,
            ranks: processors.len() as u32,
            operation: operation.name().to_owned(),
            bytes,
        };
        let samples = match contestant {
            Contestant::Peer(peer) => {
                let lines = peer.run_bound(Over::Tcp, processors, &arguments)?;
                let library = &peer.library.name;
                parsed(&lines, library, row, By::peer(library))?
            }
            Contestant::Ours => {
                let Args { progress, wait, .. } = *self.args;
                let key = &self.jobs.key;
                let lines = self.ours.run_over_tcp(processors, progress, wait, key, &arguments)?;
                parsed(&lines, goal::LIBGOAL, row, By::library(""))?
            }
        };
        right(samples)
    }
}
