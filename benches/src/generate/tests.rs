use super::{Pattern, Shape, write_to};
use goal_check::{Options, check};
use goal_lang::{ParseOptions, Program, SourceMap, parse};
use std::sync::Arc;

fn text(shape: &Shape) -> Vec<u8> {
    shape.check().expect("a shape of the pattern");
    let mut text = Vec::new();
    write_to(shape, &mut text).expect("a vector takes every byte");
    text
}

fn program(text: Vec<u8>) -> Program {
    let mut sources = SourceMap::default();
    sources.add("generated.goal", Arc::new(text));
    let parsed = parse(&sources, &ParseOptions::default());
    assert!(parsed.report.diagnostics.is_empty(), "{:?}", parsed.report.diagnostics);
    parsed.program.expect("a program")
}

fn small() -> Vec<Shape> {
    vec![
        Shape::new(Pattern::Alltoall).ranks(7),
        Shape::new(Pattern::Alltoall).ranks(7).memory(),
        Shape::new(Pattern::Ring).ranks(5).messages(9),
        Shape::new(Pattern::Ring).ranks(5).messages(9).memory(),
        Shape::new(Pattern::Dissemination).ranks(16),
        Shape::new(Pattern::Dissemination).ranks(1),
        Shape::new(Pattern::Binomial).ranks(21),
        Shape::new(Pattern::Binomial).ranks(16),
        Shape::new(Pattern::Sweep).ranks(9),
        Shape::new(Pattern::Layered).ranks(3).actions(2000),
        Shape::new(Pattern::Layered).ranks(1).actions(200),
        Shape::new(Pattern::Dense).ranks(3).actions(2000),
    ]
}

#[test]
fn programs_are_right_and_end_as_they_say() {
    for shape in small() {
        let program = program(text(&shape));
        let report = check(&program, None, &Options { eager_limit: 0, ..Options::default() });
        assert!(report.diagnostics.is_empty(), "{shape:?}: {:?}", report.diagnostics);
        let outcome = goal_interp::run(&program, &goal_interp::Options::default());
        let outcome = outcome.unwrap_or_else(|error| panic!("{shape:?}: {error}"));
        assert_eq!(
            (outcome.mismatches(&program), outcome.unreceived),
            (Vec::new(), 0),
            "{shape:?}"
        );
    }
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let shape = |seed| Shape { seed, ..Shape::new(Pattern::Layered).actions(2000) };
    assert_eq!(text(&shape(1)), text(&shape(1)));
    assert_ne!(text(&shape(1)), text(&shape(2)));
}

#[test]
fn layers_have_messages_and_the_degree_that_is_asked_for() {
    let shape = Shape { degree: Some(5), ..Shape::new(Pattern::Dense).ranks(4).actions(4000) };
    let program = program(text(&shape));
    let body = program.body_of(0);
    let sends = body
        .actions
        .iter()
        .filter(|action| matches!(action, goal_lang::Action::Send { .. }))
        .count();
    assert!((50..250).contains(&sends), "{sends}");
    assert_eq!(body.len(), 1000);
    assert!(
        body.indegrees()
            .iter()
            .enumerate()
            .all(|(i, &degree)| degree == if i < 64 { 0 } else { 5 })
    );
}

#[test]
fn shapes_that_a_pattern_cannot_have_are_refused() {
    let refused = [
        (Shape::new(Pattern::Ring).ranks(0), "at least one rank"),
        (Shape::new(Pattern::Dissemination).ranks(12), "dissemination"),
        (Shape::new(Pattern::Sweep).ranks(8), "square"),
        (Shape { width: 4, degree: Some(5), ..Shape::new(Pattern::Layered) }, "--width 4"),
        (Shape { width: 0, ..Shape::new(Pattern::Layered) }, "--width 0"),
        (Shape::new(Pattern::Dense).actions(1 << 40), "tags"),
    ];
    for (shape, why) in refused {
        let message = shape.check().expect_err("no such program");
        assert!(message.contains(why), "{message}");
    }
}
