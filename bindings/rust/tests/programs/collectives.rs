//! Collectives, persistent and by one call, against what MPI defines.
#![allow(unsafe_code)]

use goal::{
    Arguments, BlockList, Blocks, Collective, CollectiveKind as Kind, Communicator, ErrorCode,
    Function, Group, Op, raw,
};
use std::sync::atomic::{AtomicU32, Ordering};

/// The element of a rank at a place of its input.
fn element(rank: u32, at: usize) -> i64 {
    i64::from(rank) * 1000 + at as i64
}

/// The input and the output that MPI defines for a sum, `None` where nothing is defined.
fn defined(kind: Kind, rank: u32, size: u32, count: usize, root: u32) -> (usize, Option<Vec<i64>>) {
    let all = size as usize * count;
    let sum = |ranks: std::ops::Range<u32>, at: usize| ranks.map(|rank| element(rank, at)).sum();
    let each = |start: usize| (start..start + count).map(|at| sum(0..size, at)).collect();
    let gathered =
        || (0..size).flat_map(|rank| (0..count).map(move |at| element(rank, at))).collect();
    let own = rank as usize * count;
    let at_root = |values: Vec<i64>| (rank == root).then_some(values);
    match kind {
        Kind::Barrier => (0, None),
        Kind::Bcast => (count, Some((0..count).map(|at| element(root, at)).collect())),
        Kind::Reduce => (count, at_root(each(0))),
        Kind::Allreduce => (count, Some(each(0))),
        Kind::Gather => (count, at_root(gathered())),
        Kind::Allgather => (count, Some(gathered())),
        Kind::Scatter => (all, Some((own..own + count).map(|at| element(root, at)).collect())),
        Kind::Alltoall => {
            let from = |source| (own..own + count).map(move |at| element(source, at));
            (all, Some((0..size).flat_map(from).collect()))
        }
        Kind::ReduceScatter => (all, Some(each(own))),
        Kind::Scan => (count, Some((0..count).map(|at| sum(0..rank + 1, at)).collect())),
        Kind::Exscan => {
            (count, (rank > 0).then(|| (0..count).map(|at| sum(0..rank, at)).collect()))
        }
        Kind::NeighborAllgather | Kind::NeighborAlltoall => unreachable!("it takes a graph"),
    }
}

pub(crate) fn all(group: Group) {
    let size = group.size();
    on(group, group.world());
    // All ranks in reverse order, and the even ones.
    let backwards: Vec<u32> = (0..size).rev().collect();
    on(group, &group.communicator(group.world(), &backwards).unwrap());
    let even: Vec<u32> = (0..size).step_by(2).collect();
    if even.contains(&group.rank()) {
        on(group, &group.communicator(group.world(), &even).unwrap());
    }
}

fn on(group: Group, communicator: &Communicator) {
    let (rank, size) = (communicator.rank(), communicator.size());
    for kind in Kind::ALL {
        if matches!(kind, Kind::NeighborAllgather | Kind::NeighborAlltoall) {
            continue;
        }
        for count in [1, 7, 3000] {
            let root = if kind.has_root() { size - 1 } else { 0 };
            let (inputs, wanted) = defined(kind, rank, size, count, root);
            let input: Vec<i64> = (0..inputs).map(|at| element(rank, at)).collect();
            let most = count * size as usize;
            let (from, to) = (group.buffer(&input).unwrap(), group.zeros::<i64>(most).unwrap());
            let arguments =
                Arguments { kind, count, op: Op::Sum, root, input: Some(&from), output: Some(&to) };
            let persistent = group.collective(communicator, &arguments).unwrap();
            for _ in 0..2 {
                to.write().unwrap().fill(-1);
                persistent.run().unwrap().wait().unwrap();
                compare(kind, &to.read().unwrap(), wanted.as_deref());
            }
            let collective = Collective {
                kind,
                count: count as u64,
                datatype: goal::Datatype::Int64,
                function: Function::Predefined(Op::Sum, goal::Datatype::Int64),
                root,
                in_place: false,
            };
            for _ in 0..2 {
                let mut output = vec![-1i64; most];
                let (from, to) = (input.as_ptr() as usize, output.as_mut_ptr() as usize);
                // SAFETY: the vectors live until the run has ended, and are large enough.
                let run = unsafe { collective.start(communicator, from, to) }.unwrap();
                raw::wait(run, "wait").unwrap();
                compare(kind, std::hint::black_box(&output), wanted.as_deref());
            }
        }
    }
}

