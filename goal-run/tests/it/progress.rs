//! Tests ranks that start a schedule and do something else meanwhile, in each mode of progress.

use crate::common::members::{nisa, settings, with_calc};
use goal_asm::Nisa;
use goal_engine::Seed;
use goal_engine::{Cause, Handle, Schedule};
use goal_filetest::{patience, until};
use goal_job::{Job, Mode, Settings, Wait, layout};
use goal_rank::progress::{Interrupted, Member, StartError, with_member};
use goal_shm::{Layout, RankSizes, Segment, State};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Runs each rank in a thread that does `act`.
fn run(
    text: &str,
    progress: Mode,
    wait: Wait,
    act: impl for<'a> Fn(u32, &mut Member<'a>, Job<'a>) + Sync,
) {
    run_as(text, settings(nisa(text).num_ranks(), progress, wait), act);
}

fn run_as(
    text: &str,
    settings: Settings,
    act: impl for<'a> Fn(u32, &mut Member<'a>, Job<'a>) + Sync,
) {
    let nisa = nisa(text);
    let segment = Segment::create(layout(&nisa, &settings, 1 << 40).unwrap()).unwrap();
    thread::scope(|scope| {
        for rank in 0..nisa.num_ranks() {
            let (segment, nisa, settings, act) = (&segment, &nisa, &settings, &act);
            scope.spawn(move || {
                let job = Job::new(segment, nisa, settings);
                with_member(job, rank, |member| {
                    assert!(segment.start_barrier().pass(segment.num_ranks(), || 0));
                    act(rank, member, job);
                })
                .expect("all ranks are here");
            });
        }
    });
}

fn wait_for(word: &AtomicU32, value: u32) {
    // Looks often: a test has many rounds.
    let (began, limit) = (Instant::now(), patience(60));
    while word.load(Ordering::SeqCst) < value {
        assert!(began.elapsed() < limit, "in vain");
        thread::sleep(Duration::from_micros(200));
    }
}

/// Rank 1 has work for others while it computes: a message of each kind, a sum and an answer.
const THROUGH_RANK_1: &str = "
    rank 0 { s: send 0,160 to 1; e: send 0,8 to 1 tag 1; r: recv 200,160 from 2 }
    rank 1 { r: recv 0,160 from 0; e: recv 400,8 from 0 tag 1; x: exec sumInt32 with 0,160 200,160;
             requ x -> r; s: send 200,160 to 2; requ s -> x; requ s -> e; }
    rank 2 { r: recv 0,160 from 1; s: send 0,160 to 0; requ s -> r }";

#[test]
fn a_collective_ends_while_a_rank_does_something_else() {
    for mode in [Mode::Thread, Mode::Node] {
        for wait in [Wait::Spin, Wait::Adaptive, Wait::Block] {
            let ended = AtomicU32::new(0);
            run(THROUGH_RANK_1, mode, wait, |rank, member, job| {
                let schedule = job.schedule(rank);
                let mut storage = job.storage(rank);
                for round in 1..=20 {
                    let (at, value) = if rank == 1 { (200, 4i32) } else { (0, 3) };
                    storage.memory_mut()[at..at + 160]
                        .chunks_mut(4)
                        .for_each(|element| element.copy_from_slice(&value.to_le_bytes()));
                    let handle = member.start(&schedule, storage).unwrap();
                    if rank == 1 {
                        // Without a call until both others are through.
                        wait_for(&ended, 2 * round);
                    }
                    member.wait(&handle).unwrap();
                    storage = member.finish(handle).unwrap();
                    if rank != 1 {
                        let at = if rank == 0 { 200 } else { 0 };
                        let mut sums = storage.memory()[at..at + 160].chunks(4);
                        assert!(sums.all(|sum| sum == 7i32.to_le_bytes()), "{mode:?}");
                        ended.fetch_add(1, Ordering::SeqCst);
                        // No rank starts the next one before all have seen the end of this one.
                        wait_for(&ended, 2 * round);
                    }
                }
            });
        }
    }
}

