use super::{Options, check};
use goal_lang::diag::{Code, Report};
use goal_lang::{ParseOptions, Program, SourceMap};
use goal_smith::Shape;
use std::sync::Arc;

fn program(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    let parsed = goal_lang::parse(&sources, &ParseOptions::default());
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.report))
}

/// The findings, with the places of all actions.
fn check_with_places(text: &str) -> Report {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    let parsed = goal_lang::parse(&sources, &ParseOptions::default());
    check(&parsed.program.expect("a valid program"), Some(&sources), &Options::default())
}

fn has(report: &Report, code: Code) -> bool {
    report.diagnostics.iter().any(|found| found.code == code)
}

#[track_caller]
fn assert_found(text: &str, options: &Options, expected: &[Code]) {
    let report = check(&program(text), None, options);
    let codes: Vec<Code> = report.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, expected, "{report:?}");
}

/// Programs that end in every order with every eager limit get no finding about it.
#[test]
fn random_programs_that_end_pass() {
    let kinds = [
        Code::UnmatchedSend,
        Code::UnmatchedRecv,
        Code::SizeMismatch,
        Code::Deadlock,
        Code::ReliesOnBuffering,
        Code::CheckIncomplete,
    ];
    for seed in 0..goal_filetest::seeds(500) {
        let program = goal_smith::program(seed, &Shape::varied(seed));
        for eager_limit in [0, 64, 1 << 20] {
            let report = check(&program, None, &Options { eager_limit, ..Options::default() });
            assert!(!kinds.iter().any(|&kind| has(&report, kind)), "seed {seed}: {report:?}");
        }
    }
}

/// No program with two outcomes goes without the warning.
#[test]
fn several_outcomes_are_told() {
    let (mut several, mut told, mut single) = (0, 0, 0);
    for seed in 0..goal_filetest::seeds(600) {
        let program = goal_smith::program(seed, &Shape::several_outcomes());
        let Ok(Some(all)) =
            goal_interp::outcomes(&program, &goal_interp::Options::default(), 5_000)
        else {
            continue;
        };
        let report = check(&program, None, &Options::default());
        let warned = has(&report, Code::TimingDependentMatch);
        if all.len() > 1 {
            several += 1;
            assert!(warned || report.has_errors(), "seed {seed} has {} outcomes", all.len());
        } else {
            single += 1;
            told += u32::from(warned);
        }
    }
    assert!(several > 40 && single > 10, "{several} with several outcomes, {single} with one");
    assert!(told < single, "{told} of {single} with one outcome were warned of");
}

/// Rank 2 is late in most runs. If it isn't, its message goes to the receive that needs none of
/// rank 1.
#[test]
fn a_receive_may_be_left_without_in_a_run_that_nothing_but_a_delay_shows() {
    for payload in ["0b", "4b"] {
        let text = format!(
            "rank 0 {{ a: recv {payload} from any; b: recv {payload} from 1; b requires a; }}
             rank 1 {{ k: calc 1; l: calc 1; s: send {payload} to 0; l requires k; s requires l; }}
             rank 2 {{ k: calc 500000000; s: send {payload} to 0; s requires k; }}"
        );
        let report = check(&program(&text), None, &Options::default());
        assert!(
            has(&report, Code::Deadlock) && has(&report, Code::TimingDependentMatch),
            "{report:?}"
        );
    }
}

#[test]
fn what_is_sent_twice_from_the_same_place_may_differ() {
    let text = |between: &str| {
        format!(
            "rank 0 {{ recv 0,4 from 1; recv 4,4 from 1; }}
             rank 1 {{ s: send 0,4 to 0; t: send 0,4 to 0; x: exec sumInt32 with 4,4 0,4; {between} }}"
        )
    };
    let options = Options::default();
    assert_found(&text("x requires s; t requires x;"), &options, &[Code::TimingDependentMatch]);
    assert_found(&text("x requires s; x requires t;"), &options, &[]);
}

/// The pattern has the number of its message among those of all tags.
#[test]
fn a_stored_pattern_shows_which_send_is_first() {
    let text = |recv: &str, order: &str| {
        format!(
            "rank 0 {{ recv {recv} from 1 tag 1; recv 8b from 1 tag 2; recv 8,8 from 1 tag 3 }}
             rank 1 {{ a: send 8b to 0 tag 1; b: send 8b to 0 tag 2; c: send 0,8 to 0 tag 3; b irequires a; {order} }}"
        )
    };
    let options = Options::default();
    let warned = [Code::TimingDependentMatch];
    assert_found(&text("0,8", ""), &options, &warned);
    assert_found(&text("0,8", "c irequires b"), &options, &[]);
    assert_found(&text("0,8", "c requires a"), &options, &[]);
    assert_found(&text("0,8", "a irequires c"), &options, &[]);
    assert_found(&text("8b", ""), &options, &[]);
}

