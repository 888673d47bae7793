//! Runs every algorithm of every collective with data, on processes and on threads. The expected
//! results are computed here by MPI's definition, without a program.

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_collectives::{ALGORITHMS, Algorithm, Blocks, Counts, GenerateError, Nodes, Request};
use goal_filetest::patience;
use goal_job::{JobSpec, Mode};
use goal_lang::limits::Limits;
use goal_lang::{
    BlockList, CollectiveKind, Datatype, Datum, MemoryImage, Neighbors, Program, ProgramBuilder,
};
use goal_launch::{End, Options, Ranks, run};
use goal_run::verify::verify;
use std::sync::Arc;

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

/// Returns the sources of a rank in a ring, and the number of the block that each sends to it.
fn edges_to(rank: u32, ranks: u32) -> [(u32, u64); 2] {
    let [last, next] = Neighbors::ring(rank, ranks).sources[..] else { unreachable!("two") };
    // The rank above the last one is this one; two ranks are above and below each other.
    if ranks > 2 { [(last, 1), (next, 0)] } else { [(last, 0), (next, 1)] }
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
        Kind::NeighborAllgather => {
            let sources = Neighbors::ring(rank, ranks).sources;
            (
                input(rank, 0, count),
                sources.iter().flat_map(|&from| input(from, 0, count)).collect(),
            )
        }
        Kind::NeighborAlltoall => {
            let edges = edges_to(rank, ranks);
            let of = |(from, block)| input(from, block * count, count);
            (input(rank, 0, 2 * count), edges.into_iter().flat_map(of).collect())
        }
    }
}

/// The elements from one rank to another, in a request with blocks of different sizes.
fn count(from: u32, to: u32, large: bool) -> u64 {
    let counts = if large { [4800, 0, 9001, 1, 5000] } else { [2, 0, 3, 1, 5] };
    counts[(from * 7 + to * 3) as usize % counts.len()]
}

/// Returns blocks with an element between them, the last one first.
fn listed(counts: Vec<u64>) -> BlockList {
    let total: u64 = counts.iter().map(|count| count + 1).sum();
    let mut before = 0;
    let places = counts.iter().map(|count| {
        before += count + 1;
        total - before
    });
    let places: Vec<u64> = places.collect();
    BlockList::at(counts, places).expect("as many")
}

/// Returns the blocks that a rank sends and receives, in a request with blocks of different sizes.
fn lists(kind: CollectiveKind, ranks: u32, rank: u32, large: bool) -> [BlockList; 2] {
    if kind == CollectiveKind::Alltoall {
        let send = (0..ranks).map(|to| count(rank, to, large)).collect();
        let recv = (0..ranks).map(|from| count(from, rank, large)).collect();
        return [listed(send), listed(recv)];
    }
    let neighbors = Neighbors::ring(rank, ranks).sources;
    if kind == CollectiveKind::NeighborAllgather {
        let recv = neighbors.iter().map(|&from| count(from, 0, large)).collect();
        return [listed(vec![count(rank, 0, large)]), listed(recv)];
    }
    if kind == CollectiveKind::NeighborAlltoall {
        let send = neighbors.iter().map(|&to| count(rank, to, large)).collect();
        let recv = neighbors.iter().map(|&from| count(from, rank, large)).collect();
        return [listed(send), listed(recv)];
    }
    let list = listed((0..ranks).map(|rank| count(rank, 0, large)).collect());
    [list.clone(), list]
}

/// Returns a rank's input, and what its output must have at which element, for blocks of different
/// sizes.
fn buffers_of_blocks(
    request: &Request,
    rank: u32,
    large: bool,
) -> (Vec<i32>, Vec<(u64, Vec<i32>)>) {
    use CollectiveKind as Kind;
    let Request { kind, ranks, root, .. } = *request;
    let is_root = rank == root;
    let of = |rank: u32| lists(kind, ranks, rank, large);
    let block =
        |list: &BlockList, at: u32| (list.displacements()[at as usize], list.counts()[at as usize]);
    let [sent, received] = of(rank);
    let all = || input(rank, 0, sent.end().expect("small"));
    if kind.has_neighbors() {
        let edges = edges_to(rank, ranks).into_iter().zip(0..);
        let after = edges.map(|((from, number), slot)| {
            let (place, count) = block(&received, slot);
            let first = match kind {
                Kind::NeighborAlltoall => block(&of(from)[0], number as u32).0,
                _ => 0,
            };
            (place, input(from, first, count))
        });
        return (input(rank, 0, sent.end().expect("small")), after.collect());
    }
    let (place, own) = block(&sent, rank);
    let from_all = |first: &dyn Fn(u32) -> u64| -> Vec<(u64, Vec<i32>)> {
        let of = |from: u32| {
            let (place, count) = block(&received, from);
            (place, input(from, first(from), count))
        };
        (0..ranks).map(of).collect()
    };
    let none = Vec::new();
    match kind {
        Kind::Gather => (input(rank, 0, own), if is_root { from_all(&|_| 0) } else { none }),
        Kind::Allgather => (input(rank, 0, own), from_all(&|_| 0)),
        Kind::Scatter => {
            (if is_root { all() } else { Vec::new() }, vec![(0, input(root, place, own))])
        }
        Kind::Alltoall => (all(), from_all(&|from| block(&of(from)[0], rank).0)),
        Kind::ReduceScatter => (all(), vec![(0, sums(ranks, place, own))]),
        _ => unreachable!("{kind} has no blocks of different sizes"),
    }
}

