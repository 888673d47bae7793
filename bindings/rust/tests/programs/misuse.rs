//! Calls that are refused, each with its code.

use goal::raw::{self, Data, Ticket, memory};
use goal::{Arguments, CollectiveKind, ErrorCode, Group, Op, Result, scratch};
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn code<T>(result: Result<T>) -> ErrorCode {
    let error = result.map(drop).unwrap_err();
    assert!(!error.to_string().is_empty());
    error.code()
}

pub(crate) fn all(group: Group) {
    assert_eq!(code(Group::init()), ErrorCode::Init);
    let size = group.size();
    let buffer = group.zeros::<u32>(8).unwrap();
    let other = group.zeros::<f32>(8).unwrap();
    let mut graph = group.graph();
    assert_eq!(code(graph.send(&buffer, size, 0)), ErrorCode::Rank);
    assert_eq!(code(graph.recv(&buffer, size, 0)), ErrorCode::Rank);
    assert_eq!(code(graph.send(&buffer, 0, u32::MAX)), ErrorCode::Tag);
    assert_eq!(code(graph.copy(buffer.slice(0..4), buffer.slice(2..6))), ErrorCode::Buffer);
    assert_eq!(code(graph.copy(buffer.slice(0..4), buffer.slice(4..6))), ErrorCode::Count);
    assert_eq!(code(graph.combine(Op::Band, &other, &other, &other)), ErrorCode::Operation);
    assert_eq!(code(graph.combine(Op::Sum, &other, &buffer, &other)), ErrorCode::Datatype);
    let none = scratch(0, 8);
    assert_eq!(code(graph.combine(Op::Sum, none, none, none)), ErrorCode::Datatype);
    let twice = [buffer.slice(0..4), buffer.slice(3..5)];
    assert_eq!(code(graph.recv_pieces(&twice, 0, 0)), ErrorCode::Buffer);
    assert_eq!(code(graph.wtime(other.slice(0..1))), ErrorCode::Count);

    let mut foreign = group.graph();
    let (a, b) = (graph.nop().unwrap(), foreign.nop().unwrap());
    assert_eq!(code(graph.requires(a, b)), ErrorCode::Vertex);
    assert_eq!(code(graph.requires(a, a)), ErrorCode::Graph);

    // A circle, and scratch memory that was not allocated.
    let c = graph.nop().unwrap();
    graph.requires(a, c).unwrap();
    graph.requires(c, a).unwrap();
    assert_eq!(code(graph.compile()), ErrorCode::Graph);
    let mut needs_scratch = group.graph();
    needs_scratch.copy(scratch(0, 8), other.slice(0..2)).unwrap();
    assert_eq!(code(needs_scratch.compile()), ErrorCode::Buffer);

    let mut null = raw::Graph::new(group.world());
    assert_eq!(code(null.send(Data::One(memory(0, 8)), 0, 0)), ErrorCode::Buffer);
    assert!(null.send(Data::One(memory(0, 0)), 0, 0).is_ok());
    let past = Data::One(memory(usize::MAX - 2, 8));
    assert_eq!(code(null.send(past, 0, 0)), ErrorCode::Count);

    assert_eq!(code(raw::test(Ticket::from_number(77 << 32 | 5).unwrap())), ErrorCode::Handle);
    assert_eq!(code(group.communicator(group.world(), &[size])), ErrorCode::Rank);
    let load = |bytes| raw::Schedule::load(bytes, group.world(), None, &[], "load");
    assert_eq!(code(load(b"no schedule".to_vec())), ErrorCode::File);
    assert_eq!(code(group.free(&raw const buffer as usize)), ErrorCode::Buffer);
    // The buffer lies there, and nobody else may give its memory back.
    let address = buffer.read().unwrap().as_ptr() as usize;
    assert_eq!(code(group.free(address)), ErrorCode::Buffer);

    for len in [usize::MAX, usize::MAX / 8, isize::MAX as usize / 8] {
        assert_eq!(code(group.zeros::<u64>(len)), ErrorCode::Memory);
    }
    for range in [
        (Bound::Unbounded, Bound::Included(usize::MAX)),
        (Bound::Excluded(usize::MAX), Bound::Unbounded),
        (Bound::Unbounded, Bound::Excluded(9)),
    ] {
        let slice = AssertUnwindSafe(|| buffer.slice(range));
        let text = catch_unwind(slice).map(|_| ()).unwrap_err();
        let text = text.downcast_ref::<String>().unwrap();
        assert!(text.contains("of 8 elements"), "{text}");
    }

    let small = group.zeros::<i32>(1).unwrap();
    let arguments = Arguments {
        kind: CollectiveKind::Allreduce,
        count: 2,
        op: Op::Sum,
        root: 0,
        input: Some(&small),
        output: Some(&small),
    };
    assert_eq!(code(group.collective(group.world(), &arguments)), ErrorCode::Buffer);
    let divided = Arguments { op: Op::Div, ..arguments };
    assert_eq!(code(group.collective(group.world(), &divided)), ErrorCode::Operation);
    let root = Arguments { kind: CollectiveKind::Bcast, root: size, ..arguments };
    assert_eq!(code(group.collective(group.world(), &root)), ErrorCode::Rank);

    a_run_keeps_the_group(group);
}

/// The group can't be left while a run has not ended, and goes on.
#[allow(unsafe_code)]
fn a_run_keeps_the_group(group: Group) {
    let mut graph = raw::Graph::new(group.world());
    // A second is longer than another thread may have the processor between the next two calls.
    graph.calc(1_000_000_000).unwrap();
    let schedule = raw::Schedule::compile(&graph).unwrap();
    // SAFETY: it names no memory.
    let run = unsafe { schedule.start(None) }.unwrap();
    assert_eq!(code(group.finalize()), ErrorCode::Busy);
    let (error, schedule) = schedule.free().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Busy);
    raw::wait(run, "wait").unwrap();
    assert!(raw::test(run).unwrap());
    assert!(schedule.free().is_ok());
    assert!(raw::test(run).unwrap());
}
