//! The costs of a start and of a test, in a group of one or under `goal-run`.
#![allow(unsafe_code)]

use goal::Group;
use goal::raw::{self, Data, Graph, Schedule, memory};
use std::time::Instant;

const ROUNDS: u32 = 1_000_000;

fn main() -> goal::Result<()> {
    let group = Group::init()?;
    let numbers = [1u64; 2];
    let at = |place: usize| Data::One(memory(&raw const numbers[place] as usize, 8));
    let mut local = Graph::new(group.world());
    local.local_op(goal::Op::Copy, goal::Datatype::UInt64, at(0), at(0), at(1))?;
    let mut exchange = Graph::new(group.world());
    let (rank, size) = (group.rank(), group.size());
    exchange.send(at(0), (rank + 1) % size, 0)?;
    exchange.recv(at(1), (rank + size - 1) % size, 0)?;
    for (name, graph) in [("local", &local), ("exchange", &exchange)] {
        let schedule = Schedule::compile(graph)?;
        for _ in 0..5 {
            let mut run = std::time::Duration::ZERO;
            let begin = Instant::now();
            for _ in 0..ROUNDS {
                // SAFETY: the numbers live until the run has ended.
                let ticket = unsafe { schedule.start(None)? };
                while !raw::test(ticket)? {}
            }
            run += begin.elapsed();
            // SAFETY: as above.
            let ticket = unsafe { schedule.start(None)? };
            raw::wait(ticket, "wait")?;
            let begin = Instant::now();
            for _ in 0..ROUNDS {
                std::hint::black_box(raw::test(std::hint::black_box(ticket))?);
            }
            let test = begin.elapsed();
            println!(
                "{name}: start and end {:?}, test of an ended run {:?}",
                run / ROUNDS,
                test / ROUNDS
            );
        }
    }
    group.finalize()
}
