//! The engine on local actions only, beside a topological walk over an array of the same graph.
#![allow(unsafe_code)] // ends and areas of a segment

use crate::assemble::{assemble, engine_state};
use crate::measure::median;
use crate::message::{Pair, storage};
use crate::table;
use clap::Args as ClapArgs;
use goal_engine::Seed;
use goal_engine::{Engine, Options, Schedule};
use goal_eth::now_ns;
use goal_lang::{Action, ActionId, Body, BodyBuilder, Datatype, Op, ProgramBuilder, Space};
use goal_run::trace;
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
    println!("{} actions, nanoseconds an action, median of {} runs", args.actions, args.runs);
    table::print(
        &["graph", "walk", "engine, nop", "of walk", "engine, sumInt32 of 4 B", "of walk"],
        &rows,
    );
    let mut nops = BodyBuilder::default();
    chain(&mut nops, NOP, args.actions);
    let nops = Prepared::new(nops.finish())?;
    let event = || (nops.time(1, true) - nops.time(1, false)) / (2 * args.actions) as f64;
    event();
    let event = median((0..args.runs).map(|_| event()));
    println!("\n{event:.1} ns a record of a trace, of which an action of a chain of nops has two");
    let mut two = BodyBuilder::default();
    chain(&mut two, NOP, 2);
    let two = Prepared::new(two.finish())?;
    let restarts = median((0..args.runs).map(|_| two.run_again(RESTARTS) / f64::from(RESTARTS)));
    println!(
        "\n{restarts:.0} ns from start to finish of a schedule of two actions that was started before"
    );
    let pair = Pair::new(8)?;
    let messages = median((0..args.runs).map(|_| pair.run(RESTARTS) / f64::from(2 * RESTARTS)));
    println!(
        "{messages:.0} ns of software for a message of 8 B, its share of start and finish included"
    );
    Ok(())
}

/// Records of a trace that are kept.
const RECORDS: u64 = 1 << 20;

/// Starts of a schedule in a row that are timed together.
const RESTARTS: u32 = 100_000;

/// Adds that many of an action.
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

/// Kahn's algorithm: what any executor of the graph has to do at least.
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
            trace: trace::area_bytes(RECORDS),
            ..RankSizes::default()
        };
        let layout = Layout::new([size].into_iter(), u64::MAX).map_err(io::Error::other)?;
        Ok(Self { schedule, segment: Segment::create(layout)? })
    }

    /// Nanoseconds of one instance, its start included.
    fn run(&self) -> f64 {
        self.run_again(1)
    }

    /// The bytes that its actions work on.
    pub(crate) fn memory(&mut self) -> &mut [u8] {
        let area = &self.segment.rank(0).memory;
        // SAFETY: nothing runs while the exclusive borrow lasts, and the segment is here.
        unsafe { self.segment.region(area).whole().as_mut_slice() }
    }

    /// Nanoseconds of so many instances, one after the other.
    pub(crate) fn run_again(&self, instances: u32) -> f64 {
        self.time(instances, false)
    }

    /// The same, of which a trace may be recorded.
    fn time(&self, instances: u32, is_traced: bool) -> f64 {
        // SAFETY: one run at a time, which drops its engine before the segment.
        let (ends, mut storage, recorder) = unsafe {
            (
                ShmTransport::new(&self.segment, 0),
                storage(&self.segment, 0, &self.schedule),
                trace::recorder(&self.segment, 0, now_ns),
            )
        };
        let mut engine = Engine::new(0, ends, Options::default(), engine_state());
        if let Some(recorder) = recorder.filter(|_| is_traced) {
            engine.record(recorder);
        }
        time(|| {
            for _ in 0..instances {
                let handle = engine.start(&self.schedule, 0, storage);
                engine.wait(&handle, || 0).expect("local actions do not fail");
                storage = engine.finish(handle);
            }
        })
    }
}

/// Nanoseconds that something takes.
pub(crate) fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}
