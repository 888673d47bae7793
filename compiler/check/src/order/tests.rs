use super::*;
use goal_lang::{ParseOptions, Program, SourceMap};
use goal_opt::whole::Run;
use std::sync::Arc;

fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    let parsed = goal_lang::parse(&sources, &ParseOptions::default());
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.report))
}

/// The action with a label.
fn find(whole: &Whole<'_>, label: &str) -> Vertex {
    let labelled =
        |&vertex: &Vertex| whole.body(vertex).debug.labels.get(whole.id(vertex)) == Some(label);
    whole.vertices().find(labelled).unwrap_or_else(|| panic!("no {label}"))
}

/// Asserts, for pairs of labels, if the accesses of the first come before those of the second.
#[track_caller]
fn assert_order(text: &str, expected: &[(&str, &str, Ordered)]) {
    let program = program(text);
    let whole = Whole::new(&program).expect("few actions");
    let trace = Run::new(&whole).finish(u64::MAX);
    let mut order = SharedOrder::new(&whole, &trace);
    let order = order.order().expect("few actions");
    for &(first, second, ordered) in expected {
        let answer = order.accesses_before(find(&whole, first), find(&whole, second));
        assert_eq!(answer, ordered, "{first} before {second}");
    }
}

#[test]
fn a_reply_comes_after_what_it_replies_to() {
    let text = "
        rank 0 { s: send 0,8 to 1; r: recv 8,8 from 1; w: exec copyInt8 with 8,1 0,1; w requires r; }
        rank 1 { a: recv 0,8 from 0; b: send 0,8 to 0; b requires a; }";
    let (yes, no) = (Ordered::Yes, Ordered::No);
    // When the reply has come, the request was received, so its buffer is free. The reply stores
    // nothing before the request is sent.
    assert_order(
        text,
        &[("s", "w", yes), ("s", "r", yes), ("r", "s", no), ("a", "r", yes), ("w", "a", no)],
    );
}

#[test]
fn a_start_dependency_orders_starts_only() {
    let text = "rank 0 { a: calc 1; b: calc 1; c: calc 1; b irequires a; c requires b; }";
    assert_order(
        text,
        &[("a", "b", Ordered::No), ("a", "c", Ordered::No), ("b", "c", Ordered::Yes)],
    );
}

#[test]
fn messages_that_may_be_exchanged_order_nothing() {
    let text = |order: &str| {
        format!(
            "rank 0 {{ x: calc 1; s: send 0,8 to 1; t: send 0,8 to 1; s requires x; {order} }}
             rank 1 {{ a: recv 0,8 from 0; b: recv 8,8 from 0; y: calc 1; b irequires a; y requires a; }}"
        )
    };
    assert_order(&text(""), &[("x", "y", Ordered::No)]);
    assert_order(&text("t irequires s;"), &[("x", "y", Ordered::Yes)]);
}

#[test]
fn the_messages_of_a_ping_pong_are_in_order_though_no_rank_alone_says_so() {
    let text = |wait: &str| {
        format!(
            "rank 0 {{
                s: send 0,8 to 1; r: recv 0,8 from 1;
                t: send 0,8 to 1; q: recv 0,8 from 1;
                {wait} q requires r;
            }}
            rank 1 {{
                a: recv 0,8 from 0; b: send 0,8 to 0; c: recv 0,8 from 0; d: send 0,8 to 0;
                b requires a; c requires b; d requires c;
            }}"
        )
    };
    let (yes, no) = (Ordered::Yes, Ordered::No);
    assert_order(
        &text("t requires r;"),
        &[("s", "r", yes), ("s", "t", yes), ("t", "q", yes), ("q", "t", no)],
    );
    // Either of the sends may be the first.
    assert_order(&text(""), &[("s", "r", no), ("t", "q", no), ("a", "r", yes)]);
}

#[test]
fn a_wildcard_that_only_one_message_fits_is_none() {
    let text = |tag: u32| {
        format!(
            "rank 0 {{ x: calc 1; s: send 0,8 to 1 tag 1; s requires x; }}
             rank 1 {{ a: recv 0,8 from any tag 1; y: calc 1; b: recv 8,8 from 2 tag {tag}; y requires a; }}
             rank 2 {{ send 0,8 to 1 tag {tag}; }}"
        )
    };
    assert_order(&text(2), &[("x", "y", Ordered::Yes)]);
    assert_order(&text(1), &[("x", "y", Ordered::No)]);
}

/// The answers agree with a walk over the graph of events.
#[test]
fn answers_are_those_of_a_walk() {
    for seed in 0..goal_filetest::seeds(300) {
        let program = goal_smith::program(seed, &goal_smith::Shape::varied(seed));
        let whole = Whole::new(&program).expect("few actions");
        let trace = Run::new(&whole).finish(u64::MAX);
        let mut order = SharedOrder::new(&whole, &trace);
        let order = order.order().expect("few actions");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..whole.len().min(4) {
            let first = Vertex::new(random.usize(..whole.len()));
            let after = walk(&whole, order, first);
            for second in whole.vertices() {
                let expected = match after.contains(&Event::Start(second))
                    || (whole.is_recv(second)
                        && order
                            .partner(second)
                            .is_some_and(|send| after.contains(&Event::Start(send))))
                {
                    true => Ordered::Yes,
                    false => Ordered::No,
                };
                assert_eq!(
                    order.accesses_before(first, second),
                    expected,
                    "seed {seed}, {first:?} {second:?}"
                );
            }
        }
    }
}

/// The events that happen after the accesses of an action.
fn walk(
    whole: &Whole<'_>,
    order: &Order<'_, '_>,
    first: Vertex,
) -> std::collections::HashSet<Event> {
    let mut todo = vec![Event::End(first)];
    if !whole.is_recv(first) {
        todo.extend(order.partner(first).map(Event::End));
    }
    let mut seen = std::collections::HashSet::new();
    while let Some(event) = todo.pop() {
        if !seen.insert(event) {
            continue;
        }
        match event {
            Event::Start(vertex) => {
                todo.push(Event::End(vertex));
                todo.extend(whole.irequires(vertex).map(Event::Start));
                if !whole.is_recv(vertex) {
                    todo.extend(order.partner(vertex).map(Event::End));
                }
            }
            Event::End(vertex) => todo.extend(whole.requires(vertex).map(Event::Start)),
        }
    }
    seen
}
