//! The choice of algorithms by tables.

use crate::{Nodes, Request, Rule, Table, TableError, algorithm};
use goal_lang::{CollectiveKind, Function};
use std::sync::Arc;

#[test]
fn the_published_table_decides_every_request() {
    let table = Table::published();
    for kind in CollectiveKind::ALL {
        for ranks in [1, 2, 3, 7, 8, 9, 10, 60, 61, 64, 1000] {
            for count in [0, 1, 300, 3000, 100_000, 10_000_000] {
                for function in [Request::new(kind, 1).function, Function::User(1)] {
                    let request = Request { count, function, ..Request::new(kind, ranks) };
                    let (algorithm, rule) = table.choose(&request).expect("a rule fits");
                    assert_eq!((algorithm.kind, algorithm.name), (kind, rule.algorithm.as_str()));
                }
            }
        }
    }
}

/// The thesis's thresholds of a gather (5.5).
#[test]
fn a_gather_is_decided_as_the_thesis_says() {
    let table = Table::published();
    let name = |ranks, count| {
        let request = Request { count, ..Request::new(CollectiveKind::Gather, ranks) };
        table.choose(&request).expect("a rule fits").0.name
    };
    assert_eq!(name(4, 6001), "linear-sync");
    assert_eq!(name(4, 6000), "linear");
    assert_eq!(name(61, 6000), "binomial");
    assert_eq!(name(60, 6000), "linear");
    assert_eq!(name(11, 1023), "binomial");
    assert_eq!(name(10, 1023), "linear");
}

/// Returns the name of the algorithm for ranks on these hosts, if they are known.
fn on(hosts: Option<&[u32]>, kind: CollectiveKind, ranks: u32, count: u64) -> &'static str {
    let nodes = hosts.map(|hosts| Arc::new(Nodes::new(hosts)));
    let request = Request { count, nodes, ..Request::new(kind, ranks) };
    Table::published().choose(&request).expect("a rule fits").0.name
}

/// Rules that were measured on one host are for ranks that are known to share one.
#[test]
fn measured_rules_are_for_one_host() {
    let name = |hosts, ranks, count| on(hosts, CollectiveKind::Allreduce, ranks, count);
    assert_eq!(name(Some(&[0; 4]), 4, 100_000), "direct");
    assert_eq!(name(Some(&[0; 4]), 4, 513), "recursive-doubling");
    assert_eq!(name(Some(&[0; 9]), 9, 100_000), "rabenseifner");
    assert_eq!(name(Some(&[0, 0, 1, 1]), 4, 100_000), "two-level");
    assert_eq!(name(None, 4, 100_000), "rabenseifner");
}

/// Few ranks that are known to share a host exchange short blocks in one round. All others choose
/// as if there were no such rules.
#[test]
fn few_ranks_of_one_host_take_one_round() {
    let kinds = || CollectiveKind::ALL.into_iter().filter(|kind| !kind.has_neighbors());
    let has_one_round = |hosts: Option<&[u32]>, kind, ranks, count| {
        let name = on(hosts, kind, ranks, count);
        algorithm(kind, name).expect("in the table").has_one_round
    };
    let others = Table::published();
    let others: Vec<Rule> =
        others.rules.into_iter().filter(|rule| rule.nodes_below.is_none()).collect();
    let others = Table { measured: String::new(), rules: others, transports: None };
    for kind in kinds() {
        let width = Request::new(kind, 1).datatype.width();
        for ranks in 2..=8 {
            for bytes in [8, 256, 2048] {
                let hosts = vec![3; ranks as usize];
                let is_flat = has_one_round(Some(&hosts), kind, ranks, bytes / width);
                assert!(is_flat, "{kind} of {ranks} ranks, {bytes} bytes");
            }
        }
        let apart =
            [(None, 2, 8), (None, 8, 8), (Some(&[0, 0, 1][..]), 3, 8), (Some(&[0; 9]), 9, 8)];
        for (hosts, ranks, bytes) in apart {
            let nodes = hosts.map(|hosts| Arc::new(Nodes::new(hosts)));
            let request = Request { count: bytes / width, nodes, ..Request::new(kind, ranks) };
            let (wanted, _) = others.choose(&request).expect("a rule fits");
            assert_eq!(on(hosts, kind, ranks, bytes / width), wanted.name, "{kind}");
        }
    }
    // Longer blocks take other algorithms where these are better.
    assert_eq!(on(Some(&[0; 8]), CollectiveKind::Bcast, 8, 20_000), "scatter-doubling");
    assert_eq!(on(Some(&[0; 8]), CollectiveKind::ReduceScatter, 8, 1000), "halving");
    // Two ranks exchange one message each way in any case, and Bruck's algorithm copies besides.
    assert_eq!(on(Some(&[0; 2]), CollectiveKind::Alltoall, 2, 8), "linear");
}

#[test]
fn tables_that_name_what_there_is_not_are_refused() {
    let rule = |text: &str| Table::parse(&format!(r#"{{"measured": "", "rules": [{text}]}}"#));
    let error = |text: &str| rule(text).expect_err("refused").to_string();
    let named = r#"{"collective": "bcast", "algorithm": "rings", "source": ""}"#;
    assert_eq!(error(named), "rule 1: bcast has no algorithm rings");
    let named = r#"{"collective": "broadcast", "algorithm": "ring", "source": ""}"#;
    assert_eq!(error(named), "rule 1: there is no collective broadcast");
    assert!(error(r#"{"collective": "bcast"}"#).contains("missing field"));
    assert!(error(r#"{"byte": 1}"#).contains("unknown field"));
    let table = rule("").expect("a table");
    let none = table.choose(&Request::new(CollectiveKind::Scan, 2));
    assert!(matches!(none, Err(TableError::NoRule(CollectiveKind::Scan))));
}
