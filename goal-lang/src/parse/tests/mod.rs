mod collectives;
mod random;
mod relative;

use std::sync::Arc;

use super::*;
use crate::diag::{Code, Severity};
use crate::program::{Action, Body, Operand, Payload, Piece, Pieces, Placement, Space};
use crate::{ANY, ActionId, Datatype, FormatOptions, Op, Style, fmt};

fn parse_with(texts: &[&[u8]], options: &ParseOptions) -> Parsed {
    let mut sources = SourceMap::default();
    for (i, text) in texts.iter().enumerate() {
        sources.add(format!("{i}.goal"), Arc::new(text.to_vec()));
    }
    parse(&sources, options)
}

pub(crate) fn program(text: &str) -> Program {
    let parsed = parse_with(&[text.as_bytes()], &ParseOptions::default());
    assert_eq!(parsed.report.errors, 0, "{:#?}", parsed.report);
    parsed.program.expect("a program")
}

/// The codes of all errors and the line of each one's first label.
fn errors(text: &str) -> Vec<(Code, u64)> {
    let mut sources = SourceMap::default();
    sources.add("a.goal", Arc::new(text.as_bytes().to_vec()));
    let parsed = parse(&sources, &ParseOptions::default());
    assert_eq!(parsed.program.is_some(), parsed.report.errors == 0);
    let found =
        parsed.report.diagnostics.iter().filter(|found| found.severity() == Severity::Error);
    found
        .map(|found| {
            let place =
                found.labels.first().and_then(|label| sources.line_column(label.span.start));
            (found.code, place.map_or(0, |place| place.0))
        })
        .collect()
}

fn actions(statements: &str) -> Vec<Action> {
    program(&format!(
        "num_ranks 4 rank 0 {{ scratch 64 {statements} }} rank 1 {{}} rank 2 {{}} rank 3 {{}}"
    ))
    .bodies[0]
        .actions
        .clone()
}

#[test]
fn both_forms_of_messages() {
    let placement = Placement { cpu: 1, nic: 2 };
    let piece = |addr, size, space| Piece { addr, size, space };
    assert_eq!(
        actions(
            "send 8b to 1 tag 3 nic 2 cpu 1 recv 4,8 from any tag any; send @8,4 to 2 recv [0,1 @2,3] from -1 tag -1"
        ),
        [
            Action::Send { payload: Payload::Pattern { size: 8 }, to: 1, tag: 3, placement },
            Action::Recv {
                payload: Payload::Buffer(piece(4, 8, Space::Memory)),
                from: ANY,
                tag: ANY,
                placement: Placement::default()
            },
            Action::Send {
                payload: Payload::Buffer(piece(8, 4, Space::Scratch)),
                to: 2,
                tag: 0,
                placement: Placement::default()
            },
            Action::Recv {
                payload: Payload::Vector(Pieces { first: 0, len: 2 }),
                from: ANY,
                tag: ANY,
                placement: Placement::default()
            },
        ]
    );
}

#[test]
fn local_operations_with_and_without_commas() {
    let (op, datatype) = (Op::Sum, Datatype::Int32);
    let spaces = [Space::Memory, Space::Memory, Space::Scratch];
    let two = Action::Exec {
        op,
        datatype,
        spaces: [Space::Memory; 3],
        has_c: false,
        a: 0,
        b: 8,
        c: 0,
        size: 8,
    };
    let three = Action::Exec { op, datatype, spaces, has_c: true, a: 0, b: 8, c: 16, size: 8 };
    assert_eq!(
        actions(
            "exec sumInt32 with 0,8 8,8 exec sumInt32 with 0,8, 8,8; exec sumInt32 with 0,8 8,8 @16,8
             exec sumInt32 with 0,8, 8,8, @16,8 exec wtime with @8,8 nop calc 5 cpu 3 nic 4"
        ),
        [
            two,
            two,
            three,
            three,
            Action::Wtime { addr: 8, space: Space::Scratch },
            Action::Nop,
            Action::Calc { nanos: 5, placement: Placement { cpu: 3, nic: 4 } },
        ]
    );
}