fn compare(kind: Kind, output: &[i64], wanted: Option<&[i64]>) {
    if let Some(wanted) = wanted {
        assert_eq!(&output[..wanted.len()], wanted, "{kind}");
    }
}

/// The table names the chain, and has no rule for others.
pub(crate) fn by_table(group: Group) {
    let buffer = group.buffer(&[i64::from(group.rank())]).unwrap();
    let arguments = Arguments {
        kind: Kind::Bcast,
        count: 1,
        op: Op::Sum,
        root: 0,
        input: None,
        output: Some(&buffer),
    };
    let schedule = group.collective(group.world(), &arguments).unwrap();
    assert_eq!(schedule.algorithm(), Some("chain"));
    schedule.run().unwrap().wait().unwrap();
    assert_eq!(buffer.read().unwrap()[..], [0]);
    let none = Arguments { kind: Kind::Allgather, ..arguments };
    let error = group.collective(group.world(), &none).map(drop).unwrap_err();
    assert_eq!(error.code(), goal::ErrorCode::Unsupported);
}

/// Starts an allreduce five times in two ways, a smaller one, and an allgather of different blocks.
pub(crate) fn counted(group: Group) {
    let (input, output) = ([1i64, 2], &mut [0i64; 2]);
    let (from, to) = (input.as_ptr() as usize, output.as_mut_ptr() as usize);
    let datatype = goal::Datatype::Int64;
    let sum = |count| Collective {
        kind: Kind::Allreduce,
        count,
        datatype,
        function: Function::Predefined(Op::Sum, datatype),
        root: 0,
        in_place: false,
    };
    let wait = |run: goal::Result<raw::Ticket>| raw::wait(run.unwrap(), "wait").unwrap();
    let persistent = sum(2).compile(group.world(), None).unwrap();
    for _ in 0..3 {
        // SAFETY: the arrays live until the run has ended, and are large enough.
        wait(unsafe { persistent.start(from, to) });
    }
    for _ in 0..2 {
        // SAFETY: as above.
        wait(unsafe { sum(2).start(group.world(), from, to) });
    }
    // SAFETY: as above.
    wait(unsafe { sum(1).start(group.world(), from, to) });
    let blocks = Blocks::Each(BlockList::packed(vec![0; group.size() as usize]));
    let none = Collective { kind: Kind::Allgather, ..sum(0) };
    for _ in 0..2 {
        // SAFETY: as above.
        wait(unsafe { none.start_blocks(&blocks, group.world(), from, to) });
    }
    // One that is compiled and never started is not told.
    sum(2).compile(group.world(), Some("ring")).unwrap();
    std::hint::black_box(output);
}

/// A registered function panics at rank 0, in the start of a collective that is kept: its message
/// is there before. The later calls fail, and do not wait for what is kept.
pub(crate) fn kept(group: Group) {
    let calls = AtomicU32::new(0);
    let add = move |a: &mut [u8], b: &mut [u8]| {
        let is_first = calls.fetch_add(1, Ordering::SeqCst) == 0;
        assert!(is_first || group.rank() > 0, "as a fault of the program would");
        b[0] += a[0];
    };
    group.register(0, add).unwrap();
    let other = group.communicator(group.world(), &[0, 1]).unwrap();
    let (input, output) = ([1u8], &mut [0u8]);
    let (from, to) = (input.as_ptr() as usize, output.as_mut_ptr() as usize);
    let datatype = goal::Datatype::UInt8;
    let function = Function::User(0);
    let sum = Collective {
        kind: Kind::Allreduce,
        count: 1,
        datatype,
        function,
        root: 0,
        in_place: false,
    };
    let barrier = Collective { kind: Kind::Barrier, count: 0, ..sum };
    // SAFETY: the arrays live until the run has ended, and are large enough.
    let start = || unsafe { sum.start(group.world(), from, to) };
    // SAFETY: it uses no memory.
    let meet = || raw::wait(unsafe { barrier.start(&other, 0, 0) }?, "meet");
    raw::wait(start().unwrap(), "first").unwrap();
    if group.rank() == 1 {
        start().unwrap();
        meet().unwrap();
        // Nobody comes.
        meet().unwrap_err();
        return;
    }
    meet().unwrap();
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(start)).unwrap_err();
    assert_eq!(start().unwrap_err().code(), ErrorCode::Failed);
}
