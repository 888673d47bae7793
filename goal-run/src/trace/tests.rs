use super::lanes::Lanes;

#[test]
fn slices_that_overlap_lie_in_different_lanes() {
    let mut lanes = Lanes::default();
    assert_eq!([lanes.take(), lanes.take(), lanes.take()], [(1, true), (2, true), (3, true)]);
    lanes.give_back(2);
    lanes.give_back(1);
    assert_eq!([lanes.take(), lanes.take(), lanes.take()], [(1, false), (2, false), (4, true)]);
}
