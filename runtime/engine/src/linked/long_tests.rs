//! Tests how schedules are cut into blocks.

use super::tests::{LINES, LONG, link_of, run};
use super::{Link, Linked};
use crate::testing::{nisa, program as program_of};
use crate::{Schedule, Seed};
use goal_asm::Nisa;
use std::fmt::Write;
use std::sync::Arc;

/// Returns a file of two ranks from their actions. Rank 0 has the number 3 at address 0.
fn two_ranks(first: &str, second: &str) -> Arc<Nisa> {
    let text = format!("num_ranks 2 rank 0 {{ init 0 = Int64 3 {first} }} rank 1 {{ {second} }}");
    nisa(&goal_smith::on_buffers(&program_of(&text)))
}

fn blocks(link: &Link) -> usize {
    link.lines().len()
}

/// Returns a chain of sends and receives with one tag, in turn. The first action is a send if
/// `sends`.
fn chain(peer: u32, actions: usize, sends: bool) -> String {
    let mut text = String::new();
    for at in 0..actions {
        let action = if (at % 2 == 0) == sends { "send 0,8 to" } else { "recv 0,8 from" };
        write!(text, "a{at}: {action} {peer} ").expect("a text");
        if at > 0 {
            write!(text, "a{at} requires a{} ", at - 1).expect("a text");
        }
    }
    text
}

#[test]
fn a_deep_chain_runs_in_blocks_of_64() {
    let nisa = two_ranks(&chain(1, 10_000, true), &chain(0, 10_000, false));
    let link = link_of(&nisa, &LINES).expect("it can be linked");
    assert_eq!(blocks(&link), 10_000usize.div_ceil(64));
    let memory = run(&nisa, &link, &mut fastrand::Rng::with_seed(1));
    assert!(memory.iter().all(|memory| memory[0] == 3));
}

/// Returns `count` messages in each direction. All sends come before all receives.
fn exchange(peer: u32, count: usize) -> String {
    let mut text = String::from("n: nop ");
    for at in 0..count {
        let place = 8 * (at + 1);
        write!(text, "s{at}: send 0,8 to {peer} tag {at} n requires s{at} ").expect("a text");
        write!(text, "r{at}: recv {place},8 from {peer} tag {at} r{at} requires n ")
            .expect("a text");
    }
    text
}

#[test]
fn a_circle_of_waits_is_not_cut() {
    // The circle has 63 actions of each rank. Further messages do not fit its block.
    let more = |peer: u32| chain(peer, 40, peer == 1).replace("0,8", "2000,8");
    let tagged = |peer, count| {
        let more = more(peer);
        let tagged = more.replace("to 1 ", "to 1 tag 99 ").replace("to 0 ", "to 0 tag 99 ");
        let tagged = tagged.replace("from 1 ", "from 1 tag 99 ");
        exchange(peer, count) + &tagged.replace("from 0 ", "from 0 tag 99 ")
    };
    let nisa = two_ranks(&tagged(1, 31), &tagged(0, 31));
    let link = link_of(&nisa, &LINES).expect("it can be linked");
    assert_eq!(blocks(&link), 2);
    let of_circle: Vec<_> = (0..63).map(|action| link.block_of(0, action)).collect();
    assert!(of_circle.windows(2).all(|pair| pair[0] == pair[1]), "{of_circle:?}");
    run(&nisa, &link, &mut fastrand::Rng::with_seed(1));
    // A larger circle fits no block.
    let nisa = two_ranks(&exchange(1, 32), &exchange(0, 32));
    let refusal = link_of(&nisa, &LINES).expect_err("65 actions");
    assert_eq!(
        refusal.to_string(),
        "send number 1 to rank 1, tag 0, 8 bytes, is in a circle of waits between ranks in which a rank has more than 64 actions"
    );
}

