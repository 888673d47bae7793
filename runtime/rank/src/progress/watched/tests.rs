//! Tests ranks that wait for cells of boards. `unsafe`: the writers and readers of boards.
#![allow(unsafe_code)]

use super::Watched;
use crate::progress::{Member, with_member};
use goal_asm::{EncodeOptions, Nisa, encode};
use goal_filetest::patience;
use goal_job::transport::Choice;
use goal_job::{Job, JobSpec, Mode, Settings, Wait, layout};
use goal_lang::limits::Limits;
use goal_shm::board::{Look, Ring, word};
use goal_shm::{Napping, Segment};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

const MODES: [Mode; 3] = [Mode::Caller, Mode::Thread, Mode::Node];
const RING: Ring = Ring::Short;
const SIGNATURE: u16 = 9;

/// The fences of a segment: see [`Segment::choose_fences`].
#[derive(Debug, Clone, Copy)]
enum Fences {
    Asymmetric,
    Full,
    Unordered,
}

/// Calls `f` with each of two ranks, which are threads.
fn run(
    (mode, wait, fences): (Mode, Wait, Fences),
    f: impl for<'a> Fn(Job<'a>, &mut Member<'a>, u32) + Sync,
) {
    let mut program = goal_lang::ProgramBuilder::default();
    (0..2).for_each(|_| program.rank_with(goal_lang::BodyBuilder::default().finish()));
    let mut bytes = Vec::new();
    encode(&program.finish(), &EncodeOptions::default(), None, &mut bytes).unwrap();
    let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Limits::default()).unwrap());
    let spec = JobSpec { progress: mode, wait, ..JobSpec::default() };
    let settings = Settings::new(2, &Choice::default()).unwrap().with_spec(spec);
    let mut segment = Segment::create(layout(&nisa, &settings, 1 << 40).unwrap()).unwrap();
    match fences {
        Fences::Asymmetric => segment.choose_fences(false),
        Fences::Full => segment.choose_fences(true),
        Fences::Unordered => {}
    }
    let job = Job::new(&segment, &nisa, &settings);
    thread::scope(|scope| {
        for rank in 0..2 {
            let f = &f;
            scope.spawn(move || with_member(job, rank, |member| f(job, member, rank)).unwrap());
        }
    });
}

/// Writes the message at `position` of a rank's board, and wakes the other rank if it naps.
fn put(segment: &Segment, rank: u32, position: u64) {
    let fill = |payload: &mut [u8]| payload.copy_from_slice(&position.to_ne_bytes());
    // SAFETY: one writer per rank. The reader has read all before the last message but one.
    unsafe { segment.board(rank).put(RING, position, SIGNATURE, 8, fill) };
    Napping::wake(segment.napping().sleepers(1 << (1 - rank)), |rank| {
        segment.mailbox(rank).wake();
    });
}

fn watched(segment: &Segment, rank: u32, position: u64) -> Watched<'_> {
    let cell = segment.board(rank).word_at(RING, position);
    Watched::message(cell, word(position, SIGNATURE))
}

/// Waits until the message at `position` of a rank's board has come.
fn wait<'a>(segment: &'a Segment, member: &mut Member<'a>, rank: u32, position: u64) {
    let board = segment.board(rank);
    member.watch([watched(segment, rank, position)]);
    let is_missing = || board.look(RING, position, SIGNATURE) == Look::Missing;
    let answers = || segment.status(1 - rank).process_state.answers();
    let goes_on = |_: &mut Member<'a>| {
        assert!(answers(), "peers may ask it for a window");
        Ok(is_missing())
    };
    member.wait_while(goes_on, |_| ()).unwrap();
    assert!(!answers());
    member.unwatch();
    assert_eq!(board.look(RING, position, SIGNATURE), Look::Arrived);
    // SAFETY: the message is here, and its writer goes on only after an answer.
    let payload = unsafe { board.payload(RING, position, 8) };
    assert_eq!(payload, position.to_ne_bytes());
}

