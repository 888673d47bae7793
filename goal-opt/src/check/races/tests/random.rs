//! Random programs, which have no races, and the same with a dependency taken out.

use super::super::{Fault, find};
use crate::check::{Analysis, Options, Places};
use crate::whole::{Event, Order, Run, Vertex, Whole, unique_partners};
use goal_interp::Eager;
use goal_lang::{Access, ActionId, ActionKind, Body, Csr, Edge, Piece, Program};
use std::collections::BTreeSet;

/// The programs of one run of a test.
const PROGRAMS: u64 = 10_000;

#[test]
fn programs_without_races_have_none() {
    for seed in 0..PROGRAMS {
        let program = goal_smith::program(seed, &goal_smith::Shape::varied(seed));
        let faults = faults(&program);
        let wrong = faults.iter().find(|(_, fault)| !matches!(fault, Fault::Lost(..)));
        assert_eq!(wrong, None, "seed {seed}");
    }
}

#[test]
fn without_one_dependency_the_races_are_those_of_all_pairs() {
    let mut racing = 0;
    let mut clean = 0;
    for seed in 0..PROGRAMS / 4 {
        let mut program = goal_smith::program(seed, &goal_smith::Shape::varied(seed));
        let mut random = fastrand::Rng::with_seed(seed);
        without_one_dependency(&mut program, &mut random);
        let expected = races(&program);
        let found: BTreeSet<(u32, ActionId, ActionId)> = faults(&program)
            .into_iter()
            .filter_map(|(rank, fault)| match fault {
                Fault::Race(first, second) => Some((rank, first.min(second), first.max(second))),
                _ => None,
            })
            .collect();
        assert!(found.is_subset(&expected), "seed {seed}: {found:?} of {expected:?}");
        if is_complete(&program) {
            assert_eq!(found.is_empty(), expected.is_empty(), "seed {seed}: {expected:?}");
        }
        racing += u32::from(!expected.is_empty());
        clean += u32::from(expected.is_empty());
    }
    assert!(racing > 300 && clean > 300, "{racing} with races, {clean} without");
}

/// Whether the program ends: what never happens is not looked at.
fn is_complete(program: &Program) -> bool {
    let whole = Whole::new(program).expect("few actions");
    Run::new(&whole).finish(u64::MAX).is_complete()
}

/// Where nothing is found, every run ends with the same memory, unless messages can be exchanged. A pattern's content depends on how
/// many messages were sent before it.
#[test]
fn without_findings_all_runs_end_alike() {
    let mut alike = 0;
    for seed in 0..PROGRAMS / 8 {
        let shape = goal_smith::Shape { patterns: false, ..goal_smith::Shape::varied(seed) };
        let mut program = goal_smith::program(seed, &shape);
        let mut random = fastrand::Rng::with_seed(seed);
        without_one_dependency(&mut program, &mut random);
        let is_clean = faults(&program).iter().all(|(_, fault)| matches!(fault, Fault::Lost(..)));
        if !is_clean || !messages_are_unique(&program) {
            continue;
        }
        let mut runs = (0..4).filter_map(|run| {
            let options = goal_interp::Options { seed: run, eager: Eager::All, ..Default::default() };
            goal_interp::run(&program, &options).ok()
        });
        let Some(first) = runs.next() else { continue };
        alike += 1;
        for other in runs {
            assert!(other.memory == first.memory, "seed {seed}");
        }
    }
    assert!(alike > 300, "{alike}");
}

fn messages_are_unique(program: &Program) -> bool {
    let whole = Whole::new(program).expect("few actions");
    let trace = Run::new(&whole).finish(u64::MAX);
    trace.is_complete() && unique_partners(&whole, &trace) == trace.partner
}

