//! Tests messages of a rank to itself and to others on every combination of transports.

use crate::common::run_text;

/// Bytes: in the envelope's cache line, in one message, in parts, and above the eager limit.
const SIZES: [u32; 5] = [0, 8, 5_000, 16_000, 300_000];

/// Each rank sends itself and its peer a message of each size, in order. It sends each arrived
/// message on to itself. So receives come before and after their messages.
fn program() -> String {
    let mut text = "num_ranks 2\n".to_owned();
    for rank in 0..2 {
        text.push_str(&format!("rank {rank} {{ init 0 = UInt8 {rank} 7 9\n"));
        for (i, size) in SIZES.into_iter().enumerate() {
            let at = |slot: usize| (1 + 3 * i + slot) * 300_000;
            text.push_str(&format!(
                "send 0,{size} to {rank} tag {i}  a{i}: recv {},{size} from {rank} tag {i}
                 send 0,{size} to {} tag {i}  recv {},{size} from {} tag {i}
                 b{i}: send {},{size} to {rank} tag 9{i}  b{i} requires a{i}
                 c{i}: recv {},{size} from {rank} tag 9{i}  send {size}b to {rank} tag 8{i}  recv {size}b from {rank} tag 8{i}\n",
                at(0),
                1 - rank,
                at(1),
                1 - rank,
                at(0),
                at(2),
            ));
        }
        text.push_str("}\n");
    }
    text
}

#[test]
fn messages_to_oneself_and_to_others() {
    for transport in ["auto", "shm", "local,shm", "shm,local", "^local", "threads"] {
        for limits in
            [["--eager-limit", "0"], ["--eager-limit", "16K"], ["--unexpected-limit", "200"]]
        {
            let arguments = [
                "--transport",
                transport,
                "--verify",
                "--repeat",
                "3",
                "--format",
                "json",
                limits[0],
                limits[1],
            ];
            let ended = run_text(&program(), &arguments);
            ended.assert_status(0);
            let report = ended.json();
            assert_eq!(report["messages"], 3 * 2 * 4 * SIZES.len(), "{transport}");
            let threads = if transport == "threads" { "threads" } else { "processes" };
            assert_eq!(report["ranks_as"], threads);
        }
    }
}

#[test]
fn a_long_row_of_messages_to_oneself() {
    // More than any queue holds at once, sent before the first is received.
    let mut text = "rank 0 { first: calc 1 ".to_owned();
    for i in 0..3_000 {
        text.push_str(&format!(
            "s{i}: send 100b to 0 tag {i}  r{i}: recv 100b from 0 tag {i}  r{i} requires first "
        ));
    }
    text.push('}');
    for transport in ["local", "shm"] {
        let ended = run_text(&text, &["--transport", transport, "--format", "json"]);
        ended.assert_status(0);
        assert_eq!(ended.json()["verified_bytes"], 300_000);
    }
}

#[test]
fn a_rank_that_waits_for_itself_is_stuck_on_every_transport() {
    for transport in ["local", "shm", "threads"] {
        let ended =
            run_text("rank 0 { recv 8b from 0 tag 1 }", &["--no-check", "--transport", transport]);
        ended.assert_status(3);
        ended.assert_says(&["waits for a message from rank 0 with tag 1"]);
    }
}

/// The program has a race, so the bytes that arrive are not defined. The job ends all the same.
#[test]
fn a_message_to_oneself_may_overwrite_itself() {
    for (from, into) in [(0, 100), (100, 0), (0, 0)] {
        let text = format!("rank 0 {{ send {from},300000 to 0  recv {into},300000 from 0 }}");
        for transport in ["auto", "shm"] {
            run_text(&text, &["--transport", transport, "--no-check"]).assert_status(0);
        }
    }
}
