use super::messages::messages;
use super::{dot, dot_of_ranks};
use goal_lang::{Action, Body, BodyBuilder, ParseOptions, Program, SourceMap, parse};
use goal_opt::whole::Whole;
use std::sync::Arc;

fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    parse(&sources, &ParseOptions::default()).program.expect("the text is right")
}

fn bodies(text: &str) -> Vec<Body> {
    program(text).bodies
}

const SMALL: &str = "rank 0 {
    a: send 8b to 1 tag 7
    b: recv 0,8 from any
    c: exec sumInt32 with 0,8 8,8
    calc 5
    c requires b
    c irequires a
}
rank 1 {}";

#[test]
fn dot_of_a_small_graph() {
    let mut out = Vec::new();
    dot(&bodies(SMALL)[0], 3, &mut out).unwrap();
    let wanted = r##"digraph "rank 3" {
  rankdir=LR;
  node [shape=box, style="rounded,filled", fontname="monospace"];
  a0 [label="a: send 8b to 1 tag 7", fillcolor="#fde0c5"];
  a1 [label="b: recv 0,8 from any", fillcolor="#d3e5f8"];
  a2 [label="c: exec sumInt32 with 0,8 8,8", fillcolor="#d9efd3"];
  a3 [label="calc 5", fillcolor="#e8e8e8"];
  a1 -> a2;
  a0 -> a2 [style=dashed];
}
"##;
    assert_eq!(String::from_utf8(out).unwrap(), wanted);
}

/// A label as only a hostile debug section has it.
fn hostile() -> Body {
    let mut builder = BodyBuilder::default();
    builder.labelled("a\"]; \\ <b>&\u{1}\n", Action::Nop);
    builder.finish()
}

#[test]
fn labels_are_escaped() {
    let mut out = Vec::new();
    dot(&hostile(), 0, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("label=\"a\\\"]; \\\\ <b>&\u{fffd}\u{fffd}: nop\""), "{text}");
}

/// Returns the messages of a program, as ranks and positions of their ends.
fn ends(text: &str) -> Vec<[(u32, u32); 2]> {
    let program = program(text);
    let whole = Whole::new(&program).expect("few actions");
    let end = |vertex| (whole.rank(vertex), whole.id(vertex).0);
    messages(&whole).iter().map(|&(send, receive)| [end(send), end(receive)]).collect()
}

#[test]
fn messages_are_those_of_a_run() {
    let text = "rank 0 { a: calc 1 b: send 8b to 1 b requires a }
        rank 1 { a: recv 8b from any b: send 8b to 2 tag 3 b requires a }
        rank 2 { recv 8b from 1 tag any }";
    assert_eq!(ends(text), [[(0, 1), (1, 0)], [(1, 1), (2, 0)]]);
}

#[test]
fn the_messages_of_a_deadlock_are_there_too() {
    let text = "rank 0 { r: recv 8b from 1 s: send 8b to 1 s requires r }
        rank 1 { r: recv 8b from 0 s: send 8b to 0 s requires r }";
    assert_eq!(ends(text), [[(1, 1), (0, 0)], [(0, 1), (1, 0)]]);
}

#[test]
fn dot_of_all_ranks_has_a_line_for_each_message() {
    let text = "rank 0 { send 8b to 1; send 8b to 1; } rank 1 { recv 8b from 0; recv 8b from any }";
    let mut out = Vec::new();
    dot_of_ranks(&program(text), &mut out).unwrap();
    let dot = String::from_utf8(out).unwrap();
    assert_eq!((dot.matches("#b5482a").count(), dot.matches("subgraph").count()), (2, 2), "{dot}");
}
