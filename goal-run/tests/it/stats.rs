//! Tests `--stats`, the counts of ranks.

use crate::common::{TRANSPORTS, run_text};
use serde_json::Value;

fn stats(text: &str, arguments: &[&str]) -> Value {
    let ended = run_text(text, &[arguments, &["--stats", "--format", "json"]].concat());
    ended.assert_status(0);
    let report = ended.json();
    for key in ["messages", "bytes"] {
        assert_eq!(report["stats"]["all"][key], report[key], "{report}");
    }
    report["stats"].clone()
}

#[test]
fn messages_are_told_apart_by_their_way() {
    let text = "rank 0 { send 8b to 1 tag 1  send 200000b to 1 tag 2  send 0,200000 to 1 tag 3 }
rank 1 { recv 8b from 0 tag 1  recv 200000b from 0 tag 2  recv 0,200000 from 0 tag 3 }";
    for transport in TRANSPORTS {
        let ways = |limit| {
            let stats =
                stats(text, &["--transport", transport, "--eager-limit", limit, "--repeat", "3"]);
            ["eager", "in_parts", "in_messages", "read_in_place"].map(|key| {
                [&stats["ranks"][0], &stats["ranks"][1]].map(|counts| counts[key].as_u64().unwrap())
            })
        };
        assert_eq!(ways("16K"), [[3, 0], [0, 0], [3, 0], [3, 0]]);
        assert_eq!(ways("1M"), [[3, 0], [6, 0], [0, 0], [0, 0]]);
    }
}

#[test]
fn ranks_that_both_send_write_to_the_buffers_of_each_other() {
    let exchange = |peer| format!("{{ send 0,100000 to {peer}  recv 100000,100000 from {peer} }}");
    let text = format!("rank 0 {}\nrank 1 {}", exchange(1), exchange(0));
    for transport in TRANSPORTS {
        let stats = stats(&text, &["--transport", transport, "--repeat", "50"]);
        let of = |key: &str| stats["all"][key].as_u64().unwrap();
        // A rank that has sent its message before the other's request arrives reads that one.
        assert_eq!(of("read_in_place") + of("written_in_place"), 100, "{stats}");
        assert!(transport != "shm" || of("written_in_place") >= 50, "{stats}");
    }
}

#[test]
fn messages_that_came_early_and_queues() {
    let text = "rank 0 { a: send 8b to 1 tag 1  b: send 8b to 1 tag 2  b requires a }
rank 1 { c: recv 8b from 0 tag 2  d: recv 8b from 0 tag 1  d requires c  nop nop nop nop }";
    let stats = stats(text, &[]);
    let of = |key: &str| stats["ranks"][1][key].as_u64().unwrap();
    // The first message comes before the second one, without which its receive is not posted.
    assert!((1..=2).contains(&of("unexpected")), "{stats}");
    assert!(of("kept_max") >= 1 && of("unexpected_bytes_max") >= 8, "{stats}");
    assert_eq!(of("ready_max"), 5);
    assert!(of("polls") > 0 && of("posted_max") <= 1, "{stats}");
    assert_eq!(stats["ranks"][0]["unexpected"], 0);
}

#[test]
fn receives_that_wait() {
    for source in ["1", "any"] {
        let text = format!(
            "rank 0 {{ a: recv 8b from {source} tag 1  b: recv 8b from 1 tag 1  c: recv 8b from 1 tag 2  s: send 8b to 1
s irequires a  s irequires b  s irequires c }}
rank 1 {{ g: recv 8b from 0  a: send 8b to 0 tag 1  b: send 8b to 0 tag 1  c: send 8b to 0 tag 2
a requires g  b requires g  c requires g }}"
        );
        let stats = stats(&text, &["--repeat", "2", "--no-check"]);
        assert_eq!(stats["ranks"][0]["posted_max"], 3, "{stats}");
        assert_eq!(stats["ranks"][1]["posted_max"].as_u64().unwrap() / 2, 0, "{stats}");
    }
}

#[test]
fn a_job_that_is_stuck_tells_them_too() {
    let text = "rank 0 { send 8b to 1  recv 8b from 1 }\nrank 1 { recv 8b from 0 }";
    let modes = ["--progress=caller", "--progress=thread", "--progress=node", "--wait=block"];
    for mode in modes {
        let ended = run_text(text, &["--no-check", "--stats", mode]);
        ended.assert_status(3);
        let lines: Vec<Vec<&str>> =
            ended.out.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0][..3], ["rank", "messages", "bytes"], "{ended:?}");
        assert_eq!(lines[1][..4], ["0", "1", "8", "1"], "{ended:?}");
        assert_eq!(lines[3][..4], ["all", "1", "8", "1"], "{ended:?}");
    }
}
