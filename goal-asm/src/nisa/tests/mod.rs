mod buffers;

use super::*;
use goal_lang::limits::Limits;
use goal_lang::{
    Action, Bytes, Datatype, Datum, MemoryImage, Op, Payload, Piece, Placement, Program,
    ProgramBuilder, Space,
};
use std::sync::Arc;

fn encoded(program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).expect("the program fits");
    bytes
}

fn load(bytes: Vec<u8>) -> Result<Nisa, VerifyError> {
    let bytes: Bytes = Arc::new(bytes);
    Nisa::load(bytes, &Limits::default())
}

fn memory(addr: u64, size: u64) -> Piece {
    Piece { addr, size, space: Space::Memory }
}

/// Example 2 of the paper (III.A).
fn example_2() -> Program {
    let recv = |addr, from| Action::Recv {
        payload: Payload::Buffer(memory(addr, 1)),
        from,
        tag: 0,
        placement: Placement::default(),
    };
    let sum = |a, b| Action::Exec {
        op: Op::Sum,
        datatype: Datatype::Int8,
        spaces: [Space::Memory; 3],
        has_c: false,
        a,
        b,
        c: 0,
        size: 1,
    };
    let mut root = goal_lang::BodyBuilder::default();
    let r1 = root.labelled("r1", recv(503, 1));
    let r2 = root.labelled("r2", recv(504, 2));
    let e1 = root.labelled("e1", sum(501, 503));
    let e2 = root.labelled("e2", sum(502, 504));
    root.requires(e1, r1);
    root.requires(e2, r2);
    let mut leaf = goal_lang::BodyBuilder::default();
    leaf.action(Action::Send {
        payload: Payload::Buffer(memory(501, 1)),
        to: 0,
        tag: 0,
        placement: Placement::default(),
    });
    let mut program = ProgramBuilder::default();
    let (root, leaf) = (program.body(root.finish()), program.body(leaf.finish()));
    program.rank(root, None);
    program.rank(leaf, None);
    program.rank(leaf, None);
    program.finish()
}

fn assert_same(left: &Program, right: &Program) {
    assert_eq!(left.num_ranks(), right.num_ranks());
    for rank in 0..left.num_ranks() {
        assert!(left.body_of(rank).same_graph(right.body_of(rank)), "rank {rank}");
        assert_eq!(left.image_of(rank), right.image_of(rank), "rank {rank}");
        assert_eq!(
            left.body_of(rank).debug.labels,
            right.body_of(rank).debug.labels,
            "rank {rank}"
        );
    }
}

#[test]
fn example_2_returns() {
    let program = example_2();
    let bytes = encoded(&program);
    let nisa = load(bytes.clone()).expect("verifies");
    assert_eq!(nisa.num_sections(), 2);
    assert_eq!(nisa.memory_size(0), 505);
    assert_eq!(nisa.producer(), concat!("goalc ", env!("CARGO_PKG_VERSION")));
    assert_eq!(nisa.debug(0).label(2), Some("e1"));
    assert_same(&program, &nisa.decode());
    assert_eq!(encoded(&nisa.decode()), bytes);
}

#[test]
fn names_and_lines_are_not_what_runs() {
    let bytes_of = |options| {
        let mut bytes = Vec::new();
        encode(&example_2(), &options, None, &mut bytes).expect("the program fits");
        bytes
    };
    let (named, stripped) = (
        encoded(&example_2()),
        bytes_of(EncodeOptions { strip: true, ..EncodeOptions::default() }),
    );
    assert_ne!(named, stripped);
    let essence = |bytes| load(bytes).unwrap().essence().map(<[u8]>::to_vec).collect::<Vec<_>>();
    assert_eq!(essence(named.clone()), essence(stripped));
    let mut other = named.clone();
    // An address.
    let place = named.windows(4).position(|window| window == 503u32.to_le_bytes()).unwrap();
    other[place] += 1;
    reseal(&mut other);
    assert_ne!(essence(named), essence(other));
}

