use super::Cells;
use std::collections::BTreeSet;

#[test]
fn a_place_has_the_number_of_places_before_it() {
    let mut random = fastrand::Rng::with_seed(1);
    let top = [1, 16, 1000, u64::MAX - 1];
    for round in 0..goal_filetest::seeds(200) as usize {
        // Bounds that are close together, far apart, and in clusters that one bucket contains.
        let mut bounds: Vec<u64> =
            (0..random.usize(2..200)).map(|_| random.u64(..=top[round % 4])).collect();
        if round % 3 == 0 {
            bounds.push(u64::MAX);
        }
        let sorted: Vec<u64> =
            bounds.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let cells = Cells::new(bounds);
        assert_eq!(cells.len(), sorted.len() - 1);
        for (number, &addr) in sorted.iter().enumerate() {
            assert_eq!((cells.at(addr), cells.addr(number)), (number, addr), "of {sorted:?}");
            for end in number + 1..sorted.len().min(number + 3) {
                assert_eq!(cells.range(addr, sorted[end]), (number, end), "of {sorted:?}");
            }
        }
    }
    assert_eq!(Cells::new(Vec::new()).len(), 0);
}
