//! `goal-tune` on ranks, and its table.

use goal_collectives::Table;
use goal_run::launcher::{End, Options, Program, Ranks, run};
use goal_run::program::skeleton;
use std::time::Duration;

#[test]
fn a_table_is_measured_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.json");
    let options = ["--collectives", "bcast,barrier", "--bytes", "8,70000", "--time", "1", "-o"];
    let mut arguments: Vec<_> = options.into_iter().map(Into::into).collect();
    arguments.push(file.clone().into());
    let program = Program { executable: env!("CARGO_BIN_EXE_goal-tune").into(), arguments };
    let options = Options {
        ranks: Ranks::Program(program),
        timeout: Some(Duration::from_secs(60)),
        ..Options::default()
    };
    assert_eq!(run(&skeleton(3, 1 << 20), &options).unwrap().end, End::Complete);
    let table = Table::parse(&std::fs::read_to_string(file).unwrap()).unwrap();
    let measured = |name| {
        let ours = |rule: &&goal_collectives::Rule| rule.ranks == 3 && rule.collective == name;
        let first = table.rules.iter().find(ours);
        first.is_some_and(|rule| rule.source.starts_with("measured"))
    };
    assert!(measured("bcast") && measured("barrier"));
    assert!(table.rules.len() > Table::published().rules.len());
}