#[test]
fn brackets_stay_vectors() {
    let program =
        program("exec user 7 with 0,3 [4,1, 6,2] exec copyInt8 with [0,2] 8,2 send [0,4] to 0");
    let body = &program.bodies[0];
    let Action::User { function: 7, operands: [a, b] } = body.actions[0] else {
        panic!("{:?}", body.actions)
    };
    assert_eq!((body.slice(a).len(), body.slice(b).len()), (1, 2));
    assert!(matches!(body.actions[1], Action::ExecVector { op: Op::Copy, .. }));
    assert!(matches!(body.actions[2], Action::Send { payload: Payload::Vector(_), .. }));
    assert!(matches!(body.payload_operand(Payload::Vector(a)), Some(Operand::One(_))));
}

#[test]
fn every_word_can_be_a_label_where_it_is_one() {
    let program = program(
        "rank 0 { cpu: calc 1 tag: calc 2 b: calc 3 calc 10 b irequires cpu any requires tag
         any: nop requires: nop; requires requires any requ b -> tag irequires: calc 10 b requires tag }",
    );
    let body = &program.bodies[0];
    let label = |id| body.debug.labels.get(ActionId(id)).unwrap_or("");
    let labels: Vec<&str> = (0..body.len() as u32).map(label).collect();
    assert_eq!(labels, ["cpu", "tag", "b", "", "any", "requires", "irequires"]);
    assert_eq!(body.requires.row(ActionId(1)), [ActionId(2), ActionId(4)]);
    assert_eq!(body.requires.row(ActionId(4)), [ActionId(5)]);
    assert_eq!(body.irequires.row(ActionId(0)), [ActionId(2)]);
}

#[test]
fn a_number_and_b_are_a_size_unless_b_is_a_label() {
    let program = program(
        "rank 0 { send 10 b to 0 send 10b to 0 recv 3 b from 0 b: calc 1 calc 4 b requires b2 b2: nop }",
    );
    assert_eq!(program.bodies[0].len(), 6);
    assert_eq!(program.bodies[0].requires.len(), 1);
}

#[test]
fn a_number_sign_is_a_rank_only_in_a_list_of_ranks() {
    let program =
        program("#2 is the root\nrank #1, #0 { # 1 } {\n nop #3\n}\r\n// }\nrank 2{/* } */}#end");
    assert_eq!(program.num_ranks(), 3);
    assert_eq!(program.body_of(1).len(), 1);
    assert_eq!(program.ranks[0].body, program.ranks[1].body);
    assert_eq!(program.body_of(2).len(), 0);
}

#[test]
fn blocks_of_a_rank_append_and_share_labels() {
    let program = program(
        "num_ranks 3 rank 1 { a requires z a: nop } rank * { m: calc 1 } rank 1, 2 { z: send [0,1 2,1] to 0 z requires m }",
    );
    assert_eq!(program.body_of(0).len(), 1);
    let body = program.body_of(1);
    assert_eq!(body.len(), 3);
    assert_eq!(body.requires.row(ActionId(2)), [ActionId(0)]);
    assert_eq!(body.requires.row(ActionId(1)), [ActionId(2)]);
    assert_eq!(program.body_of(2).requires.len(), 1);
    assert_eq!(program.bodies.len(), 3);
    assert_eq!(body.debug.requires.len(), 2);
}

#[test]
fn dependencies_remember_their_places() {
    let text = "a: nop b: nop c: nop requ c -> a b requires a requ c -> a";
    let program = program(text);
    let places = &program.bodies[0].debug.requires;
    assert_eq!(
        places[..],
        [text.find("b requires").unwrap() as u64, text.find("c -> a").unwrap() as u64]
    );
}