#[test]
fn images_are_kept_by_rank() {
    let mut program = example_2();
    let datum =
        |addr, bytes: &[u8]| Datum { addr, datatype: Datatype::Int8, bytes: bytes.to_vec() };
    program
        .images
        .push(MemoryImage { init: vec![datum(501, &[3, 4, 5])], expect: vec![datum(600, &[1])] });
    program.ranks[2].image = Some(goal_lang::ImageId(0));
    let nisa = load(encoded(&program)).expect("verifies");
    assert_eq!((nisa.memory_size(1), nisa.memory_size(2)), (502, 601));
    let image = nisa.image(2).expect("an image");
    assert_eq!(image.init.map(|value| value.addr).collect::<Vec<_>>(), [501]);
    assert!(nisa.image(1).is_none());
    assert_same(&program, &nisa.decode());
}

#[test]
fn every_changed_byte_is_seen() {
    let bytes = encoded(&example_2());
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            load(changed).expect_err("a changed bit");
        }
    }
}

#[test]
fn every_prefix_is_refused() {
    let bytes = encoded(&example_2());
    for length in 0..bytes.len() {
        load(bytes[..length].to_vec()).map(drop).expect_err("cut short");
    }
}

/// Returns the verifier's result for one operation on these buffers.
fn verified_exec(a: &[Piece], b: &[Piece], c: &[Piece]) -> Result<(), String> {
    let mut body = goal_lang::BodyBuilder::default();
    let operands = [a, b, c].map(|pieces| body.pieces(pieces));
    body.action(Action::ExecVector { op: Op::Sum, datatype: Datatype::Int8, operands });
    let mut program = ProgramBuilder::default();
    program.rank_with(body.finish());
    load(encoded(&program.finish())).map(drop).map_err(|error| error.to_string())
}

#[test]
fn operands_that_overlap_partly_are_refused() {
    let [low, high, middle] = [memory(0, 8), memory(8, 8), memory(4, 8)];
    for [a, b, c] in
        [[low, high, low], [low, high, high], [low, low, low], [low, high, memory(16, 8)]]
    {
        assert_eq!(verified_exec(&[a], &[b], &[c]), Ok(()));
    }
    for [a, b, c] in [[low, middle, high], [low, high, middle], [middle, high, low]] {
        let message = verified_exec(&[a], &[b], &[c]).expect_err("they overlap");
        assert!(message.contains("overlap partly"), "{message}");
    }
    let cut = [memory(0, 3), memory(3, 5)];
    assert_eq!(verified_exec(&cut, &[high], &[low]), Ok(()), "the same bytes in other pieces");
    let swapped = [memory(3, 5), memory(0, 3)];
    verified_exec(&swapped, &[high], &[low]).expect_err("the same bytes in another order");
    let twice = [memory(16, 4), memory(16, 4)];
    assert_eq!(verified_exec(&twice, &[high], &[low]), Ok(()), "read twice");
    verified_exec(&[low], &[high], &twice).expect_err("stored twice");
}

/// A file with messages that carry operations states version 2, one with markers version 4.
#[test]
fn a_file_states_the_version_that_its_instructions_need() {
    let version = |bytes: &[u8]| u16::from_le_bytes([bytes[8], bytes[9]]);
    assert_eq!(version(&encoded(&example_2())), 1);
    let mut marked = goal_lang::BodyBuilder::default();
    marked.action(Action::Marker { to: 9_999_999, tag: 1, placement: Placement::default() });
    let mut program = ProgramBuilder::default();
    program.rank_with(marked.finish());
    assert_eq!(version(&encoded(&program.finish())), 4);
    let mut body = goal_lang::BodyBuilder::default();
    let operands = body.pieces(&[memory(0, 8), memory(8, 8)]).first;
    let payload = Payload::Reduced { op: Op::Sum, datatype: Datatype::Int64, operands };
    let placement = Placement::default();
    body.action(Action::Send { payload, to: 0, tag: 1, placement });
    body.action(Action::Recv { payload, from: goal_lang::ANY, tag: 1, placement });
    let mut program = ProgramBuilder::default();
    program.rank_with(body.finish());
    let mut bytes = encoded(&program.finish());
    assert_eq!(version(&bytes), 2);
    load(bytes.clone()).expect("a version that is known");

    bytes[8] = 1;
    reseal(&mut bytes);
    let error = load(bytes.clone()).expect_err("an instruction that the version has not");
    assert_eq!(error.code(), goal_lang::diag::Code::NisaAction);
    assert!(error.to_string().contains("format version 1"), "{error}");

    bytes[8] = 5;
    reseal(&mut bytes);
    let error = load(bytes).expect_err("a version that is not known");
    assert_eq!(error.code(), goal_lang::diag::Code::NisaVersion);
}
