use crate::{Options, check};
use goal_lang::diag::Report;
use goal_lang::{ParseOptions, SourceMap};
use std::sync::Arc;

mod random;

fn report(text: &str) -> (Report, SourceMap) {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    let parsed = goal_lang::parse(&sources, &ParseOptions::default());
    let program = parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.report));
    (check(&program, Some(&sources), &Options::default()), sources)
}

/// The messages of a program's findings about accesses.
fn messages(text: &str) -> Vec<String> {
    let kinds = ["race", "uninitialised-read", "lost-data", "check-incomplete"];
    let (report, _) = report(text);
    let about = report.diagnostics.into_iter().filter(|found| kinds.contains(&found.code.kind()));
    about.map(|found| format!("{}: {}", found.code.kind(), found.message)).collect()
}

#[track_caller]
fn assert_messages(text: &str, expected: &[&str]) {
    assert_eq!(messages(text), expected, "{text}");
}

#[test]
fn a_send_races_with_the_receive_that_fills_its_buffer() {
    assert_messages(
        "rank 0 {
            r: recv 0,8 from 1;
            s: send 4,8 to 1;
        }
        rank 1 { send 0,8 to 0; recv 16,8 from 0; }",
        &[
            "race: rank 0: recv `r` (line 2) writes bytes 4 to 7 of memory and send `s` (line 3) reads them, in no order",
        ],
    );
}

#[test]
fn a_later_overlap_is_found_behind_an_ordered_one() {
    assert_messages(
        "rank 0 {
            a: exec copyInt8 with 64,8 0,8;
            b: exec copyInt8 with 64,4 0,4;
            c: exec sumInt8 with 72,8 0,8;
            b requires a;
            c requires a;
        }",
        &[
            "race: rank 0: exec `b` (line 3) writes bytes 0 to 3 of memory and exec `c` (line 4) updates them, in no order",
        ],
    );
}

#[test]
fn accumulators_race_and_operands_do_not() {
    assert_messages(
        "rank 0 { a: exec sumInt8 with 0,1 1,1; b: exec sumInt8 with 0,1 2,1; c: send 0,1 to 0; recv 3,1 from 0; }",
        &[],
    );
    assert_eq!(
        messages("rank 0 { a: exec sumInt8 with 0,1 1,1; b: exec sumInt8 with 2,1 1,1; }").len(),
        1
    );
}

#[test]
fn a_start_dependency_is_not_enough() {
    let text = |kind: &str| {
        format!(
            "rank 0 {{ a: exec copyInt8 with 0,1 1,1; b: send 1,1 to 0; recv 9,1 from 0; b {kind} a; }}"
        )
    };
    assert_eq!(messages(&text("irequires")).len(), 1);
    assert_messages(&text("requires"), &[]);
}

#[test]
fn a_reply_orders_accesses_of_a_rank() {
    let text = |reply: &str| {
        format!(
            "rank 0 {{ s: send 0,8 to 1; r: recv 0,8 from 1; }}
             rank 1 {{ a: recv 0,8 from 0; b: send 0,8 to 0; {reply} }}"
        )
    };
    assert_messages(&text("b requires a;"), &[]);
    // Both ranks race: each receives into bytes that it may still be sending.
    assert_eq!(messages(&text("")).len(), 2);
}

#[test]
fn ranks_with_one_body_are_told_together() {
    assert_messages(
        "rank #0, #1, #2 { a: exec copyInt8 with 0,1 1,1; b: exec copyInt8 with 2,1 1,1; }",
        &[
            "race: ranks 0 to 2: exec `a` (line 1) writes byte 1 of memory and exec `b` (line 1) writes it, in no order",
        ],
    );
}

#[test]
fn pieces_of_one_receive_race_with_each_other() {
    assert_messages(
        "rank 0 { r: recv [0,4 2,4] from 0; send 16,8 to 0; }",
        &["race: rank 0: recv `r` (line 1) stores bytes 2 to 3 of memory twice"],
    );
}

