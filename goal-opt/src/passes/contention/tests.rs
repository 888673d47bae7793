//! The rounds of some programs.

use crate::{Pipeline, Timings, run};
use goal_interp::{Eager, Options};
use goal_lang::{
    Action, ActionId, Body, BodyBuilder, Csr, Edge, Payload, Piece, Placement, Program,
    ProgramBuilder, Space,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const PAYLOAD: Payload = Payload::Pattern { size: 100 };

fn send(to: u32) -> Action {
    Action::Send { payload: PAYLOAD, to, tag: 0, placement: Placement::default() }
}

fn recv(from: u32) -> Action {
    Action::Recv { payload: PAYLOAD, from, tag: 0, placement: Placement::default() }
}

/// All ranks, each with a send to and a receive from every other.
fn alltoall(ranks: u32) -> Program {
    let mut program = ProgramBuilder::default();
    for rank in 0..ranks {
        let mut body = BodyBuilder::default();
        for other in (0..ranks).filter(|&other| other != rank) {
            body.action(recv(other));
            body.action(send(other));
        }
        program.rank_with(body.finish());
    }
    program.finish()
}

/// The program in rounds when all sends wait for their receives.
fn scheduled(program: &Program, k: u64) -> Program {
    scheduled_for(program, k, 0)
}

fn scheduled_for(program: &Program, k: u64, eager_limit: u64) -> Program {
    let mut after = program.clone();
    let pipeline =
        Pipeline { eager_limit, ..Pipeline::parse(&format!("contention(k={k})")).expect("a pass") };
    run(&mut after, &pipeline, &mut Timings::default(), |_, _| {}).expect("a program");
    after
}

/// By receive, the receives of the body that have ended when it starts.
fn ended_before(body: &Body, id: ActionId) -> BTreeSet<ActionId> {
    let by_waiter = body.requires.transposed(body.len());
    let mut ended = BTreeSet::new();
    let mut todo = VecDeque::from([id]);
    while let Some(id) = todo.pop_front() {
        todo.extend(by_waiter.row(id).iter().filter(|&&before| ended.insert(before)));
    }
    ended.retain(|&id| matches!(body.action(id), Action::Recv { .. }));
    ended
}

/// Asserts that no more than `k` receives of each rank are open at once: they form `k` chains, in
/// which each waits for the one before (Dilworth: the number of chains is the largest number of
/// unordered receives).
fn assert_at_most(program: &Program, k: usize) {
    for rank in 0..program.num_ranks() {
        let body = program.body_of(rank);
        let recvs = body.ids().filter(|&id| matches!(body.action(id), Action::Recv { .. }));
        let before: BTreeMap<ActionId, BTreeSet<ActionId>> =
            recvs.map(|id| (id, ended_before(body, id))).collect();
        let mut next = BTreeMap::new();
        let chains =
            before.keys().filter(|&&id| !follow(id, &before, &mut BTreeSet::new(), &mut next));
        let chains = chains.count();
        assert!(chains <= k, "rank {rank}: {chains} chains of receives");
    }
}

/// Appends a receive to a chain, if one that has ended before it has no successor or can get
/// another.
fn follow(
    id: ActionId,
    before: &BTreeMap<ActionId, BTreeSet<ActionId>>,
    seen: &mut BTreeSet<ActionId>,
    next: &mut BTreeMap<ActionId, ActionId>,
) -> bool {
    for &last in &before[&id] {
        if seen.insert(last) {
            let other = next.get(&last).copied();
            if other.is_none_or(|other| follow(other, before, seen, next)) {
                next.insert(last, id);
                return true;
            }
        }
    }
    false
}

/// By message, the number of sends and receives of its source before its send: its round, if rounds
/// are full.
fn rounds(program: &Program) -> Vec<BTreeSet<(u32, u32)>> {
    let mut rounds = vec![BTreeSet::new(); program.ranks.len() - 1];
    for rank in 0..program.num_ranks() {
        let body = program.body_of(rank);
        for id in body.ids() {
            if let Action::Send { to, .. } = *body.action(id) {
                assert!(rounds[ended_before(body, id).len()].insert((rank, to)));
            }
        }
    }
    rounds
}

#[test]
fn an_alltoall_runs_in_rounds_of_disjoint_pairs() {
    for ranks in [2, 3, 4, 5, 8, 13, 32] {
        let before = alltoall(ranks);
        let after = scheduled(&before, 1);
        for (number, round) in rounds(&after).into_iter().enumerate() {
            let sources: BTreeSet<u32> = round.iter().map(|&(source, _)| source).collect();
            let targets: BTreeSet<u32> = round.iter().map(|&(_, target)| target).collect();
            let all: BTreeSet<u32> = (0..ranks).collect();
            assert_eq!(
                (&sources, &targets),
                (&all, &all),
                "round {number} of {ranks} ranks: {round:?}"
            );
        }
        assert_at_most(&after, 1);
        assert_eq!(scheduled(&after, 1).bodies.len(), after.bodies.len());
        for rank in 0..ranks {
            assert!(
                scheduled(&after, 1).body_of(rank).same_graph(after.body_of(rank)),
                "a second run changes it"
            );
        }
        for eager in [Eager::None, Eager::All] {
            goal_interp::run(&after, &Options { eager, ..Options::default() }).expect("it ends");
        }
    }
}

#[test]
fn a_rank_is_the_target_of_k_messages_at_once() {
    for (ranks, k) in [(9, 2), (9, 3), (16, 5), (4, 100)] {
        let after = scheduled(&alltoall(ranks), k);
        assert_at_most(&after, k as usize);
        let mut gather = ProgramBuilder::default();
        for rank in 0..ranks {
            let mut body = BodyBuilder::default();
            let actions: Vec<Action> =
                if rank == 0 { (1..ranks).map(recv).collect() } else { vec![send(0)] };
            for action in actions {
                body.action(action);
            }
            gather.rank_with(body.finish());
        }
        let gather = scheduled(&gather.finish(), k);
        assert_at_most(&gather, k as usize);
        assert_eq!(gather.body_of(0).requires.len() as u64, u64::from(ranks - 1).saturating_sub(k));
        goal_interp::run(&gather, &Options { eager: Eager::None, ..Options::default() })
            .expect("it ends");
    }
}

/// Holding back a receive makes its message wait in memory if the send does not wait for it.
#[test]
fn receives_of_eager_messages_are_not_held_back() {
    for (eager_limit, held_back) in [(99, 6), (100, 0)] {
        let after = scheduled_for(&alltoall(8), 1, eager_limit);
        for rank in 0..8 {
            let body = after.body_of(rank);
            let is_recv = |id| matches!(body.action(id), Action::Recv { .. });
            let edges = body.requires.edges().filter(|edge| is_recv(edge.waiter)).count();
            assert_eq!(edges, held_back, "rank {rank}");
            assert!(body.requires.edges().any(|edge| !is_recv(edge.waiter)), "sends are in rounds");
        }
    }
}

/// The pattern that a receive stores depends on the number of messages before it.
#[test]
fn stored_patterns_keep_their_numbers() {
    let piece = Piece { addr: 0, size: 100, space: Space::Memory };
    for (received, stays) in [(PAYLOAD, false), (Payload::Buffer(piece), true)] {
        let mut bodies = [BodyBuilder::default(), BodyBuilder::default()];
        for tag in 0..2 {
            let placement = Placement::default();
            bodies[0].action(Action::Send { payload: PAYLOAD, to: 1, tag, placement });
            let payload = if tag == 0 { received } else { PAYLOAD };
            bodies[1].action(Action::Recv { payload, from: 0, tag, placement });
        }
        let mut before = ProgramBuilder::default();
        for body in bodies {
            before.rank_with(body.finish());
        }
        let before = before.finish();
        let after = scheduled(&before, 1);
        assert_eq!(after.body_of(0).same_graph(before.body_of(0)), stays);
    }
}

/// Ranks start all their sends before they receive. Rounds of such messages would never end.
#[test]
fn messages_that_have_to_be_under_way_together_stay() {
    let mut before = alltoall(4);
    for body in &mut before.bodies {
        let is_send = |&id: &ActionId| matches!(body.action(id), Action::Send { .. });
        let recvs = body.ids().filter(|id| !is_send(id));
        let pairs = recvs.flat_map(|waiter| {
            body.ids().filter(is_send).map(move |prerequisite| Edge { waiter, prerequisite })
        });
        body.irequires = Csr::from_edges(body.len(), &pairs.collect::<Vec<_>>());
    }
    let after = scheduled(&before, 1);
    for rank in 0..4 {
        assert!(after.body_of(rank).same_graph(before.body_of(rank)));
    }
}