#[test]
fn init_and_expect_become_bytes() {
    let text = "rank 0 { init 4 = Int16 1 -2 0xff expect 0 = Float32 1.5 -inf nan 3 init 100 = UInt64 18446744073709551615 }
                rank 1 { init 4 = Int16 1 -2 255 expect 0 = Float32 15e-1 -inf nan 3.0 init 100 = UInt64 18446744073709551615 }";
    let program = program(text);
    assert_eq!(program.images.len(), 1);
    let image = &program.images[0];
    assert_eq!(image.init[0].bytes, [1, 0, 0xfe, 0xff, 0xff, 0]);
    assert_eq!(image.init[1].bytes, [0xff; 8]);
    let floats: Vec<f32> = image.expect[0]
        .bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    assert_eq!(floats[..2], [1.5, f32::NEG_INFINITY]);
    assert!(floats[2].is_nan());
}

#[test]
fn bare_files_are_ranks_in_order() {
    let texts: [&[u8]; 3] = [b"a: send 1b to 1", b"# nothing", b"a: recv 1b from 0"];
    let parsed = parse_with(&texts, &ParseOptions::default());
    let program = parsed.program.expect("a program");
    let sizes: Vec<usize> = (0..3).map(|rank| program.body_of(rank).len()).collect();
    assert_eq!(sizes, [1, 0, 1]);
    let mixed = parse_with(&[b"nop", b"rank 0 { }"], &ParseOptions::default());
    assert_eq!(mixed.report.diagnostics[0].code, Code::Syntax);
}

#[test]
fn several_errors_of_one_text() {
    let text = "rank 0 {\n a: clac 5\n b: send 8b to 1 tag\n a2: calc 6\n a3 requires a2\n}\n}\nrank 1 {\n calc 1 calc\n}\nfoo";
    use Code::{Syntax, UnknownLabel};
    assert_eq!(
        errors(text),
        [(Syntax, 2), (Syntax, 3), (UnknownLabel, 5), (Syntax, 7), (Syntax, 9), (Syntax, 11)]
    );
}