#[test]
fn scratch_memory_is_read_after_it_was_written() {
    assert_messages(
        "rank 0 {
            scratch 16;
            w: exec copyInt8 with 0,4 @4,4;
            s: send @2,8 to 0;
            r: recv 8,8 from 0;
            s requires w;
        }",
        &[
            "uninitialised-read: rank 0: send `s` (line 4) reads bytes 2 to 3 of scratch memory, which nothing wrote",
        ],
    );
}

#[test]
fn a_forgotten_dependency_is_a_race_and_nothing_else() {
    let found = messages(
        "rank 0 { scratch 4; s: send @0,4 to 0; r: recv 8,4 from 0; w: exec copyInt8 with 0,4 @0,4; }",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("race: "));
}

#[test]
fn what_a_user_function_reads_may_be_its_output() {
    assert_messages(
        "rank 0 { scratch 8; u: exec user 1 with 0,4 @0,8; s: send @4,4 to 0; recv 8,4 from 0; s requires u; }",
        &[],
    );
}

#[test]
fn received_bytes_that_are_overwritten_unread_are_lost() {
    let text = |between: &str| {
        format!(
            "rank 0 {{ a: recv 0,8 from 1 tag 1; b: recv 4,8 from 1 tag 2; b requires a; {between} }}
             rank 1 {{ send 0,8 to 0 tag 1; send 0,8 to 0 tag 2; recv 8,4 from 0 tag 3; }}"
        )
    };
    let [lost] = &messages(&text("s: send 0,4 to 1 tag 3; s requires a;"))[..] else {
        panic!("one finding")
    };
    assert_eq!(
        lost,
        "lost-data: rank 0: bytes 4 to 7 of memory of recv `a` (line 1) are overwritten by recv `b` (line 1) before anything reads them"
    );
    assert_messages(&text("s: send 4,4 to 1 tag 3; s requires a; b requires s;"), &[]);
}

#[test]
fn a_chain_of_a_hundred_thousand_is_decided() {
    let mut text = String::from("rank 0 {\n");
    for step in 0..100_000 {
        text.push_str(&format!("l{step}: exec sumInt8 with {},1 0,1;\n", 1 + step % 7));
        if step > 0 {
            text.push_str(&format!("l{step} requires l{};\n", step - 1));
        }
    }
    // One more action, which waits for the first only.
    text.push_str("x: exec copyInt8 with 8,1 0,1; x requires l0;\n}");
    let found = messages(&text);
    assert_eq!(found.len(), 1, "{found:?}");
}

/// Beside a deadlock, races are reported that no message could remove: the operation leads to no
/// send and follows no receive.
#[test]
fn races_of_actions_that_are_never_reached_are_found() {
    let text = |operation: &str| {
        format!(
            "rank 0 {{
                a: recv 0,4 from 1; b: send 4,4 to 1; b requires a;
                c: recv 8,4 from 1 tag 1;
                {operation}
            }}
            rank 1 {{ a: recv 0,4 from 0; b: send 4,4 to 0; b requires a; send 8,4 to 0 tag 1; }}"
        )
    };
    let race = "race: rank 0: recv `a` (line 2) writes bytes 0 to 3 of memory and exec `x` (line 4) updates them, in no order";
    assert_messages(&text("x: exec sumInt32 with 32,4 0,4;"), &[race]);
    // `c` may receive a message that is sent after `b`.
    assert_messages(&text("x: exec sumInt32 with 32,4 0,4; x requires c;"), &[]);
    let both = "race: rank 0: exec `x` (line 4) updates bytes 40 to 43 of memory and exec `y` (line 4) updates them, in no order";
    let after = "x: exec sumInt32 with 32,4 40,4; y: exec sumInt32 with 36,4 40,4; x requires a; y requires a;";
    assert_messages(&text(after), &[both]);
}
