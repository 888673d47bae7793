//! Programs that come to their end.

use crate::bench::{run, told};

#[test]
fn the_ranks_of_a_program_start_schedules_in_every_mode() {
    for part in ["ring", "many"] {
        let what = if part == "ring" { "its rings" } else { "many" };
        for mode in ["caller", "thread", "node"] {
            for ranks in 1..=5 {
                let ended = run(part, &["-n", &ranks.to_string(), "--progress", mode]);
                ended.assert_status(0);
                let expected: Vec<String> =
                    (0..ranks).map(|rank| format!("rank {rank} of {ranks} has {what}")).collect();
                assert_eq!(told(&ended), expected, "{mode}: {ended:?}");
                assert_eq!(ended.err, "");
            }
        }
    }
}
