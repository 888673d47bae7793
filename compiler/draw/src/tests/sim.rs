//! Diagrams of simulations.

use super::{detail, parts, read};
use crate::{Diagram, Kind, Options, Recorder, Shape, State, Style};
use goal_loggops::Workload;
use goal_loggops::machine::Machine;
use goal_loggops::model::{ModelError, simulate_with};
use goal_loggops::path::critical_path;

fn simulated(text: &str) -> Diagram {
    let read = read(text);
    let workload = Workload::new(&read.program, |_, _| 0).unwrap();
    let options = Options::default();
    let mut recorder = Recorder::new("x", &workload, Some(read.subject()), &options).unwrap();
    let machine = Machine::default();
    let left = match simulate_with(&workload, &machine, &(), &mut recorder) {
        Ok(_) => 0,
        Err(ModelError::Stuck { left, .. }) => left,
        Err(error) => panic!("{error}"),
    };
    let path = critical_path(&workload, &machine).ok().map(|(_, path)| path);
    recorder.finish("", 0, path.as_ref(), left)
}

fn of(diagram: &Diagram, kind: Kind) -> Vec<&Shape> {
    detail(diagram).shapes.iter().filter(|shape| shape.kind == kind).collect()
}

#[test]
fn jobs_messages_and_waits_have_their_times() {
    let diagram = simulated(
        "rank 0 { a: calc 2000; b: send 8b to 1; requ b -> a; } rank 1 { c: recv 8b from 0; }",
    );
    // The defaults of LogGOPSim: o 1500, L 2500, G 6.
    let send = of(&diagram, Kind::Send)[0];
    assert_eq!((send.begin, send.end), (2_000_000, 3_500_000));
    let receive = of(&diagram, Kind::Receive)[0];
    assert_eq!(receive.begin, 6_000_000);
    assert!(receive.tip.contains("c: recv") && receive.tip.contains("posted at 0 ns"));
    let wait = of(&diagram, Kind::Waiting)[0];
    assert_eq!((wait.lane, wait.begin, wait.end), (1, 0, 6_000_000));
    assert_eq!(detail(&diagram).messages.len(), 1);
    assert!([send, receive].iter().all(|shape| shape.critical));
    assert!(detail(&diagram).messages[0].critical);
    assert_eq!(diagram.end, receive.end);
}

#[test]
fn processors_of_a_rank_have_rows() {
    let diagram = simulated("rank 0 { calc 2000 cpu 7; calc 3000; calc 500 cpu 7; }");
    let rows: Vec<_> =
        of(&diagram, Kind::Calculation).iter().map(|shape| (shape.slot, shape.begin)).collect();
    assert_eq!(rows.iter().filter(|row| row.0 == 1).count(), 2, "{rows:?}");
    assert_eq!(detail(&diagram).lanes[0].slots, 2);
    assert!(detail(&diagram).shapes.iter().any(|shape| shape.tip.contains("cpu 7, ")));
}

#[test]
fn a_simulation_that_gets_stuck_is_drawn_until_then() {
    let diagram = simulated("rank 0 { send 8b to 1; } rank 1 { recv 8b from 0; recv 8b from 0; }");
    let stuck: Vec<_> =
        detail(&diagram).shapes.iter().filter(|shape| shape.state == State::Blocked).collect();
    assert_eq!(stuck.len(), 1);
    assert_eq!((stuck[0].lane, stuck[0].end), (1, diagram.end));
    assert!(diagram.title.contains("stuck after"), "{}", diagram.title);
    assert!(diagram.notes[0].contains("1 action never ends"), "{:?}", diagram.notes);
}

#[test]
fn markers_are_lines_over_their_lane() {
    let diagram =
        simulated("num_ranks 1 rank 0 { a: calc 2000 m: send 0b to 9999999 tag 7 m requires a }");
    assert_eq!(detail(&diagram).marks.len(), 1);
    let (texts, _) = parts(&diagram, Style::Screen);
    assert!(texts.iter().any(|text| text.contains("marker, tag 7, 2 us")), "{texts:?}");
}
