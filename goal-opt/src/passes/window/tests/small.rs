//! The windows of small programs, and programs that are refused.

use crate::{WindowError, Windowed, verify, window};
use goal_interp::{Eager, Options, run};
use goal_lang::{
    ANY, Action, ActionId, Body, BodyBuilder, Payload, Placement, Program, ProgramBuilder, Style,
    print,
};

fn send(to: u32, tag: u32, size: u64) -> Action {
    Action::Send { payload: Payload::Pattern { size }, to, tag, placement: Placement::default() }
}

fn recv(from: u32, tag: u32, size: u64) -> Action {
    Action::Recv { payload: Payload::Pattern { size }, from, tag, placement: Placement::default() }
}

fn calc(nanos: u64) -> Action {
    Action::Calc { nanos, placement: Placement::default() }
}

/// Returns a rank with labelled actions. In a pair the first one requires (irequires) the second.
fn rank(
    actions: &[(&str, Action)],
    requires: &[(usize, usize)],
    irequires: &[(usize, usize)],
) -> Body {
    let mut builder = BodyBuilder::default();
    let ids: Vec<ActionId> =
        actions.iter().map(|(label, action)| builder.labelled(label, *action)).collect();
    requires.iter().for_each(|&(waiter, other)| builder.requires(ids[waiter], ids[other]));
    irequires.iter().for_each(|&(waiter, other)| builder.irequires(ids[waiter], ids[other]));
    builder.finish()
}

fn program(ranks: impl IntoIterator<Item = Body>) -> Program {
    let mut builder = ProgramBuilder::default();
    ranks.into_iter().for_each(|body| builder.rank_with(body));
    builder.finish()
}

fn text(program: &Program) -> String {
    let mut text = Vec::new();
    print(program, Style::Schedgen, &mut text).expect("memory");
    String::from_utf8(text).expect("text")
}

/// Returns true if a program ends in some orders of steps.
fn ends(program: &Program, eager: Eager) -> bool {
    let all: Vec<bool> = (0..40)
        .map(|seed| run(program, &Options { seed, eager, ..Options::default() }).is_ok())
        .collect();
    assert!(all.iter().all(|ends| *ends == all[0]), "it depends on the order");
    all[0]
}

fn windowed(program: &Program, size: u32) -> (Program, Windowed) {
    let mut after = program.clone();
    let done = window(&mut after, size).expect("it has windows");
    verify(&after).expect("valid");
    (after, done)
}

/// The graph of Figure 3: 10 actions, a chain and edges from the first half to the second.
#[test]
fn the_adverse_graph_of_the_paper() {
    let labels = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10"];
    let actions: Vec<(&str, Action)> = labels.iter().map(|label| (*label, calc(1))).collect();
    let edges: Vec<(usize, usize)> =
        (0..9).map(|i| (i + 1, i)).chain((0..5).map(|i| (i + 5, i))).collect();
    let (after, done) = windowed(&program([rank(&actions, &edges, &[])]), 4);
    assert_eq!(done, Windowed { dummies: 2, eager_limit: None });
    insta::assert_snapshot!(text(&after));
}

#[test]
fn sources_and_sinks_of_a_window_know_its_dummies() {
    let actions = [
        ("a", calc(1)),
        ("b", calc(2)),
        ("c", calc(3)),
        ("d", calc(4)),
        ("e", calc(5)),
        ("f", calc(6)),
    ];
    let body = rank(&actions, &[(1, 0), (3, 0), (5, 4)], &[(2, 1), (4, 3)]);
    let (after, _) = windowed(&program([body]), 3);
    insta::assert_snapshot!(text(&after));
}

/// The text has both receives before both sends. Windows of one action in that order would never
/// end.
#[test]
fn a_receive_does_not_hold_back_what_its_sender_waits_for() {
    let one = |other| rank(&[("r", recv(other, 0, 8)), ("s", send(other, 0, 8))], &[], &[]);
    let (after, done) = windowed(&program([one(1), one(0)]), 1);
    assert_eq!(done, Windowed { dummies: 2, eager_limit: None });
    assert!(ends(&after, Eager::None) && ends(&after, Eager::All));
}

#[test]
fn ends_of_messages_that_wait_for_starts_share_a_window() {
    let one = |to, from| rank(&[("r", recv(from, 0, 8)), ("s", send(to, 0, 8))], &[], &[(1, 0)]);
    let ring = program([one(1, 2), one(2, 0), one(0, 1)]);
    assert!(ends(&ring, Eager::None));
    assert!(ends(&windowed(&ring, 2).0, Eager::None));
    let error = window(&mut ring.clone(), 1).expect_err("no room for both");
    assert!(matches!(error, WindowError::TooSmall { window: 1, .. }), "{error}");
    insta::assert_snapshot!(error.to_string());
}

