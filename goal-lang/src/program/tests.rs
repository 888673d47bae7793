use super::*;
use crate::ActionId;

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