fn without_one_dependency(program: &mut Program, random: &mut fastrand::Rng) {
    let body = random.usize(..program.bodies.len());
    let edges: Vec<Edge> = program.bodies[body].requires.edges().collect();
    if edges.is_empty() {
        return;
    }
    let without = random.usize(..edges.len());
    let kept: Vec<Edge> =
        edges.iter().enumerate().filter(|&(at, _)| at != without).map(|(_, &edge)| edge).collect();
    program.bodies[body].requires = Csr::from_edges(program.bodies[body].len(), &kept);
}

fn faults(program: &Program) -> Vec<(u32, Fault)> {
    let whole = Whole::new(program).expect("few actions");
    let trace = Run::new(&whole).finish(u64::MAX);
    let analysis = Analysis {
        whole: &whole,
        trace: &trace,
        places: Places::new(&whole, None),
        options: Options::default(),
    };
    let found = find(&analysis);
    assert_eq!((found.undecided, &found.cut[..]), (0, &[][..]));
    let faults = found.faults.iter();
    faults.flat_map(|((_, fault), details)| details.ranks.iter().map(|&rank| (rank, *fault))).collect()
}

/// Every pair of a rank's actions that use the same bytes in no order, one of them writing.
fn races(program: &Program) -> BTreeSet<(u32, ActionId, ActionId)> {
    let whole = Whole::new(program).expect("few actions");
    let trace = Run::new(&whole).finish(u64::MAX);
    let order = Order::new(&whole, &trace).expect("few actions");
    let after: Vec<Vec<bool>> = whole.vertices().map(|vertex| walk(&whole, &order, vertex)).collect();
    let mut races = BTreeSet::new();
    for rank in 0..program.num_ranks() {
        let body = program.body_of(rank);
        for first in body.ids() {
            for second in body.ids().filter(|&second| second > first && conflict(body, first, second)) {
                let [a, b] = [first, second].map(|id| whole.vertex(rank, id));
                if !after[a.index()][b.index()] && !after[b.index()][a.index()] {
                    races.insert((rank, first, second));
                }
            }
        }
    }
    races
}

fn conflict(body: &Body, first: ActionId, second: ActionId) -> bool {
    let accesses = |id: ActionId| {
        let mut accesses: Vec<(Piece, Access)> = Vec::new();
        body.visit_accesses(body.action(id), |piece, access| accesses.push((*piece, access)));
        accesses
    };
    let overlap =
        |a: &Piece, b: &Piece| a.space == b.space && a.addr < b.addr + b.size && b.addr < a.addr + a.size;
    let others = accesses(second);
    accesses(first)
        .iter()
        .any(|(a, mine)| others.iter().any(|(b, theirs)| overlap(a, b) && (mine.writes() || theirs.writes())))
}

/// By vertex, whether its accesses come after those of `first`, found by a walk over the events.
fn walk(whole: &Whole<'_>, order: &Order<'_, '_>, first: Vertex) -> Vec<bool> {
    let is_send = |vertex: Vertex| whole.action(vertex).kind() == ActionKind::Send;
    let mut todo = vec![Event::End(first)];
    todo.extend(order.partner(first).filter(|_| is_send(first)).map(Event::End));
    let (mut started, mut ended) = (vec![false; whole.len()], vec![false; whole.len()]);
    while let Some(event) = todo.pop() {
        match event {
            Event::Start(vertex) if !std::mem::replace(&mut started[vertex.index()], true) => {
                todo.push(Event::End(vertex));
                todo.extend(whole.irequires(vertex).map(Event::Start));
                todo.extend(order.partner(vertex).filter(|_| is_send(vertex)).map(Event::End));
            }
            Event::End(vertex) if !std::mem::replace(&mut ended[vertex.index()], true) => {
                todo.extend(whole.requires(vertex).map(Event::Start));
            }
            _ => {}
        }
    }
    let begins = |vertex: Vertex| {
        let send = order.partner(vertex).filter(|_| !is_send(vertex));
        started[vertex.index()] || send.is_some_and(|send| started[send.index()])
    };
    whole.vertices().map(begins).collect()
}