/// Returns what a rank knows of the blocks of different sizes.
fn blocks(algorithm: &Algorithm, request: &Request, rank: u32, large: bool) -> Blocks {
    let [send, recv] = lists(request.kind, request.ranks, rank, large);
    match request.kind {
        kind if kind == CollectiveKind::Alltoall || kind.has_neighbors() => {
            Blocks::Pairs { send, recv }
        }
        _ if algorithm.counts == Counts::Own && rank != request.root => {
            Blocks::Own(count(rank, 0, large))
        }
        _ => Blocks::Each(send),
    }
}

/// The program with inputs before it and outputs behind it.
fn program(
    algorithm: &Algorithm,
    request: &Request,
    blocks_of: Option<bool>,
) -> Result<Program, GenerateError> {
    let mut program = ProgramBuilder::default();
    for rank in 0..request.ranks {
        let own = blocks_of.map_or(Blocks::Equal, |large| blocks(algorithm, request, rank, large));
        let body = algorithm.body(&Request { blocks: own, ..request.clone() }, rank)?;
        let body = program.body(body);
        let (before, after) = match blocks_of {
            Some(large) => buffers_of_blocks(request, rank, large),
            None => {
                let (before, after) = buffers(request, rank);
                (before, vec![(0, after)])
            }
        };
        let datum = |addr, values: Vec<i32>| {
            let bytes = values.into_iter().flat_map(i32::to_le_bytes).collect::<Vec<_>>();
            (!bytes.is_empty()).then_some(Datum { addr, datatype: Datatype::Int32, bytes })
        };
        let after = after.into_iter();
        let image = MemoryImage {
            init: datum(request.input.expect("apart"), before).into_iter().collect(),
            expect: after
                .filter_map(|(at, values)| datum(request.output + 4 * at, values))
                .collect(),
        };
        let image = program.image(image);
        program.rank(body, Some(image));
    }
    Ok(program.finish())
}

/// Runs all algorithms, with messages below and above the eager limit in turn. Algorithms that take
/// blocks of different sizes run with them, too, on even or on odd numbers of ranks. Algorithms of
/// two levels run on nodes of two ranks, or on two nodes that get the ranks in turn.
fn run_all(ranks_as: &Ranks, with_blocks: impl Fn(u32) -> bool) {
    let mut runs = 0;
    for (number, algorithm) in ALGORITHMS.iter().enumerate() {
        for ranks in 1..=9u32 {
            let large = (number + ranks as usize).is_multiple_of(2);
            let in_turn: Vec<u32> = (0..ranks).map(|rank| rank % 2).collect();
            let is_scan = matches!(algorithm.kind, CollectiveKind::Scan | CollectiveKind::Exscan);
            let is_dealt = ranks % 3 == 0 && !is_scan;
            let nodes = if is_dealt { Nodes::new(&in_turn) } else { Nodes::from_size(ranks, 2) };
            let request = Request {
                root: if algorithm.kind.has_root() { ranks / 2 } else { 0 },
                count: if large { 4800 } else { 5 },
                datatype: Datatype::Int32,
                input: Some(0),
                output: 1 << 19,
                segment: if large { 4096 } else { 8 },
                nodes: algorithm.has_levels().then(|| Arc::new(nodes)),
                ..Request::new(algorithm.kind, ranks)
            };
            let has_blocks = algorithm.counts != Counts::Equal && with_blocks(ranks);
            let blocks = has_blocks.then_some(Some(large));
            for blocks in blocks.into_iter().chain([None]) {
                let program = match program(algorithm, &request, blocks) {
                    Ok(program) => program,
                    Err(GenerateError::Ranks { .. }) => continue,
                    Err(error) => panic!("{algorithm:?}: {error}"),
                };
                run_program(&program, ranks_as, number, &format!("{algorithm:?}, {ranks} ranks"));
                runs += 1;
            }
        }
    }
    assert!(runs > 550, "{runs} runs");
}

/// Runs a program. Ranks compare their memory with what they must end with.
fn run_program(program: &Program, ranks_as: &Ranks, number: usize, name: &str) {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Limits::default()).unwrap());
    let options = Options {
        spec: JobSpec {
            progress: Mode::ALL[number % Mode::ALL.len()],
            repeat: 2,
            timeout: Some(patience(60)),
            ..JobSpec::default()
        },
        ranks: ranks_as.clone(),
        record: true,
        ..Options::default()
    };
    let outcome = run(&nisa, &options).unwrap();
    assert_eq!(outcome.end, End::Complete, "{name}");
    verify(&outcome).unwrap_or_else(|error| panic!("{name}: {error}"));
}

#[test]
fn on_processes() {
    let executable = env!("CARGO_BIN_EXE_goal-run").into();
    run_all(&Ranks::Processes { executable }, |ranks| !ranks.is_multiple_of(2));
}

#[test]
fn on_threads() {
    run_all(&Ranks::Threads, |ranks| ranks.is_multiple_of(2));
}
