//! The engine on local actions only, beside a topological walk over an array of the same graph.
#![allow(unsafe_code)] // ends and areas of a segment

use crate::assemble::{assemble, engine_state};
use crate::measure::median;
use crate::message::{Pair, storage};
use crate::table;
use clap::Args as ClapArgs;
use goal_asm::Nisa;
use goal_engine::Seed;
use goal_engine::{Engine, Options, Schedule};
use goal_job::transport::Choice;
use goal_job::{Job, Settings, layout};
use goal_lang::{Action, ActionId, Body, BodyBuilder, Datatype, Op, ProgramBuilder, Space};
use goal_rank::progress::with_member;
use goal_shm::ShmTransport;
use goal_shm::{Layout, RankSizes, Segment};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::time::Instant;

/// `engine`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Actions of each graph
    #[arg(long, default_value_t = 1_000_000)]
    actions: usize,
    /// Counted runs
    #[arg(long, default_value_t = 15)]
    runs: usize,
}

const NOP: Action = Action::Nop;
/// Adds one Int32 to another: eight bytes of memory for all actions.
const SUM: Action = Action::Exec {
    op: Op::Sum,
    datatype: Datatype::Int32,
    spaces: [Space::Memory; 3],
    has_c: false,
    a: 0,
    b: 4,
    c: 0,
    size: 4,
};

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let graphs: [(&str, Graph); 3] = [
        ("chain", chain),
        ("layers of 1000, two dependencies an action", layers),
        ("independent", independent),
    ];
    let mut rows = Vec::new();
    for (name, graph) in graphs {
        let body = |action| {
            let mut builder = BodyBuilder::default();
            graph(&mut builder, action, args.actions);
            builder.finish()
        };
        let walked = body(NOP);
        let nops = Prepared::new(body(NOP))?;
        let sums = Prepared::new(body(SUM))?;
        let mut samples = [const { Vec::new() }; 3];
        for round in 0..=args.runs {
            let times = [time(|| walk(&walked)), nops.run(), sums.run()];
            if round > 0 {
                for (samples, time) in samples.iter_mut().zip(times) {
                    samples.push(time / args.actions as f64);
                }
            }
        }
        let [walk, nop, sum] = samples.map(median);
        let ns = |value: f64| format!("{value:.1}");
        let ratio = |value: f64| format!("{:.2}", value / walk);
        rows.push(vec![name.to_string(), ns(walk), ns(nop), ratio(nop), ns(sum), ratio(sum)]);
    }
    say!("{} actions, nanoseconds an action, median of {} runs", args.actions, args.runs);
    table::print(
        &["graph", "walk", "engine, nop", "of walk", "engine, sumInt32 of 4 B", "of walk"],
        &rows,
    );
    let mut nops = BodyBuilder::default();
    chain(&mut nops, NOP, args.actions);
    let nops = nops.finish();
    let (with, without) = (Member::new(&nops, RECORDS)?, Member::new(&nops, 0)?);
    let event = || (with.run() - without.run()) / (2 * args.actions) as f64;
    event();
    let event = median((0..args.runs).map(|_| event()));
    say!("\n{event:.1} ns a record of a trace, of which an action of a chain of nops has two");
    let mut two = BodyBuilder::default();
    chain(&mut two, NOP, 2);
    let two = Prepared::new(two.finish())?;
    let restarts = median((0..args.runs).map(|_| two.run_again(RESTARTS) / f64::from(RESTARTS)));
    say!("\n{restarts:.0} ns from start to start of a schedule of two actions");
    let pair = Pair::new(8)?;
    let messages = median((0..args.runs).map(|_| pair.run(RESTARTS) / f64::from(2 * RESTARTS)));
    say!("{messages:.0} ns of software for a message of 8 B, its share of the start included");
    Ok(())
}

/// Records of a trace that are kept.
const RECORDS: u64 = 1 << 20;

/// Starts of a schedule in a row that are timed together.
const RESTARTS: u32 = 100_000;

/// A function that adds a graph of a number of copies of an action.
type Graph = fn(&mut BodyBuilder, Action, usize);

fn chain(builder: &mut BodyBuilder, action: Action, actions: usize) {
    for i in 0..actions {
        let id = builder.action(action);
        if i > 0 {
            builder.requires(id, ActionId::new(i - 1));
        }
    }
}

