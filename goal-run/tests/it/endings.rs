//! Tests the ends of runs on every transport: their texts and exit statuses.

use crate::common::{TRANSPORTS, run_text};
use goal_filetest::timeout;

/// Runs a text on every transport, without a check of the whole program before. Compares its exit
/// status and its output.
#[track_caller]
fn ends(text: &str, arguments: &[&str], status: i32, says: &[&str]) {
    for transport in TRANSPORTS {
        let mut all = vec!["--no-check", "--transport", transport];
        all.extend(arguments);
        let ended = run_text(text, &all);
        ended.assert_status(status);
        ended.assert_says(says);
    }
}

const DEADLOCK: &str = "
rank #0 {
  a: recv 0,8 from 1 tag 1;
  b: send 0,8 to 1 tag 2;
  requ b -> a;
}
rank #1 {
  c: recv 0,8 from 0 tag 2;
  d: send 0,8 to 0 tag 1;
  requ d -> c;
}";

#[test]
fn a_deadlock_is_told_with_its_cycle() {
    let says = [
        "no rank can go on; 4 actions of 2 ranks had not ended",
        "rank 0, recv `a` (line 3) waits for a message from rank 1 with tag 1",
        "rank 1, send `d` (line 9) waits for the end of recv `c` (line 8)",
        "cycle: rank 0, recv `a` (line 3) waits for rank 1, send `d` (line 9), which waits for rank 1, recv `c` (line 8), \
         which waits for rank 0, send `b` (line 4), which waits for rank 0, recv `a` (line 3)",
    ];
    ends(DEADLOCK, &[], 3, &says);
}

#[test]
fn a_deadlock_is_told_however_ranks_wait() {
    for wait in ["spin", "adaptive", "block"] {
        for progress in ["caller", "thread", "node"] {
            ends(
                DEADLOCK,
                &["--wait", wait, "--progress", progress],
                3,
                &["rank 0, recv `a` (line 3) waits"],
            );
        }
    }
}

#[test]
fn a_deadlock_in_json() {
    let ended = run_text(DEADLOCK, &["--no-check", "--format", "json"]);
    ended.assert_status(3);
    let report = ended.json();
    assert_eq!(report["status"], "stuck");
    assert_eq!(report["ranks"], 2);
    assert!(report["errors"][0].as_str().unwrap().contains("`a` (line 3)"), "{report}");
}

#[test]
fn sends_that_wait_for_each_other_are_stuck_above_the_eager_limit_only() {
    let text = "
        rank 0 { a: send 100b to 1  b: recv 100b from 1  b requires a }
        rank 1 { c: send 100b to 0  d: recv 100b from 0  d requires c }";
    ends(text, &["--eager-limit", "100"], 0, &[]);
    let says = ["rank 0, send `a` (line 2) waits for rank 1 to receive its 100 bytes", "cycle: "];
    ends(text, &["--eager-limit", "99"], 3, &says);
}

#[test]
fn a_message_that_nobody_sends() {
    let text = "
        rank 0 { a: recv 8b from 1 tag 1  x: calc 5  x requires a }
        rank 1 { send 8b to 0 tag 2 }";
    let says = [
        "rank 0, recv `a` (line 2) waits for a message from rank 1 with tag 1, and rank 1 has none left to send",
        "rank 0, calc `x` (line 2) waits for the end of recv `a` (line 2)",
    ];
    ends(text, &[], 3, &says);
}

/// While ranks are at work, messages that have left them may be on their way.
#[test]
fn nobody_is_said_to_have_sent_all_before_all_rest() {
    let text = "
        rank 0 { a: recv 8b from 1 tag 1 }
        rank 1 { send 8b to 0 tag 2  c: calc 1000000000000 }";
    let ended = run_text(text, &["--no-check", "--timeout", &timeout(1)]);
    ended.assert_says(&[
        "rank 0, recv `a` (line 2) waits for a message from rank 1 with tag 1",
        "calc `c`",
    ]);
    assert!(!ended.err.contains("left to send"), "{ended:?}");
}

