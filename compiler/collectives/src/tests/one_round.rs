//! Algorithms that are said to have one round, and those that are not.

use crate::{ALGORITHMS, Algorithm, Nodes, Request, algorithm};
use goal_interp::{Eager, Options};
use goal_lang::{
    Action, ActionId, Body, CollectiveKind, Datatype, Datum, Function, MemoryImage, Op, Operand,
    Payload, ProgramBuilder,
};
use std::sync::Arc;

const RANKS: [u32; 18] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 33];

/// The most actions of a rank among 16.
const ACTIONS_MAX: usize = 64;

/// Numbers of elements: of short messages, and of messages that linked runs write in pieces.
const COUNTS: [u64; 2] = [3, 40_000];

fn with_one_round() -> impl Iterator<Item = &'static Algorithm> {
    ALGORITHMS.iter().filter(|algorithm| algorithm.has_one_round)
}

/// Returns the requests of a number of ranks, with every root, and with an operation that commutes
/// and one that need not. All have the first of [`COUNTS`].
fn requests(kind: CollectiveKind, ranks: u32) -> Vec<Request> {
    let roots = if kind.has_root() { 0..ranks } else { 0..1 };
    let functions = [Request::new(kind, ranks).function, Function::User(5)];
    let functions = &functions[..if kind.combines() { 2 } else { 1 }];
    let of_root = |root| {
        functions.iter().map(move |&function| {
            let new = Request::new(kind, ranks);
            Request { root, count: COUNTS[0], function, ..new }
        })
    };
    roots.flat_map(of_root).collect()
}

/// Returns the request with buffers that lie apart.
fn apart(request: &Request) -> Request {
    // No element has more bytes.
    let output = 16 * u64::from(request.ranks) * request.count;
    Request { input: Some(0), output, ..request.clone() }
}

/// Returns true if a send waits for a receive, through any number of other actions.
fn has_relay(body: &Body) -> bool {
    let mut waits_for_receive = vec![false; body.len()];
    body.ids().any(|id| {
        let action = body.action(id);
        let waits = waits_for_receive[id.index()];
        if waits || matches!(action, Action::Recv { .. }) {
            for &waiter in body.requires.row(id).iter().chain(body.irequires.row(id)) {
                assert!(waiter > id, "actions are stated after those that they wait for");
                waits_for_receive[waiter.index()] = true;
            }
        }
        waits && matches!(action, Action::Send { .. })
    })
}

/// A message of a rank.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Message {
    is_sent: bool,
    peer: u32,
    tag: u32,
    bytes: u64,
    /// Of a sent message: the peer and the tag of the first one that sends the same buffer.
    group: Option<(u32, u32)>,
}

/// Returns the messages of a rank, ordered by peers and tags. All sends of a buffer wait for equal
/// actions, so a linked run writes them once.
fn messages(body: &Body) -> Vec<Message> {
    let waits_for =
        |id, on| body.requires.row(on).contains(&id) || body.irequires.row(on).contains(&id);
    let mut buffers: Vec<(Payload, (u32, u32), Vec<ActionId>)> = Vec::new();
    let message = |id| match *body.action(id) {
        Action::Send { payload, to, tag, .. } => {
            let needs: Vec<_> = body.ids().filter(|&on| waits_for(id, on)).collect();
            let known = buffers.iter().find(|&&(buffer, ..)| buffer == payload);
            let group = known.map_or((to, tag), |(_, group, of_group)| {
                assert_eq!(&needs, of_group, "{body:?}");
                *group
            });
            buffers.push((payload, group, needs));
            let bytes = body.payload_size(payload);
            Some(Message { is_sent: true, peer: to, tag, bytes, group: Some(group) })
        }
        Action::Recv { payload, from, tag, .. } => {
            let bytes = body.payload_size(payload);
            Some(Message { is_sent: false, peer: from, tag, bytes, group: None })
        }
        _ => None,
    };
    let mut messages: Vec<Message> = body.ids().filter_map(message).collect();
    messages.sort_unstable();
    messages
}

