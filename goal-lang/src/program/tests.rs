use super::*;
use crate::{ActionId, Datatype, Op};

fn edge(waiter: u32, prerequisite: u32) -> Edge {
    Edge { waiter: ActionId(waiter), prerequisite: ActionId(prerequisite) }
}

#[test]
fn sizes_of_the_hot_types() {
    assert_eq!(size_of::<Action>(), 40);
    assert!(size_of::<Piece>() <= 24);
    assert_eq!(size_of::<ActionId>(), 4);
}

#[test]
fn rows_ascend_without_duplicates() {
    let csr = Csr::from_edges(4, &[edge(3, 0), edge(1, 0), edge(3, 0), edge(2, 1), edge(1, 0)]);
    assert_eq!(csr.row(ActionId(0)), [ActionId(1), ActionId(3)]);
    assert_eq!(csr.row(ActionId(1)), [ActionId(2)]);
    assert_eq!(csr.row(ActionId(2)), []);
    assert_eq!(csr.len(), 3);
    assert_eq!(csr.position(edge(2, 1)), Some(2));
    assert_eq!(csr.position(edge(2, 0)), None);
    assert_eq!(csr.transposed(4).row(ActionId(3)), [ActionId(0)]);
}

#[test]
fn an_edge_keeps_its_first_place() {
    let edges = [edge(3, 0), edge(1, 0), edge(3, 0), edge(2, 1), edge(1, 0), edge(3, 2)];
    let (csr, places) = Csr::with_places(4, &edges, &[10, 50, 30, 40, 20, 60]);
    assert_eq!(csr, Csr::from_edges(4, &edges));
    assert!(csr.edges().eq([edge(1, 0), edge(3, 0), edge(2, 1), edge(3, 2)]));
    assert_eq!(places, [20, 10, 40, 60]);
}

#[test]
fn edges_of_another_order() {
    let edges = [edge(1, 0), edge(3, 0), edge(2, 1), edge(3, 2)];
    let csr = Csr::from_edges(5, &edges);
    let order = [2, 3, 4, 1, 0].map(ActionId);
    let (permuted, places) = csr.permuted(&order, &[10, 20, 30, 40]);
    let moved = [edge(1, 0), edge(0, 3), edge(1, 4), edge(3, 4)];
    assert_eq!(permuted, Csr::from_edges(5, &moved));
    assert!(permuted.edges().eq(moved));
    assert_eq!(places, [40, 30, 20, 10]);
    assert_eq!(csr.permuted(&order, &[]), (permuted, Vec::new()));
}

#[test]
fn topological_order_respects_both_kinds() {
    let mut builder = BodyBuilder::default();
    let ids: Vec<_> = (0..3).map(|_| builder.action(Action::Nop)).collect();
    builder.requires(ids[0], ids[2]);
    builder.irequires(ids[2], ids[1]);
    assert_eq!(topological_order(&builder.finish()), Ok(vec![ids[1], ids[2], ids[0]]));
}

#[test]
fn a_cycle_is_its_own_path_only() {
    let mut builder = BodyBuilder::default();
    let ids: Vec<_> = (0..4).map(|_| builder.action(Action::Nop)).collect();
    builder.requires(ids[0], ids[1]);
    builder.requires(ids[1], ids[2]);
    builder.irequires(ids[2], ids[1]);
    builder.requires(ids[3], ids[0]);
    assert_eq!(topological_order(&builder.finish()), Err(Cycle(vec![ids[1], ids[2]])));
}

#[test]
fn buffers_overlap_partly_or_not() {
    let at = |addr, size| Piece { addr, size, space: Space::Memory };
    let scratch = |addr, size| Piece { addr, size, space: Space::Scratch };
    assert!(!partly_overlap(&[at(0, 8)], &[at(0, 8)]));
    assert!(!partly_overlap(&[at(0, 8)], &[at(8, 8)]));
    assert!(!partly_overlap(&[at(0, 8)], &[scratch(4, 8)]));
    assert!(!partly_overlap(&[at(4, 0)], &[at(0, 8)]));
    assert!(partly_overlap(&[at(0, 8)], &[at(4, 8)]));
    assert!(partly_overlap(&[at(0, 8)], &[at(0, 4)]));
    assert!(!partly_overlap(&[at(0, 4), at(4, 4)], &[at(0, 8)]));
    assert!(partly_overlap(&[at(4, 4), at(0, 4)], &[at(0, 8)]));
    assert!(partly_overlap(&[at(0, 100), at(200, 4)], &[at(50, 4), at(300, 100)]));
    assert!(!partly_overlap(&[at(0, 4), at(8, 4)], &[at(4, 4), scratch(8, 4)]));
    assert!(partly_overlap(&[scratch(0, 9), at(8, 4)], &[at(4, 4), scratch(8, 4)]));
    assert!(overlaps_itself(&[at(8, 4), at(0, 9)]));
    assert!(!overlaps_itself(&[at(8, 4), at(0, 8), scratch(0, 12)]));
}

#[test]
fn accesses_tell_reads_from_writes() {
    let piece = |addr| Piece { addr, size: 8, space: Space::Memory };
    let accesses = |action: &Action, builder: &BodyBuilder| {
        let mut accesses = Vec::new();
        builder
            .clone()
            .finish()
            .visit_accesses(action, |piece, access| accesses.push((piece.addr, access)));
        accesses
    };
    let mut rank = BodyBuilder::default();
    let exec = |op, has_c| {
        let spaces = [Space::Memory; 3];
        Action::Exec { op, datatype: Datatype::Int64, spaces, has_c, a: 0, b: 8, c: 16, size: 8 }
    };
    let [a, b] = [rank.pieces(&[piece(0), piece(24)]), rank.pieces(&[piece(8)])];
    let none = Pieces { first: 0, len: 0 };
    let (op, datatype) = (Op::Sum, Datatype::Int64);
    let placement = Placement::default();
    let payload = Payload::Vector(a);
    let reduced = Payload::Reduced { op, datatype, operands: a.first };
    use Access::{Read, Update, Write};
    let cases = [
        (Action::Send { payload, to: 0, tag: 0, placement }, vec![(0, Read), (24, Read)]),
        (Action::Recv { payload, from: 0, tag: 0, placement }, vec![(0, Write), (24, Write)]),
        (exec(Op::Sum, false), vec![(0, Read), (8, Update)]),
        (exec(Op::Copy, false), vec![(0, Read), (8, Write)]),
        (exec(Op::Sum, true), vec![(0, Read), (8, Read), (16, Write)]),
        (
            Action::ExecVector { op, datatype, operands: [a, b, none] },
            vec![(0, Read), (24, Read), (8, Update)],
        ),
        (
            Action::User { function: 1, operands: [a, b] },
            vec![(0, Update), (24, Update), (8, Update)],
        ),
        (Action::Wtime { addr: 32, space: Space::Memory }, vec![(32, Write)]),
        (Action::Calc { nanos: 1, placement }, vec![]),
        (Action::Nop, vec![]),
        (
            Action::Send { payload: reduced, to: 0, tag: 0, placement },
            vec![(24, Read), (0, Update)],
        ),
        (Action::Recv { payload: reduced, from: 0, tag: 0, placement }, vec![(0, Update)]),
    ];
    for (action, expected) in cases {
        assert_eq!(accesses(&action, &rank), expected, "{action:?}");
    }
    assert!(
        Read.reads()
            && !Read.writes()
            && !Write.reads()
            && Write.writes()
            && Update.reads()
            && Update.writes()
    );
}
