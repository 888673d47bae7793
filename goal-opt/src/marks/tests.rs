use super::Marks;
use std::collections::BTreeSet;

#[test]
fn marks_are_those_of_a_set() {
    let mut random = fastrand::Rng::with_seed(2);
    for count in [1, 63, 64, 65, 4096, 4097, 300_000] {
        let (mut marks, mut set) = (Marks::new(count), BTreeSet::new());
        for _ in 0..goal_filetest::seeds(2000) {
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
            assert_eq!(
                marks.last_up_to(number),
                set.range(..=number).next_back().copied(),
                "below {count}"
            );
        }
    }
}
