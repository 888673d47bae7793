//! The contributions to expressions, computed in both ways, compared with lists that are built
//! independently.

use crate::postcondition::contributions::{Contributions, Run};
use crate::postcondition::value::{Node, Value, Values, canonical};
use fastrand::Rng;
use goal_lang::{Datatype, Function, Op};

/// Every contribution as a byte of an input.
type Listed = Vec<(u32, u64)>;

const RANKS: u32 = 5;

fn expanded(contributions: &[Run], value: Value) -> Listed {
    let mut all = Listed::new();
    for run in contributions {
        for rank in run.first..=run.last {
            let byte = (rank, value.offset.wrapping_add(run.shift));
            all.extend(std::iter::repeat_n(byte, run.count as usize));
        }
    }
    all
}

#[test]
fn contributions_are_those_that_went_in() {
    for seed in 0..goal_filetest::seeds(2000) {
        let mut rng = Rng::with_seed(seed);
        let is_ordered = rng.bool();
        let function = match is_ordered {
            true => Function::User(1),
            false => canonical(Function::Predefined(Op::Sum, Datatype::Int32)),
        };
        let mut values = Values::new(RANKS);
        let mut made: Vec<(Value, Listed)> =
            (0..RANKS).map(|rank| (Value::at(Node(rank), 0), vec![(rank, 0)])).collect();
        for _ in 0..rng.u32(1..10) {
            let mut pick = || {
                let (value, listed) = rng.choice(&made).expect("some").clone();
                let ahead = 4 * rng.u64(..3);
                let moved =
                    listed.into_iter().map(|(rank, offset)| (rank, offset + ahead)).collect();
                (value.skip(ahead), moved)
            };
            let ((a, mut of_a), (b, of_b)): ((Value, Listed), (Value, Listed)) = (pick(), pick());
            of_a.extend(of_b);
            made.push((values.apply(function, 4, a, b), of_a));
        }
        let mut contributions = Contributions::new(function, 4);
        for (value, mut wanted) in made {
            let mut kept = expanded(&contributions.of(&values, value.node), value);
            let mut anew = expanded(&contributions.of_large(&values, value.node, 0), value);
            if !is_ordered {
                for listed in [&mut wanted, &mut kept, &mut anew] {
                    listed.sort_unstable();
                }
            }
            assert_eq!(kept, wanted, "seed {seed}");
            assert_eq!(anew, wanted, "seed {seed}");
        }
    }
}
