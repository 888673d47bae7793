//! The random programs that passes are tested on.

mod bundles;

use goal_lang::{Action, Csr, Edge, Labels, Program, topological_order};
use goal_smith::Shape;

/// Small programs with everything that a program can have, and one outcome.
pub(crate) fn usual(seed: u64) -> Program {
    labelled(goal_smith::program(seed, &Shape::varied(seed)))
}

/// Programs like the usual ones, with many local operations on few bytes.
pub(crate) fn local(seed: u64) -> Program {
    let memory = [96, 320][(seed % 2) as usize];
    let shape =
        Shape { events: (10, 40), memory, scratch: 96, reductions: true, ..Shape::varied(seed) };
    labelled(goal_smith::program(seed, &shape))
}

/// The bundles with more order, as [`restricted`] has it.
pub(crate) fn restricted_bundles(seed: u64) -> Program {
    with_more_order(seed, &bundles(seed))
}

/// Exchanges without wildcards with more order, as [`restricted`] has it.
pub(crate) fn restricted_exchanges(seed: u64) -> Program {
    with_more_order(seed, &exchanges(2 * seed + 1))
}

/// Programs of many messages between few ranks; every second one has little else.
pub(crate) fn exchanges(seed: u64) -> Program {
    let shape = match seed % 2 {
        0 => Shape { ranks: (3, 6), events: (10, 24), operand_max: 8, ..Shape::varied(seed) },
        _ => Shape {
            ranks: (3, 6),
            events: (10, 24),
            memory: 2000,
            wildcards: false,
            ..Shape::varied(seed)
        },
    };
    labelled(goal_smith::program(seed, &shape))
}

/// Programs whose ranks send several small messages to each other at once.
pub(crate) fn bundles(seed: u64) -> Program {
    labelled(bundles::program(seed))
}

/// A program without wildcards with additional dependencies. Some of these rely on eager sends,
/// some never end.
pub(crate) fn restricted(seed: u64) -> Program {
    let shape = Shape { wildcards: false, ..Shape::varied(seed) };
    with_more_order(seed, &labelled(goal_smith::program(seed, &shape)))
}

/// A program whose final memory depends on the order of messages, small enough that all outcomes
/// can be listed.
pub(crate) fn several_outcomes(seed: u64) -> Program {
    labelled(goal_smith::program(seed, &Shape::several_outcomes()))
}

/// Labels every action with its number, so that it can be found after a pass moved it.
fn labelled(mut program: Program) -> Program {
    for body in &mut program.bodies {
        let mut labels = Labels::default();
        for id in body.ids() {
            labels.push(&format!("a{id}"));
        }
        body.debug.labels = labels;
    }
    program
}

/// Adds random dependencies between messages of a rank, in an order of its actions.
pub(crate) fn with_more_order(seed: u64, program: &Program) -> Program {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut program = program.clone();
    for body in &mut program.bodies {
        let mut order = topological_order(body).expect("the generator makes no cycles");
        order.retain(|&id| matches!(body.action(id), Action::Send { .. } | Action::Recv { .. }));
        if order.len() < 2 {
            continue;
        }
        let mut edges: Vec<Edge> = body.requires.edges().collect();
        for _ in 0..random.usize(0..=4) {
            let later = random.usize(1..order.len());
            let edge = Edge { waiter: order[later], prerequisite: order[random.usize(0..later)] };
            edges.push(edge);
        }
        body.requires = Csr::from_edges(body.len(), &edges);
    }
    program
}

/// Removes all dependencies.
pub(crate) fn without_order(program: &Program) -> Program {
    let mut program = program.clone();
    for body in &mut program.bodies {
        (body.requires, body.irequires) = (Csr::default(), Csr::default());
    }
    program
}
