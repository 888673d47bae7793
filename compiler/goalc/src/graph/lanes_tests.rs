use super::messages::{columns, messages};
use super::{dot_of_ranks, svg_of_ranks};
use crate::limits::SVG_ACTIONS_MAX;
use goal_lang::{ParseOptions, Program, SourceMap, parse};
use goal_opt::whole::Whole;
use std::fs;
use std::sync::Arc;

fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    parse(&sources, &ParseOptions::default()).program.expect("the text is right")
}

/// The messages of a program, as ranks and positions of their ends, and the column of every action.
fn placed(text: &str) -> (Vec<[(u32, u32); 2]>, Vec<usize>) {
    let program = program(text);
    let whole = Whole::new(&program).expect("few actions");
    let messages = messages(&whole);
    let columns = columns(&whole, &messages);
    let end = |vertex| (whole.rank(vertex), whole.id(vertex).0);
    (messages.iter().map(|&(send, receive)| [end(send), end(receive)]).collect(), columns)
}

#[test]
fn messages_run_from_left_to_right() {
    let text = "rank 0 { a: calc 1 b: send 8b to 1 b requires a }
        rank 1 { a: recv 8b from any b: send 8b to 2 tag 3 b requires a }
        rank 2 { recv 8b from 1 tag any }";
    assert_eq!(placed(text), (vec![[(0, 1), (1, 0)], [(1, 1), (2, 0)]], vec![0, 1, 2, 3, 4]));
}

#[test]
fn a_message_whose_send_waits_for_its_receive_does_not_hang_the_picture() {
    let text = "rank 0 { r: recv 8b from 1 s: send 8b to 1 s irequires r }
        rank 1 { r: recv 8b from 0 s: send 8b to 0 s irequires r }";
    let (messages, columns) = placed(text);
    assert_eq!(messages.len(), 2);
    assert_eq!(columns[0], 0);
    assert!(columns[1] == 1 && columns[3] > columns[2], "{columns:?}");
}

#[test]
fn the_messages_of_a_deadlock_are_drawn_too() {
    let text = "rank 0 { r: recv 8b from 1 s: send 8b to 1 s requires r }
        rank 1 { r: recv 8b from 0 s: send 8b to 0 s requires r }";
    assert_eq!(placed(text).0, [[(1, 1), (0, 0)], [(0, 1), (1, 0)]]);
}

fn drawn(program: &Program) -> (u32, String) {
    let mut out = Vec::new();
    let ranks = svg_of_ranks(program, &mut out).expect("the first rank is small");
    (ranks, String::from_utf8(out).expect("SVG is text"))
}

#[test]
fn every_example_is_drawn_with_all_its_messages() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    for entry in fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an example").path();
        if path.extension().is_none_or(|extension| extension != "goal") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a readable file");
        let program = program(&text);
        let (ranks, svg) = drawn(&program);
        assert_eq!(ranks, program.num_ranks(), "{}", path.display());
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let count = |class: &str| {
            document.descendants().filter(|node| node.attribute("class") == Some(class)).count()
        };
        let sends: usize = (0..ranks)
            .flat_map(|rank| &program.body_of(rank).actions)
            .filter(|action| action.kind().name() == "send")
            .count();
        assert_eq!(
            (count("message"), count("rank")),
            (sends, ranks as usize),
            "{}",
            path.display()
        );
        boxes_lie_apart(&document);
        let mut dot = Vec::new();
        dot_of_ranks(&program, &mut dot).expect("memory takes every byte");
        let dot = String::from_utf8(dot).expect("dot is text");
        assert_eq!(dot.matches("#b5482a").count(), sends);
        assert_eq!(dot.matches("subgraph").count(), ranks as usize);
    }
}

fn boxes_lie_apart(document: &roxmltree::Document<'_>) {
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| -> f64 {
        node.attribute(name).expect("a place").parse().expect("a number")
    };
    let boxes: Vec<[f64; 4]> = document
        .descendants()
        .filter(|node| node.has_tag_name("rect") && node.has_attribute("rx"))
        .map(|node| ["x", "y", "width", "height"].map(|name| number(&node, name)))
        .collect();
    for (i, a) in boxes.iter().enumerate() {
        for b in &boxes[..i] {
            let meet = a[0] < b[0] + b[2]
                && b[0] < a[0] + a[2]
                && a[1] < b[1] + b[3]
                && b[1] < a[1] + a[3];
            assert!(!meet, "{a:?} and {b:?}");
        }
    }
}

#[test]
fn of_many_ranks_the_first_are_drawn_and_the_picture_says_so() {
    let rank = |r: usize| format!("rank {r} {{ {} }}\n", "calc 1 ".repeat(100));
    let text: String = (0..9).map(rank).collect();
    let (ranks, svg) = drawn(&program(&text));
    assert_eq!(ranks as usize, SVG_ACTIONS_MAX / 100);
    assert!(svg.contains(">ranks 0 to 4 of 9, and the messages among them<"));
    let (ranks, svg) = drawn(&program("num_ranks 4194303 rank 0 { calc 1 }"));
    assert_eq!(ranks as usize, SVG_ACTIONS_MAX);
    assert!(svg.contains(" of 4194303, and"));
    let large = program(&format!("rank 0 {{ {} }}", "calc 1 ".repeat(SVG_ACTIONS_MAX + 1)));
    let error = svg_of_ranks(&large, &mut Vec::new()).expect_err("too many actions");
    assert!(error.to_string().contains("write dot"), "{error}");
}
