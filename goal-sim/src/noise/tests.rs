//! Draws: their moments, what they depend on, and the least latency.

use super::*;
use goal_lang::{ParseOptions, SourceMap};
use goal_loggops::model::Noise as _;
use std::sync::Arc;

fn workload(text: &str) -> Workload {
    let mut sources = SourceMap::default();
    sources.add("test".to_owned(), Arc::new(text.as_bytes().to_vec()));
    let parsed = goal_lang::parse(&sources, &ParseOptions::default());
    Workload::new(&parsed.program.expect("a program"), |_, _| 0).expect("a workload")
}

fn plan(jitter: &[&str]) -> Plan {
    let rules = jitter.iter().map(|text| (text.to_string(), text.parse().expect(text))).collect();
    Plan { trace: None, cosched: false, rules, seed: 1 }
}

/// Returns the computations of a rank with 4000 of them that take a microsecond each.
fn computations(jitter: &str, run: u64) -> Vec<f64> {
    let workload = workload(&format!("num_ranks 1 rank 0 {{ {} }}", "calc 1000 ".repeat(4000)));
    let plan = plan(&[jitter]);
    let noises = plan.of(&workload);
    let noise = noises.of_run(run);
    workload.actions(0).map(|a| noise.computation(0, a, 1_000_000) as f64 / 1000.0).collect()
}

#[test]
fn draws_have_the_moments_of_their_distributions() {
    for (jitter, mean, deviation) in [
        ("calc=normal(1000,50)", 1000.0, 50.0),
        ("calc+=normal(0,50)", 1000.0, 50.0),
        ("calc*=normal(1,0.05)", 1000.0, 50.0),
        ("calc+=exp(200)", 1200.0, 200.0),
        ("calc*=uniform(0.4,1.6)", 1000.0, 1200.0 / 12.0_f64.sqrt()),
        ("calc*=lognormal(2,0.1)", 2000.0 * 0.005_f64.exp(), 201.5),
        ("calc+=pareto(100,5)", 1125.0, 32.3),
        ("calc*=1.5", 1500.0, 0.0),
    ] {
        for run in 0..3 {
            let values = computations(jitter, run);
            let count = values.len() as f64;
            let found = values.iter().sum::<f64>() / count;
            let squares = values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / count;
            // The mean of 4000 draws strays by a 63rd of the deviation.
            assert!((found - mean).abs() <= deviation / 12.0 + 0.01, "{jitter}: mean {found}");
            let wanted = 0.8 * deviation..=1.25 * deviation;
            assert!(wanted.contains(&squares.sqrt()), "{jitter}: deviation {}", squares.sqrt());
        }
    }
}

