//! Ends of runs: functions that are called, tasks that are woken, changes of mode in between.

use goal::raw;
use goal::{ErrorCode, Group, Mode, Op};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park, scope};

/// The length of a chain of ends. Each end on a frame of its own would exhaust a stack.
const CHAIN: u32 = 200_000;

/// A schedule of one action, which ends when it is started.
fn short(group: Group) -> raw::Schedule {
    let mut graph = raw::Graph::new(group.world());
    graph.nop().unwrap();
    raw::Schedule::compile(&graph).unwrap()
}

#[allow(unsafe_code)] // the schedule uses no memory
fn start(schedule: &raw::Schedule) -> raw::Ticket {
    // SAFETY: the schedule uses no memory.
    unsafe { schedule.start(None) }.unwrap()
}

pub(crate) fn all(group: Group) {
    chains(group);
    instances(group);
    changes_in_functions(group);
    replaced_functions(group);
    wakers(group);
    tests_of_ended_runs(group);
    before_the_end(group);
}

/// A registered function owns a value that calls the library when another function replaces it.
fn replaced_functions(group: Group) {
    struct Calls(Arc<AtomicU32>);
    impl Drop for Calls {
        fn drop(&mut self) {
            raw::progress().unwrap();
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicU32::new(0));
    for replaced in 0..3 {
        let owned = Calls(Arc::clone(&dropped));
        let function = move |_: &mut [u8], _: &mut [u8]| {
            owned.0.load(Ordering::SeqCst);
        };
        group.register(40, function).unwrap();
        assert_eq!(dropped.load(Ordering::SeqCst), replaced);
    }
    group.register(40, |_, _| {}).unwrap();
}

/// A waker that calls the library at once, as executors may that poll in it.
fn wakers(group: Group) {
    struct Calls;
    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            raw::progress().unwrap();
        }
    }
    if group.progress() == Mode::Node {
        return;
    }
    let before = group.progress();
    group.set_progress(Mode::Thread).unwrap();
    let schedule = takes(group, 200_000_000);
    let mut run = pin!(schedule.run().unwrap());
    let waker = Waker::from(Arc::new(Calls));
    let _ = run.as_mut().poll(&mut Context::from_waker(&waker));
    group.set_progress(Mode::Caller).unwrap();
    while run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {}
    group.set_progress(before).unwrap();
}

/// A schedule that takes some nanoseconds.
fn takes(group: Group, nanos: u64) -> goal::Schedule {
    let mut graph = group.graph();
    graph.calc(nanos).unwrap();
    graph.compile().unwrap()
}

/// A test of a run that has ended makes progress of another one.
fn tests_of_ended_runs(group: Group) {
    let ended = start(&short(group));
    raw::wait(ended, "wait").unwrap();
    let told = Arc::new(AtomicU32::new(0));
    let tells = Arc::clone(&told);
    let mut graph = raw::Graph::new(group.world());
    graph.calc(1_000_000).unwrap();
    let other = start(&raw::Schedule::compile(&graph).unwrap());
    raw::when_ended(other, Box::new(move |_| tells.store(1, Ordering::SeqCst))).unwrap();
    while told.load(Ordering::SeqCst) == 0 {
        assert!(raw::test(ended).unwrap());
    }
}

/// A function of an end that starts the next run, again and again.
fn chains(group: Group) {
    fn next(schedule: &Arc<raw::Schedule>, left: u32, done: &mpsc::Sender<u32>) {
        let Some(left) = left.checked_sub(1) else { return done.send(CHAIN).unwrap() };
        let (ticket, schedule, done) = (start(schedule), Arc::clone(schedule), done.clone());
        raw::when_ended(ticket, Box::new(move |_| next(&schedule, left, &done))).unwrap();
    }
    let (sender, receiver) = mpsc::channel();
    next(&Arc::new(short(group)), CHAIN, &sender);
    assert_eq!(receiver.recv(), Ok(CHAIN));
}

/// Of three runs at a time only the last is waited for. Their instances are used again.
fn instances(group: Group) {
    let schedule = short(group);
    let mut last_slot = 0;
    for _ in 0..300 {
        let tickets = [start(&schedule), start(&schedule), start(&schedule)];
        raw::wait(tickets[2], "wait").unwrap();
        let slots = tickets.map(|ticket| ticket.to_number() >> 32);
        last_slot = slots.into_iter().max().unwrap();
    }
    assert!(last_slot < 50, "{last_slot} instances");
}

/// A function that is called on the rank's thread calls the library, and ends that thread.
fn changes_in_functions(group: Group) {
    if group.progress() == Mode::Node {
        return;
    }
    let before = group.progress();
    let (rank, size) = (group.rank(), group.size());
    for round in 0..20 {
        group.set_progress(Mode::Thread).unwrap();
        let buffer = group.zeros::<u32>(2).unwrap();
        let mut graph = group.graph();
        graph.send(buffer.slice(..1), (rank + 1) % size, 0).unwrap();
        graph.recv(buffer.slice(1..), (rank + size - 1) % size, 0).unwrap();
        let schedule = graph.compile().unwrap();
        let run = schedule.run().unwrap();
        let (sender, receiver) = mpsc::channel();
        let inner = short(group);
        let quiet = start(&short(group));
        raw::when_ended(
            quiet,
            Box::new(move |_| {
                assert!(raw::test(start(&inner)).unwrap());
                if round % 2 == 0 {
                    group.set_progress(Mode::Caller).unwrap();
                }
                sender.send(()).unwrap();
            }),
        )
        .unwrap();
        receiver.recv().unwrap();
        run.wait().unwrap();
        group.set_progress(Mode::Caller).unwrap();
    }
    group.set_progress(before).unwrap();
}

