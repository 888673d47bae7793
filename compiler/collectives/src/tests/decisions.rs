//! The choice of algorithms by tables.

use crate::{Nodes, Request, Table, TableError};
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

/// Rules that were measured on one host are for ranks that are known to share one.
#[test]
fn measured_rules_are_for_one_host() {
    let name = |hosts: Option<&[u32]>, ranks, count| {
        let nodes = hosts.map(|hosts| Arc::new(Nodes::new(hosts)));
        let request = Request { count, nodes, ..Request::new(CollectiveKind::Allreduce, ranks) };
        Table::published().choose(&request).expect("a rule fits").0.name
    };
    assert_eq!(name(Some(&[0; 4]), 4, 100_000), "direct");
    assert_eq!(name(Some(&[0; 4]), 4, 100), "recursive-doubling");
    assert_eq!(name(Some(&[0; 9]), 9, 100_000), "rabenseifner");
    assert_eq!(name(Some(&[0, 0, 1, 1]), 4, 100_000), "two-level");
    assert_eq!(name(None, 4, 100_000), "rabenseifner");
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
