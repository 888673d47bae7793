//! Texts that would like to be markup, or to be obeyed by a terminal.

use super::{parts, read};
use crate::{Options, Recorder, Scene, Style, Subject, by_steps, by_trace, svg, text};
use goal_lang::Labels;
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_loggops::Workload;
use goal_loggops::machine::Machine;
use goal_loggops::model::simulate_with;

const LABEL: &str = "</title>&<script>\u{1}\u{1b}[2J\"]}\n,\\\u{fffe}\u{202e}";

/// Returns a program in which each label is hostile. A text can't have such labels.
fn program() -> goal_lang::Program {
    let mut program = read("rank 0 { a: calc 5000; send 8b to 0; recv 8b from 0 }").program;
    for body in &mut program.bodies {
        body.debug.labels = Labels::default();
        (0..body.len()).for_each(|_| body.debug.labels.push(LABEL));
    }
    program
}

fn check(diagram: &crate::Diagram) {
    let (texts, _) = parts(diagram, Style::Screen);
    let all = texts.join("\n");
    assert!(all.contains("</title>&<script>\u{fffd}\u{fffd}[2J"), "{all}");
    let is_unfit = |c: char| c.is_control() && c != '\n' || ['\u{202e}', '\u{fffe}'].contains(&c);
    assert!(!all.contains(is_unfit), "{all}");
    let shown = text(diagram, 80);
    assert!(!shown.contains(is_unfit), "{shown}");
}

#[test]
fn labels_names_and_findings_are_never_markup() {
    let program = program();
    let subject = Subject { name: LABEL, program: &program, sources: None };
    let mut report = Report::default();
    report.push(Diagnostic::new(Code::Deadlock, LABEL));
    check(&by_steps(&subject, &report, &Options::default()).unwrap());
}

#[test]
fn labels_of_a_simulation_are_never_markup() {
    let program = program();
    let subject = Subject { name: LABEL, program: &program, sources: None };
    let workload = Workload::new(&program, |_, _| 0).unwrap();
    let mut recorder = Recorder::new(LABEL, &workload, Some(subject), &Options::default()).unwrap();
    simulate_with(&workload, &Machine::default(), &(), &mut recorder).unwrap();
    check(&recorder.finish(LABEL, 0, None, 0));
}

#[test]
fn names_of_a_trace_are_never_markup() {
    let name = serde_json::Value::from(LABEL);
    let trace = format!(
        "[{{\"ph\":\"X\",\"cat\":\"calc\",\"name\":{name},\"pid\":0,\"tid\":1,\"ts\":0,\"dur\":5}}]"
    );
    check(&by_trace(LABEL, trace.as_bytes(), &Options::default()).unwrap());
}

#[test]
fn a_picture_refers_to_nothing_outside() {
    let program = program();
    let subject = Subject { name: "x", program: &program, sources: None };
    let diagram = by_steps(&subject, &Report::default(), &Options::default()).unwrap();
    let svg = svg(&Scene::new(&diagram), Style::Dark);
    let outside = svg.replacen("http://www.w3.org/2000/svg", "", 1);
    assert!(!outside.contains("http") && !outside.contains("@import"), "{svg}");
}
