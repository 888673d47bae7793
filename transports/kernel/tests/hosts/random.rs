//! Random schedules on hosts whose kernels run all of them, against the interpreter.

use crate::bench::{Bench, nisa, planned};
use crate::{FRAGMENT, wiring};
use goal_cluster::{Cluster, Faults, Switch};
use goal_kernel::Plan;
use goal_kernel::limits::PARTS_MAX;
use goal_lang::Program;
use goal_smith::Shape;

/// Schedules that a job has at once.
const AT_ONCE: u64 = 100;
const RUNS: u64 = 4;

/// The next schedules that the kernel takes without its processes, from a seed on. Moves the seed.
fn schedules(seed: &mut u64) -> (Vec<Program>, Vec<Plan>) {
    let (mut programs, mut plans) = (Vec::new(), Vec::new());
    for _ in 0..AT_ONCE {
        // The matching of the plan decides between outcomes.
        let outcomes_may_differ = seed.is_multiple_of(2);
        let shape =
            Shape { wtime: false, calc_nanos_max: 0, outcomes_may_differ, ..Shape::varied(*seed) };
        let program = goal_smith::program(*seed, &shape);
        *seed += 1;
        let Ok(plan) = Plan::of(&nisa(&program), FRAGMENT) else { continue };
        if (0..plan.ranks()).all(|rank| plan.part(rank).handed() == 0) {
            programs.push(program);
            plans.push(plan);
        }
    }
    (programs, plans)
}

#[test]
fn random_schedules_run_in_the_kernel() {
    let faults = Faults {
        lost: 50_000,
        doubled: 50_000,
        delayed: 50_000,
        delay_ns: 100_000,
        damaged: 5000,
        ..Faults::default()
    };
    let (mut seed, mut tried, mut runs) = (0, 0, 0);
    for round in 0..goal_filetest::seeds(2) {
        let switch = if round % 2 == 0 { Switch::Bridge } else { Switch::Faulty(faults, round) };
        let test = "random_schedules_run_in_the_kernel";
        let Some(cluster) = Cluster::or_skip(test, &wiring(4, switch)) else { return };
        let (programs, plans) = schedules(&mut seed);
        let ranks = plans.iter().map(Plan::ranks).max().unwrap_or(0);
        assert!(plans.len() as u32 * ranks.div_ceil(4) <= PARTS_MAX);
        // The memory that each schedule leaves, unless it divides by zero.
        let wanted: Vec<Vec<_>> = (programs.iter().zip(&plans))
            .map(|(program, plan)| {
                (0..RUNS).filter_map(|seed| planned(program, plan, seed).ok()).collect()
            })
            .collect();
        let mut bench = Bench::new(&cluster, &plans, None);
        for run in 0..RUNS as usize {
            for (schedule, wanted) in wanted.iter().enumerate() {
                let Some((inputs, outcome)) = wanted.get(run) else { continue };
                let memories = bench.run(schedule, inputs);
                let difference = outcome.first_difference(&memories);
                assert_eq!(difference, None, "seeds to {seed}, schedule {schedule}, run {run}");
                runs += 1;
            }
        }
        tried += plans.len();
        println!("{}", bench.counters());
    }
    println!("{tried} schedules of {seed} seeds, {runs} runs");
    assert!(tried as u64 > seed / 4 && runs > 3 * tried as u64, "too few");
}
