use super::{Cells, Marks};
use std::collections::BTreeSet;

#[test]
fn a_place_has_the_number_of_places_before_it() {
    let mut random = fastrand::Rng::with_seed(1);
    let top = [1, 16, 1000, u64::MAX - 1];
    for round in 0..200 {
        // Close together, far apart, and clusters of which one bucket takes all.
        let mut bounds: Vec<u64> = (0..random.usize(2..200)).map(|_| random.u64(..=top[round % 4])).collect();
        if round % 3 == 0 {
            bounds.push(u64::MAX);
        }
        let sorted: Vec<u64> = bounds.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let cells = Cells::new(bounds);
        assert_eq!(cells.len(), sorted.len() - 1);
        for (number, &addr) in sorted.iter().enumerate() {
            assert_eq!((cells.at(addr), cells.addr(number)), (number, addr), "of {sorted:?}");
        }
    }
    assert_eq!(Cells::new(Vec::new()).len(), 0);
}

#[test]
fn marks_are_those_of_a_set() {
    let mut random = fastrand::Rng::with_seed(2);
    for count in [1, 63, 64, 65, 4096, 4097, 300_000] {
        let (mut marks, mut set) = (Marks::new(count), BTreeSet::new());
        for _ in 0..2000 {
            let number = random.usize(..count);
            if random.bool() {
                marks.insert(number);
                set.insert(number);
            } else if let Some(&near) = set.range(..=number).next_back() {
                marks.remove(near);
                set.remove(&near);
            }
            let number = random.usize(..count);
            assert_eq!(marks.contains(number), set.contains(&number));
            assert_eq!(marks.last_up_to(number), set.range(..=number).next_back().copied(), "below {count}");
        }
    }
}
