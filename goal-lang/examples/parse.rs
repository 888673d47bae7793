//! Reads programs and reports their faults, or the speed of reading: `parse [--json] [--threads N]
//! [--no-debug] FILE...`
//!
//! With `--repeat K` each file is read K times and the best rate is printed.

use std::sync::Arc;
use std::time::Instant;

use goal_lang::diag::{render, render_json};
use goal_lang::{ParseOptions, SourceMap, parse};

fn main() {
    let mut options = ParseOptions::default();
    let (mut json, mut repeat, mut sources) = (false, 0, SourceMap::default());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--no-debug" => options.debug = false,
            "--threads" => {
                options.threads = arguments.next().and_then(|n| n.parse().ok()).expect("a number")
            }
            "--repeat" => repeat = arguments.next().and_then(|n| n.parse().ok()).expect("a number"),
            path => {
                let bytes = std::fs::read(path).expect("a readable file");
                sources.add(path, Arc::new(bytes));
            }
        }
    }
    let bytes: usize = sources.sources().iter().map(|source| source.bytes.len()).sum();
    for _ in 0..repeat {
        let start = Instant::now();
        let parsed = parse(&sources, &options);
        let seconds = start.elapsed().as_secs_f64();
        let actions: usize =
            parsed.program.iter().flat_map(|program| &program.bodies).map(|body| body.len()).sum();
        println!("{:.1} MB/s, {seconds:.3} s, {actions} actions", bytes as f64 / 1e6 / seconds);
    }
    let parsed = parse(&sources, &options);
    let out = &mut std::io::stdout();
    if json {
        render_json(&parsed.report, &sources, out).expect("standard output");
    } else {
        render(&parsed.report, &sources, false, out).expect("standard output");
    }
    std::process::exit(i32::from(parsed.report.has_errors()));
}
