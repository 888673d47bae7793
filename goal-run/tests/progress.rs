//! Ranks that start a schedule and do something else: who makes it go on.

mod common;

use common::members::{nisa, settings};
use goal_run::progress::{Member, Mode, with_member};
use goal_run::rank::{Job, Wait, layout};
use goal_run::shm::Segment;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Each rank a thread that does `act`.
fn run(text: &str, progress: Mode, wait: Wait, act: impl Fn(u32, &mut Member<'_>, Job<'_>) + Sync) {
    let nisa = nisa(text);
    let settings = settings(nisa.num_ranks(), progress, wait);
    let segment = Segment::create(layout(&nisa, &settings, 1 << 40).unwrap()).unwrap();
    thread::scope(|scope| {
        for rank in 0..nisa.num_ranks() {
            let (segment, nisa, settings, act) = (&segment, &nisa, &settings, &act);
            scope.spawn(move || {
                let job = Job::new(segment, nisa, settings, rank);
                with_member(job, rank, |member| {
                    assert!(segment.gate().pass(segment.num_ranks(), || 0));
                    act(rank, member, job);
                })
                .expect("all ranks are here");
            });
        }
    });
}

fn wait_for(word: &AtomicU32, value: u32) {
    let began = Instant::now();
    while word.load(Ordering::SeqCst) < value {
        assert!(began.elapsed() < Duration::from_secs(60), "in vain");
        thread::sleep(Duration::from_micros(200));
    }
}

/// What rank 1 has to do for others comes while it does something else: a message of each kind, a sum, an answer.
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
                for round in 1..=20 {
                    let storage = job.storage(rank);
                    let memory = storage.memory;
                    let (at, value) = if rank == 1 { (200, 4i32) } else { (0, 3) };
                    memory.span(at, 160).write(|bytes| {
                        bytes.chunks_mut(4).for_each(|element| element.copy_from_slice(&value.to_le_bytes()));
                    });
                    let handle = member.start(&schedule, storage).unwrap();
                    if rank == 1 {
                        // Without a call until both others are through.
                        wait_for(&ended, 2 * round);
                    }
                    member.wait(&handle).unwrap();
                    member.finish(handle).unwrap();
                    if rank != 1 {
                        let at = if rank == 0 { 200 } else { 0 };
                        memory.span(at, 160).read(|bytes| {
                            assert!(bytes.chunks(4).all(|sum| sum == 7i32.to_le_bytes()), "{mode:?}");
                        });
                        ended.fetch_add(1, Ordering::SeqCst);
                        // Nobody starts the next one before all have seen this one's end.
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
