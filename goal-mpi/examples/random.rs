//! Random programs over MPI, for tests: `mpirun -n 4 random 20` runs those of 20 seeds on the ranks
//! of MPI and compares each rank's memory with the interpreter's.

use goal_engine::memory::{Imported, Span};
use goal_engine::testing::{add_bytes, nisa, state};
use goal_engine::transport::{Full, Header, Transport};
use goal_engine::{Calc, Engine, Options, Schedule, Seed, Storage, sends};
use goal_fabric::{Fabric, Terms};
use goal_interp::Eager;
use goal_mpi::{MpiFabric, Process};
use goal_smith::{Shape, program};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The longest time of a program.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time since the first call.
fn now_ns() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// The transports of a rank: a queue to itself, and MPI.
struct Ways {
    rank: u32,
    own: VecDeque<(Header, Vec<u8>)>,
    own_room: u64,
    mpi: MpiFabric,
}

impl Transport for Ways {
    fn short_max(&self) -> usize {
        self.mpi.short_max()
    }

    fn payload_max(&mut self, to: u32) -> usize {
        self.mpi.payload_max(to)
    }

    fn part_max(&mut self, to: u32) -> usize {
        self.mpi.part_max(to)
    }

    fn try_send(
        &mut self,
        to: u32,
        header: &Header,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        if to != self.rank {
            let mut fill = Some(fill);
            let mut once = |out: &mut [u8]| (fill.take().expect("it is called once"))(out);
            return self.mpi.try_send(to, header, &mut once);
        }
        let mut payload = vec![0; header.payload_len()];
        fill(&mut payload);
        self.own.push_back((*header, payload));
        Ok(())
    }

    fn poll(
        &mut self,
        messages_max: usize,
        mut sink: impl FnMut(&Header, &[u8]) -> ControlFlow<()>,
    ) -> usize {
        let mut taken = self.mpi.poll(messages_max, &mut sink);
        while let Some((header, payload)) = self.own.pop_front() {
            taken += 1;
            if sink(&header, &payload).is_break() {
                break;
            }
        }
        taken
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.own_room = bytes;
        self.mpi.announce_room(bytes, most);
    }

    fn room(&self, to: u32) -> u64 {
        if to == self.rank { self.own_room } else { self.mpi.room(to) }
    }

    fn pushed_max(&mut self, to: u32, _bytes: Option<Span>) -> u64 {
        if to == self.rank { 0 } else { self.mpi.pushed_max(to) }
    }

    fn export(&self, _to: u32, _bytes: Span) -> Option<u64> {
        None
    }

    fn import(&self, _source: u32, _address: u64, _len: u64) -> Option<Imported<'_>> {
        None
    }
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
    let fabric = fabric(process, [0, 1 << 10, 8 << 10][seed as usize % 3])?;
    if rank >= program.num_ranks() {
        return Ok(false);
    }
    let eager_limit = [0, 100, 5000, 16 << 10, 1 << 20][seed as usize % 5];
    let pushed_max = [0, 512 << 10][seed as usize % 2];
    let calc = Calc::Scaled(1.0);
    let options = Options { eager_limit, pushed_max, calc, ..Options::default() };
    let nisa = nisa(&program);
    let ways = Ways { rank, own: VecDeque::new(), own_room: 0, mpi: fabric };
    let mut engine = Engine::new(rank, ways, options, state());
    engine.register(1, Box::new(add_bytes));
    let bound = Arc::clone(&nisa);
    engine.bound_requests(move |source| sends(&bound, source, rank));
    let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), rank, Seed::default()));
    let handle = engine.start(&schedule, 0, Storage::new(&schedule));
    let since = Instant::now();
    while !engine.test(&handle) {
        engine.poll(now_ns()).map_err(|failure| format!("{failure:?}"))?;
        if let Some((other, why)) = engine.transport().mpi.lost() {
            return Err(format!("rank {other} is lost: {why}"));
        }
        if since.elapsed() > PATIENCE {
            return Err("stuck".to_owned());
        }
        std::thread::yield_now();
    }
    // The messages that the last actions wrote leave now.
    engine.transport().mpi.send_written();
    let memory = engine.finish(handle).memory().to_vec();
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
