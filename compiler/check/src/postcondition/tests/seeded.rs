//! A single wrong number in a correct program is found, and its line is among those that the
//! finding shows.

use super::{Case, Parameters, algorithms};
use crate::{Options, check};
use goal_lang::diag::{Report, Severity};
use goal_lang::{Action, Datatype, Op, ParseOptions, Payload, SourceMap, Style, print};
use std::sync::Arc;

/// Copies of an action, each with one number or operation changed.
fn wrong(action: Action) -> Vec<Action> {
    let mut wrong = Vec::new();
    for distance in [-4, -1, 1, 4] {
        let moved = |addr: u64| addr.checked_add_signed(distance);
        match action {
            Action::Send { payload: Payload::Buffer(piece), to, tag, placement } => {
                let payload = moved(piece.addr)
                    .map(|addr| Payload::Buffer(goal_lang::Piece { addr, ..piece }));
                wrong.extend(payload.map(|payload| Action::Send { payload, to, tag, placement }));
            }
            Action::Recv { payload: Payload::Buffer(piece), from, tag, placement } => {
                let payload = moved(piece.addr)
                    .map(|addr| Payload::Buffer(goal_lang::Piece { addr, ..piece }));
                wrong.extend(payload.map(|payload| Action::Recv { payload, from, tag, placement }));
            }
            Action::Exec { op, datatype, spaces, has_c, a, b, c, size } => {
                let exec = |a, b| Action::Exec { op, datatype, spaces, has_c, a, b, c, size };
                wrong.extend(moved(a).map(|a| exec(a, b)));
                wrong.extend(moved(b).map(|b| exec(a, b)));
            }
            _ => {}
        }
    }
    if let Action::Exec { op: op @ (Op::Sum | Op::Copy), datatype, spaces, has_c, a, b, c, size } =
        action
    {
        let exec = |op, size| Action::Exec { op, datatype, spaces, has_c, a, b, c, size };
        wrong.push(exec(if op == Op::Copy { Op::Sum } else { Op::Max }, size));
        wrong.extend(size.checked_sub(4).filter(|&size| size > 0).map(|size| exec(op, size)));
    }
    wrong
}

fn text(case: &Case) -> String {
    let mut text = Vec::new();
    print(&case.program(), Style::Schedgen, &mut text).expect("a vector takes every byte");
    String::from_utf8(text).expect("a text")
}

/// The findings for a text, and the lines that errors show; `None` if it is no program.
fn lines(case: &Case, text: &str) -> Option<(Report, Vec<u64>)> {
    let mut sources = SourceMap::default();
    sources.add("seeded.goal", Arc::new(text.as_bytes().to_vec()));
    let program = goal_lang::parse(&sources, &ParseOptions::default()).program?;
    let options = Options {
        eager_limit: 1 << 20,
        collective: Some(case.collective.clone()),
        ..Options::default()
    };
    let report = check(&program, Some(&sources), &options);
    let errors = report.diagnostics.iter().filter(|found| found.severity() == Severity::Error);
    let spans = errors.flat_map(|found| found.labels.iter().map(|label| label.span.start));
    let lines = spans.map(|start| sources.line_column(start).expect("a place").0).collect();
    Some((report, lines))
}

#[test]
fn the_line_of_a_single_wrong_number_is_shown() {
    let (mut found, mut elsewhere) = (0, Vec::new());
    for algorithm in algorithms() {
        let name = algorithm.name;
        let (op, datatype) = (Op::Sum, Datatype::Int32);
        let parameters = Parameters { ranks: 4, root: 0, count: 2, op, datatype, in_place: false };
        let Some(case) = Case::from_algorithm(algorithm, &parameters) else { continue };
        let right = text(&case);
        for rank in 0..case.ranks.len() {
            for at in 0..case.ranks[rank].len() {
                for action in wrong(case.ranks[rank][at]) {
                    let mut seeded = case.clone();
                    seeded.ranks[rank][at] = action;
                    let text = text(&seeded);
                    let Some((report, lines)) = lines(&case, &text) else { continue };
                    // Some changes make no difference: if all memory is 0, a sum is a copy.
                    if !report.has_errors() {
                        continue;
                    }
                    let differs =
                        std::iter::zip(right.lines(), text.lines()).position(|(a, b)| a != b);
                    let line = differs.expect("another text") as u64 + 1;
                    found += 1;
                    if !lines.contains(&line) {
                        elsewhere.push(format!("{name}, line {line}: {lines:?}\n{text}"));
                    }
                }
            }
        }
    }
    assert!(found > 500, "{found} faults");
    assert!(elsewhere.is_empty(), "{} of {found}, {}", elsewhere.len(), elsewhere[0]);
}
