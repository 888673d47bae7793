//! Every algorithm, for the numbers of ranks and the roots that it takes, as MPI defines its
//! collective.

use crate::{ALGORITHMS, Algorithm, Blocks, Counts, GenerateError, Nodes, Request};
use goal_check::{Collective, Options, check_into};
use goal_lang::diag::Report;
use goal_lang::{BlockList, CollectiveKind, Datatype, Function, Neighbors, Op};
use std::sync::Arc;

const RANKS: [u32; 19] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 33];

/// Blocks of a program, as its ranks know them and as the check does.
#[derive(Clone)]
struct OfAll {
    of_rank: Vec<Blocks>,
    checked: goal_check::Blocks,
    neighbors: Option<Vec<Neighbors>>,
}

/// Generates a program and proves it. Returns false if the algorithm does not take the request.
fn prove(algorithm: &Algorithm, request: &Request, blocks: Option<&OfAll>) -> bool {
    let of_rank = |rank: u32| match blocks {
        Some(OfAll { of_rank, neighbors, .. }) => {
            let at = rank as usize;
            let neighbors = neighbors.as_ref().map(|all| all[at].clone());
            Request { blocks: of_rank[at].clone(), neighbors, ..request.clone() }
        }
        None => request.clone(),
    };
    let program = match algorithm.program_of(request.ranks, of_rank) {
        Ok(program) => program,
        Err(
            GenerateError::Ranks { .. }
            | GenerateError::Order { .. }
            | GenerateError::NodeOrder { .. },
        ) => return false,
        Err(error) => panic!("{algorithm:?}: {error}: {request:?}"),
    };
    let collective = Collective {
        kind: request.kind,
        root: request.root,
        function: request.function,
        datatype: request.datatype,
        count: (request.kind != CollectiveKind::Barrier).then_some(request.count),
        blocks: blocks.map_or(goal_check::Blocks::Equal, |blocks| blocks.checked.clone()),
        neighbors: blocks.and_then(|blocks| blocks.neighbors.clone()).map(Arc::from),
        input: request.input,
        output: request.output,
    };
    // The program must end even if every send waits for its receive.
    let options = Options { collective: Some(collective), eager_limit: 0, ..Options::default() };
    let mut report = Report::default();
    let proved = check_into(&program, None, &options, &mut report);
    let found = &report.diagnostics;
    assert!(found.is_empty() && proved.is_some(), "{algorithm:?}: {found:#?}: {request:?}");
    true
}

/// Returns the requests of a number of ranks: every root, in place and not, with some counts.
fn requests(kind: CollectiveKind, ranks: u32) -> Vec<Request> {
    let roots = if kind.has_root() { 0..ranks } else { 0..1 };
    let of_root = |root| {
        let counts: &[u64] = if ranks > 17 { &[3] } else { &[1, 7] };
        counts.iter().flat_map(move |&count| {
            let request = Request { root, count, ..Request::new(kind, ranks) };
            let apart = Request { input: Some(0), output: 8192, ..request.clone() };
            [request, apart]
        })
    };
    let all = roots.flat_map(of_root);
    if kind == CollectiveKind::Barrier { all.take(1).collect() } else { all.collect() }
}

/// Returns the request with each operation that makes a difference.
fn with_operations(request: Request) -> Vec<Request> {
    if !request.kind.combines() {
        return vec![request];
    }
    let (function, datatype) =
        (Function::Predefined(Op::Max, Datatype::Float64), Datatype::Float64);
    let of_user = Request { function: Function::User(5), ..request.clone() };
    vec![Request { function, datatype, ..request.clone() }, of_user, request]
}

/// Returns the requests for an algorithm that the number of ranks allows.
fn all_requests(algorithm: &Algorithm) -> impl Iterator<Item = Request> {
    let segments: &[u64] = if algorithm.has_segments { &[0, 8] } else { &[0] };
    let degrees: &[u32] = if algorithm.has_degree { &[1, 2, 3] } else { &[2] };
    let kind = algorithm.kind;
    let bare = RANKS.into_iter().flat_map(move |ranks| requests(kind, ranks));
    let of_parameters = bare.flat_map(move |request| {
        let pairs = segments
            .iter()
            .flat_map(|&segment| degrees.iter().map(move |&degree| (segment, degree)));
        let all: Vec<Request> =
            pairs.map(|(segment, degree)| Request { segment, degree, ..request.clone() }).collect();
        all
    });
    of_parameters.flat_map(with_operations)
}