/// Ranks decide on their own if they work in place, so a rank's own graph must not change.
#[test]
fn sends_wait_for_no_receive_and_messages_are_alike_in_place() {
    for algorithm in with_one_round() {
        for ranks in RANKS {
            let requests = requests(algorithm.kind, ranks)
                .into_iter()
                .flat_map(|request| COUNTS.map(|count| Request { count, ..request.clone() }));
            for request in requests {
                for rank in 0..ranks {
                    let body = |request| algorithm.body(request, rank).expect("it fits");
                    let (in_place, apart) = (body(&request), body(&apart(&request)));
                    let name = format!("{algorithm:?}, rank {rank}: {request:?}");
                    assert!(!has_relay(&in_place) && !has_relay(&apart), "{name}");
                    assert_eq!(messages(&in_place), messages(&apart), "{name}");
                    if ranks <= 16 && request.commutes() {
                        let actions = in_place.len().max(apart.len());
                        assert!(actions <= ACTIONS_MAX, "{actions} actions, {name}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_collective_but_those_of_neighbours_has_an_algorithm_of_one_round() {
    for kind in CollectiveKind::ALL {
        let found = with_one_round().any(|algorithm| algorithm.kind == kind);
        assert_eq!(found, !kind.has_neighbors(), "{kind}");
    }
}

/// With some number of ranks, each other algorithm has a rank that passes on what it has received.
#[test]
fn other_algorithms_have_more_rounds() {
    let others = ALGORITHMS
        .iter()
        .filter(|algorithm| !algorithm.has_one_round && !algorithm.kind.has_neighbors());
    for algorithm in others {
        let relays = [4, 5, 9].into_iter().any(|ranks| {
            let nodes = Some(Arc::new(Nodes::from_size(ranks, 2)));
            let request = Request { count: 20, nodes, ..Request::new(algorithm.kind, ranks) };
            let program = algorithm.program(&request);
            program.is_ok_and(|all| (0..ranks).any(|rank| has_relay(all.body_of(rank))))
        });
        assert!(relays, "{algorithm:?}");
    }
}

/// A message is an operand of one action, which could read it where it arrives.
#[test]
fn one_action_combines_each_message() {
    let combining = with_one_round().filter(|algorithm| algorithm.kind.combines());
    for algorithm in combining {
        for request in RANKS.into_iter().flat_map(|ranks| requests(algorithm.kind, ranks)) {
            for request in [request.clone(), apart(&request)] {
                let all = algorithm.program(&request).expect("it fits");
                (0..request.ranks).for_each(|rank| combines_each_message(all.body_of(rank)));
            }
        }
    }
}

fn combines_each_message(body: &Body) {
    for id in body.ids() {
        let Action::Recv { payload: Payload::Buffer(message), .. } = *body.action(id) else {
            continue;
        };
        let reads = |&&waiter: &&ActionId| {
            let local = body.local_operation(body.action(waiter)).expect("no message");
            [local.a, local.b].into_iter().any(|operand| operand == Operand::One(message))
        };
        let waiters = body.requires.row(id);
        // The second rank of an exclusive scan only receives.
        let is_result = waiters.is_empty();
        assert!(is_result || waiters.iter().filter(reads).count() == 1, "{body:?}");
        assert!(waiters.len() <= 1, "{body:?}");
    }
}

/// Operands whose sums have other bits if they are added in another order.
fn operand(rank: u32, element: u64) -> f32 {
    let large = if rank.is_multiple_of(2) { 3e7 } else { -3e7 };
    large / (element + 1) as f32 + rank as f32 * 0.37
}

/// Returns x + (y + (z + ...)) for the operands of some ranks.
fn sum(ranks: std::ops::Range<u32>, element: u64) -> f32 {
    let operands = ranks.rev().map(|rank| operand(rank, element));
    operands.reduce(|sum, operand| operand + sum).expect("some ranks")
}

/// Returns the elements that a rank has at the end.
fn result(request: &Request, rank: u32) -> Vec<f32> {
    use CollectiveKind::{Allreduce, Exscan, Reduce, ReduceScatter, Scan};
    let (all, own) = (0..request.ranks, u64::from(rank) * request.count);
    let (of, first) = match request.kind {
        Reduce if rank != request.root => return Vec::new(),
        Allreduce | Reduce => (all, 0),
        ReduceScatter => (all, own),
        Scan => (0..rank + 1, 0),
        Exscan if rank == 0 => return Vec::new(),
        Exscan => (0..rank, 0),
        kind => unreachable!("{kind} combines nothing"),
    };
    (first..first + request.count).map(|element| sum(of.clone(), element)).collect()
}

fn bytes_of(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

#[test]
fn sums_have_the_bits_of_the_order_of_ranks() {
    use CollectiveKind::{Allreduce, Exscan, Reduce, ReduceScatter, Scan};
    let all = [
        (Reduce, "linear"),
        (Allreduce, "flat"),
        (ReduceScatter, "pairwise"),
        (Scan, "flat"),
        (Exscan, "flat"),
    ];
    for (kind, name) in all {
        let algorithm = algorithm(kind, name).expect("in the table");
        for ranks in 2..=9 {
            let roots = if kind.has_root() { 0..ranks } else { 0..1 };
            for request in roots.map(|root| Request { root, ..Request::new(kind, ranks) }) {
                let datatype = Datatype::Float32;
                let function = Function::Predefined(Op::Sum, datatype);
                let request = Request { count: 3, datatype, function, ..request };
                has_bits(algorithm, &request);
                has_bits(algorithm, &apart(&request));
            }
        }
    }
}

fn has_bits(algorithm: &Algorithm, request: &Request) {
    let ranks = request.ranks;
    let blocks = if request.kind == CollectiveKind::ReduceScatter { ranks } else { 1 };
    let elements = 0..u64::from(blocks) * request.count;
    let mut program = ProgramBuilder::default();
    for rank in 0..ranks {
        let input = bytes_of(elements.clone().map(|element| operand(rank, element)));
        let addr = request.input.unwrap_or(request.output);
        let init = vec![Datum { addr, datatype: request.datatype, bytes: input }];
        let body = program.body(algorithm.body(request, rank).expect("it fits"));
        let image = program.image(MemoryImage { init, expect: Vec::new() });
        program.rank(body, Some(image));
    }
    let program = program.finish();
    let options = Options { seed: u64::from(ranks), eager: Eager::None, ..Options::default() };
    let outcome = goal_interp::run(&program, &options).expect("it ends");
    for rank in 0..ranks {
        let wanted = bytes_of(result(request, rank));
        // The memory of a rank ends with the last byte that it uses.
        let output = outcome.memory[rank as usize].iter().skip(request.output as usize);
        let output: Vec<u8> = output.take(wanted.len()).copied().collect();
        assert_eq!(output, wanted, "{algorithm:?}, rank {rank}: {request:?}");
    }
}
