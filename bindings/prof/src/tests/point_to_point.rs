//! Messages between two ranks.

use super::{OWN, Rank, WORLD, checked, from, to};
use crate::{Fault, Settings, Status};

#[test]
fn the_text_of_a_rank_is_a_chain_of_starts_and_ends() {
    let mut rank = Rank::new(0, 2);
    rank.call(|recorder| recorder.start_recv(0, "MPI_Irecv", 7, WORLD, false));
    rank.call(|recorder| recorder.start_send(0, "MPI_Isend", 8, to(1, 3, 40)));
    rank.wait(8, Status::default());
    rank.wait(7, from(1, 9, 16));
    rank.call(|recorder| recorder.send(0, "MPI_Send", to(1, 0, 8)));
    let expected = "\
# Written by goal-prof: rank 0 of 2, 20 bits of a tag for MPI's tag.
num_ranks 2
rank 0 {
a0: calc 100
a2: calc 100
a2 irequires a1
a4: calc 100
a4 irequires a3
a3: send 40b to 1 tag 3
a3 requires a2
a5: calc 100
a5 requires a4
a5 requires a3
a1: recv 16b from 1 tag 9
a1 requires a0
a6: calc 100
a6 requires a5
a6 requires a1
a7: send 8b to 1 tag 0
a7 requires a6
}
";
    assert_eq!(rank.finish(), expected);
}

#[test]
fn an_exchange_that_posts_its_receives_first_ends_without_buffers() {
    let texts = [0, 1].map(|me: u32| {
        let mut rank = Rank::new(me, 2);
        let other = 1 - me;
        rank.call(|recorder| recorder.start_recv(0, "MPI_Irecv", 7, WORLD, false));
        rank.call(|recorder| recorder.send(0, "MPI_Send", to(other, 3, 1 << 20)));
        rank.wait(7, from(other, 3, 1 << 20));
        rank.call(|recorder| {
            recorder.send_recv(0, "MPI_Sendrecv", to(other, 4, 9), from(other, 4, 9));
        });
        rank.finish()
    });
    checked(&texts);
}

#[test]
fn receives_that_end_in_another_order_keep_their_matching() {
    let mut sender = Rank::new(0, 2);
    sender.call(|recorder| recorder.send(0, "MPI_Send", to(1, 5, 10)));
    sender.call(|recorder| recorder.send(0, "MPI_Send", to(1, 5, 20)));
    let mut receiver = Rank::new(1, 2);
    receiver.call(|recorder| recorder.start_recv(0, "MPI_Irecv", 1, WORLD, false));
    receiver.call(|recorder| recorder.start_recv(0, "MPI_Irecv", 2, WORLD, false));
    receiver.wait(2, from(0, 5, 20));
    receiver.wait(1, from(0, 5, 10));
    // The sizes differ, so a wrong order would be a finding.
    let program = checked(&[sender.finish(), receiver.finish()]);
    assert_eq!(program.num_ranks(), 2);
}

#[test]
fn a_buffered_send_is_waited_for_by_nothing() {
    let texts = [0, 1].map(|me: u32| {
        let mut rank = Rank::new(me, 2);
        let message = crate::SentMessage { buffered: true, ..to(1 - me, 3, 64) };
        rank.call(|recorder| recorder.send(0, "MPI_Bsend", message));
        rank.call(|recorder| recorder.recv(0, "MPI_Recv", WORLD, from(1 - me, 3, 64)));
        rank.finish()
    });
    checked(&texts);
}

#[test]
fn persistent_requests_start_again() {
    let texts = [0, 1].map(|me: u32| {
        let mut rank = Rank::new(me, 2);
        rank.call(|recorder| recorder.init_send("MPI_Send_init", 1, to(1 - me, 3, 64)));
        rank.call(|recorder| recorder.init_recv("MPI_Recv_init", 2, WORLD, false));
        for _ in 0..3 {
            rank.call(|recorder| [1, 2].map(|request| recorder.start(0, request)));
            rank.wait(1, Status::default());
            rank.wait(2, from(1 - me, 3, 64));
            // An inactive request completes at once.
            rank.wait(2, Status::default());
        }
        rank.call(|recorder| recorder.free(0, 1));
        rank.finish()
    });
    let program = checked(&texts);
    let sends = texts[0].matches(": send 64b to 1 tag 3").count();
    assert_eq!((sends, program.num_ranks()), (3, 2));
}

