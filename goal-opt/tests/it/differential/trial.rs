//! Tests a pass or a level on thousands of programs.

use super::{judge, programs};
use goal_lang::Program;
use goal_opt::{Level, PassError, Pipeline, Timings};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The number of programs for a pass, times `GOAL_SEEDS`.
const OF_PASS: u64 = 2_500;
/// The number of programs for a level, whose passes have trials of their own, times `GOAL_SEEDS`.
const OF_LEVEL: u64 = 500;

/// The trial of a pass for which its name and the usual programs are not enough.
pub(crate) struct Special {
    /// The pass.
    pub(crate) pass: &'static str,
    /// A list of passes with the pass and those that it needs.
    pub(crate) spec: &'static str,
    /// The programs to use.
    pub(crate) program: fn(u64) -> Program,
    /// The least share of these programs that it must change, in percent.
    pub(crate) changed_percent: u64,
}

/// The passes that change few of the usual programs with their default parameters.
pub(crate) const SPECIAL: &[Special] = &[
    Special { pass: "join", spec: "join(most=2)", program: programs::usual, changed_percent: 20 },
    Special {
        pass: "coalesce",
        spec: "coalesce(size=24)",
        program: programs::bundles,
        changed_percent: 60,
    },
    Special {
        pass: "contention",
        spec: "contention(k=1)",
        program: programs::exchanges,
        changed_percent: 60,
    },
    Special { pass: "dce", spec: "dce", program: programs::local, changed_percent: 30 },
    Special { pass: "fuse", spec: "fuse", program: programs::local, changed_percent: 10 },
    Special {
        pass: "segment",
        spec: "segment(size=8)",
        program: super::forwards::forwards,
        changed_percent: 60,
    },
    Special {
        pass: "window",
        spec: "window(size=8)",
        program: programs::usual,
        changed_percent: 30,
    },
];

/// Makes a program from a seed.
type Maker = fn(u64) -> Program;

/// Passes that need special restricted programs. Those may rely on eager sends or never end.
const RESTRICTED: &[(&str, Maker)] =
    &[("coalesce", programs::restricted_bundles), ("contention", programs::restricted_exchanges)];

/// A pipeline and the programs that it is tested on.
pub(crate) struct Trial {
    name: String,
    pipeline: Pipeline,
    program: fn(u64) -> Program,
    restricted: Maker,
    changed_percent: u64,
    programs: u64,
}

impl Trial {
    /// The trial of a pass of the table.
    pub(crate) fn of_pass(pass: &'static str) -> Self {
        let usual = Special { pass, spec: pass, program: programs::usual, changed_percent: 30 };
        let special = SPECIAL.iter().find(|special| special.pass == pass).unwrap_or(&usual);
        let restricted = RESTRICTED.iter().find(|(name, _)| *name == pass);
        let pipeline = Pipeline::parse(special.spec).expect("a pass of the table");
        Self {
            name: special.spec.to_owned(),
            pipeline,
            program: special.program,
            restricted: restricted.map_or(programs::restricted, |&(_, restricted)| restricted),
            changed_percent: special.changed_percent,
            programs: goal_filetest::seeds(OF_PASS),
        }
    }

    /// The trials of the pipelines of the levels.
    pub(crate) fn of_levels() -> impl Iterator<Item = Self> {
        [("-O1", Level::O1), ("-O2", Level::O2)].into_iter().map(|(name, level)| Self {
            name: name.to_owned(),
            pipeline: Pipeline::new(level),
            program: programs::usual,
            restricted: programs::restricted,
            changed_percent: 30,
            programs: goal_filetest::seeds(OF_LEVEL),
        })
    }

    /// Runs the trial and prints its numbers.
    ///
    /// # Panics
    /// At the first program that breaks a rule after the passes, with its seed, and if the passes
    /// change too few programs for the trial to mean anything.
    pub(crate) fn run(&self) {
        let start = Instant::now();
        let counts = Counts::default();
        in_parallel(self.programs * 8 / 10, |seed| {
            let before = (self.program)(seed);
            let after =
                self.transform(&before, 1 << 16, &counts).unwrap_or_else(|e| self.fail(seed, &e));
            let Some(after) = after else { return };
            let judged = judge::same_outcome(seed, &before, &after);
            counts.add(judged.unwrap_or_else(|error| self.fail(seed, &error)));
        });
        let (programs, changed) = (counts.programs.load(Ordering::Relaxed), counts.changed());
        in_parallel(self.programs * 15 / 100, |seed| {
            let before = (self.restricted)(seed);
            let eager_limit = [0, 16, 64, 1 << 16][seed as usize % 4];
            let after = self
                .transform(&before, eager_limit, &counts)
                .unwrap_or_else(|e| self.fail(seed, &e));
            let Some(after) = after else { return };
            let judged = judge::ends_as_before(seed, &before, &after, eager_limit);
            counts.add(
                judged.unwrap_or_else(|error| self.fail(seed, &format!("restricted: {error}"))),
            );
        });
        in_parallel(self.programs * 5 / 100, |seed| {
            let before = programs::several_outcomes(seed);
            let after =
                self.transform(&before, 1 << 16, &counts).unwrap_or_else(|e| self.fail(seed, &e));
            let Some(after) = after else { return };
            let judged = judge::no_new_outcome(&before, &after);
            counts
                .add(judged.unwrap_or_else(|error| {
                    self.fail(seed, &format!("several outcomes: {error}"))
                }));
        });
        println!("{}: {counts}, {:.1} s", self.name, start.elapsed().as_secs_f64());
        assert!(
            changed * 100 >= programs * self.changed_percent,
            "{} changes {changed} of {programs} programs: too few for a trial; give it a row in SPECIAL",
            self.name
        );
    }

    /// The program after the passes; `None` if they don't change it or refuse.
    fn transform(
        &self,
        before: &Program,
        eager_limit: u64,
        counts: &Counts,
    ) -> Result<Option<Program>, String> {
        counts.programs.fetch_add(1, Ordering::Relaxed);
        let pipeline = Pipeline { eager_limit, ..self.pipeline.clone() };
        let mut after = before.clone();
        match goal_opt::run(&mut after, &pipeline, &mut Timings::default(), |_, _| {}) {
            Ok(()) => {}
            Err(PassError::Refused { .. }) => {
                counts.refused.fetch_add(1, Ordering::Relaxed);
            }
            Err(error @ PassError::Invalid { .. }) => return Err(error.to_string()),
        }
        let same = (0..before.num_ranks())
            .all(|rank| after.body_of(rank).same_graph(before.body_of(rank)));
        Ok((!same).then_some(after))
    }

    fn fail(&self, seed: u64, error: &str) -> ! {
        panic!("{}, seed {seed}: {error}", self.name)
    }
}

/// The numbers of a trial.
#[derive(Debug, Default)]
struct Counts {
    programs: AtomicU64,
    refused: AtomicU64,
    changed: AtomicU64,
    orders: AtomicU64,
}

impl Counts {
    fn add(&self, orders: u64) {
        self.changed.fetch_add(1, Ordering::Relaxed);
        self.orders.fetch_add(orders, Ordering::Relaxed);
    }

    fn changed(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (programs, changed, refused) =
            (load(&self.programs), load(&self.changed), load(&self.refused));
        write!(
            f,
            "{programs} programs, {changed} changed, {refused} refused, {} orders",
            load(&self.orders)
        )
    }
}

/// Calls `work` with every number below `count`, on all processors. Panics if one of the calls
/// does.
fn in_parallel(count: u64, work: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(seed) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&seed| seed < count)
                {
                    work(seed);
                }
            });
        }
    });
}
