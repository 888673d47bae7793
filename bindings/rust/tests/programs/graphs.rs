//! Graphs, runs and futures.

use goal::raw::{self, Data, memory};
use goal::{ErrorCode, Group, Mode, Op, scratch};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};

pub(crate) fn all(group: Group) {
    ring(group);
    texts(group);
    pieces_and_operations(group);
    several_runs_at_once(group);
    dropped_schedules_leave_nothing(group);
    futures(group);
    functions(group);
    other_buffers(group);
    large_messages_from_anywhere(group);
}

pub(crate) fn neighbours(group: Group) -> (u32, u32) {
    let (rank, size) = (group.rank(), group.size());
    ((rank + 1) % size, (rank + size - 1) % size)
}

fn ring(group: Group) {
    let (next, before) = neighbours(group);
    let own = group.zeros::<u32>(3).unwrap();
    let got = group.zeros::<u32>(3).unwrap();
    let mut graph = group.graph();
    graph.send(&own, next, 1).unwrap();
    graph.recv(&got, before, 1).unwrap();
    let schedule = graph.compile().unwrap();
    for round in 0..200 {
        own.write().unwrap().fill(1000 * group.rank() + round);
        let mut run = schedule.run().unwrap();
        if round % 2 == 0 {
            run.wait().unwrap();
        } else {
            while !run.test().unwrap() {}
        }
        assert_eq!(got.read().unwrap()[..], [1000 * before + round; 3]);
    }
}