#[test]
fn actions_without_dependencies_fill_blocks() {
    let all = |peer: u32| {
        let mut text = String::new();
        for at in 0..1000 {
            let place = 8 * (at + 1);
            write!(text, "send 0,8 to {peer} tag {at} recv {place},8 from {peer} tag {at} ")
                .expect("a text");
        }
        text
    };
    let nisa = two_ranks(&all(1), &all(0));
    let link = link_of(&nisa, &LINES).expect("it can be linked");
    assert_eq!(blocks(&link), 2000usize.div_ceil(64));
    let memory = run(&nisa, &link, &mut fastrand::Rng::with_seed(1));
    assert!((1..=1000).all(|at| memory[1][8 * at] == 3));
}

#[test]
fn a_block_has_room_for_its_messages() {
    // A quarter of the ring has 4096 lines of 64 bytes.
    let message = |action: &str, at: usize| format!("{action} tag {at} ");
    let all = |action: &str| (0..8).map(|at| message(action, at)).collect::<String>();
    let nisa = two_ranks(&all("send 0,100000 to 1"), &all("recv 0,100000 from 0"));
    let link = link_of(&nisa, &LONG).expect("it can be linked");
    // The sends have one piece, but the messages of a long schedule need not share lines.
    assert!(link.lines().iter().all(|&lines| lines <= 4096), "{:?}", link.lines());
    run(&nisa, &link, &mut fastrand::Rng::with_seed(1));
}

#[test]
fn equal_tags_need_an_order_on_both_sides() {
    let ordered = chain(1, 4, true);
    let unordered = "recv 0,8 from 0 recv 8,8 from 0 send 0,8 to 0 tag 0 b: send 8,8 to 0 tag 0";
    let nisa = two_ranks(&ordered, unordered);
    let told = link_of(&nisa, &LINES).expect_err("no order").to_string();
    assert!(told.ends_with("that it does not wait for"), "{told}");
    // The order may lead over other actions, in any order of the text.
    let over = "c: recv 8,8 from 0 a: recv 0,8 from 0 n: nop n requires a c requires n";
    let sends = "s: send 0,8 to 1 t: send 8,8 to 1 t requires s";
    let nisa = two_ranks(sends, over);
    let link = link_of(&nisa, &LINES).expect("it can be linked");
    let memory = run(&nisa, &link, &mut fastrand::Rng::with_seed(1));
    assert_eq!((memory[1][0], memory[1][8]), (3, 0), "the first receive gets the first message");
}

/// A long schedule uses one place of scratch memory for message after message. Each is combined
/// where it lies, unless another action sees the scratch memory.
#[test]
fn messages_through_one_place_of_scratch_memory_are_combined_where_they_lie() {
    let folds = |extra: &str| {
        let (mut text, mut sends) = (String::from("scratch 8 "), String::new());
        for at in 0..60 {
            write!(text, "r{at}: recv @0,8 from 0 e{at}: exec sumInt64 with @0,8 8,8 ")
                .expect("a text");
            write!(text, "e{at} requires r{at} ").expect("a text");
            write!(sends, "s{at}: send 0,8 to 1 ").expect("a text");
            if at > 0 {
                write!(text, "r{at} requires e{} ", at - 1).expect("a text");
                write!(sends, "s{at} requires s{} ", at - 1).expect("a text");
            }
        }
        let program = format!(
            "num_ranks 2 rank 0 {{ init 0 = Int64 3 {sends} }} rank 1 {{ {text} {extra} }}"
        );
        let program = goal_smith::on_buffers(&program_of(&program));
        let nisa = nisa(&program);
        let link = link_of(&nisa, &LINES).expect("it can be linked");
        let memory = run(&nisa, &link, &mut fastrand::Rng::with_seed(1));
        let expected = goal_interp::run(&program.flattened(), &goal_interp::Options::default());
        assert_eq!(expected.expect("no deadlock").first_difference(&memory), None);
        let schedule = Arc::new(Schedule::new(nisa, 1, Seed::default()));
        let (linked, _) = Linked::new(schedule, &link, &[0, 1], 1, 7, 0).expect("it was linked");
        linked.blocks.iter().map(|block| block.all.count_ones()).sum::<u32>()
    };
    assert_eq!(folds(""), 60);
    assert_eq!(folds("z: exec copyUInt8 with @0,8 64,8 z requires e59"), 121);
}
