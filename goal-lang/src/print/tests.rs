use super::*;
use crate::program::{
    Action, BodyBuilder, Datum, MemoryImage, Payload, Piece, Placement, ProgramBuilder, Space,
};
use crate::{ANY, Datatype, Op};

fn text(program: &Program, style: Style) -> String {
    let mut out = Vec::new();
    print(program, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn memory(addr: u64, size: u64) -> Piece {
    Piece { addr, size, space: Space::Memory }
}

fn send(payload: Payload, to: u32) -> Action {
    Action::Send { payload, to, tag: 0, placement: Placement::default() }
}

fn recv(payload: Payload, from: u32) -> Action {
    Action::Recv { payload, from, tag: 0, placement: Placement::default() }
}

fn sum(a: u64, b: u64) -> Action {
    let spaces = [Space::Memory; 3];
    Action::Exec {
        op: Op::Sum,
        datatype: Datatype::Int8,
        spaces,
        has_c: false,
        a,
        b,
        c: 0,
        size: 1,
    }
}

/// The paper's Example 2.
fn example_2() -> Program {
    let mut root = BodyBuilder::default();
    let r1 = root.labelled("r1", recv(Payload::Buffer(memory(503, 1)), 1));
    let r2 = root.labelled("r2", recv(Payload::Buffer(memory(504, 1)), 2));
    let e1 = root.labelled("e1", sum(501, 503));
    let e2 = root.labelled("e2", sum(502, 504));
    root.requires(e1, r1);
    root.requires(e2, r2);
    let mut leaf = BodyBuilder::default();
    leaf.action(send(Payload::Buffer(memory(501, 1)), 0));
    let mut program = ProgramBuilder::default();
    program.rank_with(root.finish());
    let leaf = program.body(leaf.finish());
    program.rank(leaf, None);
    program.rank(leaf, None);
    program.finish()
}

#[test]
fn example_2_as_the_paper_prints_it() {
    let expected = "\
rank #0 {
  r1: recv 503,1 from 1;
  r2: recv 504,1 from 2;
  e1: exec sumInt8 with 501,1 503,1;
  requ e1 -> r1;
  e2: exec sumInt8 with 502,1 504,1;
  requ e2 -> r2;
}

rank #1, #2 {
  send 501,1 to 0;
}
";
    assert_eq!(text(&example_2(), Style::Paper2009), expected);
}

#[test]
fn example_2_in_schedgens_spelling() {
    let expected = "\
num_ranks 3

rank 0 {
r1: recv 503,1 from 1 tag 0
r2: recv 504,1 from 2 tag 0
e1: exec sumInt8 with 501,1 503,1
e1 requires r1
e2: exec sumInt8 with 502,1 504,1
e2 requires r2
}

rank 1, 2 {
send 501,1 to 0 tag 0
}
";
    assert_eq!(text(&example_2(), Style::Schedgen), expected);
}

/// The statements of a one-rank program.
fn statements(builder: BodyBuilder, style: Style) -> Vec<String> {
    let mut program = ProgramBuilder::default();
    program.rank_with(builder.finish());
    let text = text(&program.finish(), style);
    let indentation = if style == Style::Schedgen { "" } else { "  " };
    let inside = text
        .lines()
        .skip_while(|line| !line.ends_with('{'))
        .skip(1)
        .take_while(|&line| line != "}");
    inside.map(|line| line.strip_prefix(indentation).expect("indented").to_owned()).collect()
}