#[test]
fn each_code_at_its_line() {
    use Code::*;
    let cases: &[(&str, Code, u64)] = &[
        ("rank 0 {\n a: nop", Syntax, 1),
        ("rank 0 {\n a: nop\nrank 1 { }", Syntax, 1),
        ("rank 0 { } }", Syntax, 1),
        ("rank 0 { }\nthis is not GOAL", Syntax, 2),
        ("calc 1\nrank 0 { }", Syntax, 1),
        ("rank 0 { }\n/* }", Syntax, 2),
        ("rank 0 {\n calc 1 tag 2 }", Syntax, 2),
        ("send1: nop\nsendl requires send1", UnknownLabel, 2),
        ("x: nop\nx: nop\nx requires y y: nop", DuplicateLabel, 2),
        ("a: nop\nx: nop\nx: nop y requires x y: nop", DuplicateLabel, 3),
        ("rank 0 { x: nop }\nrank 0 { x: nop y: nop y irequires x }", DuplicateLabel, 2),
        ("rank 0 { x: nop\nx: nop }\nrank 0 { y: nop requ y -> x }", DuplicateLabel, 2),
        ("num_ranks 2 rank 0 {}\nrank 1 { send 8b to\n2 }", PeerOutOfRange, 3),
        ("num_ranks 1 rank 0 {}\nrank 1 { }", RankOutOfRange, 2),
        ("a: nop\na requires a", Cycle, 2),
        ("rank 0 { a: nop b requires a }\nrank 0 { b: nop\n a irequires b }", Cycle, 3),
        ("calc 18446744073709551616", NumberOverflow, 1),
        ("send 8b to 0\ntag 4294967295", NumberOverflow, 2),
        ("send 8b to 4294967295", NumberOverflow, 1),
        ("nop\nsend 18446744073709551615,1 to 0", NumberOverflow, 2),
        ("init 0 = Int8 128", NumberOverflow, 1),
        ("init 0 = Float16 1e9", NumberOverflow, 1),
        ("recv 8b from -3", NumberOverflow, 1),
        ("send 8b to -2", WildcardSend, 1),
        ("send: recv 0,4 from 0", ReservedWord, 1),
        ("rank 0 { rank: nop }", ReservedWord, 1),
        ("exec sumComplex8 with 0,8 8,8", UnknownFunction, 1),
        ("exec bandFloat32 with 0,8 8,8", IllegalOperation, 1),
        ("exec sumFloat8 with 0,8 8,8", IllegalOperation, 1),
        ("exec sumInt32 with 0,6 8,6", WidthMismatch, 1),
        ("exec sumInt8 with 0,6 8,5", WidthMismatch, 1),
        ("exec wtime with 0,4", WidthMismatch, 1),
        ("send 8b to 0 tag -1", WildcardSend, 1),
        ("send 8b to any", WildcardSend, 1),
        ("init 0 = Int32 1 2\ninit 4 = Int8 1", OverlappingInit, 2),
        ("send [0,4 4,0] to 0", EmptyPiece, 1),
        ("init 0 = Int32", EmptyPiece, 1),
        ("exec sumInt8 with 0,8 4,8", OverlappingOperands, 1),
        ("exec sumInt8 with [0,4 8,4] [2,8]", OverlappingOperands, 1),
        ("exec sumInt8 with 8,8 [0,4 2,4]", OverlappingOperands, 1),
        ("scratch 8\nsend @4,8 to 0", ScratchOutOfRange, 2),
        ("num_ranks 1\nnum_ranks 2", ConflictingNumRanks, 2),
        ("num_ranks 4000000000", LimitExceeded, 1),
        ("rank 4000000000 { }", LimitExceeded, 1),
        ("send 99999999999999,1 to 0", LimitExceeded, 1),
        ("calc 1 cpu 1\ncpu 2", DuplicateAttribute, 2),
        ("rank 0, 1, 0 { }", DuplicateRank, 1),
        ("init 0 = Int33 1", UnknownDatatype, 1),
        ("num_ranks 0", EmptyGroup, 1),
        ("", EmptyGroup, 0),
        ("rank * { }", EmptyGroup, 1),
        ("init 0 = Int32 1.5", InvalidValue, 1),
        ("exec sumInt8 with 0,8", WrongOperands, 1),
        ("exec copyInt8 with 0,8 8,8 16,8", WrongOperands, 1),
    ];
    for &(text, code, line) in cases {
        assert_eq!(errors(text), [(code, line)], "{text}");
    }
}

#[test]
fn reserved_words_are_refused_wherever_a_label_may_stand() {
    for word in crate::print::RESERVED {
        for text in [
            format!("{word}: nop"),
            format!("a: nop {word} requires a"),
            format!("a: nop a irequires {word}"),
            format!("a: nop requ a -> {word}"),
            format!("a: nop requ {word} -> a"),
            format!("rank 0 {{ a: nop {word} requires a }}"),
        ] {
            assert_eq!(errors(&text), [(Code::ReservedWord, 1)], "{text}");
        }
    }
}

#[test]
fn every_operation_on_every_datatype() {
    for op in Op::ALL {
        for datatype in Datatype::ALL {
            let text = format!("exec {}{} with 0,16, 16,16;", op.name(), datatype.name());
            let refused = if crate::is_legal(*op, *datatype) {
                vec![]
            } else {
                vec![(Code::IllegalOperation, 1)]
            };
            assert_eq!(errors(&text), refused, "{text}");
        }
    }
}

