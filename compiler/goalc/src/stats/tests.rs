use super::*;
use goal_lang::{ParseOptions, SourceMap, parse};
use std::sync::Arc;

fn stats_of(text: &str) -> Stats {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    let program = parse(&sources, &ParseOptions::default()).program.expect("the text is right");
    stats(&program, &Machine::default())
}

#[test]
fn figures_of_a_small_program() {
    let stats = stats_of(
        "rank 0 {
            init 96 = Int32 1
            scratch 16
            a: calc 100
            b: calc 30
            c: send 0,8 to 1
            d: recv @0,16 from 2
            e: calc 7
            b requires a
            c irequires b
            c requires d
            e requires c
        }
        rank 1, 2 { send 5b to 0 recv 8b from 0 calc 1000 }",
    );
    let largest = |value, rank| Largest { value, rank };
    assert_eq!((stats.ranks, stats.bodies, stats.actions), (3, 2, 11));
    let kinds: Vec<u64> = stats.kinds.iter().map(|(_, count)| count).collect();
    assert_eq!(kinds, [3, 3, 5, 0, 0, 0, 0, 0]);
    assert_eq!((stats.requires, stats.irequires), (3, 1));
    assert_eq!((stats.messages, stats.bytes), (3, 18));
    assert_eq!(stats.calc_ns, 2137);
    // Rank 2 waits for a message that nobody sends.
    assert_eq!((stats.depth, stats.critical_path_ns), (None, None));
    assert_eq!(stats.depth_within_rank, largest(4, 0));
    assert_eq!(stats.width, largest(3, 1));
    assert_eq!(stats.critical_path_within_rank_ns, largest(1000, 1));
    assert_eq!(stats.indegree, largest(2, 0));
    assert_eq!((stats.memory, stats.memory_largest), (100, largest(100, 0)));
    assert_eq!((stats.scratch, stats.scratch_largest), (16, largest(16, 0)));
}

#[test]
fn a_start_dependency_does_not_wait_for_the_end() {
    let path = |kind| {
        let stats = stats_of(&format!("rank 0 {{ a: calc 100 b: calc 30 b {kind} a }}"));
        let within = stats.critical_path_within_rank_ns;
        assert_eq!(stats.critical_path_ns, Some(within));
        within.value
    };
    assert_eq!((path("requires"), path("irequires")), (130, 100));
}

#[test]
fn a_body_is_measured_once_for_all_its_ranks() {
    let stats = stats_of("num_ranks 262144 rank * { a: calc 3 b: calc 4 b requires a }");
    assert_eq!((stats.ranks, stats.bodies, stats.actions), (262_144, 1, 524_288));
    assert_eq!(stats.calc_ns, 7 * 262_144);
}

#[test]
fn an_empty_rank_and_sums_without_room() {
    let stats = stats_of("num_ranks 2");
    assert_eq!((stats.actions, stats.width.value), (0, 0));
    assert_eq!(stats.depth, Some(Largest::default()));
    let most = u64::MAX;
    let stats =
        stats_of(&format!("num_ranks 2 rank * {{ a: calc {most} b: calc 1 b requires a }}"));
    assert_eq!((stats.calc_ns, stats.critical_path_within_rank_ns.value), (most, most));
    assert_eq!(stats.critical_path_ns.map(|path| path.value), Some(most));
}

#[test]
fn table_and_json_hold_the_same() {
    let stats = stats_of("rank 0 { send 12b to 1 } rank 1 { recv 12b from 0 }");
    let json = serde_json::to_value(&stats).unwrap();
    assert_eq!(json["kinds"]["send"], 1);
    assert_eq!(json["bytes"], 12);
    assert_eq!(json["depth"]["value"], 2);
    assert_eq!(json["depth_within_rank"]["value"], 1);
    let table = stats.to_string();
    let has =
        |name, value| table.lines().any(|line| line.starts_with(name) && line.ends_with(value));
    assert!(has("bytes sent", " 12") && has("depth", " 2  on rank 1"), "{table}");
    let ends: Vec<usize> =
        table.lines().map(|line| line.split("  on rank").next().unwrap_or(line).len()).collect();
    assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "not aligned:\n{table}");
}