#[test]
fn the_time_counts_while_ranks_start() {
    let ended = run_text(
        "num_ranks 600 rank * { calc 1000000000000 }",
        &["--no-check", "--timeout", "0.02"],
    );
    ended.assert_status(5);
    ended.assert_says(&[
        "the time is up; only ",
        " of 600 ranks were started; 600 actions of 600 ranks",
    ]);
}

#[test]
fn a_wait_for_a_start() {
    let text = "
        rank 0 { a: recv 8b from 1  b: calc 1  b requires a  c: calc 1  c irequires b }
        rank 1 { calc 1 }";
    ends(text, &[], 3, &["rank 0, calc `c` (line 2) waits for the start of calc `b` (line 2)"]);
}

#[test]
fn only_so_many_actions_are_shown() {
    let mut text = "num_ranks 2 rank 0 {\n".to_owned();
    for _ in 0..50 {
        text.push_str("recv 8b from 1\n");
    }
    text.push('}');
    ends(&text, &[], 3, &["50 actions of 1 rank", "... and 30 more"]);
}

#[test]
fn a_limit_on_unexpected_messages_is_named() {
    let text = "
        rank 0 {
          a: recv 8b from 1 tag 9
          b: recv 1000b from 1
          c: recv 1000b from 1
          b requires a
          c requires a
        }
        rank 1 {
          s: send 1000b to 0
          t: send 1000b to 0
          u: send 8b to 0 tag 9
          t requires s
          u requires t
        }";
    ends(text, &["--unexpected-limit", "4K"], 0, &[]);
    let says = [
        "reached the limit of 1000 bytes",
        "raise it with --unexpected-limit",
        "recv `a` (line 3)",
    ];
    ends(text, &["--unexpected-limit", "1000"], 3, &says);
}

/// Sends are ready, on their way or done when the time is up. The limit has nothing to do with
/// them.
#[test]
fn a_send_that_is_under_way_is_not_the_fault_of_a_limit() {
    let rank = |rank: u32| {
        let (to, from) = ((rank + 1) % 8, (rank + 7) % 8);
        let pair = |tag| format!("send 64b to {to} tag {tag} recv 64b from {from} tag {tag}\n");
        format!("rank {rank} {{ {} }}\n", (0..200).map(pair).collect::<String>())
    };
    let text: String = (0..8).map(rank).collect();
    for progress in ["caller", "caller", "caller", "node", "thread"] {
        let arguments =
            ["--no-check", "--repeat", "100000000", "--timeout", "0.2", "--progress", progress];
        let ended = run_text(&text, &arguments);
        ended.assert_status(5);
        ended.assert_says(&["the time is up; "]);
        assert!(!ended.err.contains("--unexpected-limit"), "{progress}: {ended:?}");
    }
}

/// Two ranks wait for each other because of the limit while a third one computes.
#[test]
fn a_limit_that_holds_up_a_send_is_named_when_the_time_is_up() {
    let text = "
        rank 0 {
          a: recv 8b from 1 tag 9
          b: recv 1000b from 1
          c: recv 1000b from 1
          b requires a
          c requires a
        }
        rank 1 {
          s: send 1000b to 0
          t: send 1000b to 0
          u: send 8b to 0 tag 9
          t requires s
          u requires t
        }
        rank 2 { x: calc 1000000000000 }";
    let says = [
        "the time is up; ",
        "rank 1, send `s` (line 10) waits for rank 0 to receive its 1000 bytes",
        "reached the limit of 1000 bytes",
        "rank 2, calc `x` (line 16) was under way",
    ];
    ends(text, &["--unexpected-limit", "1000", "--timeout", &timeout(1)], 5, &says);
}