/// Without help the others wait until the rank calls.
#[test]
fn without_a_call_nothing_goes_on_in_caller_mode() {
    let (started, through) = (AtomicU32::new(0), AtomicU32::new(0));
    run(THROUGH_RANK_1, Mode::Caller, Wait::Adaptive, |rank, member, job| {
        if rank != 1 {
            wait_for(&started, 1);
        }
        let handle = member.start(&job.schedule(rank), job.storage(rank)).unwrap();
        if rank == 1 {
            started.store(1, Ordering::SeqCst);
            // Time has to pass, in which nothing goes on.
            thread::sleep(Duration::from_millis(50));
            assert_eq!(through.load(Ordering::SeqCst), 0);
        }
        member.wait(&handle).unwrap();
        member.finish(handle).unwrap();
        through.fetch_add(1, Ordering::SeqCst);
    });
}

/// Ranks that test now and then, in every mode and order.
#[test]
fn tests_and_waits_mix() {
    for mode in Mode::ALL {
        run(THROUGH_RANK_1, mode, Wait::Adaptive, |rank, member, job| {
            let schedule = job.schedule(rank);
            let mut random = fastrand::Rng::with_seed(rank.into());
            for _ in 0..300 {
                let handle = member.start(&schedule, job.storage(rank)).unwrap();
                for _ in 0..random.u32(..5) {
                    if member.test(&handle).unwrap() {
                        break;
                    }
                    if random.u8(..10) == 0 {
                        thread::sleep(Duration::from_micros(random.u64(..300)));
                    }
                }
                member.wait(&handle).unwrap();
                member.finish(handle).unwrap();
            }
        });
    }
}

/// Rank 1 divides by what it received: zero.
const DIVIDES: &str = "
    rank 0 { s: send 0,8 to 1; r: recv 8,8 from 1; requ r -> s }
    rank 1 { r: recv 0,8 from 0; x: exec divInt32 with 8,8 0,8; requ x -> r; s: send 0,8 to 0; requ s -> x }";

/// The rank learns of a failure that another rank or its thread found when acting for it, whether
/// or not it looks at its status meanwhile. The job does not wait for that.
#[test]
fn a_failure_that_a_helper_finds_is_the_ranks() {
    let waits = [Wait::Spin, Wait::Adaptive, Wait::Block];
    for (wait, progress) in
        waits.into_iter().flat_map(|wait| [(wait, Mode::Node), (wait, Mode::Thread)])
    {
        let (started, ended) = (AtomicU32::new(0), AtomicU32::new(0));
        run(DIVIDES, progress, wait, |rank, member, job| {
            let segment = job.segment();
            if rank == 0 {
                wait_for(&started, 1);
            }
            let handle = member.start(&job.schedule(rank), job.storage(rank)).unwrap();
            if rank == 0 {
                assert_eq!(member.wait(&handle), Err(Interrupted::Stopped));
                ended.store(1, Ordering::SeqCst);
                return;
            }
            // Rank 0 or a thread acts for this one, which calls nothing.
            started.store(1, Ordering::SeqCst);
            until("somebody finds it", || segment.status(1).state() == State::Failed);
            // The states of a rank that rests and wakes.
            segment.status(1).enter(State::Idle);
            segment.status(1).enter(State::Running);
            let Err(Interrupted::Failed(failure)) = member.wait(&handle) else {
                panic!("it goes on")
            };
            assert_eq!(failure.cause, Cause::DivisionByZero { element: 0 });
            assert_eq!(segment.status(1).state(), State::Failed);
            let text = segment.failure(1).expect("a text");
            assert!(text.contains("element 0 is divided by zero"), "{text}");
            segment.start_barrier().stop();
            while ended.load(Ordering::SeqCst) == 0 {
                segment.mailbox(0).wake();
                thread::yield_now();
            }
        });
    }
}