fn layers(builder: &mut BodyBuilder, action: Action, actions: usize) {
    const WIDTH: usize = 1000;
    for i in 0..actions {
        let id = builder.action(action);
        if i >= WIDTH {
            let (row, column) = (i / WIDTH - 1, i % WIDTH);
            builder.requires(id, ActionId::new(row * WIDTH + column));
            builder.requires(id, ActionId::new(row * WIDTH + (column + 1) % WIDTH));
        }
    }
}

fn independent(builder: &mut BodyBuilder, action: Action, actions: usize) {
    for _ in 0..actions {
        builder.action(action);
    }
}

/// Walks the graph by Kahn's algorithm, the least that an executor has to do.
fn walk(body: &Body) {
    let mut counters = body.indegrees();
    let mut queue: Vec<ActionId> = body.ids().filter(|id| counters[id.index()] == 0).collect();
    let mut next = 0;
    while let Some(&id) = queue.get(next) {
        next += 1;
        for waiter in body.requires.row(id) {
            counters[waiter.index()] -= 1;
            if counters[waiter.index()] == 0 {
                queue.push(*waiter);
            }
        }
    }
    assert_eq!(black_box(queue).len(), body.len());
}

/// A graph as a verified schedule, with the segment that it runs in.
pub(crate) struct Prepared {
    schedule: Arc<Schedule>,
    segment: Segment,
}

impl Prepared {
    pub(crate) fn new(body: Body) -> io::Result<Self> {
        let mut program = ProgramBuilder::default();
        program.rank_with(body);
        let nisa = Arc::new(assemble(&program.finish())?);
        let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), 0, Seed::default()));
        let sizes = schedule.state_sizes();
        let size = RankSizes {
            memory: nisa.memory_size(0),
            instance: (8 * sizes.finished + 2 * sizes.counters) as u64,
            ..RankSizes::default()
        };
        let layout = Layout::new([size].into_iter(), u64::MAX).map_err(io::Error::other)?;
        Ok(Self { schedule, segment: Segment::create(layout)? })
    }

    /// Returns the nanoseconds of one instance, its start included.
    fn run(&self) -> f64 {
        self.run_again(1)
    }

    /// Returns the bytes that its actions work on.
    pub(crate) fn memory(&mut self) -> &mut [u8] {
        let area = &self.segment.rank(0).memory;
        // SAFETY: nothing runs while the exclusive borrow lasts, and the segment is here.
        unsafe { self.segment.region(area).whole().as_mut_slice() }
    }

    /// Returns the nanoseconds of `instances` instances, one after the other.
    pub(crate) fn run_again(&self, instances: u32) -> f64 {
        // SAFETY: one run at a time, which drops its engine before the segment.
        let (ends, storage) = unsafe {
            (ShmTransport::new(&self.segment, 0), storage(&self.segment, 0, &self.schedule))
        };
        let mut engine = Engine::new(0, ends, Options::default(), engine_state());
        time(|| {
            let mut handle = engine.start(&self.schedule, 0, storage);
            for left in (0..instances).rev() {
                engine.wait(&handle, || 0).expect("local actions do not fail");
                if left > 0 {
                    engine.start_again(&mut handle);
                }
            }
        })
    }
}

/// A job of one rank that runs a graph as its schedule. It may record a trace.
struct Member {
    nisa: Arc<Nisa>,
    settings: Settings,
    segment: Segment,
}

impl Member {
    /// Creates the job. Its trace keeps `records` records; 0 records nothing.
    fn new(body: &Body, records: u64) -> io::Result<Self> {
        let mut program = ProgramBuilder::default();
        program.rank_with(body.clone());
        let nisa = Arc::new(assemble(&program.finish())?);
        let settings = Settings::new(1, &Choice::default()).map_err(io::Error::other)?;
        let settings = settings.with_trace(records);
        let layout = layout(&nisa, &settings, u64::MAX).map_err(io::Error::other)?;
        Ok(Self { nisa, settings, segment: Segment::create(layout)? })
    }

    /// Returns the nanoseconds of one instance, its start included.
    fn run(&self) -> f64 {
        let job = Job::new(&self.segment, &self.nisa, &self.settings);
        let (schedule, storage) = (job.schedule(0), job.storage(0));
        with_member(job, 0, |member| {
            time(|| {
                let handle = member.start(&schedule, storage).expect("local actions do not fail");
                member.wait(&handle).expect("local actions do not fail");
                member.finish(handle).expect("it has ended");
            })
        })
        .expect("the rank is here")
    }
}

/// Returns the nanoseconds that `work` takes.
pub(crate) fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}
