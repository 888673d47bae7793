//! Paths of random programs, and of a few whose paths are known.

use super::*;
use crate::machine::{Parameter, PerByte};
use crate::model::simulate;
use crate::model::tests::{machine, program, workload};
use crate::symmetry::Prepared;

/// Calls `test` with programs that end: their workload, machine, times and path.
fn for_programs(mut test: impl FnMut(&str, &Workload, &Machine, &Times, &Path)) {
    let (mut ends, mut random) = ([0, 0], fastrand::Rng::with_seed(7));
    for turn in 0..800 {
        let has_wildcards = turn % 2 == 1;
        let text = program(&mut random, has_wildcards);
        let (workload, machine) = (workload(&text), machine(&mut random));
        let found = critical_path(&workload, &machine);
        match (&found, simulate(&workload, &machine)) {
            (Ok((times, _)), Ok(without)) => assert_eq!(*times, without, "{machine:?}\n{text}"),
            (Err(error), Err(without)) => assert_eq!(*error, without, "{machine:?}\n{text}"),
            (found, without) => panic!("{found:?}, {without:?}\n{machine:?}\n{text}"),
        }
        if let Ok((times, path)) = found {
            ends[usize::from(has_wildcards)] += 1;
            test(&text, &workload, &machine, &times, &path);
        }
    }
    assert!(ends.iter().all(|&ends| ends > 80), "{ends:?} programs ended");
}

fn makespan(times: &Times) -> u64 {
    times.finish_ps.iter().copied().max().unwrap_or(0)
}

/// What the steps of a path are, without their times.
fn shape(path: &Path) -> Vec<(u32, u32, Work, Cost, u64)> {
    let of = |step: &Step| (step.rank, step.action, step.work, step.cost, step.units);
    path.steps.iter().map(of).collect()
}

#[test]
fn the_steps_of_a_path_are_the_time_of_the_run() {
    for_programs(|text, workload, machine, times, path| {
        let mut now = 0;
        for step in &path.steps {
            assert_eq!(step.start_ps, now, "{machine:?}\n{text}");
            assert_eq!(step.rank, workload.rank_of(step.action));
            now += step.duration_ps;
        }
        assert_eq!(now, makespan(times), "{machine:?}\n{text}");
        assert_eq!(path.finish_ps, now);
        let last = path.last.map(|action| workload.rank_of(action) as usize);
        assert!(last.is_none_or(|rank| times.finish_ps[rank] == now));
    });
}

#[test]
fn the_sensitivity_gives_the_time_of_the_path() {
    for_programs(|text, _, machine, _, path| {
        // Times of bytes are rounded down, at most once a step.
        let of = path.sensitivity();
        let known = u128::from(of.computation_ps)
            + u128::from(of.latency) * u128::from(machine.latency_ps)
            + u128::from(of.overhead) * u128::from(machine.overhead_ps)
            + u128::from(of.gap) * u128::from(machine.gap_ps)
            + u128::from(machine.gap_per_byte.of(of.gap_per_byte))
            + u128::from(machine.overhead_per_byte.of(of.overhead_per_byte));
        let slack = path.steps.len() as u128;
        let found = u128::from(path.finish_ps);
        assert!((found..=found + slack).contains(&known), "{of:?}\n{machine:?}\n{text}");
    });
}

#[test]
fn a_larger_latency_adds_the_latencies_of_the_path() {
    let (mut all, mut equal) = (0, 0);
    for_programs(|text, workload, machine, times, path| {
        let larger = Machine { latency_ps: machine.latency_ps + 1, ..*machine };
        let Ok((later, other)) = critical_path(workload, &larger) else { return };
        let more = i128::from(makespan(&later)) - i128::from(makespan(times));
        let latencies = i128::from(path.sensitivity().latency);
        all += 1;
        equal += u32::from(more == latencies);
        if shape(&other) == shape(path) {
            assert_eq!(more, latencies, "{machine:?}\n{text}");
        }
    });
    // Elsewhere a job overtakes another one.
    assert!(equal * 100 >= all * 99, "{equal} of {all}");
}

#[test]
fn a_larger_parameter_adds_its_units_on_the_path() {
    type Change = fn(&Machine) -> Machine;
    type Units = fn(Sensitivity) -> u64;
    let changes: [(Change, Units); 4] = [
        (|m| Machine { overhead_ps: m.overhead_ps + 1, ..*m }, |s| s.overhead),
        (|m| Machine { gap_ps: m.gap_ps + 1, ..*m }, |s| s.gap),
        // A byte takes a picosecond more.
        (
            |m| Machine { gap_per_byte: grown_by_a_picosecond(m.gap_per_byte), ..*m },
            |s| s.gap_per_byte,
        ),
        (
            |m| Machine { overhead_per_byte: grown_by_a_picosecond(m.overhead_per_byte), ..*m },
            |s| s.overhead_per_byte,
        ),
    ];
    let mut checked = [0; 4];
    for_programs(|text, workload, machine, times, path| {
        for (at, (change, units)) in changes.iter().enumerate() {
            let Ok((later, other)) = critical_path(workload, &change(machine)) else { continue };
            if shape(&other) == shape(path) {
                let more = makespan(&later) - makespan(times);
                assert_eq!(more, units(path.sensitivity()), "{at}: {machine:?}\n{text}");
                checked[at] += 1;
            }
        }
    });
    assert!(checked.iter().all(|&checked| checked > 50), "{checked:?}");
}

