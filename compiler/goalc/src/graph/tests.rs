use super::layers::Layers;
use super::order::{crossings, order};
use super::place::{BOX_PITCH, close_gaps};
use super::svg::{Drawing, Rectangle};
use super::{SvgError, dot, svg};
use crate::limits::{SVG_ACTIONS_MAX, SVG_DEPENDENCIES_MAX};
use goal_lang::{Action, Body, BodyBuilder, ParseOptions, SourceMap, parse};
use std::fs;
use std::sync::Arc;

fn bodies(text: &str) -> Vec<Body> {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    parse(&sources, &ParseOptions::default()).program.expect("the text is right").bodies
}

fn rendered(body: &Body) -> String {
    let mut out = Vec::new();
    svg(body, &mut out).expect("the graph is small");
    String::from_utf8(out).expect("SVG is text")
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
    let svg = rendered(&hostile());
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let text = document.descendants().find(|node| node.has_tag_name("text")).unwrap();
    assert_eq!(text.text(), Some("a\"]; \\ <b>&\u{fffd}\u{fffd}: nop"));
}

#[test]
fn a_box_an_action_and_a_line_a_dependency() {
    let body = &bodies(SMALL)[0];
    let svg = rendered(body);
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let texts: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .map(|node| node.text())
        .collect();
    assert_eq!(texts.len(), 4);
    assert_eq!(texts[0], Some("a: send 8b to 1 tag 7"));
    let lines: Vec<_> = document
        .descendants()
        .filter(|node| {
            node.has_tag_name("path") && node.has_attribute("d") && !node.has_attribute("fill")
        })
        .map(|node| node.has_attribute("stroke-dasharray"))
        .collect();
    assert_eq!(lines, [false, true]);
}

fn meet(a: Rectangle, b: Rectangle) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

fn check_places(body: &Body) {
    let drawing = Drawing::new(body);
    let boxes: Vec<Rectangle> = body.ids().map(|id| drawing.rectangle(id)).collect();
    for (i, &a) in boxes.iter().enumerate() {
        assert!(a.x >= 0.0 && a.y >= 0.0 && a.width > 0.0);
        for &b in &boxes[..i] {
            assert!(!meet(a, b), "{a:?} and {b:?}");
        }
    }
    for edge in body.requires.edges().chain(body.irequires.edges()) {
        let (from, to) = (boxes[edge.prerequisite.index()], boxes[edge.waiter.index()]);
        assert!(from.x + from.width < to.x, "a line that runs back: {from:?} to {to:?}");
    }
}

#[test]
fn no_boxes_overlap_in_any_example() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut drawn = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "goal") {
            for body in bodies(&fs::read_to_string(&path).unwrap()) {
                check_places(&body);
                roxmltree::Document::parse(&rendered(&body)).expect("well-formed");
                drawn += 1;
            }
        }
    }
    assert!(drawn > 0);
}

#[test]
fn no_boxes_overlap_in_random_graphs() {
    let mut rng = fastrand::Rng::with_seed(7);
    for actions in [0, 1, 2, 30, 120] {
        let mut builder = BodyBuilder::default();
        let ids: Vec<_> = (0..actions).map(|_| builder.action(Action::Nop)).collect();
        for waiter in 1..ids.len() {
            for _ in 0..rng.usize(0..3) {
                builder.requires(ids[waiter], ids[rng.usize(0..waiter)]);
            }
        }
        check_places(&builder.finish());
    }
}

#[test]
fn empty_bands_are_closed() {
    let mut heights = [500.0, 5.0, 10.0, 510.0];
    close_gaps(&mut heights);
    assert_eq!(heights, [5.0 + BOX_PITCH, 0.0, 5.0, 15.0 + BOX_PITCH]);
}

#[test]
fn crossed_lines_are_uncrossed() {
    let mut builder = BodyBuilder::default();
    let ids: Vec<_> = (0..20).map(|_| builder.action(Action::Nop)).collect();
    for i in 0..10 {
        builder.requires(ids[19 - i], ids[i]);
    }
    let mut layers = Layers::new(&builder.finish());
    assert_eq!(crossings(&layers), 45);
    order(&mut layers);
    assert_eq!(crossings(&layers), 0);
}

#[test]
fn what_nobody_can_read_is_refused() {
    let mut builder = BodyBuilder::default();
    let ids: Vec<_> = (0..SVG_ACTIONS_MAX).map(|_| builder.action(Action::Nop)).collect();
    for i in 0..SVG_DEPENDENCIES_MAX {
        builder.requires(ids[100 + i % 300], ids[i / 300]);
    }
    rendered(&builder.finish());
    let mut builder = BodyBuilder::default();
    for _ in 0..=SVG_ACTIONS_MAX {
        builder.action(Action::Nop);
    }
    let error = svg(&builder.finish(), &mut Vec::new()).unwrap_err();
    assert!(matches!(error, SvgError::TooLarge { actions: 501, dependencies: 0 }));
    assert!(error.to_string().contains("write dot"), "{error}");
}
