//! Programs as text: checks and compilation, by the work behind `goalc`.

use crate::error::raised;
use goal::ErrorCode;
use goal_asm::{EncodeOptions, encode};
use goal_lang::diag::{Report, render_json};
use goal_lang::{ParseOptions, SourceMap, parse};
use goalc::driver::{self, Error, Findings, Loaded, Options};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// Checks the texts of one program, each with a name for findings. Returns the findings as lines of
/// JSON.
#[pyfunction]
#[pyo3(name = "_check_texts")]
pub(crate) fn check_texts(py: Python<'_>, texts: Vec<(String, String)>) -> PyResult<String> {
    py.detach(|| {
        let bytes = texts.iter().map(|(_, text)| text.len()).sum();
        let findings = match load(texts, &options(bytes)).and_then(check) {
            Ok(loaded) => loaded.findings,
            Err(error) => error.into_findings()?,
        };
        Ok(json(&findings.report, &findings.sources))
    })
    .map_err(|text: String| raised(py, ErrorCode::File, &text))
}

/// Compiles a program to the binary form NISA, after the checks of all ranks together if `check`.
#[pyfunction]
#[pyo3(signature = (text, *, check = true))]
pub(crate) fn compile_text(
    py: Python<'_>,
    text: String,
    check: bool,
) -> PyResult<Bound<'_, PyBytes>> {
    let compiled = py.detach(|| {
        let options = Options { check, ..options(text.len()) };
        let mut loaded = load(vec![("text".to_owned(), text)], &options)?;
        if check {
            loaded = self::check(loaded)?;
        }
        driver::optimize(&mut loaded, &options, |_, _| {})?;
        let mut bytes = Vec::new();
        let encode_options = EncodeOptions { strip: false, threads: options.threads };
        let Loaded { program, findings, .. } = &loaded;
        options
            .with_threads(|| encode(program, &encode_options, Some(&findings.sources), &mut bytes))
            .map_err(|error| Error::Usage(error.to_string()))?;
        Ok(bytes)
    });
    match compiled {
        Ok(bytes) => Ok(PyBytes::new(py, &bytes)),
        Err(error) => Err(raised(py, ErrorCode::File, &report(&error))),
    }
}

/// Returns the options for a program of `bytes` bytes of text. A small program gets one thread.
fn options(bytes: usize) -> Options {
    const PARALLEL_BYTES_MIN: usize = 1 << 20;
    let options = Options::default();
    let threads = if bytes < PARALLEL_BYTES_MIN { 1 } else { options.threads };
    Options { threads, ..options }
}

/// Reads the texts of one program.
pub(crate) fn load(texts: Vec<(String, String)>, options: &Options) -> Result<Loaded, Error> {
    let mut sources = SourceMap::default();
    for (name, text) in texts {
        sources.add(name, Arc::new(text.into_bytes()));
    }
    let parse_options = ParseOptions {
        limits: options.limits,
        threads: options.threads,
        wrap_tags: options.wrap_tags,
        debug: true,
        check: options.check,
        collectives: false,
    };
    let parsed = parse(&sources, &parse_options);
    let findings = Findings { report: parsed.report, sources };
    match parsed.program {
        Some(program) => Ok(Loaded::new(program, findings)),
        None => Err(Error::Input(Box::new(findings))),
    }
}

fn check(mut loaded: Loaded) -> Result<Loaded, Error> {
    driver::check(&mut loaded, &Options::default())?;
    Ok(loaded)
}

trait IntoFindings {
    /// Returns the findings, or the text of an error that is none.
    fn into_findings(self) -> Result<Findings, String>;
}

impl IntoFindings for Error {
    fn into_findings(self) -> Result<Findings, String> {
        match self {
            Error::Input(findings) => Ok(*findings),
            other => Err(other.to_string()),
        }
    }
}

fn json(report: &Report, sources: &SourceMap) -> String {
    let mut lines = Vec::new();
    render_json(report, sources, &mut lines).expect("a vector takes every byte");
    String::from_utf8(lines).expect("JSON is text")
}

/// Returns the report on an error: each finding with its code and the lines that it names.
pub(crate) fn report(error: &Error) -> String {
    let Error::Input(findings) = error else { return error.to_string() };
    let mut text = Vec::new();
    goal_lang::diag::render(&findings.report, &findings.sources, false, &mut text)
        .expect("a vector takes every byte");
    String::from_utf8_lossy(&text).trim_end().to_owned()
}