#[test]
fn cancelled_freed_and_unfinished_operations_end() {
    let mut rank = Rank::new(0, 1);
    rank.call(|recorder| recorder.start_recv(0, "MPI_Irecv", 1, WORLD, false));
    rank.wait(1, Status { cancelled: true, ..Status::default() });
    rank.call(|recorder| recorder.start_recv(0, "MPI_Irecv", 2, WORLD, false));
    rank.call(|recorder| recorder.start_recv(0, "MPI_Irecv", 3, WORLD, true));
    rank.wait(3, Status::default());
    rank.call(|recorder| recorder.start_recv(0, "MPI_Irecv", 4, WORLD, false));
    // A freed receive has its message when MPI has completed it.
    let token = rank.call(|recorder| recorder.free(0, 4));
    assert_ne!(token, 0);
    rank.call(|recorder| recorder.start_send(0, "MPI_Isend", 5, to(0, 0, 1)));
    rank.call(|recorder| recorder.start_send(0, "MPI_Isend", 6, to(0, 1, 2)));
    assert_eq!(rank.call(|recorder| recorder.free(0, 6)), 0);
    rank.call(|recorder| recorder.recv(0, "MPI_Recv", WORLD, from(0, 0, 1)));
    rank.recorder.detached(4, token, from(0, 1, 2));
    rank.call(|recorder| recorder.start_recv(0, "MPI_Irecv", 7, WORLD, false));
    assert_ne!(rank.call(|recorder| recorder.free(0, 7)), 0);
    let text = rank.finish_noting("2 receives were never completed");
    assert_eq!(text.matches(": nop").count(), 3, "{text}");
    assert_eq!(text.matches(": recv 2b from 0 tag 1").count(), 1, "{text}");
    checked(&[text]);
}

/// A library may give all requests that complete at once the same handle, and another thread may
/// get the handle of one that has just completed.
#[test]
fn requests_with_one_handle_are_told_apart() {
    let mut rank = Rank::new(0, 1);
    for thread in [0, 1] {
        rank.recorder.begin_thread(thread);
    }
    rank.recorder.start_recv(0, "MPI_Irecv", 1, WORLD, false);
    let first = rank.recorder.claim(0, 1);
    // MPI has completed it. Before that is recorded, thread 1 gets the handle and completes it.
    rank.recorder.start_recv(1, "MPI_Irecv", 1, WORLD, false);
    rank.recorder.send(1, "MPI_Send", to(0, 1, 1));
    rank.recorder.send(1, "MPI_Send", to(0, 2, 2));
    let second = rank.recorder.claim(1, 1);
    assert_ne!(first, second, "a thread claims its own");
    // A third thread, which was handed the request, claims the entry in front.
    assert_eq!(rank.recorder.claim(2, 1), first);
    rank.recorder.complete(1, 1, second, from(0, 2, 2));
    rank.recorder.complete(0, 1, first, from(0, 1, 1));
    let text = rank.finish();
    assert!(text.contains("a0: recv 1b from 0 tag 1"), "{text}");
    assert!(text.contains("a1: recv 2b from 0 tag 2"), "{text}");
}

#[test]
fn communicators_are_apart_and_give_their_numbers_back() {
    let mut rank = Rank::new(1, 4);
    let ids = rank.recorder.free_ids().to_vec();
    // Ranks 3 and 1 are ranks 0 and 1 of it.
    rank.recorder.add_communicator(5, &ids, 1, &[3, 1]);
    let send = |rank: &mut Rank, communicator, peer| {
        let message = crate::SentMessage { communicator, ..to(peer, 9, 1) };
        rank.call(|recorder| recorder.send(0, "MPI_Send", message));
    };
    send(&mut rank, 5, 0);
    send(&mut rank, OWN, 0);
    rank.recorder.remove_communicator(5, 2);
    let ids = rank.recorder.free_ids().to_vec();
    rank.recorder.add_communicator(6, &ids, 0, &[1, 2]);
    send(&mut rank, 6, 1);
    let text = rank.finish();
    let tag = |id: u32| id << 20 | 9;
    for line in [
        format!("to 3 tag {}", tag(2)),
        format!("to 1 tag {}", tag(1)),
        format!("to 2 tag {}", tag(2)),
    ] {
        assert!(text.contains(&line), "{line} in {text}");
    }
}

