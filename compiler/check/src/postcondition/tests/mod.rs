mod algorithms;
mod barrier;
mod contributions;
mod differential;
mod seeded;
mod silence;

use crate::{Options, check};
use algorithms::{Case, Parameters, algorithms};
use goal_lang::diag::Report;
use goal_lang::{Datatype, Op};

fn report(case: &Case) -> Report {
    let options = Options {
        eager_limit: 1 << 20,
        collective: Some(case.collective.clone()),
        ..Options::default()
    };
    check(&case.program(), None, &options)
}

#[track_caller]
fn assert_proved(name: &str, case: &Case) {
    let report = report(case);
    let first =
        report.diagnostics.first().map(|found| format!("{} {:?}", found.message, found.note));
    assert_eq!(report.errors, 0, "{name} {:?}: {first:?}", case.collective);
}

#[test]
fn algorithms_are_proved() {
    for algorithm in algorithms() {
        for ranks in [1, 2, 3, 4, 5, 8, 13] {
            for (op, datatype) in [(Op::Sum, Datatype::Int32), (Op::Max, Datatype::Float64)] {
                for (root, count) in [(0, 4), (ranks - 1, 1), (ranks / 2, 30)] {
                    let in_place = root > 0;
                    let parameters = Parameters { ranks, root, count, op, datatype, in_place };
                    if let Some(case) = Case::from_algorithm(algorithm, &parameters) {
                        assert_proved(algorithm.name, &case);
                    }
                }
            }
        }
    }
}
