//! The steps of actions, and findings at their places.

use super::{detail, read, steps};
use crate::{Diagram, DrawError, Kind, Options, RankSet, State, by_steps};
use goal_lang::diag::Report;

/// Returns the steps of shapes, by rank.
fn levels(diagram: &Diagram) -> Vec<Vec<u64>> {
    let detail = detail(diagram);
    let mut levels = vec![Vec::new(); detail.lanes.len()];
    for shape in &detail.shapes {
        levels[shape.lane as usize].push(shape.begin);
    }
    levels
}

/// Returns the messages as places of shapes.
fn messages(diagram: &Diagram) -> Vec<[u32; 2]> {
    let mut messages: Vec<_> =
        detail(diagram).messages.iter().map(|message| [message.from, message.to]).collect();
    messages.sort_unstable();
    messages
}

#[test]
fn a_receive_stands_behind_its_send() {
    let diagram = steps(
        "rank 0 { a: calc 1 b: send 8b to 1 b requires a }
         rank 1 { a: recv 8b from any b: send 8b to 2 tag 3 b requires a }
         rank 2 { recv 8b from 1 tag any }",
    );
    assert_eq!(levels(&diagram), [vec![0, 1], vec![2, 3], vec![4]]);
    assert_eq!(messages(&diagram), [[1, 2], [3, 4]]);
    assert!(diagram.notes.iter().any(|note| note.contains("wildcards")), "{:?}", diagram.notes);
    let chain: Vec<bool> = detail(&diagram).shapes.iter().map(|shape| shape.critical).collect();
    assert_eq!(chain, [true; 5]);
}

#[test]
fn who_waits_for_a_start_stands_beside_it() {
    let diagram = steps(
        "rank 0 { r: recv 8b from 1 s: send 8b to 1 s irequires r }
         rank 1 { r: recv 8b from 0 s: send 8b to 0 s irequires r }",
    );
    assert_eq!(levels(&diagram), [[1, 0], [1, 0]]);
    assert_eq!(messages(&diagram).len(), 2);
}

#[test]
fn actions_of_a_step_lie_beside_each_other() {
    let text = "rank 0 { calc 1; calc 2; calc 3; } rank 1 { nop }";
    let diagram = steps(text);
    let detail = detail(&diagram);
    let slots: Vec<u32> = detail.shapes.iter().map(|shape| shape.slot).collect();
    assert_eq!(slots, [0, 1, 2, 0]);
    assert_eq!((detail.lanes[0].slots, detail.lanes[1].slots), (3, 1));
}

const CIRCLE: &str =
    "rank 0 { r: recv 8b from 1; s: send 8b to 1; requ s -> r; t: nop; requ t -> s; }
rank 1 { r: recv 8b from 0; s: send 8b to 0; requ s -> r; }";

#[test]
fn a_deadlock_is_a_circle_of_waits() {
    let diagram = steps(CIRCLE);
    let states: Vec<State> = detail(&diagram).shapes.iter().map(|shape| shape.state).collect();
    use State::{Blocked, Unstarted};
    assert_eq!(states, [Blocked, Unstarted, Unstarted, Blocked, Unstarted]);
    let found = &diagram.findings[0];
    assert!(found.code.ends_with("deadlock") && found.text.contains("waits for"), "{found:?}");
    let mut waits = found.waits.clone();
    waits.sort_unstable();
    assert_eq!(waits, [[0, 4], [1, 0], [3, 1], [4, 3]]);
    assert_eq!(found.shapes.len(), 4);
    assert!(diagram.notes.iter().any(|note| note == "5 of 5 actions never end."));
}

#[test]
fn what_comes_before_a_deadlock_is_drawn_as_it_goes() {
    let text = CIRCLE.replace("rank 0 {", "rank 0 { a: send 8b to 1 tag 5;");
    let text = text.replace("rank 1 {", "rank 1 { b: recv 8b from 0 tag 5;");
    let diagram = steps(&text);
    let done = detail(&diagram).shapes.iter().filter(|shape| shape.state == State::Done);
    assert_eq!(done.map(|shape| shape.kind).collect::<Vec<_>>(), [Kind::Send, Kind::Receive]);
    assert!(detail(&diagram).messages.iter().any(|message| message.received));
}

#[test]
fn ends_without_another_one_are_shown() {
    let diagram = steps("rank 0 { send 8b to 1 tag 1 } rank 1 { recv 8b from 0 tag 2 }");
    assert!(detail(&diagram).shapes.iter().all(|shape| shape.state == State::Unmatched));
    assert!(messages(&diagram).is_empty());
    assert_eq!(diagram.findings.len(), 2);
    assert_eq!(diagram.findings[0].shapes.first(), Some(&0));
}

#[test]
fn races_are_marked_at_their_actions() {
    let diagram = steps(
        "rank 0 { recv 0,4 from 1 tag 1; recv 0,4 from 1 tag 2; }
         rank 1 { send 0,4 to 0 tag 1; send 0,4 to 0 tag 2; }",
    );
    let race = diagram.findings.iter().find(|found| found.code.contains("race")).unwrap();
    assert_eq!(race.shapes.len(), 2, "{race:?}");
}

#[test]
fn a_part_of_the_ranks_says_what_it_leaves_out() {
    let text = "rank 0 { send 8b to 1; recv 8b from 2 } rank 1 { recv 8b from 0 }
        rank 2 { send 8b to 0 }";
    let read = read(text);
    let options = |ranks: &str| Options {
        ranks: Some(ranks.parse().expect("ranks")),
        dependencies: true,
        ..Options::default()
    };
    let diagram = read.steps(&options("0,2"));
    assert_eq!(messages(&diagram), [[2, 1]]);
    assert!(diagram.notes[0].contains("2 of 3 ranks are drawn, without 1 message"));
    let error = by_steps(&read.subject(), &Report::default(), &options("1-3")).unwrap_err();
    assert!(matches!(error, DrawError::NoRank { rank: 3, last: 2 }), "{error}");
}

#[test]
fn sets_of_ranks_are_lists_of_ranges() {
    let shown = |text: &str| text.parse::<RankSet>().map(|ranks| ranks.to_string());
    assert_eq!(shown("0-7,12").as_deref(), Ok("0-7,12"));
    assert_eq!(shown("3").as_deref(), Ok("3"));
    for wrong in ["", "7-0", "1,", "a", "-1", "4294967296", "0-"] {
        assert!(shown(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_circle_with_a_wildcard_is_closed() {
    let diagram = steps(&CIRCLE.replace("r: recv 8b from 1", "r: recv 8b from any"));
    let found = &diagram.findings[0];
    assert!(found.code.ends_with("deadlock"), "{found:?}");
    let mut waits = found.waits.clone();
    waits.sort_unstable();
    assert_eq!(waits, [[0, 4], [1, 0], [3, 1], [4, 3]]);
    assert_eq!(detail(&diagram).shapes[0].state, State::Blocked);
}
