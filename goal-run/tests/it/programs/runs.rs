//! Tests programs that complete.

use crate::common::{Ended, GOAL_RUN};
use crate::programs::bench::{run, told};

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

/// A payload in a heap is copied once, by its receiver or its sender.
#[test]
fn heaps_are_memory_that_ranks_share() {
    let ended = run("in place", &["-n", "2", "--transport", "^cma", "--stats", "--format", "json"]);
    ended.assert_status(0);
    let report = ended.out.split_once("{\"status\"").unwrap().1;
    let report: serde_json::Value = serde_json::from_str(&format!("{{\"status\"{report}")).unwrap();
    let count = |name: &str| report["stats"]["all"][name].as_u64().unwrap();
    assert_eq!(count("read_in_place") + count("written_in_place"), 1, "{report}");
    assert_eq!((&report["messages"], &report["bytes"]), (&1.into(), &1_048_576.into()));
    assert!(report["elapsed_ns"].as_u64().unwrap() > 0);
}

/// The folder is like `python` in a repository that has such a folder.
#[test]
fn a_folder_with_the_name_of_a_program_does_not_hide_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("true")).unwrap();
    let mut command = std::process::Command::new(GOAL_RUN);
    let ended = command.args(["-n", "1", "true"]).current_dir(folder.path()).output().unwrap();
    let ended = Ended::from_output(ended);
    // The program never joins, so it is not a rank. It was started and has ended by itself.
    assert!(!ended.err.contains("is a directory"), "{ended:?}");
    ended.assert_status(0);
}
