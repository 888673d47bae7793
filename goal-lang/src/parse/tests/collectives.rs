//! Collective statements.

use super::*;
use crate::limits::Limits;
use crate::program::{CollectiveForm, NcclKind};
use crate::{CollectiveKind, print};

const KEEPING: ParseOptions = ParseOptions {
    limits: Limits { ranks_max: 8, memory_bytes_max: 1 << 20, scratch_bytes_max: 1 << 20 },
    threads: 1,
    wrap_tags: false,
    debug: true,
    check: true,
    collectives: true,
};

fn kept(text: &str) -> Program {
    let parsed = parse_with(&[text.as_bytes()], &KEEPING);
    assert!(parsed.report.is_empty(), "{:#?}", parsed.report);
    parsed.program.expect("a program")
}

#[test]
fn statements_are_dummies_with_what_they_name() {
    let text = "x: coll reduce 16b 3 4 0 nic 2 cpu 1 y: calc 1 y requires x
        Recv 5 bytes comm 1 gpu 2 stream 3 seq 4 end";
    let program = kept(text);
    let body = program.body_of(0);
    assert_eq!((body.actions[0], body.actions[2]), (Action::Nop, Action::Nop));
    assert_eq!(body.requires.row(ActionId(0)), [ActionId(1)]);
    assert_eq!(body.debug.labels.get(ActionId(0)), Some("x"));
    let stated = body.collective(ActionId(0)).expect("a statement");
    let (kind, placement) = (CollectiveKind::Reduce, Placement { cpu: 1, nic: 2 });
    let form = CollectiveForm::Group { kind, group: 3, instance: 4, root: Some(0), placement };
    assert_eq!((stated.size, stated.form), (16, form));
    let stated = body.collective(ActionId(2)).expect("a statement");
    let form = CollectiveForm::Nccl { kind: NcclKind::Recv, comm: 1, gpu: 2, stream: 3, seq: 4 };
    assert_eq!((stated.size, stated.form), (5, form));
    assert_eq!(body.collective(ActionId(1)), None);
}

#[test]
fn their_words_are_labels_too() {
    let text =
        "coll: calc 1 bytes: calc 2 Send: calc 3 end: AllReduce 8 bytes comm 0 gpu 0 stream 0
        seq 0 end coll requires bytes Send requires end requ end -> coll";
    let text = text.replace("requ end -> coll", "seq: nop requ coll -> seq");
    let body = &kept(&text).bodies[0];
    assert_eq!(body.len(), 5);
    assert_eq!(body.requires.len(), 3);
}

#[test]
fn blocks_are_joined_with_their_statements() {
    let line = |seq| format!("AllReduce 8 bytes comm 0 gpu 0 stream 0 seq {seq} end");
    let text = format!(
        "rank 0 {{ calc 1 {} }} rank 1 {{ {} }} rank * {{ calc 2 z: {} }}",
        line(0),
        line(0),
        line(1)
    );
    let program = kept(&text);
    let at = |rank| {
        let stated = program.body_of(rank).collectives.iter();
        stated.map(|stated| stated.action.0).collect::<Vec<u32>>()
    };
    assert_eq!((at(0), at(1)), (vec![1, 3], vec![0, 2]));
}

#[test]
fn both_spellings_come_back_from_print() {
    let text = "num_ranks 2 rank * { a: coll allgather 0x10 b 0 4294967295 -1 cpu 9
        coll reduce_scatter 1b 1 0 -1; coll bcast 0 b 2 0 1
        Broadcast 18446744073709551615 bytes comm 1 gpu 2 stream 3 seq 4 end
        b: Send 1 bytes comm 0 gpu 0 stream 0 seq 0 end requ b -> a }";
    let program = kept(text);
    for style in [Style::Paper2009, Style::Schedgen] {
        let mut printed = Vec::new();
        print(&program, style, &mut printed).expect("memory");
        let printed = String::from_utf8(printed).expect("text");
        let again = kept(&printed);
        let is_same = |rank| again.body_of(rank).same_graph(program.body_of(rank));
        assert!(is_same(0) && is_same(1), "{printed}");
        let formatted = fmt(printed.as_bytes(), FormatOptions { style: Some(style) });
        assert_eq!(formatted.expect("it parses"), printed.as_bytes(), "{printed}");
    }
}

#[test]
fn programs_without_messages_are_refused_by_default() {
    let text = "rank 0 { AllReduce 8 bytes comm 0 gpu 0 stream 0 seq 0 end }
        rank 1 { coll bcast 8b 0 0 0 }";
    assert_eq!(errors(text), [(Code::UnexpandedCollective, 1)]);
}

#[test]
fn wrong_statements_are_reported() {
    let cases = [
        ("coll", Code::Syntax),
        ("coll allreduce 8 0 0 -1", Code::Syntax),
        ("coll allreduce 8b 0 -1 -1", Code::Syntax),
        ("coll scan 8b 0 0 -1", Code::Syntax),
        ("coll allreduce 8b 0 0 -3", Code::NumberOverflow),
        ("coll allreduce 8b 0 0 4294967295", Code::NumberOverflow),
        ("coll allreduce 8b 0 0 -1 cpu 1 cpu 2", Code::DuplicateAttribute),
        ("coll allreduce 8b 0 0 -1 tag 3", Code::Syntax),
        ("Reduce 8 bytes comm 0 gpu 0 stream 0 seq 0", Code::Syntax),
        ("Reduce 8 bytes gpu 0 comm 0 stream 0 seq 0 end", Code::Syntax),
        ("Reduce 8 bytes comm 4294967296 gpu 0 stream 0 seq 0 end", Code::NumberOverflow),
    ];
    for (text, code) in cases {
        let parsed = parse_with(&[text.as_bytes()], &KEEPING);
        let found: Vec<Code> = parsed.report.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(found, [code], "{text}");
    }
}