fn prove_all(kind: CollectiveKind) {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.kind == kind) {
        let requests = all_requests(algorithm);
        let proved = requests.filter(|request| prove(algorithm, request, None)).count();
        // Seen with `-- --nocapture`.
        println!("{algorithm:?}: {proved} proofs");
        assert!(proved >= 10, "{algorithm:?}: {proved} proofs");
    }
}

/// Returns the elements of a block: some have none.
fn count(a: u32, b: u32) -> u64 {
    [2, 0, 3, 1, 0][(a * 7 + b * 3) as usize % 5]
}

/// Returns blocks with these counts: one behind the other, or in the opposite order with a gap
/// after each.
fn listed(counts: Vec<u64>, has_gaps: bool) -> BlockList {
    if !has_gaps {
        return BlockList::packed(counts);
    }
    let mut end = 0;
    let mut places: Vec<u64> = counts
        .iter()
        .rev()
        .map(|count| {
            let place = end;
            end += count + 1;
            place
        })
        .collect();
    places.reverse();
    BlockList::at(counts, places).expect("as many")
}

/// Returns blocks of different sizes for a request.
fn blocks(algorithm: &Algorithm, request: &Request, has_gaps: bool) -> OfAll {
    let ranks = 0..request.ranks;
    if request.kind == CollectiveKind::Alltoall {
        let in_place = request.input.is_none();
        // In place, a rank sends each other as much as it gets from it.
        let count = |from: u32, to: u32| match in_place {
            true => count(from.min(to), from.max(to)),
            false => count(from, to),
        };
        let pairs: Vec<[BlockList; 2]> = ranks
            .clone()
            .map(|rank| {
                let send = ranks.clone().map(|to| count(rank, to)).collect();
                let recv = ranks.clone().map(|from| count(from, rank)).collect();
                [listed(send, false), listed(recv, has_gaps)]
            })
            .collect();
        let of_rank = pairs.iter().cloned().map(|[send, recv]| Blocks::Pairs { send, recv });
        return OfAll {
            of_rank: of_rank.collect(),
            checked: goal_check::Blocks::Pairs(pairs.into()),
            neighbors: None,
        };
    }
    let list = listed(ranks.clone().map(|rank| count(rank, 2)).collect(), has_gaps);
    let of_rank = ranks.map(|rank| match algorithm.counts {
        Counts::Own if rank != request.root => Blocks::Own(count(rank, 2)),
        _ => Blocks::Each(list.clone()),
    });
    let checked = goal_check::Blocks::Each(list.clone());
    OfAll { of_rank: of_rank.collect(), checked, neighbors: None }
}

/// Returns the edges of a graph in which some ranks are their own neighbours, some pairs have
/// several edges, and some ranks may have none.
fn edges(ranks: u32) -> Vec<(u32, u32)> {
    let of = |rank: u32| {
        let up = (!rank.is_multiple_of(3)).then_some((rank, (rank + 1) % ranks));
        let own = rank.is_multiple_of(2).then_some((rank, rank));
        [Some((rank, rank * 2 % ranks)), up, own, Some((0, ranks - 1))]
    };
    (0..ranks.max(2) - 1).flat_map(of).flatten().collect()
}

/// Returns blocks of different sizes for a collective of neighbours, or equal ones.
fn blocks_of_edges(request: &Request, is_equal: bool, has_gaps: bool) -> OfAll {
    let all = Neighbors::from_edges(request.ranks, &edges(request.ranks));
    let is_allgather = request.kind == CollectiveKind::NeighborAllgather;
    let count = |from: u32, to: u32| count(from, if is_allgather { 0 } else { to });
    let pairs = (0..).zip(&all).map(|(rank, neighbors)| {
        let mut send: Vec<u64> = neighbors.destinations.iter().map(|&to| count(rank, to)).collect();
        if is_allgather {
            send = vec![count(rank, 0)];
        }
        let recv = neighbors.sources.iter().map(|&from| count(from, rank)).collect();
        [listed(send, false), listed(recv, has_gaps)]
    });
    let pairs: Vec<[BlockList; 2]> = pairs.collect();
    if is_equal {
        let of_rank = vec![Blocks::Equal; all.len()];
        return OfAll { of_rank, checked: goal_check::Blocks::Equal, neighbors: Some(all) };
    }
    let of_rank = pairs.iter().cloned().map(|[send, recv]| Blocks::Pairs { send, recv });
    OfAll {
        of_rank: of_rank.collect(),
        checked: goal_check::Blocks::Pairs(pairs.into()),
        neighbors: Some(all),
    }
}

