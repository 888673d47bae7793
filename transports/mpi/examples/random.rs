//! Random programs over MPI, for tests: `mpirun -n 4 random 20` runs those of 20 seeds on the ranks
//! of MPI and compares each rank's memory with the interpreter's.

use goal_engine::Options;
use goal_engine::testing::{Rank, WithSelf, first_room, nisa, options};
use goal_fabric::{Fabric, Terms};
use goal_interp::Eager;
use goal_mpi::{MpiFabric, Process};
use goal_smith::{Shape, program};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The longest time of a program.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time since the first call.
fn now_ns() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// Returns this rank's end of a job.
fn fabric(process: &Process, first_room: u64) -> Result<MpiFabric, String> {
    let (rank, ranks) = (process.comm().rank(), process.comm().size());
    let terms = Terms { rank, ranks, first_room, has_communicators: false };
    MpiFabric::new(&terms, process.comm(), now_ns)
}

/// Runs the program of a seed, if it has few enough ranks. Returns true if this rank has a part.
fn check(process: &Process, seed: u64) -> Result<bool, String> {
    let shape = Shape::varied(seed);
    let program = program(seed, &shape);
    let rank = process.comm().rank();
    if program.num_ranks() > process.comm().size() {
        return Ok(false);
    }
    // All processes have their ends, as all must agree when these end.
    let fabric = fabric(process, first_room(seed))?;
    if rank >= program.num_ranks() {
        return Ok(false);
    }
    let pushed_max = [0, 512 << 10][seed as usize % 2];
    let options = Options { pushed_max, ..options(seed) };
    let ways = WithSelf::new(rank, fabric);
    let mut run = Rank::start(&nisa(&program), rank, ways, options);
    let since = Instant::now();
    while !run.has_ended() {
        run.engine.poll(now_ns()).map_err(|failure| format!("{failure:?}"))?;
        if let Some((other, why)) = run.engine.transport().others.lost() {
            return Err(format!("rank {other} is lost: {why}"));
        }
        if since.elapsed() > PATIENCE {
            return Err("stuck".to_owned());
        }
        std::thread::yield_now();
    }
    // The messages that the last actions wrote leave now.
    run.engine.transport().others.send_written();
    let memory = run.memory();
    let eager = goal_interp::Options { eager: Eager::None, ..goal_interp::Options::default() };
    let expected = goal_interp::run(&program, &eager).map_err(|_| "it has a deadlock")?;
    let mut all = expected.memory.clone();
    all[rank as usize] = memory;
    match expected.first_difference(&all) {
        None => Ok(true),
        Some((_, address)) => Err(format!("address {address} is not as the interpreter has it")),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seeds: u64 = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(10);
    let process = Process::start().unwrap_or_else(|why| panic!("{why}"));
    let rank = process.comm().rank();
    let mut ran = 0;
    for seed in 0..seeds {
        match check(&process, seed) {
            Ok(has_part) => ran += u32::from(has_part),
            Err(why) => {
                eprintln!("rank {rank}, seed {seed}: {why}");
                std::process::exit(1);
            }
        }
    }
    println!("rank {rank} ran {ran} programs");
}
