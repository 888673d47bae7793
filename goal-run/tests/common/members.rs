//! Ranks that are threads of a test: members of a job over a segment.

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_engine::transport::Distance;
use goal_lang::limits::Limits;
use goal_lang::{ParseOptions, SourceMap, parse};
use goal_run::job::{Mode, Settings, Wait};
use goal_run::transport::{Choice, Request};
use std::sync::Arc;

/// A text as it is executed.
pub(crate) fn nisa(text: &str) -> Arc<Nisa> {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    let program = parse(&sources, &ParseOptions::default()).program.expect("a valid program");
    let mut bytes = Vec::new();
    encode(&program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    Arc::new(Nisa::load(Arc::new(bytes), &Limits::default()).unwrap())
}

/// The settings of the ranks.
pub(crate) fn settings(ranks: u32, progress: Mode, wait: Wait) -> Settings {
    Settings {
        eager_limit: 64,
        unexpected_limit: 1 << 20,
        calc: None,
        repeat: 1,
        check: false,
        record: false,
        crowded: false,
        window: None,
        trace_events: 0,
        paths: Choice::new(&Request::default()).paths(Distance::farthest(ranks, false)).unwrap(),
        progress,
        wait,
        network: None,
    }
}