/// Without the order of the two receives, the second could take the first message and keep the
/// other rank from sending its second one, which is two windows later.
#[test]
fn the_order_of_equal_receives_is_kept() {
    let a = rank(&[("s1", send(1, 0, 8)), ("x", recv(1, 1, 8)), ("s2", send(1, 0, 8))], &[], &[]);
    let b =
        rank(&[("r1", recv(0, 0, 8)), ("r2", recv(0, 0, 8)), ("w", send(0, 1, 8))], &[(2, 0)], &[]);
    let (after, _) = windowed(&program([a, b]), 2);
    assert!(ends(&after, Eager::None) && ends(&after, Eager::All));
}

#[test]
fn what_ends_thanks_to_buffering_does_so_in_windows_too() {
    let one = |other, size| {
        rank(&[("s", send(other, 0, size)), ("r", recv(other, 0, 30 - size))], &[(1, 0)], &[])
    };
    let crossed = program([one(1, 10), one(0, 20)]);
    let (after, done) = windowed(&crossed, 1);
    assert_eq!(done.eager_limit, Some(10));
    for (eager, wanted) in [(Eager::Limit(9), false), (Eager::Limit(10), true), (Eager::All, true)]
    {
        assert_eq!((ends(&crossed, eager), ends(&after, eager)), (wanted, wanted), "{eager:?}");
    }
}

#[test]
fn a_message_to_itself_needs_two_places() {
    let alone = program([rank(&[("r", recv(0, 0, 8)), ("s", send(0, 0, 8))], &[], &[])]);
    assert!(ends(&windowed(&alone, 2).0, Eager::None));
    assert!(matches!(window(&mut alone.clone(), 1), Err(WindowError::TooSmall { .. })));
}

/// Rank 0 receives from any source, answers, and receives again: which message comes second depends
/// on the answer.
#[test]
fn receives_from_any_source_that_messages_depend_on_are_refused() {
    let server = rank(
        &[("r1", recv(ANY, 0, 8)), ("answer", send(1, 1, 8)), ("r2", recv(ANY, 0, 8))],
        &[(1, 0), (2, 0)],
        &[],
    );
    let first = rank(
        &[("ask", send(0, 0, 8)), ("hear", recv(0, 1, 8)), ("tell", send(2, 2, 8))],
        &[(2, 1)],
        &[],
    );
    let second = rank(&[("told", recv(1, 2, 8)), ("late", send(0, 0, 8))], &[(1, 0)], &[]);
    let chain = program([server, first, second]);
    assert!(ends(&chain, Eager::None));
    let error = window(&mut chain.clone(), 4).expect_err("not to be kept");
    assert!(matches!(error, WindowError::OpenEnded { .. }), "{error}");
    insta::assert_snapshot!(error.to_string());
}

#[test]
fn a_deadlock_is_told() {
    let one = |other| rank(&[("r", recv(other, 0, 8)), ("s", send(other, 0, 8))], &[(1, 0)], &[]);
    let error = window(&mut program([one(1), one(0)]), 4).expect_err("a deadlock");
    insta::assert_snapshot!(error.to_string());
    assert_eq!(window(&mut program([]), 0), Err(WindowError::Size(0)));
    assert_eq!(window(&mut program([]), 1 << 15), Err(WindowError::Size(1 << 15)));
}

/// Ranks with a common body keep it if their windows are the same.
#[test]
fn equal_ranks_stay_equal() {
    let mut builder = ProgramBuilder::default();
    let leaf =
        rank(&[("r", recv(0, 0, 8)), ("a", calc(1)), ("b", calc(1))], &[(1, 0), (2, 1)], &[]);
    let root: Vec<(String, Action)> = (1..4).map(|to| (format!("s{to}"), send(to, 0, 8))).collect();
    let root: Vec<(&str, Action)> =
        root.iter().map(|(label, action)| (label.as_str(), *action)).collect();
    builder.rank_with(rank(&root, &[], &[]));
    let leaf = builder.body(leaf);
    (0..3).for_each(|_| builder.rank(leaf, None));
    let (after, done) = windowed(&builder.finish(), 2);
    assert_eq!(after.bodies.len(), 2);
    assert_eq!(done.dummies, 2);
}
