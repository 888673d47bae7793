//! `-O2` compared with `-O1` in the cost model: on the machine that a program is compiled for, its
//! last rank never ends more than 1 % later.

use goal_collectives::{ALGORITHMS, Request};
use goal_lang::{ParseOptions, Program, SourceMap};
use goal_opt::cost::predict;
use goal_opt::{Level, Machine, PassError, Pipeline, Timings};
use goal_smith::{Shape, tangle};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of random programs, times `GOAL_SEEDS`.
const PROGRAMS: u64 = 1_000;

/// The machines: one host, a cluster of 2008, and one whose messages seldom leave at once.
const MACHINES: [&str; 3] = [
    "L=300,o=100,g=100,G=0.1,O=0,S=16384",
    "L=2500,o=1500,g=1000,G=6,O=0,S=65535",
    "L=1000,o=200,g=400,G=0.5,O=0.1,S=64",
];

/// The eager limits of the runtime in bytes.
const EAGER_LIMITS: [u64; 2] = [0, 16 << 10];

/// The comparisons so far, and those in which `-O2` ends earlier or more than 1 % later.
#[derive(Debug, Default)]
struct Counts {
    all: AtomicU64,
    earlier: AtomicU64,
    later: AtomicU64,
}

/// The program after the passes of a pipeline; `None` if it breaks the rules of the model.
fn built(program: &Program, pipeline: &Pipeline) -> Option<Program> {
    let mut built = program.clone();
    match goal_opt::run(&mut built, pipeline, &mut Timings::default(), |_, _| {}) {
        Ok(()) => Some(built),
        Err(PassError::Invalid { after: None, .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

impl Counts {
    /// Compares both levels on a machine of the list, with each eager limit. A program that does
    /// not end on a machine at `-O1` has no time there. Panics if `-O2` loses although its passes
    /// ask the cost model.
    fn compare(&self, name: &str, program: &Program, machine: u64, asks_cost_model: bool) {
        let machine = Machine::parse(MACHINES[(machine % 3) as usize]).expect("a machine");
        for eager_limit in EAGER_LIMITS {
            let of_level = |level| {
                let pipeline = Pipeline::new(level);
                let asks_cost_model = asks_cost_model && pipeline.asks_cost_model;
                built(program, &Pipeline { machine, eager_limit, asks_cost_model, ..pipeline })
            };
            let (Some(o1), Some(o2)) = (of_level(Level::O1), of_level(Level::O2)) else { return };
            // The runtime's eager limit is that of a machine, too.
            let runtime = Machine { eager_bytes_max: eager_limit, ..machine };
            for machine in [machine, runtime] {
                let Ok(before) = predict(&o1, &machine) else { continue };
                let before = before.makespan_ns();
                let after = predict(&o2, &machine)
                    .unwrap_or_else(|error| panic!("{name} on {machine}: {error}"))
                    .makespan_ns();
                self.all.fetch_add(1, Ordering::Relaxed);
                self.earlier.fetch_add(u64::from(after < 0.99 * before), Ordering::Relaxed);
                let is_later = after > 1.01 * before;
                self.later.fetch_add(u64::from(is_later), Ordering::Relaxed);
                assert!(
                    !(is_later && asks_cost_model),
                    "{name} on {machine}, eager limit {eager_limit}: {before} ns at -O1, {after} ns at -O2"
                );
            }
        }
    }

    fn of(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

/// Random programs of many kinds: of everything, of many short messages, of large ones, and of
/// messages that compete.
fn random(seed: u64) -> Program {
    let varied = Shape::varied(seed);
    let exchanges = Shape { ranks: (3, 6), events: (10, 24), memory: 2000, ..varied.clone() };
    let shape = match seed % 8 {
        0 => return tangle(seed),
        1 => Shape::large_messages(),
        2 => Shape::reductions(),
        3 => Shape { wildcards: false, ..exchanges },
        4 => Shape { operand_max: 8, message_max: 8, ..exchanges },
        5 => Shape::several_outcomes(),
        6 => Shape { calc_nanos_max: 10, ..exchanges },
        _ => varied,
    };
    goal_smith::program(seed, &shape)
}

/// The texts below a folder that are programs, with their names.
fn texts(folder: &Path, programs: &mut Vec<(String, Program)>) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths {
        let name = path.display().to_string();
        if path.is_dir() {
            texts(&path, programs);
        } else if path.extension().is_some_and(|extension| extension == "goal") {
            let mut sources = SourceMap::default();
            sources.add(name.clone(), Arc::new(std::fs::read(&path).expect("a text")));
            let parsed = goal_lang::parse(&sources, &ParseOptions::default());
            programs.extend(parsed.program.map(|program| (name, program)));
        }
    }
}

#[test]
fn programs_of_this_project_end_no_later() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut programs, counts) = (Vec::new(), Counts::default());
    for folder in ["examples", "tests/cases"] {
        texts(&root.join(folder), &mut programs);
    }
    // Checks of larger programs are not about their order.
    programs.retain(|(_, program)| program.num_ranks() <= 64);
    assert!(programs.len() > 150, "{} programs", programs.len());
    for (number, (name, program)) in (0..).zip(&programs) {
        counts.compare(name, program, number, true);
    }
    println!("{} programs, {counts:?}", programs.len());
}

#[test]
fn random_programs_end_no_later() {
    let counts = Counts::default();
    in_parallel(goal_filetest::seeds(PROGRAMS), |seed| {
        counts.compare(&format!("seed {seed}"), &random(seed), seed / 8, true);
    });
    println!("{counts:?}");
}

#[test]
fn collectives_end_no_later_and_many_earlier() {
    let counts = Counts::default();
    in_parallel(ALGORITHMS.len() as u64, |number| {
        let algorithm = &ALGORITHMS[number as usize];
        for (ranks, count) in [(2, 1), (5, 30), (8, 8), (9, 5_000), (16, 2)] {
            let request = Request { count, ..Request::new(algorithm.kind, ranks) };
            // Algorithms are not for all numbers of ranks.
            let Ok(program) = algorithm.program(&request) else { continue };
            let name = format!("{algorithm:?} of {ranks} ranks, {count} elements");
            (0..3).for_each(|machine| counts.compare(&name, &program, machine, true));
        }
    });
    println!("{counts:?}");
    let (all, earlier) = (Counts::of(&counts.all), Counts::of(&counts.earlier));
    assert!(all > 1_000 && earlier > 50, "-O2 ends earlier in {earlier} of {all}");
}

/// The comparison must find passes that make programs slower.
#[test]
fn passes_that_do_not_ask_are_noticed() {
    let counts = Counts::default();
    in_parallel(goal_filetest::seeds(200), |seed| {
        counts.compare(&format!("seed {seed}"), &random(seed), seed / 8, false);
    });
    let (all, later) = (Counts::of(&counts.all), Counts::of(&counts.later));
    println!("without the cost model: {counts:?}");
    assert!(later > 20, "without the cost model, -O2 ends later in {later} of {all}");
}

/// Calls `work` with every number below `count`, on all processors. Panics if one of the calls
/// does.
fn in_parallel(count: u64, work: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(number) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&number| number < count)
                {
                    work(number);
                }
            });
        }
    });
}
