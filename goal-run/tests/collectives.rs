//! Every algorithm of every collective, with data, on processes and on threads. The results that
//! ranks must end with are computed here by MPI's definition, without a program.

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_collectives::{ALGORITHMS, Algorithm, GenerateError, Request};
use goal_lang::limits::Limits;
use goal_lang::{CollectiveKind, Datatype, Datum, MemoryImage, Program, ProgramBuilder};
use goal_run::job::Mode;
use goal_run::launcher::{End, Options, Ranks, run};
use goal_run::verify::verify;
use std::sync::Arc;
use std::time::Duration;

/// An element of a rank's input.
fn element(rank: u32, at: u64) -> i32 {
    (rank as i32).wrapping_mul(1_000_003).wrapping_add(at as i32 * 101 + 7)
}

/// The elements of a rank's input from `first` on.
fn input(rank: u32, first: u64, count: u64) -> Vec<i32> {
    (first..first + count).map(|at| element(rank, at)).collect()
}

/// The sums over ranks of elements of their inputs from `first` on.
fn sums(ranks: u32, first: u64, count: u64) -> Vec<i32> {
    let sum = |at| (0..ranks).fold(0i32, |sum, rank| sum.wrapping_add(element(rank, at)));
    (first..first + count).map(sum).collect()
}

/// Returns a rank's input, and the content that its output must have.
fn buffers(request: &Request, rank: u32) -> (Vec<i32>, Vec<i32>) {
    use CollectiveKind as Kind;
    let Request { kind, ranks, root, count, .. } = *request;
    let (is_root, own) = (rank == root, u64::from(rank) * count);
    let of_all =
        |first: u64| (0..ranks).flat_map(|other| input(other, first, count)).collect::<Vec<_>>();
    let all = u64::from(ranks) * count;
    let none = Vec::new();
    match kind {
        Kind::Bcast => (if is_root { input(rank, 0, count) } else { none }, input(root, 0, count)),
        Kind::Reduce => (input(rank, 0, count), if is_root { sums(ranks, 0, count) } else { none }),
        Kind::Allreduce => (input(rank, 0, count), sums(ranks, 0, count)),
        Kind::Gather => (input(rank, 0, count), if is_root { of_all(0) } else { none }),
        Kind::Allgather => (input(rank, 0, count), of_all(0)),
        Kind::Scatter => {
            (if is_root { input(rank, 0, all) } else { none }, input(root, own, count))
        }
        Kind::Alltoall => (input(rank, 0, all), of_all(own)),
        Kind::ReduceScatter => (input(rank, 0, all), sums(ranks, own, count)),
        Kind::Scan => (input(rank, 0, count), sums(rank + 1, 0, count)),
        Kind::Exscan => (input(rank, 0, count), if rank > 0 { sums(rank, 0, count) } else { none }),
        Kind::Barrier => (none.clone(), none),
    }
}

/// The program with inputs before it and outputs behind it.
fn program(algorithm: &Algorithm, request: &Request) -> Result<Program, GenerateError> {
    let mut program = ProgramBuilder::default();
    for rank in 0..request.ranks {
        let body = program.body(algorithm.body(request, rank)?);
        let (before, after) = buffers(request, rank);
        let datum = |addr, values: Vec<i32>| {
            let bytes = values.into_iter().flat_map(i32::to_le_bytes).collect::<Vec<_>>();
            (!bytes.is_empty()).then_some(Datum { addr, datatype: Datatype::Int32, bytes })
        };
        let image = MemoryImage {
            init: datum(request.input.expect("apart"), before).into_iter().collect(),
            expect: datum(request.output, after).into_iter().collect(),
        };
        let image = program.image(image);
        program.rank(body, Some(image));
    }
    Ok(program.finish())
}

/// Runs all algorithms, with messages below and above the eager limit in turn.
fn run_all(ranks_as: &Ranks) {
    let mut runs = 0;
    for (number, algorithm) in ALGORITHMS.iter().enumerate() {
        for ranks in 1..=9u32 {
            let large = (number + ranks as usize).is_multiple_of(2);
            let request = Request {
                root: if algorithm.kind.has_root() { ranks / 2 } else { 0 },
                count: if large { 4800 } else { 5 },
                datatype: Datatype::Int32,
                input: Some(0),
                output: 1 << 20,
                segment: if large { 4096 } else { 8 },
                ..Request::new(algorithm.kind, ranks)
            };
            let program = match program(algorithm, &request) {
                Ok(program) => program,
                Err(GenerateError::Ranks { .. }) => continue,
                Err(error) => panic!("{algorithm:?}: {error}"),
            };
            let mut bytes = Vec::new();
            encode(&program, &EncodeOptions::default(), None, &mut bytes).unwrap();
            let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Limits::default()).unwrap());
            let options = Options {
                ranks: ranks_as.clone(),
                progress: Mode::ALL[number % Mode::ALL.len()],
                repeat: 2,
                timeout: Some(Duration::from_secs(60)),
                record: true,
                ..Options::default()
            };
            let outcome = run(&nisa, &options).unwrap();
            // Ranks compare their memory with what they must end with.
            assert_eq!(outcome.end, End::Complete, "{algorithm:?}, {ranks} ranks");
            verify(&outcome)
                .unwrap_or_else(|error| panic!("{algorithm:?}, {ranks} ranks: {error}"));
            runs += 1;
        }
    }
    assert!(runs > 300, "{runs} runs");
}

#[test]
fn on_processes() {
    run_all(&Ranks::Processes { executable: env!("CARGO_BIN_EXE_goal-run").into() });
}

#[test]
fn on_threads() {
    run_all(&Ranks::Threads);
}
