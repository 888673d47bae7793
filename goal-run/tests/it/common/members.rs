//! Runs ranks as threads of a test: members of a job over a segment.

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_engine::Calc;
use goal_job::transport::Choice;
use goal_job::{JobSpec, Mode, Settings, Wait};
use goal_lang::limits::Limits;
use goal_lang::{ParseOptions, SourceMap, parse};
use std::sync::Arc;

/// Returns a text in its executable form.
pub(crate) fn nisa(text: &str) -> Arc<Nisa> {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    let program = parse(&sources, &ParseOptions::default()).program.expect("a valid program");
    let mut bytes = Vec::new();
    encode(&program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    Arc::new(Nisa::load(Arc::new(bytes), &Limits::default()).unwrap())
}

/// The settings of ranks that each have a processor, and skip `calc`.
pub(crate) fn settings(ranks: u32, progress: Mode, wait: Wait) -> Settings {
    let settings = Settings::new(ranks, &Choice::default()).unwrap();
    let processors: Vec<u32> = (0..ranks).collect();
    let spec = JobSpec {
        eager_limit: 64,
        unexpected_limit: 1 << 20,
        calc: Calc::Skip,
        progress,
        wait,
        ..JobSpec::default()
    };
    settings.with_spec(spec).with_processors(&processors).unwrap()
}

/// Changes settings to those of ranks that do not skip `calc`.
pub(crate) fn with_calc(settings: Settings) -> Settings {
    let spec = JobSpec { calc: Calc::Scaled(1.0), ..settings.spec.clone() };
    settings.with_spec(spec)
}