/// More ranks in a row are away than a process keeps views of. Rank 0 acts for all of them.
#[test]
fn one_rank_acts_for_many() {
    const RANKS: u32 = 24;
    let mut text = String::from("rank 0 { s: send 0,100 to 1; r: recv 0,100 from 23 }\n");
    for rank in 1..RANKS {
        let (before, next) = (rank - 1, (rank + 1) % RANKS);
        text += &format!(
            "rank {rank} {{ r: recv 0,100 from {before}; s: send 0,100 to {next}; requ s -> r }}\n"
        );
    }
    let (started, ended) = (AtomicU32::new(0), AtomicU32::new(0));
    run(&text, Mode::Node, Wait::Adaptive, |rank, member, job| {
        let schedule = job.schedule(rank);
        for round in 1..=3 {
            let storage = job.storage(rank);
            let handle = member.start(&schedule, storage).unwrap();
            started.fetch_add(1, Ordering::SeqCst);
            wait_for(&started, round * RANKS);
            if rank != 0 {
                wait_for(&ended, (round - 1) * RANKS + 1);
            }
            member.wait(&handle).unwrap();
            member.finish(handle).unwrap();
            ended.fetch_add(1, Ordering::SeqCst);
            wait_for(&ended, round * RANKS);
        }
    });
}

/// Another text whose schedules take no more room, and other actions.
const OTHER: &str = "
    rank 0 { r: recv 0,100 from 1 tag 5 }
    rank 1 { n: calc 10; s: send 0,100 to 0 tag 5; requ s -> n; t: send 100,100 to 2 tag 6; requ t -> n }
    rank 2 { r: recv 0,100 from 1 tag 6 }";

/// Finishes what a member started, in this order.
fn finish_all(member: &mut Member<'_>, handles: Vec<Handle>) {
    for handle in handles {
        member.wait(&handle).unwrap();
        member.finish(handle).unwrap();
    }
}

/// No rank acts for one that runs instances that others do not know: schedules of another file,
/// several instances at once, also in turn with the job's own.
#[test]
fn what_others_do_not_know_they_leave_to_the_rank() {
    for mode in Mode::ALL {
        // Storage outlives the members that use it.
        let other: &Arc<Nisa> = Box::leak(Box::new(nisa(OTHER)));
        let of_other: &Settings = Box::leak(Box::new(settings(3, mode, Wait::Adaptive)));
        let own = Segment::create(layout(other, of_other, 1 << 40).unwrap()).unwrap();
        let own: &Segment = Box::leak(Box::new(own));
        let settings = with_calc(settings(3, mode, Wait::Adaptive));
        let met = AtomicU32::new(0);
        run_as(THROUGH_RANK_1, settings, |rank, member, job| {
            let schedule = job.schedule(rank);
            let foreign = Arc::new(Schedule::new(Arc::clone(other), rank, Seed::default()));
            let storage_of_other = || Job::new(own, other, of_other).storage(rank);
            let meet = |meetings: u32| {
                met.fetch_add(1, Ordering::SeqCst);
                wait_for(&met, 3 * meetings);
            };
            for round in 0..4 {
                let mut handles = Vec::new();
                if round % 2 == 0 {
                    handles.push(member.start(&foreign, storage_of_other()).unwrap());
                    handles.push(member.start(&schedule, job.storage(rank)).unwrap());
                } else {
                    handles.push(member.start(&schedule, job.storage(rank)).unwrap());
                    handles.push(member.start(&foreign, storage_of_other()).unwrap());
                }
                if rank == 1 {
                    // Time has to pass: others wait, and see messages for this rank, which is away.
                    thread::sleep(Duration::from_millis(20));
                }
                finish_all(member, handles);
                meet(2 * round + 1);
                // And others act for the rank again.
                let handle = member.start(&schedule, job.storage(rank)).unwrap();
                if mode != Mode::Caller && rank == 1 {
                    wait_for(&met, 3 * (2 * round + 1) + 2);
                }
                member.wait(&handle).unwrap();
                member.finish(handle).unwrap();
                meet(2 * round + 2);
            }
        });
    }
}