#[test]
fn what_schedgen_and_its_users_write() {
    let text = b"\xef\xbb\xbfnum_ranks 3\r\n\r\n/* generated */\r\nrank 2{\r\ncalc 5 cpu 1\r\n}\r\nrank 0{\r\nl1: send 10 b to 1 tag 4 cpu 0 nic 1 // first\r\n\
        recv 8b from -1 tag -1\r\nl2: send 1b to 0\r\nl3: recv 1b from 0 nic 2 cpu 1 tag 0\r\nl2 requires l1\r\nl2 requires l1\r\n\
        l3 irequires _late\r\n_late: calc 7 nic 1 cpu 2\r\ncpu: calc 1\r\ntag: calc 2\r\ntag requires cpu}\r\nrank 1 { recv 10b from 0 tag 4 }";
    let parsed = parse_with(&[text], &ParseOptions::default());
    assert!(parsed.report.is_empty(), "{:#?}", parsed.report);
    let program = parsed.program.expect("a program");
    let body = program.body_of(0);
    assert_eq!((body.len(), body.requires.len(), body.irequires.len()), (7, 2, 1));
    assert_eq!(body.actions[4], Action::Calc { nanos: 7, placement: Placement { cpu: 2, nic: 1 } });
}

#[test]
fn a_number_of_a_marker_may_be_a_rank() {
    let limits = crate::limits::Limits { ranks_max: 1 << 24, ..Default::default() };
    let options = ParseOptions { limits, ..ParseOptions::default() };
    for (ranks, is_marker) in [(9_999_999, true), (10_000_000, false)] {
        let text = format!("num_ranks {ranks} rank 0 {{ send 0b to 9999999 }}");
        let program = parse_with(&[text.as_bytes()], &options).program.expect("a program");
        let action = program.body_of(0).actions[0];
        assert_eq!(matches!(action, Action::Marker { .. }), is_marker, "{action:?}");
        assert_eq!(matches!(action, Action::Send { to: 9_999_999, .. }), !is_marker);
    }
}

#[test]
fn a_missing_rank_is_a_warning() {
    let parsed = parse_with(&[b"rank 3 { } rank 1 { }"], &ParseOptions::default());
    assert_eq!((parsed.report.errors, parsed.report.warnings), (0, 1));
    assert_eq!(parsed.report.diagnostics[0].message, "2 ranks have no block and do nothing: 0, 2");
    assert_eq!(parsed.program.map(|program| program.num_ranks()), Some(4));
}

#[test]
fn a_cycle_labels_its_dependencies_and_its_actions() {
    let text =
        b"a: nop\nb: nop\nc: nop\na requires b\nrequ b -> c\nc irequires a\nc requires c2 c2: nop";
    let parsed = parse_with(&[text], &ParseOptions { debug: false, ..ParseOptions::default() });
    let labels: Vec<u64> = parsed.report.diagnostics[0]
        .labels
        .iter()
        .map(|label| {
            text[..label.span.start as usize].iter().filter(|&&byte| byte == b'\n').count() as u64
                + 1
        })
        .collect();
    assert_eq!(labels, [4, 5, 6, 1, 2, 3]);
}

#[test]
fn many_errors_are_counted_and_few_are_kept() {
    let text = "x requires y\n".repeat(5000);
    let parsed = parse_with(&[text.as_bytes()], &ParseOptions::default());
    assert_eq!(parsed.report.errors, 10_000);
    assert_eq!(parsed.report.diagnostics.len(), 100);
}

#[test]
fn a_text_that_is_no_program_is_given_up() {
    for text in ["nop )", "rank 0 {"] {
        let parsed = parse_with(&[text.repeat(5000).as_bytes()], &ParseOptions::default());
        assert_eq!(parsed.report.errors, 1001, "{text}");
    }
}

#[test]
fn copies_of_blocks_are_bounded() {
    let text = format!(
        "rank * {{ {} }} {}",
        "nop ".repeat(40_000),
        (0..8000).map(|r| format!("rank {r} {{ nop }} ")).collect::<String>()
    );
    assert_eq!(errors(&text), [(Code::LimitExceeded, 0)]);
}