#[test]
fn every_form_of_an_action() {
    let mut rank = BodyBuilder::default();
    let placement = Placement { cpu: 1, nic: 2 };
    let pair = rank.pieces(&[memory(0, 4), Piece { addr: 8, size: 4, space: Space::Scratch }]);
    let single = rank.pieces(&[memory(16, 8)]);
    let none = rank.pieces(&[]);
    rank.scratch(12);
    rank.action(Action::Send {
        payload: Payload::Pattern { size: u64::MAX },
        to: 3,
        tag: 7,
        placement,
    });
    rank.action(Action::Recv { payload: Payload::Vector(pair), from: ANY, tag: ANY, placement });
    rank.action(send(Payload::Vector(single), 0));
    rank.action(Action::Calc { nanos: 5, placement });
    let spaces = [Space::Memory, Space::Scratch, Space::Memory];
    let (op, datatype) = (Op::Lxor, Datatype::UInt16);
    rank.action(Action::Exec { op, datatype, spaces, has_c: true, a: 0, b: 2, c: 4, size: 2 });
    rank.action(Action::ExecVector { op: Op::Copy, datatype, operands: [single, pair, none] });
    rank.action(Action::ExecVector { op, datatype, operands: [single, pair, pair] });
    rank.action(Action::User { function: 9, operands: [single, pair] });
    rank.action(Action::Wtime { addr: 64, space: Space::Scratch });
    rank.action(Action::Nop);
    let expected = [
        "scratch 12;",
        "send 18446744073709551615b to 3 tag 7 cpu 1 nic 2;",
        "recv [0,4 @8,4] from any tag any cpu 1 nic 2;",
        "send [16,8] to 0;",
        "calc 5 cpu 1 nic 2;",
        "exec lxorUInt16 with 0,2 @2,2 4,2;",
        "exec copyUInt16 with [16,8] [0,4 @8,4];",
        "exec lxorUInt16 with [16,8] [0,4 @8,4] [0,4 @8,4];",
        "exec user 9 with 16,8 [0,4 @8,4];",
        "exec wtime with @64,8;",
        "nop;",
    ];
    assert_eq!(statements(rank.clone(), Style::Paper2009), expected);
    let schedgen = statements(rank, Style::Schedgen);
    assert_eq!(schedgen[2], "recv [0,4 @8,4] from -1 tag -1 cpu 1 nic 2");
    assert_eq!(schedgen[3], "send [16,8] to 0 tag 0");
}

#[test]
fn a_dependency_follows_the_later_of_its_actions() {
    let mut rank = BodyBuilder::default();
    let ids: Vec<_> = (0..3).map(|_| rank.action(Action::Nop)).collect();
    rank.requires(ids[2], ids[0]);
    rank.irequires(ids[0], ids[2]);
    let expected = ["l1: nop;", "nop;", "l3: nop;", "requ l3 -> l1;", "l1 irequires l3;"];
    assert_eq!(statements(rank, Style::Paper2009), expected);
}

#[test]
fn labels_that_cannot_stand_are_replaced_without_a_clash() {
    let mut rank = BodyBuilder::default();
    let labels = ["l2", "send", "x", "x", "l_6", "7", "", "ä", "_"];
    let ids: Vec<_> = labels.iter().map(|label| rank.labelled(label, Action::Nop)).collect();
    for &id in &ids[1..] {
        rank.irequires(id, ids[0]);
    }
    let named: Vec<String> = statements(rank, Style::Schedgen)
        .into_iter()
        .filter_map(|line| line.strip_suffix(": nop").map(str::to_owned))
        .collect();
    assert_eq!(named, ["l2", "l__2", "x", "l__4", "l_6", "l__6", "l__7", "l__8", "_"]);
}

#[test]
fn memory_images_keep_every_bit() {
    let datum = |addr, datatype, bytes: &[u8]| Datum { addr, datatype, bytes: bytes.to_vec() };
    let doubles: Vec<u8> = [1.5, -0.0, f64::NEG_INFINITY, f64::NAN, 1e300, 5e-324]
        .iter()
        .flat_map(|value: &f64| value.to_bits().to_le_bytes())
        .collect();
    let image = MemoryImage {
        init: vec![
            datum(0, Datatype::Int16, &[0xff, 0xff, 1, 0]),
            datum(8, Datatype::Float64, &doubles),
            datum(80, Datatype::Float16, &0x2e66u16.to_le_bytes()),
            datum(90, Datatype::Float32, &0x7fc0_0001u32.to_le_bytes()),
        ],
        expect: vec![datum(100, Datatype::Float16, &0xfe00u16.to_le_bytes())],
    };
    let mut program = ProgramBuilder::default();
    let body = program.body(BodyBuilder::default().finish());
    let image = program.image(image);
    program.rank(body, Some(image));
    let expected = "\
rank #0 {
  init 0 = Int16 -1 1;
  init 8 = Float64 1.5 -0.0 -inf nan 1e300 5e-324;
  init 80 = Float16 0.099975586;
  init 90 = Float32 nan_7fc00001;
  expect 100 = Float16 nan_fe00;
}
";
    assert_eq!(text(&program.finish(), Style::Paper2009), expected);
}