#[test]
fn a_size_mismatch_names_both_ends() {
    let text = "
        rank 0 { a: recv 8b from 1 tag 1 }
        rank 1 {
          s: send 16b to 0 tag 1
        }";
    let says =
        ["rank 0, recv `a` (line 2): receives 8 bytes", "has 16", "rank 1, send `s` (line 4)"];
    ends(text, &[], 1, &says);
    ends(text, &["--eager-limit", "0"], 1, &says);
}

#[test]
fn expectations_that_are_not_met() {
    let text = "num_ranks 2
        rank * { init 0 = Int32 1 2 3  expect 0 = Int32 1 5 3 }";
    let says = [
        "rank 0: address 4 holds Int32 2, expected 5",
        "rank 1: address 4 holds Int32 2, expected 5",
    ];
    ends(text, &[], 1, &says);
}

#[test]
fn expectations_hold_for_every_instance() {
    // Each instance starts with the initial value anew.
    let text = "rank 0 { init 0 = Int32 1 1  expect 0 = Int32 2 1  exec sumInt32 with 4,4 0,4 }";
    ends(text, &["--repeat", "1000"], 0, &[]);
    let wrong = text.replace("expect 0 = Int32 2", "expect 0 = Int32 3");
    ends(
        &wrong,
        &["--repeat", "1000"],
        1,
        &["rank 0, instance 1: address 0 holds Int32 2, expected 3"],
    );
}

#[test]
fn what_derives_from_the_clock_is_not_compared() {
    let text = |wanted: i32| {
        format!(
            "rank 0 {{
               t: exec wtime with 0,8
               s: send 0,8 to 1
               s requires t
               expect 0 = Float64 0.5
             }}
             rank 1 {{ recv 0,8 from 0  expect 0 = Float64 0.5  expect 8 = Int32 {wanted} }}"
        )
    };
    ends(&text(0), &["--verify"], 0, &[]);
    ends(&text(1), &[], 1, &["rank 1: address 8 holds Int32 0, expected 1"]);
}

#[test]
fn failures_of_local_operations() {
    let text = "rank 0 {
        init 0 = Int32 1 0
        x: exec divInt32 with 0,4 4,4
    }";
    ends(text, &[], 1, &["rank 0, exec `x` (line 3): element 0 is divided by zero"]);
    ends("rank 0 { exec user 3 with 0,4 4,4 }", &[], 1, &["no function is registered as user 3"]);
}

#[test]
fn a_message_that_no_receive_takes_is_a_warning() {
    let text = "rank 0 { send 8b to 1  send 8b to 1 tag 4 } rank 1 { recv 8b from 0 }";
    ends(text, &[], 0, &["warning: 1 message was sent that no receive took"]);
    let ended = run_text(text, &["--no-check", "--repeat", "5", "--format", "json"]);
    assert_eq!(ended.json()["unreceived"], 5);
    assert_eq!(ended.json()["messages"], 10);
}

#[test]
fn the_time_can_be_limited() {
    let text = "num_ranks 2 rank * { c: calc 1000000000000 }";
    let says = ["the time is up; 2 actions of 2 ranks", "rank 0, calc `c` (line 1) was under way"];
    ends(text, &["--timeout", &timeout(1)], 5, &says);
    ends(text, &["--calc", "skip"], 0, &[]);
    ends(text, &["--calc", "0.000001"], 0, &[]);
}

#[test]
fn the_number_of_ranks_must_be_the_programs() {
    let text = "num_ranks 2 rank * { calc 1 }";
    ends(text, &["-n", "2"], 0, &[]);
    ends(text, &["-n", "3"], 2, &["the program has 2 ranks, -n asks for 3"]);
}

#[test]
fn wrong_input_and_wrong_arguments() {
    ends("rank 0 { send }", &[], 1, &["error"]);
    ends("rank 0 { calc 1 }", &["--repeat", "0"], 2, &["--repeat"]);
    ends("rank 0 { calc 1 }", &["--calc", "fast"], 2, &["spin, skip or a factor"]);
    ends(
        "rank 0 { send 0,1000000 to 0  recv 1000000,1000000 from 0 }",
        &["--max-segment", "1M"],
        2,
        &["--max-segment"],
    );
    let ended = run_text("rank 0 { send }", &["--format", "json"]);
    assert_eq!(ended.json()["status"], "failed");
}