/// Two ranks answer each other. With `Wait::Block` they sleep before each message.
#[test]
fn ranks_that_nap_get_every_message() {
    for mode in MODES {
        for wait_for in [Wait::Adaptive, Wait::Spin, Wait::Block] {
            for fences in [Fences::Asymmetric, Fences::Full, Fences::Unordered] {
                run((mode, wait_for, fences), |job, member, rank| {
                    for position in 0..60 {
                        if (position + u64::from(rank)) % 2 == 0 {
                            put(job.segment, rank, position);
                        } else {
                            wait(job.segment, member, 1 - rank, position);
                        }
                    }
                });
            }
        }
    }
}

/// The thread of mode `thread` reports a message that arrives while it sleeps, and one that had
/// arrived before. The program makes no call meanwhile.
#[test]
fn a_thread_tells_of_a_message() {
    for fences in [Fences::Asymmetric, Fences::Full, Fences::Unordered] {
        let (limit, positions) = (patience(10), 40);
        run((Mode::Thread, Wait::Adaptive, fences), |job, member, rank| {
            let segment = job.segment;
            if rank == 1 {
                for position in 0..positions {
                    let is_asked = || segment.board(0).consumed(RING) > position;
                    member.wait_while(|_| Ok(!is_asked()), |_| ()).unwrap();
                    put(segment, 1, position);
                }
                return;
            }
            let (told, tells) = mpsc::channel();
            let told = std::sync::Mutex::new(told);
            member.call_on_progress(move || told.lock().unwrap().send(()).unwrap_or_default());
            // Gives the engine to the thread.
            member.advance().unwrap();
            for position in 0..positions {
                let has_come = || segment.board(1).look(RING, position, SIGNATURE) == Look::Arrived;
                let ask = || {
                    segment.board(0).consume(RING, position + 1);
                    segment.mailbox(1).wake();
                };
                if position % 2 == 0 {
                    ask();
                    while !has_come() {
                        thread::yield_now();
                    }
                    while tells.try_recv().is_ok() {}
                }
                member.watch_by_thread(vec![watched(segment, 1, position)]);
                if position % 2 == 1 {
                    thread::yield_now();
                    ask();
                }
                while !(tells.recv_timeout(limit).is_ok() && has_come()) {
                    assert!(!has_come(), "the thread did not tell");
                }
            }
        });
    }
}

/// Two ranks let each other write on. With `Wait::Block` they sleep before each room.
#[test]
fn ranks_that_nap_get_room() {
    for mode in MODES {
        for wait in [Wait::Adaptive, Wait::Spin, Wait::Block] {
            for fences in [Fences::Asymmetric, Fences::Full, Fences::Unordered] {
                run((mode, wait, fences), |job, member, rank| {
                    let (own, other) = (job.segment.board(rank), job.segment.board(1 - rank));
                    for position in 1..60 {
                        if (position + u64::from(rank)) % 2 == 0 {
                            own.consume(RING, position);
                            let sleepers = job.segment.awaiting_room().sleepers(u64::MAX);
                            Napping::wake(sleepers, |rank| {
                                job.segment.mailbox(rank).wake();
                            });
                        } else {
                            let room = Watched::room(other.consumed_at(RING), position);
                            member.watch([room]);
                            member.wait_while(|_| Ok(!room.has_come()), |_| ()).unwrap();
                            member.unwatch();
                        }
                    }
                });
            }
        }
    }
}

#[test]
fn a_wait_for_another_message_ends() {
    run((Mode::Caller, Wait::Adaptive, Fences::Full), |job, member, rank| {
        let other = job.segment.board(1 - rank);
        let consumed = AtomicU64::new(4);
        assert!(!Watched::room(&consumed, 5).has_come() && Watched::room(&consumed, 4).has_come());
        put(job.segment, rank, 7);
        let cell = other.word_at(RING, 7);
        let mistaken = Watched::message(cell, word(7, SIGNATURE + 1));
        member.watch([mistaken]);
        member.wait_while(|_| Ok(!mistaken.has_come()), |_| ()).unwrap();
        assert_eq!(cell.load(Ordering::Acquire), word(7, SIGNATURE));
        assert!(!Watched::message(cell, word(7 + RING.lines(), SIGNATURE)).has_come());
    });
}
