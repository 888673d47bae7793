//! Passes a number around all ranks, by a graph of a send and a receive each, and adds up one of
//! each rank. Start it with `goal-run -n 4 target/release/examples/ring`.
#![allow(unsafe_code)]

use goal::raw::Graph;
use goal::raw::{self, Data, Schedule, memory};
use goal::{Collective, Group};
use goal_lang::{CollectiveKind, Datatype, Function, Op};

fn main() -> goal::Result<()> {
    let group = Group::init()?;
    let (rank, size) = (group.rank(), group.size());
    let mut numbers = [u64::from(rank), 0];
    let mut graph = Graph::new(group.world());
    let [own, other] = [0, 1].map(|at| Data::One(memory(&raw const numbers[at] as usize, 8)));
    graph.send(own, (rank + 1) % size, 7)?;
    graph.recv(other, (rank + size - 1) % size, 7)?;
    let schedule = Schedule::compile(&graph)?;
    for _ in 0..1000 {
        // SAFETY: the numbers live, and are not touched until the wait is over.
        raw::wait(unsafe { schedule.start(None)? }, "wait")?;
    }
    assert_eq!(numbers[1], u64::from((rank + size - 1) % size));
    let sum = Collective {
        kind: CollectiveKind::Allreduce,
        count: 2,
        datatype: Datatype::UInt64,
        function: Function::Predefined(Op::Sum, Datatype::UInt64),
        root: 0,
        in_place: false,
    };
    let mut sums = [0u64; 2];
    for _ in 0..3 {
        numbers[1] = 1;
        let (input, output) = (numbers.as_ptr() as usize, sums.as_mut_ptr() as usize);
        // SAFETY: as above.
        raw::wait(unsafe { sum.start(group.world(), input, output)? }, "allreduce")?;
        let all = u64::from(size);
        assert_eq!(sums, [all * (all - 1) / 2, all]);
    }
    println!("rank {rank} of {size}: {sums:?}");
    let begin = std::time::Instant::now();
    for _ in 0..100_000 {
        // SAFETY: as above.
        raw::wait(unsafe { schedule.start(None)? }, "wait")?;
    }
    println!("rank {rank}: {:?} a run", begin.elapsed() / 100_000);
    drop(schedule);
    group.finalize()
}