#[test]
fn neighbors_in_any_graph() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.kind.has_neighbors()) {
        let mut proved = 0;
        for request in all_requests(algorithm).filter(|request| request.ranks > 1) {
            for (is_equal, has_gaps) in [(true, false), (false, false), (false, true)] {
                let blocks = blocks_of_edges(&request, is_equal, has_gaps);
                proved += u32::from(prove(algorithm, &request, Some(&blocks)));
            }
        }
        println!("{algorithm:?} in a graph: {proved} proofs");
        assert!(proved >= 200, "{algorithm:?}: {proved} proofs");
    }
}

#[test]
fn blocks_of_different_sizes() {
    let has_counts = |algorithm: &&Algorithm| {
        algorithm.counts != Counts::Equal && !algorithm.kind.has_neighbors()
    };
    for algorithm in ALGORITHMS.iter().filter(has_counts) {
        let requests = all_requests(algorithm).filter(|request| request.count != 7);
        let proofs = requests.map(|request| {
            let of = |has_gaps| {
                let blocks = blocks(algorithm, &request, has_gaps);
                // The check refuses to prove something of nothing.
                let is_empty = match &blocks.checked {
                    goal_check::Blocks::Each(list) => list.total() == 0,
                    goal_check::Blocks::Pairs(pairs) => pairs[0][0].total() == 0,
                    goal_check::Blocks::Equal => true,
                };
                !is_empty && prove(algorithm, &request, Some(&blocks))
            };
            usize::from(of(false)) + usize::from(of(true))
        });
        let proved: usize = proofs.sum();
        println!("{algorithm:?}: {proved} proofs");
        assert!(proved >= 8, "{algorithm:?}: {proved} proofs");
    }
}

/// Returns maps of nodes: equal, unequal, a single rank each, and ranks dealt in turn.
fn maps(ranks: u32) -> Vec<Nodes> {
    let uneven: Vec<u32> = (0..ranks).map(|rank| (rank + 1).ilog2()).collect();
    let in_turn: Vec<u32> = (0..ranks).map(|rank| 9 - rank % 3).collect();
    let mixed: Vec<u32> = (0..ranks).map(|rank| rank * rank % 7).collect();
    let maps = [uneven, in_turn, mixed];
    let mut all: Vec<Nodes> = maps.iter().map(|map| Nodes::new(map)).collect();
    all.extend([1, 2, 4].map(|per_node| Nodes::from_size(ranks, per_node)));
    all
}

fn prove_two_levels(kind: CollectiveKind) {
    let mut algorithms = ALGORITHMS.iter().filter(|algorithm| algorithm.kind == kind);
    let Some(algorithm) = algorithms.find(|algorithm| algorithm.has_levels()) else { return };
    let mut proved = 0;
    for request in all_requests(algorithm).filter(|request| request.count != 7) {
        for nodes in maps(request.ranks) {
            let request = Request { nodes: Some(Arc::new(nodes)), ..request.clone() };
            proved += u32::from(prove(algorithm, &request, None));
        }
    }
    println!("{algorithm:?} on nodes: {proved} proofs");
    assert!(proved >= 50, "{algorithm:?}: {proved} proofs");
}

macro_rules! proofs {
    ($($name:ident: $kind:ident,)*) => {
        $(#[test]
        fn $name() {
            prove_all(CollectiveKind::$kind);
            prove_two_levels(CollectiveKind::$kind);
        })*

        #[test]
        fn every_collective_is_proved() {
            let proved = [$(CollectiveKind::$kind),*];
            assert_eq!(proved, CollectiveKind::ALL);
        }
    };
}

proofs! {
    bcast: Bcast,
    reduce: Reduce,
    allreduce: Allreduce,
    gather: Gather,
    allgather: Allgather,
    scatter: Scatter,
    alltoall: Alltoall,
    reduce_scatter: ReduceScatter,
    scan: Scan,
    exscan: Exscan,
    barrier: Barrier,
    neighbor_allgather: NeighborAllgather,
    neighbor_alltoall: NeighborAlltoall,
}