#[test]
fn computation_before_the_end_is_kept() {
    let mut rank = Rank::new(0, 1);
    rank.call(|recorder| recorder.send(0, "MPI_Send", to(0, 0, 1)));
    // MPI_Finalize.
    rank.call(|_| ());
    let text = rank.finish();
    assert!(text.ends_with("a2: calc 100\na2 requires a1\n}\n"), "{text}");
}

#[test]
fn computation_is_scaled_and_short_one_left_out() {
    let settings = Settings { calc_scale: 0.5, calc_ns_min: 100, ..Settings::new("test") };
    let mut rank = Rank::with(settings, 0, 1);
    rank.call(|recorder| recorder.send(0, "MPI_Send", to(0, 0, 1)));
    let settings = Settings { calc_ns_min: 101, ..Settings::new("test") };
    let mut without = Rank::with(settings, 0, 1);
    without.call(|recorder| recorder.send(0, "MPI_Send", to(0, 0, 1)));
    assert!(rank.finish().contains("calc 50\n"));
    assert!(!without.finish().contains("calc"));
}

#[test]
fn nothing_is_recorded_while_it_is_off() {
    let mut rank = Rank::new(0, 1);
    rank.call(|recorder| recorder.start_send(0, "MPI_Isend", 1, to(0, 1, 0)));
    let now_ns = rank.now_ns;
    rank.recorder.turn(0, false, now_ns);
    rank.call(|recorder| recorder.send(0, "MPI_Send", to(0, 2, 2)));
    rank.wait(1, Status::default());
    rank.recorder.turn(0, true, rank.now_ns);
    rank.call(|recorder| recorder.recv(0, "MPI_Recv", WORLD, from(0, 1, 0)));
    let text = rank.finish();
    assert_eq!(text.matches("calc 100").count(), 2, "{text}");
    assert!(!text.contains("tag 2"), "{text}");
    checked(&[text]);
}

#[test]
fn what_is_not_followed_ends_the_recording_with_a_way_out() {
    let mut rank = Rank::new(0, 2);
    rank.call(|recorder| recorder.send(0, "MPI_Send", to(1, 1 << 20, 8)));
    let told = rank.recorder.fault().map(ToString::to_string).unwrap_or_default();
    assert!(told.contains("set GOALPROF_TAG_BITS to 21"), "{told}");
    rank.recorder.finish();
    let text = rank.text.read();
    assert!(text.contains("# Cut off by goal-prof: tag 1048576"), "{text}");
    assert!(!text.contains('}'), "{text}");

    let mut rank = Rank::new(0, 2);
    rank.call(|recorder| recorder.recv(0, "MPI_Recv", 99, from(1, 1, 8)));
    assert!(matches!(rank.recorder.fault(), Some(Fault::Communicator("MPI_Recv"))));
}

#[test]
fn threads_that_may_not_call_at_the_same_time_are_in_order() {
    let sends = |orders_threads| {
        let settings = Settings { orders_threads: Some(orders_threads), ..Settings::new("test") };
        let mut rank = Rank::with(settings, 0, 2);
        for thread in [0, 1] {
            rank.recorder.begin_thread(thread);
        }
        for thread in [0, 1, 0] {
            rank.recorder.enter(thread, 0);
            rank.recorder.send(thread, "MPI_Send", to(1, 0, 8));
            rank.recorder.leave(thread, 0);
        }
        rank.finish()
    };
    let ordered = sends(true);
    assert!(ordered.contains("a1 requires a0\n") && ordered.contains("a2 requires a1\n"));
    let independent = sends(false);
    assert!(!independent.contains("a1 requires") && independent.contains("a2 requires a0\n"));
}

#[test]
fn two_communicators_that_threads_make_at_once_get_no_common_number() {
    let mut rank = Rank::new(0, 2);
    let free = rank.recorder.free_ids().to_vec();
    rank.recorder.add_communicator(7, &free, 0, &[0, 1]);
    assert!(rank.recorder.fault().is_none());
    rank.recorder.add_communicator(8, &free, 0, &[0, 1]);
    assert!(matches!(rank.recorder.fault(), Some(Fault::Caller(_))));
}

