//! Compares the findings of `goal_check` for a program with its execution.

use super::network::{Conditions, End, run};
use crate::engine::Options;
use goal_check::check;
use goal_lang::diag::{Code, Report};
use goal_lang::{ActionId, Csr, Edge, Program};
use goal_smith::{Shape, program};

/// Returns a random program with additional dependencies. Each rank's graph stays free of cycles,
/// but often there are cycles across ranks.
fn disturbed(seed: u64, shape: &Shape) -> Program {
    let mut program = program(seed, shape);
    let mut random = fastrand::Rng::with_seed(seed);
    for body in &mut program.bodies {
        let order = some_order(body, &mut random);
        let mut edges: Vec<Edge> = body.requires.edges().collect();
        for _ in 0..random.usize(..3).min(order.len()) {
            let (a, b) = (random.usize(..order.len()), random.usize(..order.len()));
            if a != b {
                edges.push(Edge { waiter: order[a.max(b)], prerequisite: order[a.min(b)] });
            }
        }
        body.requires = Csr::from_edges(body.len(), &edges);
        body.debug = goal_lang::Debug::default();
    }
    program
}

/// An order of a body's actions that its dependencies allow.
fn some_order(body: &goal_lang::Body, random: &mut fastrand::Rng) -> Vec<ActionId> {
    let mut missing = body.indegrees();
    let mut ready: Vec<ActionId> = body.ids().filter(|id| missing[id.index()] == 0).collect();
    let mut order = Vec::new();
    while !ready.is_empty() {
        let id = ready.swap_remove(random.usize(..ready.len()));
        order.push(id);
        for &waiter in body.requires.row(id).iter().chain(body.irequires.row(id)) {
            missing[waiter.index()] -= 1;
            if missing[waiter.index()] == 0 {
                ready.push(waiter);
            }
        }
    }
    order
}

fn has(report: &Report, code: Code) -> bool {
    report.diagnostics.iter().any(|found| found.code == code)
}

/// Without wildcards the check decides exactly if a program ends, for every limit, also of messages
/// without a receive.
#[test]
fn what_passes_the_check_ends_and_what_does_not_hangs() {
    let (mut ended, mut stuck, mut unsure) = (0, 0, 0);
    for seed in 0..goal_filetest::seeds(4000) {
        let shape = Shape { wildcards: false, ..Shape::varied(seed) };
        let program = disturbed(seed, &shape);
        let eager_limit = [0, 16, 100, 1 << 20][seed as usize % 4];
        let unexpected_limit = [128, 200, 400, 1 << 20][seed as usize / 4 % 4];
        let options =
            goal_check::Options { eager_limit, unexpected_limit, ..goal_check::Options::default() };
        let report = check(&program, None, &options);
        let conditions = Conditions::new(seed);
        let options = Options { eager_limit, unexpected_limit, ..conditions.options };
        let end = run(&program, &Conditions { options, ..conditions });
        match (has(&report, Code::Deadlock), has(&report, Code::ReliesOnBuffering), end) {
            (false, _, End::Finished(..)) => ended += 1,
            (true, _, End::Stuck(_)) => stuck += 1,
            // Timing decides if there is room when it is needed, as the warning says. Messages that
            // are under way when the room is used up are kept too.
            (true, _, End::Finished(..)) | (false, true, End::Stuck(_))
                if unexpected_limit < 1 << 20 =>
            {
                unsure += 1
            }
            (_, _, end) => panic!("seed {seed}: {report:?} and {end:?}"),
        }
    }
    assert!(
        ended > 3000 && stuck > 150 && unsure < 30,
        "{ended} ended, {stuck} stuck, {unsure} unsure"
    );
}
