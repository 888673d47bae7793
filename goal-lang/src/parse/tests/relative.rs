//! Peers that are relative to the rank.

use super::*;
use crate::relative::Relation;

/// Returns the peers of each rank's messages.
fn peers(text: &str) -> Vec<Vec<u32>> {
    let program = program(text);
    let of_action = |action: &Action| match *action {
        Action::Send { to, .. } => Some(to),
        Action::Recv { from, .. } => Some(from),
        _ => None,
    };
    let of_rank = |rank| program.body_of(rank).actions.iter().filter_map(of_action).collect();
    (0..program.num_ranks()).map(of_rank).collect()
}

fn symmetric(text: &str) -> Option<SymmetricProgram> {
    let mut sources = SourceMap::default();
    sources.add("a.goal", Arc::new(text.as_bytes().to_vec()));
    parse_symmetric(&sources, &ParseOptions::default()).ok()
}

#[test]
fn each_rank_has_its_own_peers() {
    let text =
        "num_ranks 4 rank * { calc 1 send 8b to rank+1 recv 8b from rank-1 send 1b to rank^2 }";
    let all = [vec![1, 3, 2], vec![2, 0, 3], vec![3, 1, 0], vec![0, 2, 1]];
    assert_eq!(peers(text), all);
    let paper = text.replace("8b", "0,8").replace(" recv", "; recv").replace(" send", "; send");
    assert_eq!(peers(&paper), all);
}

#[test]
fn relative_peers_stand_in_all_blocks() {
    let text = "rank 0, 2 { a: send 8b to rank+1 tag 1 } rank 1 { recv 8b from rank+3 recv 8b from 2 }
        rank #2 { send 0,8 to rank - 1; b: nop; b requires a } rank 3 { send [0,4 8,4] to rank^0x3 }";
    assert_eq!(peers(text), [vec![1], vec![0, 2], vec![3, 1], vec![0]]);
    // A file of bare statements is a rank.
    let files: [&[u8]; 3] = [b"calc 1", b"send 8b to rank+1", b"recv 8b from rank-1"];
    let program = parse_with(&files, &ParseOptions::default()).program.expect("a program");
    assert!(matches!(program.body_of(1).actions[0], Action::Send { to: 2, .. }));
    assert!(matches!(program.body_of(2).actions[0], Action::Recv { from: 1, .. }));
}

#[test]
fn distances_are_modulo_the_number_of_ranks() {
    assert_eq!(
        peers("num_ranks 3 rank * { send 8b to rank+4 recv 8b from rank-4294967294 }"),
        [[1, 1], [2, 2], [0, 0]]
    );
    assert_eq!(peers("num_ranks 1 rank * { send 8b to rank+7 recv 8b from rank^0 }"), [[0, 0]]);
}

#[test]
fn a_wildcard_is_no_distance() {
    let text = "num_ranks 4 rank 2 { recv 8b from -1 recv 8b from -2 recv 8b from rank -1
        recv 8b from rank/**/-/**/2 recv 8b from any } rank 0, 1, 3 { }";
    assert_eq!(peers(text)[2], [ANY, ANY, 1, 0, ANY]);
}

#[test]
fn wrong_relative_peers_are_refused() {
    use Code::*;
    let cases: &[(&str, Code, u64)] = &[
        ("num_ranks 6 rank * {\nsend 8b to rank^4 }", PeerOutOfRange, 2),
        ("rank 0 { send 8b to rank^1\n}", PeerOutOfRange, 1),
        ("rank 0 { send 8b to rank+4294967295 }", NumberOverflow, 1),
        ("rank 0 { send 8b to rank+any }", Syntax, 1),
        ("rank 0 { send 8b to rank }", Syntax, 1),
        ("rank 0 { send 8b to rank* }", Syntax, 1),
        ("rank 0 { send 8b to +1 }", Syntax, 1),
        ("rank 0 { send 8b to rank+1b }", Syntax, 1),
        ("rank 0 { send 8b to 0 tag rank+1 }", Syntax, 1),
        ("rank+1 { }", Syntax, 1),
    ];
    for &(text, code, line) in cases {
        assert_eq!(errors(text).first(), Some(&(code, line)), "{text}");
    }
    let mut report = parse_with(&[cases[0].0.as_bytes()], &ParseOptions::default()).report;
    let found = report.diagnostics.remove(0);
    assert_eq!(found.message, "a message from rank 2 to rank 6, but the group has 6 ranks");
    assert_eq!(found.labels[0].text, "2^4 is 6, and the last rank is 5");
}