/// A schedule that depends on the time ends, though the job's own does not.
#[test]
fn a_schedule_that_is_not_the_jobs_is_told_the_time() {
    for mode in Mode::ALL {
        let other = nisa("rank 0 { c: calc 100000; n: nop; requ n -> c }");
        let settings = with_calc(settings(1, mode, Wait::Adaptive));
        // Its state has room for the other one.
        run_as(
            "rank 0 { n: nop; m: nop; requ m -> n; o: nop; requ o -> m; p: nop; requ p -> o }",
            settings,
            |rank, member, job| {
                let handle = member.start(
                    &Arc::new(Schedule::new(Arc::clone(&other), rank, Seed::default())),
                    job.storage(rank),
                );
                let handle = handle.unwrap();
                until("its time goes on", || member.test(&handle).unwrap());
            },
        );
    }
}

/// Rank 1 calls a function between a receive and a send.
const CALLS: &str = "
    rank 0 { s: send 0,8 to 1; r: recv 0,8 from 1; requ r -> s }
    rank 1 { r: recv 0,8 from 0; x: exec user 7 with 0,8 8,8; requ x -> r; s: send 8,8 to 0; requ s -> x }";

/// Only a rank's own process has what it registered.
#[test]
fn registered_functions_are_called_by_their_rank() {
    for mode in Mode::ALL {
        let (started, calls) = (AtomicU32::new(0), Arc::new(AtomicU32::new(0)));
        run(CALLS, mode, Wait::Adaptive, |rank, member, job| {
            if rank == 1 {
                let calls = Arc::clone(&calls);
                let call = move |_: &mut [u8], b: &mut [u8]| {
                    calls.fetch_add(1, Ordering::SeqCst);
                    b.fill(9);
                };
                member.register(7, Box::new(call)).expect("the job runs");
            }
            let storage = job.storage(rank);
            let handle = member.start(&job.schedule(rank), storage).unwrap();
            if rank == 1 {
                started.store(1, Ordering::SeqCst);
                // Time has to pass, in which the others see that this rank is away.
                thread::sleep(Duration::from_millis(20));
            } else {
                wait_for(&started, 1);
            }
            member.wait(&handle).unwrap();
            let storage = member.finish(handle).unwrap();
            if rank == 0 {
                assert_eq!(storage.memory()[..8], [9; 8]);
            }
        });
        assert_eq!(calls.load(Ordering::SeqCst), 1, "{mode:?}");
    }
}

/// A panic of the thread is an error of the rank, with its text, and of the launcher. No rank waits
/// for ever.
#[test]
fn a_panic_of_the_progress_thread_ends_the_rank() {
    let (started, failed) = (AtomicU32::new(0), AtomicU32::new(0));
    run(CALLS, Mode::Thread, Wait::Adaptive, |rank, member, job| {
        if rank == 0 {
            wait_for(&started, 1);
        }
        if rank == 1 {
            let call = |_: &mut [u8], _: &mut [u8]| {
                let own = thread::current().name().is_none_or(|name| !name.starts_with("progress"));
                assert!(own, "the function that rank 1 registered");
            };
            member.register(7, Box::new(call)).expect("the job runs");
        }
        let handle = member.start(&job.schedule(rank), job.storage(rank)).unwrap();
        let segment = job.segment();
        if rank == 0 {
            // It waits for what never comes.
            assert_eq!(member.wait(&handle), Err(Interrupted::Stopped));
            failed.store(2, Ordering::SeqCst);
            return;
        }
        // The thread takes the message: the rank calls nothing.
        started.store(1, Ordering::SeqCst);
        until("the rank fails by the panic", || segment.status(1).state() == State::Failed);
        let Err(error @ Interrupted::Panicked(_)) = member.wait(&handle) else {
            panic!("it goes on")
        };
        let text = segment.failure(1).expect("a text");
        assert_eq!(text, format!("rank 1: {error}"));
        assert!(text.contains("progress panicked: the function that rank 1 registered"), "{text}");
        segment.start_barrier().stop();
        while failed.load(Ordering::SeqCst) != 2 {
            segment.mailbox(0).wake();
            thread::yield_now();
        }
    });
}

