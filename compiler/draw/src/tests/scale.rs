//! Pictures of programs that are too large to draw one by one, and of the largest that are not.

use super::{parts, read};
use crate::limits::{GROUPS_MAX, SHAPES_MAX};
use crate::{Body, Diagram, Options, Outlier, Scene, Style, svg};
use goal_lang::Labels;
use std::fmt::Write;

/// Most bytes of a picture.
const BYTES_MAX: usize = 1 << 20;

/// Returns a ring of ranks, each with a computation of `nanos` before its messages.
fn ring(ranks: u32, rounds: u32, nanos: impl Fn(u32) -> u64) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let _ = writeln!(text, "rank {rank} {{ c0: calc {}", nanos(rank));
        for round in 0..rounds {
            let _ = writeln!(
                text,
                "s{round}: send 8b to {next} tag {round} s{round} requires c{round}
                 r{round}: recv 8b from {before} tag {round} r{round} requires s{round}
                 c{next_round}: calc 5 c{next_round} requires r{round}",
                next_round = round + 1
            );
        }
        let _ = writeln!(text, "}}");
    }
    text
}

fn bytes(diagram: &Diagram) -> usize {
    svg(&Scene::new(diagram), Style::Screen).len()
}

#[test]
fn ten_thousand_ranks_are_summed_up() {
    let diagram = read(&ring(10_000, 3, |_| 1)).steps(&Options::default());
    let Body::Summary(summary) = &diagram.body else { panic!("it is drawn one by one") };
    assert!(summary.groups.len() <= GROUPS_MAX);
    assert_eq!((summary.groups[0].first, summary.groups.last().unwrap().last), (0, 9999));
    assert_eq!(summary.bin, 1);
    // Each rank does one thing in each step: calc, send, recv, calc, ...
    for shares in &summary.shares {
        assert_eq!(shares[..3], [[1000, 0, 0, 0], [0, 1000, 0, 0], [0, 0, 1000, 0]]);
    }
    let notes = diagram.notes.join(" ");
    assert!(notes.contains("30000 messages are summed up"), "{notes}");
    assert!(bytes(&diagram) < BYTES_MAX / 4);
}

#[test]
fn a_rank_that_differs_is_named() {
    let read = read(&ring(1000, 2, |rank| if rank == 77 { 90_000 } else { 1000 }));
    let workload = goal_loggops::Workload::new(&read.program, |_, _| 0).unwrap();
    let mut recorder = crate::Recorder::new("x", &workload, None, &Options::default()).unwrap();
    let machine = goal_loggops::machine::Machine::default();
    goal_loggops::model::simulate_with(&workload, &machine, &(), &mut recorder).unwrap();
    let diagram = recorder.finish("", 0, None, 0);
    let Body::Summary(summary) = &diagram.body else { panic!("it is drawn one by one") };
    let busiest = summary.outliers.iter().find_map(|outlier| match outlier {
        Outlier::Busiest { rank, .. } => Some(*rank),
        _ => None,
    });
    assert_eq!(busiest, Some(77));
    assert!(diagram.notes.iter().any(|note| note.starts_with("Busiest: rank 77")));
    // The ranks behind it wait.
    assert!(diagram.notes.iter().any(|note| note.starts_with("Waiting most: rank 7")));
    let (texts, _) = parts(&diagram, Style::Screen);
    assert!(texts.iter().any(|text| text.starts_with("ranks 0-")), "{texts:?}");
}

#[test]
fn the_largest_detail_is_bounded() {
    let rounds = SHAPES_MAX as u32 / 3 / 16 - 1;
    let mut read = read(&ring(16, rounds, |_| 5));
    for body in &mut read.program.bodies {
        body.debug.labels = Labels::default();
        (0..body.len()).for_each(|_| body.debug.labels.push(&"&".repeat(1000)));
    }
    let diagram = read.steps(&Options { dependencies: true, ..Options::default() });
    assert!(
        matches!(&diagram.body, Body::Detail(detail) if detail.shapes.len() > SHAPES_MAX * 9 / 10)
    );
    let bytes = bytes(&diagram);
    assert!(bytes > BYTES_MAX / 4 && bytes < 2 * BYTES_MAX, "{bytes}");
}

#[test]
fn programs_without_actions_have_pictures() {
    for text in ["rank 0 { }", "num_ranks 3 rank 0 { nop }", "rank 0 { calc 0 }"] {
        parts(&read(text).steps(&Options::default()), Style::Paper);
    }
    let diagram = read("num_ranks 4194303 rank 0 { calc 1 }").steps(&Options::default());
    assert!(bytes(&diagram) < BYTES_MAX);
}