#[test]
fn every_rank_of_a_large_ring_is_shown() {
    let mut text = String::new();
    for rank in 0..40 {
        let (next, last) = ((rank + 1) % 40, (rank + 39) % 40);
        text += &format!(
            "rank {rank} {{ r: recv 4b from {last}; s: send 4b to {next}; s requires r; }}\n"
        );
    }
    let report = check_with_places(&text);
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    assert_eq!((found.code, found.labels.len()), (Code::Deadlock, 80), "{report:?}");
}

/// A receive from any source waits for all that could send to it, in a circle with each.
#[test]
fn all_are_shown_that_a_receive_from_any_source_waits_for() {
    let report = check_with_places(
        "rank 0 { a: recv 4b from any; b: recv 4b from any; c: send 4b to 1; d: send 4b to 2; c requires a; d requires a; }
         rank 1 { a: recv 4b from 0; b: send 4b to 0; b requires a; }
         rank 2 { a: recv 4b from 0; b: send 4b to 0; b requires a; }",
    );
    let text = format!("{report:?}");
    assert!(text.contains("would also take this, which rank 2 does not start either"), "{text}");
}

#[test]
fn a_message_that_wildcards_have_no_place_for_has_receives() {
    let text = "rank 0 { recv 4b from any; recv 4b from any; } rank 1, 2, 3 { send 4b to 0; }";
    let report = check(&program(text), None, &Options::default());
    let note = report.diagnostics[0].note.clone().unwrap_or_default();
    assert!(note.contains("of the receives of rank 0, 2 may take it"), "{report:?}");
}

/// Two messages of 8 bytes that are received in the opposite order of their sends.
const CROSSED: &str = "
    rank 0 { a: send 8b to 1 tag 1; b: send 8b to 1 tag 2; b requires a; }
    rank 1 { b: recv 8b from 0 tag 2; a: recv 8b from 0 tag 1; a requires b; }";

#[test]
fn a_message_without_room_waits_for_its_receive() {
    let options = |unexpected_limit| Options { unexpected_limit, ..Options::default() };
    assert_found(CROSSED, &options(1 << 20), &[Code::ReliesOnBuffering]);
    // There is room for one of the two messages. This is enough without other senders, but a
    // program must not rely on it.
    assert_found(CROSSED, &options(200), &[Code::ReliesOnBuffering, Code::ReliesOnBuffering]);
    assert_found(CROSSED, &options(100), &[Code::Deadlock, Code::ReliesOnBuffering]);
}

/// Messages with a posted receive get through although others wait: those with other tags and those
/// from other ranks.
#[test]
fn a_message_without_room_holds_nothing_up() {
    let text = "
        rank 0 { send 8b to 1 tag 1; send 8b to 1 tag 2; send 8b to 1 tag 1; }
        rank 1 { recv 8b from 0 tag 1; x: recv 8b from 0 tag 2; b: recv 8b from 0 tag 1; b requires x;
                 y: recv 8b from 2; z: recv 8b from 3; z requires y; }
        rank 2 { c: calc 1000; s: send 8b to 1; s requires c; }
        rank 3 { send 8b to 1; }";
    for unexpected_limit in [0, 8, 200] {
        assert_found(text, &Options { unexpected_limit, ..Options::default() }, &[]);
    }
}

#[test]
fn another_order_of_events_may_not_end() {
    let text = "
        rank 0 { c: calc 5; s: send 8b to 2 tag 5; s requires c; a: recv 8b from any; b: recv 8b from 1; b requires a; }
        rank 1 { send 8b to 0; }
        rank 2 { send 8b to 0; recv 8b from 0 tag 5; }";
    let report = check(&program(text), None, &Options::default());
    let of = |code| report.diagnostics.iter().filter(move |found| found.code == code);
    let notes: Vec<_> =
        of(Code::Deadlock).map(|found| found.note.clone().unwrap_or_default()).collect();
    assert!(matches!(&notes[..], [note] if note.contains("order")), "{report:?}");
    // One finding says that the receives may take each other's messages.
    assert_eq!(of(Code::TimingDependentMatch).count(), 1, "{report:?}");
}