#[test]
fn any_text_is_a_rule_or_an_error() {
    let parts = [
        "calc",
        "o",
        "L",
        "@",
        "0",
        "1-2",
        ":",
        "=",
        "+=",
        "*=",
        "=",
        "1",
        "-1",
        "0.5",
        "1e308",
        "-1e308",
        "1e-308",
        "200",
        "nan",
        "inf",
        "normal(",
        "exp(",
        "uniform(",
        "lognormal(",
        "pareto(",
        ",",
        ")",
        "+",
        "x",
    ];
    let numbers = ["0", "1", "-1", "0.5", "1e308", "-1e308", "1e-308", "200"];
    let mut random = fastrand::Rng::with_seed(1);
    let mut accepted = 0;
    for at in 0..40_000 {
        let mut pick = |parts: &[&'static str]| parts[random.usize(0..parts.len())];
        let text = match at % 2 {
            0 => (0..at % 13).map(|_| pick(&parts)).collect(),
            _ => {
                let (left, change) =
                    (pick(&["calc", "o@0", "L", "L@1:2"]), pick(&["=", "+=", "*="]));
                let draw = pick(&["normal", "exp", "uniform", "lognormal", "pareto"]);
                let second =
                    if draw == "exp" { String::new() } else { format!(",{}", pick(&numbers)) };
                format!("{left}{change}{draw}({}{second})", pick(&numbers))
            }
        };
        let Ok(rule) = text.parse::<Rule>() else { continue };
        accepted += 1;
        // Ranks are simulated for windows of the least latency, so no time may be below it.
        let least = 1 << random.u32(0..63);
        for _ in 0..4 {
            let time = random.u64(least..);
            let mut draws = Draws::new(at, 0).of(Purpose::Latency, [random.u32(..), 0, 0, 0]);
            let changed = rule.apply(time, &mut draws);
            assert!(changed >= rule.apply_least(least), "{text}: {least} {time} {changed}");
        }
    }
    assert!(accepted > 5000, "{accepted}");
}

#[test]
fn times_are_not_negative_and_do_not_wrap_around() {
    assert!(computations("calc+=normal(-5000,100)", 0).iter().all(|&time| time == 0.0));
    assert!(computations("calc*=-3", 0).iter().all(|&time| time == 0.0));
    assert!(computations("calc*=1e300", 0).iter().all(|&time| time > 1e15));
    assert!(computations("calc*=pareto(1,0.001)", 0).iter().all(|&time| time >= 1000.0));
}

#[test]
fn corresponding_actions_of_two_programs_have_equal_draws() {
    let first =
        workload("num_ranks 2 rank 0 { calc 5 send 8b to 1 calc 7 } rank 1 { recv 8b from 0 }");
    // The second computation and the only send now stand elsewhere.
    let second = workload(
        "num_ranks 3 rank 0 { send 1b to 2 calc 9 calc 7 send 8b to 1 }
         rank 1 { recv 8b from 0 } rank 2 { recv 1b from 0 }",
    );
    let plan = plan(&["calc+=exp(100)", "L+=exp(100)", "o+=exp(100)"]);
    let [a, b] = [plan.of(&first), plan.of(&second)];
    let (a, b) = (a.of_run(3), b.of_run(3));
    assert_eq!(a.computation(0, 2, 7), b.computation(0, 2, 7));
    let message = |send| Message { send, from: 0, to: 1 };
    assert_eq!(a.latency(message(1), 9), b.latency(message(3), 9));
    assert_eq!(a.overhead(0, 1, 9), b.overhead(0, 3, 9));
    assert_eq!(a.overhead(1, 1, 9), b.overhead(1, 3, 9));
    // All others differ: actions, ends of a message, rules, runs and seeds.
    let noises = plan.of(&first);
    let again = noises.of_run(4);
    let of = |noise: &Noise<'_>| {
        [
            noise.computation(0, 0, 9),
            noise.computation(0, 2, 9),
            noise.latency(message(1), 9),
            noise.overhead(0, 1, 9),
            noise.overhead(1, 1, 9),
        ]
    };
    let other = Plan { seed: 2, rules: plan.rules.clone(), trace: None, cosched: false };
    let other = other.of(&first);
    let mut all = [of(&a), of(&again), of(&other.of_run(3))].concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 15);
}

#[test]
fn rules_are_for_their_ranks_only() {
    let text =
        "num_ranks 3 rank 0 { calc 5 send 1b to 1 send 1b to 2 } rank 1 { recv 1b from 0 calc 5 }
        rank 2 { recv 1b from 0 send 1b to 0 }";
    let workload = workload(text);
    let plan = plan(&["calc@1-2*=3", "L@0:2*=2", "L@1+=1", "o@0,2*=5", "calc=7", "calc@0*=2"]);
    let noises = plan.of(&workload);
    let noise = noises.of_run(0);
    let message = |send, from, to| Message { send, from, to };
    // Rules apply in their order.
    assert_eq!([noise.computation(0, 0, 5), noise.computation(1, 4, 5)], [14_000, 7000]);
    assert_eq!(noise.latency(message(1, 0, 1), 10), 1010);
    assert_eq!(noise.latency(message(2, 0, 2), 10), 20);
    assert_eq!(noise.latency(message(6, 2, 0), 10), 10);
    assert_eq!([noise.overhead(0, 1, 10), noise.overhead(1, 1, 10)], [50, 10]);
    // A computation of no time stays one.
    assert_eq!(noise.computation(0, 0, 0), 0);
}