#[test]
fn memory_can_be_dumped() {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("new");
    for transport in TRANSPORTS {
        let text = "rank 0 { init 0 = UInt8 1 2 3  send 0,3 to 1 } rank 1 { recv 2,3 from 0 }";
        let ended = run_text(text, &["--dump", into.to_str().unwrap(), "--transport", transport]);
        ended.assert_status(0);
        assert_eq!(std::fs::read(into.join("rank-0.bin")).unwrap(), [1, 2, 3]);
        assert_eq!(std::fs::read(into.join("rank-1.bin")).unwrap(), [0, 0, 1, 2, 3]);
    }
}

#[test]
fn ten_thousand_instances_without_a_barrier() {
    // The sender may run ahead: only the limit on unexpected messages holds it back.
    let text = "
        rank 0 { init 0 = Int32 7  send 0,4 to 1  send 100b to 1 tag 1 }
        rank 1 { recv 0,4 from 0  recv 100b from 0 tag 1  expect 0 = Int32 7 }";
    for transport in TRANSPORTS {
        let arguments = [
            "--repeat",
            "10000",
            "--verify",
            "--transport",
            transport,
            "--format",
            "json",
            "--unexpected-limit",
            "10K",
        ];
        let ended = run_text(text, &arguments);
        ended.assert_status(0);
        assert_eq!(ended.json()["messages"], 20_000);
        assert_eq!(ended.json()["bytes"], 1_040_000);
        assert_eq!(ended.json()["verified_bytes"], 1_000_000);
    }
}

#[test]
fn many_ranks() {
    let ring = |ranks: u32| {
        let rank = |rank| {
            let (below, above) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
            let order = if rank == 0 { "r requires s" } else { "s requires r" };
            format!("rank {rank} {{ r: recv 8b from {below}  s: send 8b to {above}  {order} }}\n")
        };
        (0..ranks).map(rank).collect::<String>()
    };
    for (ranks, transport) in [(200, "shm"), (2000, "threads")] {
        let ended = run_text(&ring(ranks), &["--transport", transport, "--format", "json"]);
        ended.assert_status(0);
        assert_eq!(ended.json()["messages"], ranks);
    }
}

#[test]
fn a_chain_of_a_hundred_thousand_receives() {
    let length = 100_000;
    let mut text = "num_ranks 2\n".to_owned();
    for (rank, action) in [(0, "send 1b to 1"), (1, "recv 1b from 0")] {
        text.push_str(&format!("rank {rank} {{\na0: {action}\n"));
        for i in 1..length {
            text.push_str(&format!("a{i}: {action}\na{i} requires a{}\n", i - 1));
        }
        text.push_str("}\n");
    }
    ends(&text, &["--verify"], 0, &[]);
    // Nothing comes, and all of the chain waits.
    let stuck = text.replace("send 1b to 1", "calc 1");
    ends(&stuck, &["--calc", "skip"], 3, &["100000 actions of 1 rank", "... and 99980 more"]);
}

#[test]
fn room_is_looked_for_while_a_rank_computes() {
    // More ranks than processors, most likely, so that a rank that computes sleeps; the operation
    // keeps rank 1 from receiving until there is no room.
    let mut text = "num_ranks 64 rank 0 { calc 1000000000000 ".to_owned();
    text.push_str(&"send 16000b to 1 ".repeat(100));
    text.push_str(
        "} rank 1 { exec sumInt8 with 0,64000000 64000000,64000000  e: exec divInt32 with 128000000,8 128000008,8 ",
    );
    for i in 0..100 {
        text.push_str(&format!("r{i}: recv 16000b from 0  e requires r{i} "));
    }
    text.push('}');
    ends(&text, &["--timeout", &timeout(20)], 1, &["rank 1, ", "divided by zero"]);
}