fn grown_by_a_picosecond(of: PerByte) -> PerByte {
    PerByte::from_nano_ns(of.nano_ns() + 1_000_000)
}

#[test]
fn a_tolerance_is_the_last_value_that_is_not_slower() {
    let (mut some, mut turn) = (0, 0);
    for_programs(|text, workload, machine, times, path| {
        turn += 1;
        if turn % 4 != 0 {
            return;
        }
        let of = path.sensitivity();
        let parameters = [
            (Parameter::Latency, of.latency),
            (Parameter::Overhead, of.overhead),
            (Parameter::GapPerByte, of.gap_per_byte),
        ];
        let time = |machine: &Machine| simulate(workload, machine).map(|times| makespan(&times));
        let (finish, program) = (makespan(times), Prepared::new(workload));
        for ((parameter, units), percent) in
            parameters.into_iter().flat_map(|of| [1, 2, 5].map(|percent| (of, percent)))
        {
            let target = finish + finish * u64::from(percent) / 100;
            let is_within =
                |value| time(&parameter.with(machine, value)).is_ok_and(|time| time <= target);
            match tolerance(&program, machine, parameter, [finish, units], percent) {
                Some(value) => {
                    some += 1;
                    let found = [value, value + 1000].map(is_within);
                    assert_eq!(found, [true, false], "{parameter:?} {percent} % {value}\n{text}");
                }
                None => assert!(is_within(1 << 40), "{parameter:?} {percent} %\n{text}"),
            }
        }
    });
    assert!(some > 100, "{some} tolerances");
}

#[test]
fn totals_have_all_of_the_path() {
    for_programs(|text, workload, machine, _, path| {
        let totals = Totals::new(workload, machine, path);
        let of_costs: u64 = totals.costs.iter().map(|cost| cost.path_ps).sum();
        assert_eq!(of_costs, path.finish_ps, "{text}");
        let between = |step: &&Step| matches!(step.work, Work::Travel | Work::Release);
        let of_wire: u64 = path.steps.iter().filter(between).map(|step| step.duration_ps).sum();
        let of_ranks: u64 = totals.ranks.iter().map(|rank| rank.path_ps).sum();
        assert_eq!(of_ranks + of_wire, path.finish_ps, "{text}");
        let of_pairs: u64 = totals.pairs.iter().map(|pair| pair.path_ps).sum();
        let of_computation = totals.costs[Cost::Computation as usize];
        assert_eq!(of_pairs + of_computation.path_ps, path.finish_ps, "{text}");
        let computation: u128 = totals.ranks.iter().map(|rank| rank.computation_ps).sum();
        assert_eq!(computation, of_computation.run_ps, "{text}");
        assert!(totals.pairs.iter().all(|pair| pair.path_messages <= pair.run_messages));
    });
}

#[test]
fn a_program_without_actions_has_an_empty_path() {
    let machine = machine(&mut fastrand::Rng::with_seed(1));
    let (_, path) = critical_path(&workload("num_ranks 2"), &machine).expect("times");
    assert_eq!(path, Path { steps: Vec::new(), finish_ps: 0, last: None });
}

#[test]
fn an_action_has_reasons_of_32_bytes() {
    assert_eq!(size_of::<record::Reasons>(), 32);
}

#[test]
fn of_two_paths_with_one_time_the_one_with_more_latencies_counts() {
    // The message is there at 120 ns, when the computation ends.
    let machine = Machine {
        latency_ps: 100_000,
        overhead_ps: 10_000,
        gap_ps: 0,
        gap_per_byte: PerByte::default(),
        overhead_per_byte: PerByte::default(),
        eager_bytes_max: 8,
    };
    let waits = [
        "c: calc 1\nc requires b\nc requires w",
        "c: calc 1\nc requires w\nc requires b",
        "c: calc 1 cpu 1\nc requires b",
        // The model learns of the later computation after it has learned of the receive.
        "x: calc 115 cpu 2\ny: calc 5 cpu 2\ny requires x\nc: calc 1 cpu 3\nc requires b\nc requires y",
        "",
    ];
    for waits in waits {
        let text = format!(
            "num_ranks 2\nrank 0 {{ send 1b to 1 }}\nrank 1 {{\nw: calc 120 cpu 1\n\
             b: recv 1b from 0\n{waits}\n}}"
        );
        let (_, path) = critical_path(&workload(&text), &machine).expect("times");
        assert_eq!(path.sensitivity().latency, 1, "{text}\n{path:?}");
    }
}

#[test]
fn a_larger_latency_adds_the_latencies_of_the_path_where_times_are_often_equal() {
    let (mut all, mut equal, mut random) = (0, 0, fastrand::Rng::with_seed(11));
    for _ in 0..400 {
        let text = program(&mut random, false);
        let workload = workload(&text);
        let of = |latency_ps| Machine {
            latency_ps,
            overhead_ps: 1000,
            gap_ps: 1000,
            gap_per_byte: PerByte::from_nano_ns(1_000_000_000),
            overhead_per_byte: PerByte::default(),
            eager_bytes_max: 999,
        };
        let Ok((times, path)) = critical_path(&workload, &of(1000)) else { continue };
        let Ok(later) = simulate(&workload, &of(1001)) else { continue };
        all += 1;
        let more = i128::from(makespan(&later)) - i128::from(makespan(&times));
        equal += u32::from(more == i128::from(path.sensitivity().latency));
    }
    // Elsewhere a job overtakes another one.
    assert!(all > 100 && equal * 100 >= all * 95, "{equal} of {all}");
}
