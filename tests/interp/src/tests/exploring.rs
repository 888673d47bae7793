use super::super::outcomes::explore;
use crate::{Eager, Error, Options};

/// Leaving out orders that make no difference finds the same outcomes as visiting all.
#[test]
fn what_is_left_out_makes_no_difference() {
    let (mut stuck, mut looked_at) = (0, 0);
    for seed in 0..goal_filetest::seeds(150) {
        let program = goal_smith::tangle(seed);
        let actions: usize = program.bodies.iter().map(goal_lang::Body::len).sum();
        if actions > 9 {
            continue;
        }
        for eager in [Eager::None, Eager::Limit(16 << 10)] {
            let options = Options { eager, ..Options::default() };
            let [some, all] =
                [true, false].map(|settled| explore(&program, &options, 20_000, settled, |_| {}));
            if matches!(all, Ok(false)) {
                continue;
            }
            looked_at += 1;
            stuck += u32::from(matches!(all, Err(Error::Stuck(_))));
            assert_eq!(some.is_ok(), all.is_ok(), "seed {seed}, {eager:?}");
        }
    }
    assert!(stuck > 5 && looked_at > 4 * stuck / 3, "{stuck} of {looked_at} get stuck");
}