#[test]
fn formatting_keeps_relative_peers() {
    let formatted = |style| {
        let text = b"num_ranks 2 rank*{a:send 8b to rank + 0x1 recv 8b from rank -1; send 1b to rank^ 1 tag 2}";
        String::from_utf8(fmt(text, FormatOptions { style }).expect("formatted")).unwrap()
    };
    assert_eq!(
        formatted(None),
        "num_ranks 2\nrank * {\n  a: send 8b to rank+0x1\n  recv 8b from rank-1;\n  send 1b to rank^1 tag 2\n}\n"
    );
    let paper = formatted(Some(Style::Paper2009));
    assert!(paper.contains("a: send 8b to rank+0x1;\n  recv 8b from rank-1;\n"), "{paper}");
    let schedgen = formatted(Some(Style::Schedgen));
    assert!(schedgen.contains("a: send 8b to rank+1\nrecv 8b from rank-1\nsend"), "{schedgen}");
}

#[test]
fn a_symmetric_program_is_one_rank() {
    let found = symmetric(
        "rank * { a: send 8b to rank+1 b: nop } num_ranks 5 rank * { recv 8b from rank-1 b requires a }",
    )
    .expect("a symmetric program");
    assert_eq!((found.num_ranks, found.relation), (5, Relation::Shift));
    let [send, nop, recv] = found.body.actions[..] else { panic!("{:?}", found.body) };
    assert!(matches!(send, Action::Send { to: 1, .. }) && nop == Action::Nop);
    assert!(matches!(recv, Action::Recv { from: 4, .. }));
    assert_eq!(found.body.requires.row(ActionId(0)), [ActionId(1)]);
    let xors = symmetric("num_ranks 12 rank * { send 8b to rank^3 recv 8b from rank^2 }");
    assert_eq!(xors.expect("within 4 ranks").relation, Relation::Xor);
    assert!(symmetric("num_ranks 4194304 rank * { calc 5 }").is_some());
}

#[test]
fn other_programs_are_all_ranks() {
    for text in [
        "num_ranks 4 rank * { send 8b to rank+1 recv 8b from rank^1 }",
        "num_ranks 4 rank * { send 8b to rank+1 recv 8b from 1 }",
        "num_ranks 4 rank * { send 8b to rank+1 recv 8b from any }",
        "num_ranks 4 rank * { send 8b to rank+1 } rank 2 { calc 1 }",
        "num_ranks 2 rank 0, 1 { send 8b to rank+1 }",
        "num_ranks 4 rank * { init 0 = Int8 1 send 8b to rank+1 }",
        "num_ranks 6 rank * { send 8b to rank^2 }",
        "num_ranks 4 rank * { a: send 8b to rank+1 a: nop }",
        "num_ranks 4 rank * { send 8b to rank+1 a requires b }",
        "num_ranks 4 rank * { a: nop a requires a }",
        "num_ranks 4 num_ranks 5 rank * { send 8b to rank+1 }",
        "rank * { send 8b to rank+1 }",
        "send 8b to rank+1",
        "",
    ] {
        assert!(symmetric(text).is_none(), "{text}");
    }
}

/// A short text asks for a copy of its block for each rank.
#[test]
fn copies_of_a_block_are_bounded() {
    let statements = "send 8b to rank+1\n".repeat(100);
    let text = format!("num_ranks 4000000 rank * {{ {statements} calc 1 send 8b to 0 }}");
    assert_eq!(errors(&text)[0].0, Code::LimitExceeded);
}

/// One rank in a million has a peer outside of the group. Whoever looks for it among all peers of
/// all ranks takes too long.
#[test]
fn the_search_for_peers_outside_is_bounded() {
    let statements = "send 8b to rank^1\n".repeat(400);
    let text = format!("num_ranks 1000001 rank * {{ {statements} }}");
    let codes: Vec<Code> = errors(&text).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, [Code::LimitExceeded]);
}
