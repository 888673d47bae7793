//! Random programs, which have no races, and the same programs with a dependency removed.

use crate::analysis::Analysis;
use crate::options::Options;
use crate::order::{Order, SharedOrder};
use crate::places::Places;
use crate::races::find;
use crate::races::sweep::Fault;
use goal_interp::Eager;
use goal_lang::diag::Code;
use goal_lang::{Access, Action, ActionId, ActionKind, Body, Csr, Edge, Piece, Program};
use goal_opt::whole::{Event, Run, Vertex, Whole};
use std::collections::BTreeSet;

/// The number of programs in one run of a test.
const PROGRAMS: u64 = 10_000;

#[test]
fn programs_without_races_have_none() {
    for seed in 0..goal_filetest::seeds(PROGRAMS) {
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
    for seed in 0..goal_filetest::seeds(PROGRAMS / 4) {
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

/// A message without a receive leaves actions that never end. The races found there are races of
/// the program in which the message is received.
#[test]
fn races_beside_a_deadlock_are_races_without_it() {
    let mut told = 0;
    for seed in 0..goal_filetest::seeds(PROGRAMS / 2) {
        let shape = goal_smith::Shape { wildcards: false, ..goal_smith::Shape::varied(seed) };
        let mut program = goal_smith::program(seed, &shape);
        let mut random = fastrand::Rng::with_seed(seed);
        without_one_dependency(&mut program, &mut random);
        if !is_complete(&program) {
            continue;
        }
        let expected = races(&program);
        let body = random.usize(..program.bodies.len());
        let mut sends: Vec<&mut u32> =
            program.bodies[body].actions.iter_mut().filter_map(tag).collect();
        if sends.is_empty() || expected.is_empty() {
            continue;
        }
        let chosen = random.usize(..sends.len());
        *sends[chosen] = u32::MAX - 1;
        let whole = Whole::new(&program).expect("few actions");
        let trace = Run::new(&whole).finish(u64::MAX);
        for (rank, fault) in faults(&program) {
            let Fault::Race(first, second) = fault else { continue };
            if [first, second].into_iter().all(|id| trace.has_ended(whole.vertex(rank, id))) {
                continue;
            }
            told += 1;
            assert!(
                expected.contains(&(rank, first, second)),
                "seed {seed}: {first} and {second} of rank {rank}"
            );
        }
    }
    assert!(told > 100, "{told}");
}

/// The tag of a send.
fn tag(action: &mut Action) -> Option<&mut u32> {
    match action {
        Action::Send { tag, .. } => Some(tag),
        _ => None,
    }
}

/// Returns true if the program ends. The check does not cover all actions that never happen.
fn is_complete(program: &Program) -> bool {
    let whole = Whole::new(program).expect("few actions");
    Run::new(&whole).finish(u64::MAX).is_complete()
}

/// If the checks find nothing, every run ends with the same memory. The race check alone does not
/// promise this. Timing can decide which message a receive takes, and the number in a pattern:
/// other checks report these. Generated programs have patterns under every shape, because a send
/// without room for a buffer becomes one.
#[test]
fn without_findings_all_runs_end_alike() {
    let mut alike = 0;
    let programs = goal_filetest::seeds(PROGRAMS / 8);
    for seed in 0..programs {
        let mut program = goal_smith::program(seed, &goal_smith::Shape::varied(seed));
        let mut random = fastrand::Rng::with_seed(seed);
        without_one_dependency(&mut program, &mut random);
        if !is_clean(&program) {
            continue;
        }
        let mut runs = (0..4).filter_map(|run| {
            let options =
                goal_interp::Options { seed: run, eager: Eager::All, ..Default::default() };
            goal_interp::run(&program, &options).ok()
        });
        let Some(first) = runs.next() else { continue };
        alike += 1;
        for other in runs {
            assert!(other.memory == first.memory, "seed {seed}");
        }
    }
    assert!(alike > programs * 2 / 5, "{alike} of {programs}");
}

/// Returns true if no finding says that the memory at the end depends on timing.
fn is_clean(program: &Program) -> bool {
    let report = crate::check(program, None, &Options::default());
    let mut codes = report.diagnostics.iter().map(|found| found.code);
    codes.all(|code| {
        matches!(code, Code::LostData | Code::ReliesOnBuffering | Code::DatatypeMismatch)
    })
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
        options: &Options::default(),
    };
    let found = find(&analysis, &mut SharedOrder::new(&whole, &trace));
    assert_eq!((found.undecided, &found.cut[..]), (0, &[][..]));
    let faults = found.faults.iter();
    faults
        .flat_map(|((_, fault), details)| details.ranks.iter().map(|&rank| (rank, *fault)))
        .collect()
}

/// Every pair of a rank's actions that use the same bytes in no order, if one of them writes.
fn races(program: &Program) -> BTreeSet<(u32, ActionId, ActionId)> {
    let whole = Whole::new(program).expect("few actions");
    let trace = Run::new(&whole).finish(u64::MAX);
    let mut order = SharedOrder::new(&whole, &trace);
    let order = order.order().expect("few actions");
    let walks = |is_from_start| -> Vec<Vec<bool>> {
        whole.vertices().map(|vertex| walk(&whole, order, vertex, is_from_start)).collect()
    };
    let (after_end, after_start) = (walks(false), walks(true));
    let mut races = BTreeSet::new();
    for rank in 0..program.num_ranks() {
        let body = program.body_of(rank);
        for first in body.ids() {
            for second in body.ids().filter(|&second| second > first) {
                let is_before = |from: ActionId, to: ActionId, mine, theirs| {
                    let after = if is_done_at_start(body, from, mine, theirs) {
                        &after_start
                    } else {
                        &after_end
                    };
                    after[whole.vertex(rank, from).index()][whole.vertex(rank, to).index()]
                };
                let is_race = conflicts(body, first, second).into_iter().any(|[mine, theirs]| {
                    !is_before(first, second, mine, theirs)
                        && !is_before(second, first, theirs, mine)
                });
                if is_race {
                    races.insert((rank, first, second));
                }
            }
        }
    }
    races
}

/// Returns true if an action's own access to bytes is over when it has started. This holds for a
/// send that combines. But such a send still reads its message, which it has written.
fn is_done_at_start(body: &Body, id: ActionId, mine: Access, theirs: Access) -> bool {
    let action = body.action(id);
    let combines = action.kind() == ActionKind::Send && body.reduction(action).is_some();
    combines && (!mine.writes() || !theirs.writes())
}

/// The accesses of two actions to the bytes that both use, if one of them writes.
fn conflicts(body: &Body, first: ActionId, second: ActionId) -> Vec<[Access; 2]> {
    let accesses = |id: ActionId| {
        let mut accesses: Vec<(Piece, Access)> = Vec::new();
        body.visit_accesses(body.action(id), |piece, access| accesses.push((*piece, access)));
        accesses
    };
    let overlap = |a: &Piece, b: &Piece| {
        a.space == b.space && a.addr < b.addr + b.size && b.addr < a.addr + a.size
    };
    let others = accesses(second);
    let mut conflicts = Vec::new();
    for (a, mine) in accesses(first) {
        for &(b, theirs) in &others {
            if overlap(&a, &b) && (mine.writes() || theirs.writes()) {
                conflicts.push([mine, theirs]);
            }
        }
    }
    conflicts
}

/// By vertex, true if its accesses come after those of `first`, or after its start, found by a walk
/// over the events.
fn walk(whole: &Whole<'_>, order: &Order<'_, '_>, first: Vertex, is_from_start: bool) -> Vec<bool> {
    let is_send = |vertex: Vertex| whole.action(vertex).kind() == ActionKind::Send;
    let mut todo = vec![Event::End(first)];
    todo.extend(order.partner(first).filter(|_| is_send(first)).map(Event::End));
    if is_from_start {
        todo = vec![Event::Start(first)];
    }
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
