//! Measures an algorithm of a collective at one size.
#![allow(unsafe_code)] // starts collectives on buffers of this function

use goal::{Collective, CollectiveKind, Datatype, Function, Group, Op, Persistent, raw};
use goal_collectives::{ALGORITHMS, Nodes, Request};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The least and the most times that an algorithm, or a pattern of messages, is measured.
const TIMES: std::ops::RangeInclusive<u64> = 10..=20_000;

/// The name of the algorithms that are made for several nodes.
const TWO_LEVEL: &str = "two-level";

/// An algorithm at a size, and its time.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) kind: CollectiveKind,
    pub(crate) algorithm: &'static str,
    /// The number of bytes in a block.
    pub(crate) bytes: u64,
    /// The median time of an operation in nanoseconds, at the slowest rank.
    pub(crate) ns: u64,
}

/// Returns the collective that is measured, with blocks of `bytes` bytes.
pub(crate) fn collective(kind: CollectiveKind, bytes: u64) -> Collective {
    let count = if kind == CollectiveKind::Barrier { 0 } else { bytes / 8 };
    Collective {
        kind,
        count,
        datatype: Datatype::Float64,
        function: Function::Predefined(Op::Sum, Datatype::Float64),
        root: 0,
        in_place: false,
    }
}

/// Returns the request that a point measures, on one node.
pub(crate) fn request(ranks: u32, kind: CollectiveKind, bytes: u64) -> Request {
    let Collective { count, datatype, function, .. } = collective(kind, bytes);
    let nodes = Some(Arc::new(Nodes::new(&vec![0; ranks as usize])));
    Request { count, datatype, function, nodes, ..Request::new(kind, ranks) }
}

/// Returns the algorithms that can run on these ranks, which are on one node.
pub(crate) fn candidates(group: Group, kind: CollectiveKind, bytes: u64) -> Vec<Point> {
    let request = request(group.size(), kind, bytes);
    let right = ALGORITHMS.iter().filter(|algorithm| {
        algorithm.kind == kind && algorithm.name != TWO_LEVEL && algorithm.check(&request).is_ok()
    });
    right.map(|algorithm| Point { kind, algorithm: algorithm.name, bytes, ns: 0 }).collect()
}

/// Measures an algorithm. All ranks begin each operation together. They write its operands before
/// it, and read its results after it.
pub(crate) fn measure(group: Group, point: Point, time: Duration) -> goal::Result<Point> {
    let world = group.world();
    let compiled = collective(point.kind, point.bytes).compile(world, Some(point.algorithm))?;
    let barrier = collective(CollectiveKind::Barrier, 0).compile(world, None)?;
    let lengths = compiled.schedule().buffers();
    let words = |at: usize| lengths.get(at).map_or(1, |&bytes| bytes.div_ceil(8).max(1) as usize);
    let (mut input, mut output) = (vec![0f64; words(0)], vec![0f64; words(1)]);
    let round = |number: u64| -> goal::Result<u64> {
        input.fill(number as f64);
        run(&barrier, &mut [], &mut [])?;
        let begin = Instant::now();
        run(&compiled, &mut input, &mut output)?;
        let ns = begin.elapsed().as_nanos() as u64;
        std::hint::black_box(output.iter().sum::<f64>());
        Ok(ns)
    };
    let ns = median(group, time, round)?;
    Ok(Point { ns, ..point })
}

/// Calls `round` with ascending numbers for about `time`, and equally often on all ranks. Returns
/// the median of its results at the slowest rank.
pub(crate) fn median(
    group: Group,
    time: Duration,
    mut round: impl FnMut(u64) -> goal::Result<u64>,
) -> goal::Result<u64> {
    let begin = Instant::now();
    for number in 0..*TIMES.start() {
        round(number)?;
    }
    let each = begin.elapsed().as_nanos() as u64 / TIMES.start();
    let times = (time.as_nanos() as u64 / each.max(1)).clamp(*TIMES.start(), *TIMES.end());
    // Each rank proposes a number of operations, and all ranks run the largest number.
    let times = most(group, times)?;
    let mut samples = (0..times).map(&mut round).collect::<goal::Result<Vec<u64>>>()?;
    samples.sort_unstable();
    most(group, samples[samples.len() / 2])
}

/// Runs a collective on these buffers.
pub(crate) fn run(
    collective: &Persistent,
    input: &mut [f64],
    output: &mut [f64],
) -> goal::Result<()> {
    let (input, output) = (input.as_mut_ptr() as usize, output.as_mut_ptr() as usize);
    // SAFETY: the slices are as long as the collective's buffers. Nothing touches them until `wait`
    // returns.
    let ticket = unsafe { collective.start(input, output)? };
    raw::wait(ticket, "goal-tune")
}

/// Returns the largest of the numbers of all ranks.
fn most(group: Group, number: u64) -> goal::Result<u64> {
    let most = Collective {
        kind: CollectiveKind::Allreduce,
        count: 1,
        datatype: Datatype::UInt64,
        function: Function::Predefined(Op::Max, Datatype::UInt64),
        root: 0,
        in_place: false,
    };
    let (own, mut all) = (number, 0u64);
    let (input, output) = (&raw const own as usize, &raw mut all as usize);
    // SAFETY: both numbers live until `wait` returns. Nothing touches them before.
    let ticket = unsafe { most.start(group.world(), input, output)? };
    raw::wait(ticket, "goal-tune")?;
    // SAFETY: the number is initialised. A volatile read is not moved before the wait.
    Ok(unsafe { std::ptr::read_volatile(&raw const all) })
}