/// A member whose rank has an unfinished instance in the segment is refused.
#[test]
fn a_member_after_one_that_left_an_instance_is_refused() {
    let text = "rank 0 { r: recv 8b from 0; s: send 8b to 0; requ s -> r }";
    let nisa = nisa(text);
    let together = settings(1, Mode::Node, Wait::Adaptive);
    let segment = Segment::create(layout(&nisa, &together, 1 << 40).unwrap()).unwrap();
    let job = Job::new(&segment, &nisa, &together);
    // An instance that never ends: its member leaves it behind.
    let left = with_member(job, 0, |member| member.start(&job.schedule(0), job.storage(0)).is_ok());
    assert!(left.unwrap());
    assert!(matches!(with_member(job, 0, |_| ()), Err(StartError::Left)));
}

/// A rank has one member after the other. Each finishes what it starts.
#[test]
fn a_rank_may_have_one_member_after_the_other() {
    let text = "rank 0 { s: send 8b to 0; r: recv 8b from 0; requ r -> s }";
    let nisa = nisa(text);
    let other = self::nisa("rank 0 { n: nop }");
    for mode in Mode::ALL {
        let settings = settings(1, mode, Wait::Adaptive);
        let segment = Segment::create(layout(&nisa, &settings, 1 << 40).unwrap()).unwrap();
        let job = Job::new(&segment, &nisa, &settings);
        for _ in 0..3 {
            with_member(job, 0, |member| {
                let foreign = Arc::new(Schedule::new(Arc::clone(&other), 0, Seed::default()));
                for schedule in [job.schedule(0), foreign, job.schedule(0)] {
                    let handle = member.start(&schedule, job.storage(0)).unwrap();
                    finish_all(member, vec![handle]);
                }
            })
            .unwrap();
        }
    }
}

#[test]
fn an_engine_without_room_for_its_messages_is_an_error() {
    let sends: String = (0..2000).map(|tag| format!("send 8b to 0 tag {tag}\n")).collect();
    let nisa = nisa(&format!("rank 0 {{ {sends} recv 8b from 0 tag 2000 }}"));
    let settings = settings(1, Mode::Node, Wait::Adaptive);
    let sizes = RankSizes { instance: 1 << 20, engine: 1 << 16, ..RankSizes::default() };
    let segment = Segment::create(Layout::new(std::iter::once(sizes), 1 << 30).unwrap()).unwrap();
    let job = Job::new(&segment, &nisa, &settings);
    let ended = with_member(job, 0, |member| {
        let handle = member.start(&job.schedule(0), job.storage(0))?;
        member.wait(&handle)
    });
    let error = ended.expect("it is here").expect_err("64 KiB are not enough");
    let Interrupted::OutOfMemory(used_up) = &error else { panic!("{error}") };
    assert!(used_up.needed > used_up.room, "{error}");
}

/// A program with members can write the trace of its job.
#[test]
fn members_leave_a_trace() {
    let nisa = nisa("rank 0 { s: send 8b to 0; r: recv 8b from 0; requ r -> s }");
    let settings = settings(1, Mode::Caller, Wait::Adaptive).with_trace(100);
    let segment = Segment::create(layout(&nisa, &settings, 1 << 40).unwrap()).unwrap();
    let job = Job::new(&segment, &nisa, &settings);
    with_member(job, 0, |member| {
        let handle = member.start(&job.schedule(0), job.storage(0)).unwrap();
        finish_all(member, vec![handle]);
    })
    .unwrap();
    let mut out = Vec::new();
    let omitted = job.write_trace(&mut out).unwrap();
    assert_eq!((omitted.lost, omitted.foreign), (0, 0));
    let trace: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    for name in ["s", "r"] {
        assert!(events.iter().any(|event| event["name"] == name), "{name}: {trace}");
    }
}