#[test]
fn no_latency_is_below_the_least_one() {
    let mut random = fastrand::Rng::with_seed(1);
    let workload = workload("num_ranks 3 rank 0 { send 1b to 1 } rank 1 { recv 1b from 0 }");
    let draws = [
        "1.5",
        "-1",
        "0.3",
        "normal(1,0.2)",
        "normal(1,3)",
        "normal(-20,30)",
        "exp(3)",
        "uniform(-1,2)",
        "uniform(0.5,0.6)",
        "lognormal(1,0.3)",
        "lognormal(0.01,2)",
        "pareto(0.5,1)",
    ];
    for _ in 0..2000 {
        let rules: Vec<String> = (0..random.usize(1..4))
            .map(|_| {
                let place = ["", "@0", "@2", "@0:1", "@1:0"][random.usize(0..5)];
                let change = ["=", "+=", "*="][random.usize(0..3)];
                format!("L{place}{change}{}", draws[random.usize(0..draws.len())])
            })
            .collect();
        let plan = plan(&rules.iter().map(String::as_str).collect::<Vec<_>>());
        let noises = plan.of(&workload);
        for run in 0..100 {
            let noise = noises.of_run(run);
            let latency = [0, 1, 2500, 2_500_000][random.usize(0..4)];
            let found = noise.latency(Message { send: 0, from: 0, to: 1 }, latency);
            assert!(found >= noise.latency_min(latency), "{rules:?} {latency}: {found}");
        }
    }
}

#[test]
fn ranks_have_offsets_of_their_own_unless_they_are_coscheduled() {
    let workload = workload("num_ranks 2 rank 0 { calc 1 } rank 1 { calc 1 }");
    let trace = Trace::parse(b"0 100\n1000 0").ok();
    let ends = |cosched| {
        let plan = Plan { trace: trace.clone(), cosched, rules: Vec::new(), seed: 1 };
        let noises = plan.of(&workload);
        let noise = noises.of_run(0);
        [0, 1].map(|rank| (0..10).map(|at| noise.end_of_work(rank, at * 100_000, 50_000)).collect())
    };
    let [first, second]: [Vec<u64>; 2] = ends(false);
    assert_ne!(first, second);
    let [first, second]: [Vec<u64>; 2] = ends(true);
    assert_eq!(first, second);
    // One detour is in each period.
    let late = first.iter().zip(0..).filter(|&(&end, at)| end > at * 100_000 + 50_000).count();
    assert!((1..=3).contains(&late), "{first:?}");
}

#[test]
fn rules_without_a_meaning_are_refused() {
    for (text, why) in [
        ("", "a rule is a time"),
        ("calc", "a rule is a time"),
        ("g=1", "`g` is no time"),
        ("calc-=1", "`calc-` is no time"),
        ("calc=", "`` is no distribution"),
        ("calc=inf", "`inf` is no distribution"),
        ("calc=normal", "`normal` is no distribution"),
        ("calc=normal()", "`` is no number"),
        ("calc=normal(1)", "`normal(1)` is no distribution"),
        ("calc=normal(1,2,3)", "`normal(1,2,3)` is no distribution"),
        ("calc=normal(1,nan)", "`nan` is no number"),
        ("calc=normal(1,-2)", "`normal(1,-2)`: the deviation is negative"),
        ("calc=gamma(1,2)", "`gamma(1,2)` is no distribution"),
        ("calc=exp(0)", "`exp(0)`: the mean is not above 0"),
        ("calc=uniform(2,1)", "`uniform(2,1)`: the second is not above the first"),
        ("calc=lognormal(0,1)", "`lognormal(0,1)`: the median is not above 0"),
        ("calc=lognormal(1,-1)", "`lognormal(1,-1)`: the median is not above 0, or the sigma"),
        ("calc=pareto(1,0)", "`pareto(1,0)`: a number is not above 0"),
        ("calc@=1", "`` is no rank"),
        ("calc@0:1=1", "`calc` is of a rank"),
        ("o@3-1=1", "`3-1` has no ranks"),
        ("L@0:1:2=1", "`1:2` is no rank"),
    ] {
        let error = text.parse::<Rule>().expect_err(text);
        assert!(error.starts_with(why), "{text}: {error}");
    }
}