fn texts(group: Group) {
    let bytes = [0u8; 16];
    let mut graph = raw::Graph::new(group.world());
    let [first, last] = [&bytes[..6], &bytes[10..]].map(|part| memory(part.as_ptr() as usize, 6));
    let sent = graph.send(Data::One(first), 0, 3).unwrap();
    let received = graph.recv(Data::One(last), 0, goal::ANY).unwrap();
    graph.requires(sent, received).unwrap();
    for text in [graph.text().unwrap(), raw::Schedule::compile(&graph).unwrap().text()] {
        assert!(text.starts_with(&format!("num_ranks {}\n", group.size())), "{text}");
        assert!(text.contains(&format!("rank {} {{", group.rank())), "{text}");
        // Both lie in the rank's memory, wherever the array was.
        for part in ["send 0,6 to 0 tag 3", "recv 64,6 from 0 tag -1", " requires "] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

fn pieces_and_operations(group: Group) {
    let (next, before) = neighbours(group);
    let own = group.buffer(&[1.0f64, 2.0, 3.0, 4.0]).unwrap();
    let got = group.zeros::<f64>(4).unwrap();
    let result = group.zeros::<f64>(2).unwrap();
    let time = group.zeros::<f64>(1).unwrap();
    let mut graph = group.graph();
    graph.allocate_scratch(16);
    graph.send_pieces(&[own.slice(3..), own.slice(..1)], next, 5).unwrap();
    let in_scratch = graph.recv_pieces(&[scratch(8, 8), scratch(0, 8)], before, 5).unwrap();
    let copied = graph.copy(scratch(0, 16), got.slice(1..3)).unwrap();
    let summed = graph.combine(Op::Sum, got.slice(1..3), own.slice(1..3), &result).unwrap();
    let timed = graph.wtime(time.all()).unwrap();
    graph.requires(in_scratch, copied).unwrap();
    graph.requires(copied, summed).unwrap();
    graph.requires_start(summed, timed).unwrap();
    graph.compile().unwrap().run().unwrap().wait().unwrap();
    assert_eq!(got.read().unwrap()[..], [0.0, 1.0, 4.0, 0.0]);
    assert_eq!(result.read().unwrap()[..], [3.0, 7.0]);
    assert!(time.read().unwrap()[0] > 0.0);
}

fn several_runs_at_once(group: Group) {
    let (next, before) = neighbours(group);
    let buffers: Vec<_> = (0..40u64).map(|at| group.buffer(&[at, 0]).unwrap()).collect();
    let schedules: Vec<_> = buffers
        .iter()
        .map(|buffer| {
            let mut graph = group.graph();
            graph.send(buffer.slice(..1), next, 0).unwrap();
            graph.recv(buffer.slice(1..), before, 0).unwrap();
            graph.compile().unwrap()
        })
        .collect();
    for _ in 0..3 {
        let runs: Vec<_> = schedules.iter().map(|schedule| schedule.run().unwrap()).collect();
        // A buffer that a run writes is not to be had.
        let mut busy = 0;
        for buffer in &buffers {
            busy += u32::from(buffer.read().is_err_and(|error| error.code() == ErrorCode::Busy));
        }
        assert_eq!(busy, 40);
        assert_eq!(schedules[0].run().unwrap_err().code(), ErrorCode::Busy);
        for run in runs.into_iter().rev() {
            run.wait().unwrap();
        }
        for (at, buffer) in (0..).zip(&buffers) {
            assert_eq!(buffer.read().unwrap()[..], [at, at]);
        }
    }
    // A run that nobody waits for gives its buffers back.
    drop(schedules[0].run().unwrap());
    let barrier = schedules[1].run().unwrap();
    barrier.wait().unwrap();
    while buffers[0].write().is_err() {
        schedules[2].run().unwrap().wait().unwrap();
        if group.size() > 1 {
            break;
        }
    }
}

/// A schedule that is dropped while it runs gives its scratch memory back later.
#[allow(unsafe_code)]
fn dropped_schedules_leave_nothing(group: Group) {
    let (next, before) = neighbours(group);
    let [from, to] = [raw::scratch(0, 8), raw::scratch(1 << 20, 8)].map(Data::One);
    let mut one = 1u64;
    let number = Data::One(memory(&raw mut one as usize, 8));
    for _ in 0..300 {
        let mut graph = raw::Graph::new(group.world());
        graph.allocate_scratch(2 << 20);
        let set = graph.local_op(Op::Copy, goal::Datatype::UInt64, number, number, from).unwrap();
        let send = graph.send(from, next, 0).unwrap();
        graph.requires(set, send).unwrap();
        graph.recv(to, before, 0).unwrap();
        let schedule = raw::Schedule::compile(&graph).unwrap();
        // SAFETY: the number lives until the run has ended.
        let run = unsafe { schedule.start(None) }.unwrap();
        drop(schedule);
        raw::wait(run, "wait").unwrap();
    }
    // The heap has 64 MiB.
    let most = group.allocate(48 << 20).expect("room");
    group.free(most.as_ptr() as usize).unwrap();
}

struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn futures(group: Group) {
    let (next, before) = neighbours(group);
    let buffer = group.buffer(&[7u16, 0]).unwrap();
    let mut graph = group.graph();
    graph.send(buffer.slice(..1), next, 0).unwrap();
    graph.recv(buffer.slice(1..), before, 0).unwrap();
    let schedule = graph.compile().unwrap();
    for _ in 0..20 {
        let count = Arc::new(Count(AtomicU32::new(1)));
        let waker = Waker::from(Arc::clone(&count));
        let mut run = pin!(schedule.run().unwrap());
        let mut polls = 0;
        loop {
            // Polled only when it was woken, as an executor does.
            while count.0.swap(0, Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            polls += 1;
            match run.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(ended) => break ended.unwrap(),
                Poll::Pending => {}
            }
        }
        assert!(group.progress() != Mode::Thread || polls < 1000, "{polls} polls");
        assert_eq!(buffer.read().unwrap()[1], 7);
    }
}

fn functions(group: Group) {
    group
        .register(3, |a, b| {
            a.reverse();
            b.copy_from_slice(a);
        })
        .unwrap();
    let a = group.buffer(&[1u8, 2, 3]).unwrap();
    let b = group.zeros::<u8>(3).unwrap();
    let mut graph = group.graph();
    graph.call(3, &a, &b).unwrap();
    graph.compile().unwrap().run().unwrap().wait().unwrap();
    assert_eq!((&a.read().unwrap()[..], &b.read().unwrap()[..]), (&[3, 2, 1][..], &[3, 2, 1][..]));
}

/// One schedule on other buffers at each run.
#[allow(unsafe_code)]
fn other_buffers(group: Group) {
    let (next, before) = neighbours(group);
    let mut numbers: Vec<[u64; 2]> = (0..10).map(|at| [at, 99]).collect();
    let mut first = [0u64; 2];
    let at = |number: &u64| std::ptr::from_ref(number) as usize;
    let mut graph = raw::Graph::new(group.world());
    for number in &mut first {
        graph.declare(at(number), 8).unwrap();
    }
    graph.send(Data::One(memory(at(&first[0]), 8)), next, 0).unwrap();
    graph.recv(Data::One(memory(at(&first[1]), 8)), before, 0).unwrap();
    let schedule = raw::Schedule::compile(&graph).unwrap();
    for pair in &mut numbers {
        let buffers = [at(&pair[0]), at(&pair[1])];
        // SAFETY: the numbers live, and are not touched until the run has ended.
        let run = unsafe { schedule.start(Some(&buffers)) }.unwrap();
        raw::wait(run, "wait").unwrap();
    }
    // SAFETY: as above.
    raw::wait(unsafe { schedule.start(None) }.unwrap(), "wait").unwrap();
    assert_eq!(std::hint::black_box(first), [0, 0]);
    for (at, pair) in (0..).zip(&numbers) {
        assert_eq!(pair[1], at);
    }
    // SAFETY: it is refused.
    let refused = unsafe { schedule.start(Some(&[1])) };
    assert_eq!(refused.unwrap_err().code(), ErrorCode::Buffer);
}

/// Messages above the eager limit, from memory that peers do not map.
#[allow(unsafe_code)]
fn large_messages_from_anywhere(group: Group) {
    let (next, before) = neighbours(group);
    let own = vec![group.rank() as u8 + 1; 3 << 20];
    let mut got = vec![0u8; 3 << 20];
    let mut graph = raw::Graph::new(group.world());
    graph.send(Data::One(memory(own.as_ptr() as usize, own.len() as u64)), next, 0).unwrap();
    graph.recv(Data::One(memory(got.as_mut_ptr() as usize, 3 << 20)), before, 0).unwrap();
    let schedule = raw::Schedule::compile(&graph).unwrap();
    for _ in 0..3 {
        got.fill(0);
        // SAFETY: the vectors live, and are not touched until the run has ended.
        raw::wait(unsafe { schedule.start(None) }.unwrap(), "wait").unwrap();
        assert!(got.iter().all(|&byte| byte == before as u8 + 1));
    }
}

/// Waits for a message that nobody sends.
pub(crate) fn stuck(group: Group) {
    let buffer = group.zeros::<u8>(4).unwrap();
    let mut graph = group.graph();
    graph.recv(&buffer, (group.rank() + 1) % group.size(), 9).unwrap();
    let error = graph.compile().unwrap().run().unwrap().wait().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Stuck);
}