/// Ends that nobody has noticed are told before the group is finalized, which the caller does.
fn before_the_end(group: Group) {
    static CALLED: AtomicU32 = AtomicU32::new(0);
    let ticket = start(&short(group));
    raw::when_ended(
        ticket,
        Box::new(|_| {
            CALLED.fetch_add(1, Ordering::SeqCst);
        }),
    )
    .unwrap();
    raw::wait(ticket, "wait").unwrap();
    while CALLED.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
}

/// Two threads wait for messages that nobody sends. The one works, and the other one sleeps.
/// Neither waits before the other one is about to: the rank knows of threads that have called it.
pub(crate) fn two_wait(group: Group) {
    let both = Barrier::new(2);
    let wait = |tag| {
        let everyone: Vec<u32> = (0..group.size()).collect();
        let buffer = group.zeros::<u8>(4).unwrap();
        let communicator = group.communicator(group.world(), &everyone).unwrap();
        let mut graph = goal::Graph::new(&communicator);
        graph.recv(&buffer, (group.rank() + 1) % group.size(), tag).unwrap();
        let schedule = graph.compile().unwrap();
        both.wait();
        let error = schedule.run().unwrap().wait().unwrap_err();
        assert_eq!(error.code(), ErrorCode::Stuck);
    };
    scope(|scope| {
        scope.spawn(|| wait(4));
        wait(5);
    });
}

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// An action of a run that a task waits for fails on the rank's thread.
pub(crate) fn fails(group: Group) {
    group.set_progress(Mode::Thread).unwrap();
    let numbers = group.buffer(&[1u32, 0]).unwrap();
    let mut graph = group.graph();
    // The rank's thread divides when the time has passed.
    let passed = graph.calc(20_000_000).unwrap();
    let (a, b) = (numbers.slice(..1), numbers.slice(1..));
    let divided = graph.combine(Op::Div, a, b, a).unwrap();
    graph.requires(passed, divided).unwrap();
    let schedule = graph.compile().unwrap();
    let mut run = pin!(schedule.run().unwrap());
    let waker = Waker::from(Arc::new(Unpark(current())));
    let error = loop {
        match run.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => break result.unwrap_err(),
            Poll::Pending => park(),
        }
    };
    assert_eq!(error.code(), ErrorCode::Failed, "{error}");
}

/// A registered function calls the library, and another one panics. The job can't go on after it.
pub(crate) fn functions(group: Group) {
    let code = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&code);
    group
        .register(0, move |_, _| {
            let error = Group::current().unwrap().set_progress(Mode::Thread).unwrap_err();
            seen.store((error.code() == ErrorCode::Unsupported).into(), Ordering::SeqCst);
        })
        .unwrap();
    group.register(1, |_, _| panic!("as a fault of the program would")).unwrap();
    let call = |number| {
        let buffer = group.zeros::<u8>(4).unwrap();
        let mut graph = group.graph();
        graph.call(number, &buffer, &buffer).unwrap();
        graph.compile().unwrap()
    };
    call(0).run().unwrap().wait().unwrap();
    assert_eq!(code.load(Ordering::SeqCst), 1);
    let panics = call(1);
    let run = std::panic::AssertUnwindSafe(|| panics.run().and_then(goal::Run::wait));
    let result = std::panic::catch_unwind(run);
    assert!(!matches!(result, Ok(Ok(()))), "{result:?}");
    let error = call(0).run().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Failed, "{error}");
}

/// A function for idle threads panics, while another thread calls the library.
#[allow(unsafe_code)] // the other thread's schedule uses no memory
pub(crate) fn idle(group: Group) {
    let both = Arc::new(Barrier::new(2));
    let of_idle = Arc::clone(&both);
    let panics = move || {
        of_idle.wait();
        panic!("as a fault of the program would");
    };
    group.set_idle(Some(Arc::new(panics))).unwrap();
    let buffer = group.zeros::<u8>(1).unwrap();
    let mut graph = group.graph();
    graph.recv(&buffer, 0, 1).unwrap();
    let schedule = graph.compile().unwrap();
    let code = scope(|scope| {
        let calls = scope.spawn(|| {
            let short = short(group);
            both.wait();
            loop {
                // SAFETY: the schedule uses no memory.
                if let Err(error) = unsafe { short.start(None) } {
                    break error.code();
                }
            }
        });
        let waits = || schedule.run().and_then(goal::Run::wait);
        let waited = std::panic::catch_unwind(std::panic::AssertUnwindSafe(waits));
        assert!(waited.is_err(), "{waited:?}");
        calls.join().unwrap()
    });
    assert_eq!(code, ErrorCode::Failed);
}
