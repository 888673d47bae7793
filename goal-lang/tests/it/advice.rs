//! Frequent mistakes, each with the words that its help must have.

use goal_lang::{ParseOptions, SourceMap, parse};
use std::sync::Arc;

/// The help of the first finding about a text.
fn help(text: &str) -> String {
    let mut sources = SourceMap::default();
    sources.add("a.goal", Arc::new(text.as_bytes().to_vec()));
    let parsed = parse(&sources, &ParseOptions::default());
    let first = parsed.report.diagnostics.into_iter().next().expect("a finding");
    first.help.unwrap_or_default()
}

#[test]
fn what_to_write() {
    for (mistake, correct) in [
        ("send 8 to 1", "`send 8b to 1`"),
        ("send 8 to 1", "`send 0,8 to 1`"),
        ("recv 16 from any tag 1", "`recv 16b from any`"),
        ("a: recv 8/**/from 0", "`recv 8b from 0`"),
        ("send 8kB to 1", "`send 8192b`"),
        ("send 8 kB to 1", "`send 8192b`"),
        ("send 8B to 1", "`send 8b`"),
        ("recv 1.5 from 1", "`recv 2b`"),
        ("send 8b to rank 1", "`to 1`"),
        ("send 8b to +1", "`rank+N`"),
        ("recv 8b from ^ 1", "`rank^N`"),
        ("calc 1.5", "`calc 2`"),
        ("calc 0.2 cpu 1", "`calc 1`"),
        ("calc 1e3", "`calc 1000`"),
        ("calc 1us", "`calc 1000`"),
        ("x: calc 1us cpu 1", "`calc 1000`"),
        ("calc 20 ms", "`calc 20000000`"),
        ("calc 1.5us", "`calc 1500`"),
        ("calc 3µs", "`calc 3000`"),
        ("calc 2s", "`calc 2000000000`"),
        ("calc 1_000", "`1000`"),
        ("calc 1,000,000", "`calc 1000000`"),
        ("a: nop b: nop c: nop b requires a, c", "`b requires a` and `b requires c`"),
        ("a: nop b: nop c: nop b requires a and c", "`b requires a` and `b requires c`"),
        ("a: nop b: nop c: nop b irequires a, c", "`b irequires a` and `b irequires c`"),
        ("a: nop b: nop c: nop requ b -> a, c", "`requ b -> a` and `requ b -> c`"),
        ("a: nop b: nop c: nop a, b requires c", "`a requires c` and `b requires c`"),
        ("a: nop b: nop\na -> b", "`requ a -> b`"),
        ("größe: calc 5", "`groesse`"),
        ("calc 5 é1: calc 5", "`e1`"),
        ("a: nop b: nop b requires straße", "`strasse`"),
        ("名: calc 5", "`label1`"),
        ("exec addInt32 with 0,8 8,8", "`sumInt32`"),
        ("exec sumFloat with 0,8 8,8", "`sumFloat32`"),
        ("exec sumFloat8 with 0,8 8,8", "`sumFloat16`"),
        ("exec bandFloat64 with 0,8 8,8", "`bandUInt64`"),
        ("exec sum Int32 with 0,8 8,8", "`sumInt32`"),
        ("recv 0,8 from 0 with sum", "`sumInt32`"),
        ("init 0 = int 5", "`Int32`"),
        ("init 0 = Double 5", "`Float64`"),
        ("init 0 = Float 5", "`Float32`"),
        ("init 0 = 5", "`Int32 5`"),
        ("init 0 = Int32 1, 2", "a blank between two values"),
        ("init 0 = Float8 1", "Float16"),
        ("rank 0-3 { nop }", "`rank 0, 1, 2, 3`"),
        ("num_ranks 4\nrank 0 - 2 {\n nop }", "`rank 0, 1, 2`"),
        ("rank 0..2 { nop }", "`rank 0, 1, 2`"),
        ("rank 1:2 { nop }", "`rank 1, 2`"),
        ("rank 0 to 2 { nop }", "`rank 0, 1, 2`"),
        ("rank 0 1 { nop }", "`rank 0, 1`"),
        ("rank [0,1] { nop }", "`rank 0, 1`"),
        ("rank 0, 2-3 { nop }", "`rank 0, 2, 3`"),
        ("rank #0-#2 { nop }", "`rank 0, 1, 2`"),
        ("rank 0-511 { nop }", "`rank *`"),
        ("rank all { nop }", "`rank *`"),
    ] {
        for text in [mistake.to_owned(), format!("{mistake}\n"), format!("{mistake} # c")] {
            let help = help(&text);
            assert!(help.contains(correct), "{text}: {help}");
        }
        if !mistake.contains("rank") {
            let help = help(&format!("num_ranks 2\nrank 1 {{}}\nrank 0 {{\n  {mistake}\n}}\n"));
            assert!(help.contains(correct), "{mistake} in a block: {help}");
        }
    }
}

#[test]
fn other_mistakes_get_no_advice() {
    for text in
        ["calc 1 )", "send 8 ) to 1", "calc 1 foo bar: nop", "a: nop b: nop b requires a; )"]
    {
        let help = help(text);
        assert!(help.contains("write a statement") || help.contains("write `,`"), "{text}: {help}");
    }
}

#[test]
fn an_advice_looks_at_a_few_bytes_only() {
    let long = "x".repeat(1 << 20);
    for text in [
        format!("calc 1{long}"),
        format!("b requires a, {long}"),
        format!("ö{}", "ö".repeat(1 << 19)),
        format!("rank 0-{}", "3".repeat(1 << 20)),
        format!("{long} -> {long}"),
        format!("send 8 to {long}"),
    ] {
        assert!(help(&text).len() < 1000);
    }
}