#[test]
fn a_freed_communicator_keeps_its_number_until_its_receives_have_ended() {
    let mut rank = Rank::new(0, 2);
    let free = rank.recorder.free_ids().to_vec();
    rank.recorder.add_communicator(7, &free, 0, &[0, 1]);
    rank.call(|recorder| recorder.start_recv(0, "MPI_Irecv", 1, 7, false));
    // Another communicator may have had the handle.
    rank.recorder.remove_communicator(7, 3);
    assert_eq!(rank.recorder.communicator(7), Some(2));
    rank.recorder.remove_communicator(7, 2);
    assert_ne!(rank.recorder.free_ids(), free);
    rank.wait(1, from(1, 3, 8));
    assert_eq!(rank.recorder.free_ids(), free);
}

/// MPI matches messages with one tag in the order of their starts, whichever threads start them.
#[test]
fn messages_of_several_threads_keep_the_order_of_their_starts() {
    let settings = || Settings { orders_threads: Some(false), ..Settings::new("test") };
    let texts = [0, 1].map(|me| {
        let mut rank = Rank::with(settings(), me, 2);
        rank.recorder.begin_thread(0);
        rank.recorder.begin_thread(1);
        rank.recorder.begin_thread(2);
        if me == 0 {
            for call in 0..30 {
                let (thread, bytes) = (call % 3, call as u64);
                rank.recorder.send(thread, "MPI_Send", to(1, 7, bytes));
            }
        } else {
            // Each three receives end in another order.
            for call in 0..10 {
                for thread in [0, 1, 2] {
                    rank.recorder.start_recv(thread, "MPI_Irecv", thread as u64, WORLD, false);
                }
                for thread in [[2, 0, 1], [1, 2, 0], [0, 1, 2]][call % 3] {
                    let token = rank.recorder.claim(thread, thread as u64);
                    let status = from(0, 7, (3 * call + thread) as u64);
                    rank.recorder.complete(thread, thread as u64, token, status);
                }
            }
        }
        rank.finish()
    });
    checked(&texts);
}

/// A program may use MPI again after it has ended all use of it, as with sessions.
#[test]
fn a_program_that_uses_mpi_again_gets_another_block() {
    let mut rank = Rank::new(0, 1);
    let message = crate::SentMessage { buffered: true, ..to(0, 1, 8) };
    rank.call(|recorder| recorder.send(0, "MPI_Bsend", message));
    rank.recorder.finish();
    let closed = rank.text.read();
    assert!(closed.ends_with("}\n"), "{closed}");
    // Threads may end meanwhile, and faults don't matter.
    rank.recorder.end_thread(0);
    rank.recorder.fail(crate::Fault::Memory);
    assert!(rank.recorder.fault().is_none() && rank.text.read() == closed);
    rank.recorder.resume(0, rank.now_ns + 1000);
    rank.now_ns += 1000;
    rank.call(|recorder| recorder.recv(0, "MPI_Recv", WORLD, from(0, 1, 8)));
    let text = rank.finish();
    assert_eq!((text.matches("rank 0 {\n").count(), text.matches("}\n").count()), (2, 2), "{text}");
    assert!(!text.contains("calc 1000"), "{text}");
    checked(&[text]);
}

/// The actions that a silent thread waits for are joined while others end.
#[test]
fn what_a_silent_thread_waits_for_does_not_grow_without_end() {
    let settings = Settings { orders_threads: Some(false), ..Settings::new("test") };
    let mut rank = Rank::with(settings, 0, 2);
    rank.recorder.begin_thread(0);
    rank.call(|recorder| recorder.send(0, "MPI_Send", to(1, 0, 8)));
    for _ in 0..3000 {
        rank.recorder.begin_thread(1);
        rank.recorder.enter(1, rank.now_ns);
        rank.recorder.send(1, "MPI_Send", to(1, 1, 8));
        rank.recorder.leave(1, rank.now_ns);
        rank.recorder.end_thread(1);
    }
    rank.call(|recorder| recorder.send(0, "MPI_Send", to(1, 2, 8)));
    let text = rank.finish();
    let (before, last) = text.rsplit_once(" tag 2\n").expect("the last send");
    assert!(last.matches("requires").count() < 1100, "{}", last.matches("requires").count());
    // An action joins about a thousand. If only calls of the first thread joined them, each thread
    // that begins would have to.
    let joins = before.matches(": nop").count();
    assert!((2..10).contains(&joins), "{joins}");
}