#[test]
fn a_body_of_all_ranks_and_images_of_some() {
    let image = |value| MemoryImage {
        init: vec![Datum { addr: 0, datatype: Datatype::Int8, bytes: vec![value] }],
        expect: Vec::new(),
    };
    let mut program = ProgramBuilder::default();
    let mut body = BodyBuilder::default();
    body.action(Action::Nop);
    let body = program.body(body.finish());
    let (one, two) = (program.image(image(1)), program.image(image(2)));
    for image in [Some(two), None, Some(one), Some(two)] {
        program.rank(body, image);
    }
    let expected = "\
num_ranks 4;

rank * {
  nop;
}

rank #2 {
  init 0 = Int8 1;
}

rank #0, #3 {
  init 0 = Int8 2;
}
";
    assert_eq!(text(&program.finish(), Style::Paper2009), expected);
}

#[test]
fn an_empty_rank_has_an_empty_block() {
    let mut program = ProgramBuilder::default();
    program.rank_with(BodyBuilder::default().finish());
    assert_eq!(text(&program.finish(), Style::Schedgen), "num_ranks 1\n\nrank 0 {}\n");
    assert_eq!(text(&Program::default(), Style::Paper2009), "num_ranks 0;\n");
}

#[test]
fn what_loggopsim_has_words_for_is_written_in_its_language() {
    let pattern = Payload::Pattern { size: 8 };
    let mut rank = BodyBuilder::default();
    let first = rank.labelled("_first", send(pattern, 0));
    let second = rank.labelled("second", recv(pattern, ANY));
    rank.requires(first, second);
    let mut program = ProgramBuilder::default();
    let body = program.body(rank.finish());
    program.rank(body, None);
    program.rank(body, None);
    let block = "\
l1: send 8b to 0 tag 0
second: recv 8b from -1 tag 0
l1 requires second
}
";
    let expected = format!("num_ranks 2\n\nrank 0 {{\n{block}\nrank 1 {{\n{block}");
    assert_eq!(text(&program.clone().finish(), Style::Schedgen), expected);
    let mut other = BodyBuilder::default();
    other.action(Action::Calc { nanos: 1, placement: Placement { cpu: 0, nic: 1 } });
    program.rank_with(other.finish());
    let expected = "rank 0, 1 {\n_first: send";
    assert!(text(&program.finish(), Style::Schedgen).contains(expected));
}

#[test]
fn dependencies_come_in_the_order_in_which_they_were_stated() {
    let mut rank = BodyBuilder::default();
    let ids: Vec<_> = (0..5).map(|_| rank.action(Action::Nop)).collect();
    for (waiter, prerequisite) in [(3, 0), (1, 0), (0, 2), (4, 2), (1, 2)] {
        rank.requires(ids[waiter], ids[prerequisite]);
    }
    let mut body = rank.finish();
    let mut order = crate::StatedOrder::default();
    order.requires.push(ids[0], [ids[3], ids[1], ids[3]]);
    order.requires.push(ids[2], [ids[4], ids[1], ids[0]]);
    body.debug.order = order.boxed();
    let expected = "\
num_ranks 1

rank 0 {
l1: nop
l2: nop
l3: nop
l4: nop
l4 requires l1
l2 requires l1
l4 requires l1
l5: nop
l5 requires l3
l2 requires l3
l1 requires l3
}
";
    let program = Program {
        bodies: vec![body],
        ranks: vec![crate::RankEntry { body: BodyId::new(0), image: None }],
        images: Vec::new(),
    };
    assert_eq!(text(&program, Style::Schedgen), expected);
}
