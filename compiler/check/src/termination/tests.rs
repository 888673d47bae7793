use super::{Verdict, decide};
use crate::order::SharedOrder;
use goal_lang::{ParseOptions, Program, SourceMap};
use goal_opt::whole::{Room, Run, Whole};
use std::sync::Arc;

fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    let parsed = goal_lang::parse(&sources, &ParseOptions::default());
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.report))
}

/// Returns the verdict with an eager limit and, if given, a bound on the room.
fn verdict(text: &str, eager_limit: u64, room: Option<u64>, effort: u64) -> Verdict {
    let program = program(text);
    let whole = Whole::new(&program).expect("a small program");
    let trace = Run::new(&whole).finish(u64::MAX);
    assert!(trace.is_complete());
    let room = room.map(|limit| Room::new(&whole, eager_limit, limit).expect("room may lack"));
    let mut order = SharedOrder::new(&whole, &trace);
    decide(&whole, &trace, &mut order, eager_limit, room.as_ref(), effort)
}

fn receives_with_different_dependents(source: &str, order: &str) -> String {
    format!(
        "rank 0 {{ a: recv 8b from {source}; b: recv 8b from 1; c: send 8b to 1 tag 1; c requires a; {order} }}
         rank 1 {{ a: send 8b to 0; r: recv 8b from 0 tag 1; b: send 8b to 0; b requires r; }}"
    )
}

#[test]
fn which_receive_is_posted_first_decides() {
    assert!(matches!(
        verdict(&receives_with_different_dependents("1", ""), 64, None, 1),
        Verdict::Hangs(_)
    ));
    let ordered = receives_with_different_dependents("any", "b irequires a;");
    assert!(matches!(verdict(&ordered, 64, None, 1), Verdict::Ends));
}

/// The messages of 200 ranks in any order have far more orders than can be searched.
#[test]
fn much_that_comes_in_any_order_is_proved() {
    let recvs: String = (0..200)
        .map(|at| format!("r{at}: recv 8b from any; c{at}: calc 1; c{at} requires r{at};\n"))
        .collect();
    let mut text = format!("num_ranks 201\nrank 0 {{ {recvs} }}\n");
    for rank in 1..=200 {
        text += &format!("rank {rank} {{ s: send 8b to 0; c: calc 1; c requires s; }}\n");
    }
    for eager_limit in [0, 64] {
        assert!(matches!(verdict(&text, eager_limit, None, 1), Verdict::Ends));
    }
}

#[test]
fn without_work_nothing_is_decided() {
    // The sizes differ, so it matters that `named` is posted first. Only a search shows this.
    let text = "rank 0 { named: recv 8b from 1; any: recv 4b from any; any irequires named; }
                rank 1 { send 8b to 0; }
                rank 2 { send 4b to 0; }";
    assert!(matches!(verdict(text, 64, None, 0), Verdict::Unknown));
    assert!(matches!(verdict(text, 64, None, 1), Verdict::Ends));
}

#[test]
fn another_order_may_bring_another_size() {
    let text = "rank 0 { recv 8b from any; recv 4b from any; } rank 1 { send 8b to 0; } rank 2 { send 4b to 0; }";
    let program = program(text);
    let whole = Whole::new(&program).expect("a small program");
    let trace = Run::new(&whole).finish(64);
    let found = decide(&whole, &trace, &mut SharedOrder::new(&whole, &trace), 64, None, 1);
    assert!(matches!(found, Verdict::SizesDiffer(..)));
}

/// With room, rank 1 goes on and takes both messages; without, it may wait for its own message to
/// be taken.
#[test]
fn room_that_may_lack_decides() {
    let text = "rank 0 { a: recv 8b from any; b: recv 8b from any; c: recv 8b from 1 tag 1; b requires c; }
                rank 1 { a: send 8b to 0; c: send 8b to 0 tag 1; c requires a; }
                rank 2 { send 8b to 0; }";
    assert!(matches!(verdict(text, 64, None, 1), Verdict::Ends));
    assert!(matches!(verdict(text, 64, Some(10), 1), Verdict::Hangs(_)));
}
