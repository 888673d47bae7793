//! Diagrams of programs, and their pictures read back.

mod hostile;
mod scale;
mod sim;
mod steps;
mod terminal;
mod trace;

use crate::{Body, Detail, Diagram, Options, Scene, State, Style, Subject, by_steps, png, svg};
use goal_lang::{ParseOptions, Program, SourceMap, parse};
use std::fs;
use std::sync::Arc;

/// A program that was read from a text.
struct Read {
    program: Program,
    sources: SourceMap,
}

impl Read {
    fn subject(&self) -> Subject<'_> {
        Subject { name: "x.goal", program: &self.program, sources: Some(&self.sources) }
    }

    /// Draws it by steps, with the findings of all ranks.
    fn steps(&self, options: &Options) -> Diagram {
        let checks = goal_check::Options::default();
        let report = goal_check::check(&self.program, Some(&self.sources), &checks);
        by_steps(&self.subject(), &report, options).expect("few actions")
    }
}

fn read(text: &str) -> Read {
    let mut sources = SourceMap::default();
    sources.add("x.goal", Arc::new(text.as_bytes().to_vec()));
    let program = parse(&sources, &ParseOptions::default()).program.expect("the text is right");
    Read { program, sources }
}

fn steps(text: &str) -> Diagram {
    read(text).steps(&Options::default())
}

fn detail(diagram: &Diagram) -> &Detail {
    match &diagram.body {
        Body::Detail(detail) => detail,
        Body::Summary(_) => panic!("it is summed up"),
    }
}

/// Returns the texts and titles of a well-formed picture, and the number of its paths with titles.
fn parts(diagram: &Diagram, style: Style) -> (Vec<String>, usize) {
    let svg = svg(&Scene::new(diagram), style);
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let known =
        "svg title desc style defs marker pattern path rect g text".split(' ').collect::<Vec<_>>();
    let mut texts = Vec::new();
    let mut shapes = 0;
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        assert!(known.contains(&name), "{name}");
        let is_address = |attribute: roxmltree::Attribute<'_, '_>| {
            attribute.name().contains("href") || attribute.name().starts_with("on")
        };
        assert!(!node.attributes().any(is_address), "{node:?}");
        if matches!(name, "text" | "title" | "desc") {
            texts.push(node.text().unwrap_or_default().to_owned());
        }
        let has_title = node.children().any(|child| child.has_tag_name("title"));
        shapes += usize::from(name == "path" && has_title);
    }
    (texts, shapes)
}

#[test]
fn every_example_is_drawn_with_all_its_actions_and_messages() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut drawn = 0;
    for entry in fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an example").path();
        if path.extension().is_none_or(|extension| extension != "goal") {
            continue;
        }
        let read = read(&fs::read_to_string(&path).expect("a readable file"));
        let diagram = read.steps(&Options { dependencies: true, ..Options::default() });
        let detail = detail(&diagram);
        let ranks = 0..read.program.num_ranks();
        let actions: usize = ranks.clone().map(|rank| read.program.body_of(rank).len()).sum();
        let sends = ranks
            .flat_map(|rank| &read.program.body_of(rank).actions)
            .filter(|action| action.kind().name() == "send")
            .count();
        assert_eq!((detail.shapes.len(), detail.messages.len()), (actions, sends), "{path:?}");
        assert!(detail.shapes.iter().all(|shape| shape.state == State::Done));
        for style in [Style::Paper, Style::Screen, Style::Dark] {
            assert_eq!(parts(&diagram, style).1, actions, "{path:?}");
        }
        drawn += 1;
    }
    assert!(drawn > 5);
}

#[test]
fn a_bitmap_has_twice_the_size_of_the_scene() {
    let scene = Scene::new(&steps("rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }"));
    match png(&scene, Style::Screen) {
        Ok(bytes) => {
            assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
            let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
            assert_eq!((number(16), number(20)), (scene.width as u32 * 2, scene.height as u32 * 2));
        }
        Err(error) => assert!(error.to_string().contains("no font is installed"), "{error}"),
    }
}

#[test]
fn a_diagram_is_an_object_for_other_programs() {
    let diagram = steps("rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }");
    let object = serde_json::to_value(&diagram).unwrap();
    assert_eq!(object["axis"], "steps");
    assert_eq!(object["body"]["detail"]["shapes"][1]["kind"], "receive");
    assert_eq!(object["body"]["detail"]["messages"][0]["to"], 1);
}
