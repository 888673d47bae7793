//! Measures the transports of a job, as a rank of the job.
#![allow(unsafe_code)] // starts schedules on buffers of these functions

use crate::measure::{collective, median, run};
use goal::raw::{self, Data, Graph, Schedule, memory};
use goal::{CollectiveKind, Group};
use std::io::Write;
use std::time::{Duration, Instant};

/// The patterns of communication that are measured at each size.
const PATTERNS: [Pattern; 3] = [Pattern::PingPong, Pattern::Exchange, Pattern::Allreduce];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pattern {
    /// A message from the first rank to the last rank and back. With several hosts these ranks are
    /// on two hosts.
    PingPong,
    /// A message from each rank to the next rank.
    Exchange,
    /// An allreduce of all ranks.
    Allreduce,
}

/// Measures all patterns at these sizes. Every rank writes the same line, so that each host's
/// launcher gets it: for each pattern and size, the median of the slowest rank in nanoseconds.
pub(crate) fn probe(sizes: &[u64], time: Duration) -> Result<(), Box<dyn std::error::Error>> {
    let group = Group::init()?;
    let mut medians = Vec::new();
    for pattern in PATTERNS {
        for &bytes in sizes {
            medians.push(measure(group, pattern, bytes, time)?);
        }
    }
    let mut line = serde_json::to_string(&medians)?;
    line.push('\n');
    // One call writes the line, so that lines of several ranks do not mix.
    std::io::stdout().write_all(line.as_bytes())?;
    Ok(group.finalize()?)
}

/// Measures a pattern. All ranks begin each operation together. They write its operands before it,
/// and read its results after it. Returns the median time in nanoseconds.
fn measure(group: Group, pattern: Pattern, bytes: u64, time: Duration) -> goal::Result<u64> {
    let words = (bytes / 8).max(1) as usize;
    let (mut input, mut output) = (vec![0f64; words], vec![0f64; words]);
    let barrier = collective(CollectiveKind::Barrier, 0).compile(group.world(), None)?;
    let allreduce = collective(CollectiveKind::Allreduce, bytes).compile(group.world(), None)?;
    let messages = graph(group, pattern, &mut input, &mut output)?;
    let messages = Schedule::compile(&messages)?;
    median(group, time, |number| {
        input.fill(number as f64);
        run(&barrier, &mut [], &mut [])?;
        let begin = Instant::now();
        match pattern {
            Pattern::Allreduce => run(&allreduce, &mut input, &mut output)?,
            Pattern::PingPong | Pattern::Exchange => {
                // SAFETY: the graph names the two buffers. They live, and nothing touches them
                // until `wait` returns.
                let ticket = unsafe { messages.start(None)? };
                raw::wait(ticket, "goal-tune")?;
            }
        }
        let ns = begin.elapsed().as_nanos() as u64;
        std::hint::black_box(output.iter().sum::<f64>());
        Ok(ns)
    })
}

/// Returns this rank's graph of a pattern of messages. It is empty if the rank has no part in the
/// pattern.
fn graph(
    group: Group,
    pattern: Pattern,
    input: &mut [f64],
    output: &mut [f64],
) -> goal::Result<Graph> {
    let (rank, size, bytes) = (group.rank(), group.size(), size_of_val(input) as u64);
    let of = |address: *mut f64| Data::One(memory(address as usize, bytes));
    let (input, output) = (of(input.as_mut_ptr()), of(output.as_mut_ptr()));
    let last = size - 1;
    let mut graph = Graph::new(group.world());
    match pattern {
        Pattern::Exchange => {
            graph.send(input, (rank + 1) % size, 0)?;
            graph.recv(output, (rank + last) % size, 0)?;
        }
        Pattern::PingPong if rank == 0 => {
            graph.send(input, last, 0)?;
            graph.recv(output, last, 0)?;
        }
        Pattern::PingPong if rank == last => {
            let ping = graph.recv(output, 0, 0)?;
            let pong = graph.send(output, 0, 0)?;
            graph.requires(ping, pong)?;
        }
        Pattern::PingPong | Pattern::Allreduce => {}
    }
    Ok(graph)
}