/// The rows of both kinds that don't ascend, as they were stated.
fn rows(body: &Body) -> [Vec<(u32, Vec<u32>)>; 2] {
    let order = body.debug.order.clone().unwrap_or_default();
    [order.requires, order.irequires].map(|rows| {
        rows.iter().map(|(id, row)| (id.0, row.iter().map(|waiter| waiter.0).collect())).collect()
    })
}

#[test]
fn the_order_of_dependencies_is_that_of_the_text() {
    let of = |text: &str| rows(&program(text).bodies[0]);
    let canonical = "rank 0 { a: nop b: nop c: nop b requires a c requires a c irequires b }";
    assert_eq!(of(canonical), [vec![], vec![]]);
    let shuffled =
        "rank 0 { a: nop b: nop c: nop c requires a b irequires a b requires a c requires a }";
    assert_eq!(of(shuffled), [vec![(0, vec![2, 1, 2])], vec![]]);
    let twice = "rank 0 { a: nop b: nop b irequires a b irequires a }";
    assert_eq!(of(twice), [vec![], vec![(0, vec![1, 1])]]);
    // Labels that come later, in the same block and in another one.
    let before = "rank 0 { c requires a a: nop b: nop b requires a c: nop }";
    assert_eq!(of(before), [vec![(0, vec![2, 1])], vec![]]);
    let across = "rank 0 { c requires a a: nop b: nop b requires a } rank 0 { c: nop b requires a c irequires a }";
    assert_eq!(of(across), [vec![(0, vec![2, 1, 1])], vec![]]);
    // Without names and places there is no order either.
    let parsed = parse_with(
        &[shuffled.as_bytes()],
        &ParseOptions { debug: false, ..ParseOptions::default() },
    );
    assert!(parsed.program.expect("a program").bodies[0].debug.order.is_none());
}

#[test]
fn labels_that_no_block_has_are_told_alone() {
    let text =
        "rank 0 { a: nop\n b requires a\n a requires c\n d: nop d requires a }\nrank 0 { b: nop }";
    assert_eq!(errors(text), [(Code::UnknownLabel, 3)]);
}

/// A text of several parts, and what threads make of it.
fn same_with_threads(text: &[u8]) {
    let one = parse_with(&[text], &ParseOptions::default());
    let two = parse_with(&[text], &ParseOptions { threads: 2, ..ParseOptions::default() });
    assert_eq!(one.report.errors, two.report.errors);
    assert!(one.report == two.report);
    let (Some(one), Some(two)) = (one.program, two.program) else { return };
    assert_eq!((one.ranks, one.images), (two.ranks, two.images));
    assert!(one.bodies.iter().zip(&two.bodies).all(|(a, b)| a.same_graph(b)));
    assert!(one.bodies.iter().zip(&two.bodies).all(|(a, b)| a.debug.order == b.debug.order));
}

#[test]
fn threads_change_nothing() {
    let mut text = String::from("num_ranks 2000\n");
    for rank in 0..2000 {
        text.push_str(&format!("rank {rank} {{\n"));
        for i in 1..30 {
            text.push_str(&format!("l{i}: send {i}b to {} tag {rank}\n", (rank + i) % 2000));
        }
        text.push_str("l2 requires l1 init 0 = Int8 1 }\n");
        // In another order than the actions', of a label in the other block of the rank.
        text.push_str(&format!("rank {rank} {{ l9 requires l3 l4 requires l3 l9 requires l3 }}\n"));
    }
    let body = &program(&text).bodies[7];
    assert_eq!(rows(body), [vec![(2, vec![8, 3, 8])], vec![]]);
    same_with_threads(text.as_bytes());
    // Errors, and braces in comments, which a cut may take for the ends of blocks.
    same_with_threads(text.replace("l7:", "l6: /* } */").as_bytes());
    same_with_threads(text.replace("l7:", "# } } }\n l7:").as_bytes());
    same_with_threads(text.replace("l9: send 9b to 8", "} calc rank").as_bytes());
}
