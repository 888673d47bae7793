//! Texts with the changes that findings bring along.

use super::load::parse_text;
use super::{Error, Form, Input, Loaded, Options, Output, Target};
use goal_lang::SourceMap;
use goal_lang::diag::{Code, Diagnostic, Fix, Report, Severity, apply};
use goal_lang::limits::FIX_ROUNDS_MAX;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Puts into text files the changes that end findings, until no finding has any, and tells what was changed, a line each.
/// Changes that lead to more errors of some kind, or to a text that is none, are left out, which is told as well. A file
/// without changes is not touched.
///
/// # Errors
/// What is wrong with the texts themselves; where an input is no plain text file; those of the system.
pub fn fix(paths: &[PathBuf], options: &Options) -> Result<Vec<String>, Error> {
    let texts = paths.iter().map(|path| text(path, options)).collect::<Result<Vec<_>, _>>()?;
    let mut sources = SourceMap::default();
    for text in texts {
        sources.add(text.name, text.bytes);
    }
    let mut loaded = parse_text(sources, options)?;
    let before: Vec<Arc<_>> =
        loaded.findings.sources.sources().iter().map(|text| text.bytes.clone()).collect();
    let mut found = check(&loaded, options);
    let mut told = Vec::new();
    for _ in 0..FIX_ROUNDS_MAX {
        let fixes: Vec<Fix> = found.diagnostics.iter().filter_map(|finding| finding.fix.clone()).collect();
        if fixes.is_empty() {
            break;
        }
        let Some((fixed, left, applied)) = most(&loaded, &found, &fixes, options) else {
            let left_out = fixes.iter().filter_map(|fix| tell(fix, &loaded));
            told.extend(left_out.map(|fix| format!("{fix}: left out, as it leads to other errors")));
            break;
        };
        told.extend(applied.iter().filter_map(|fix| tell(fix, &loaded)));
        (loaded, found) = (fixed, left);
    }
    for ((path, text), before) in paths.iter().zip(loaded.findings.sources.sources()).zip(before) {
        if text.bytes[..] != before[..] {
            let mut out = Output::create(&Target::File(path.clone()), false)?;
            out.write_all(&text.bytes).map_err(|error| Error::io(&text.name, error))?;
            out.finish()?;
        }
    }
    Ok(told)
}

fn text(path: &Path, options: &Options) -> Result<Input, Error> {
    let is_stdin = path == Path::new("-");
    let input = Input::open(path, options)?;
    match input.form == Form::Text && !input.packed && !is_stdin {
        true => Ok(input),
        false => Err(Error::Usage(format!("--fix changes text files: {} is none", input.name))),
    }
}

fn check(loaded: &Loaded, options: &Options) -> Report {
    (options.on_stage)("checking");
    goal_opt::check::check(&loaded.program, Some(&loaded.findings.sources), &options.checks)
}

/// The program with as many of the fixes as do no harm together, what is found in it, and these fixes; `None` where each does
/// harm. Fixes that do harm together are tried by halves.
fn most(
    loaded: &Loaded,
    found: &Report,
    fixes: &[Fix],
    options: &Options,
) -> Option<(Loaded, Report, Vec<Fix>)> {
    let mut best: Option<(Loaded, Report, Vec<Fix>)> = None;
    let mut todo = vec![fixes];
    while let Some(part) = todo.pop() {
        let mut applied = best.as_ref().map_or(Vec::new(), |(.., applied)| applied.clone());
        applied.extend_from_slice(part);
        if let Some((fixed, left)) = attempt(loaded, found, &applied, options) {
            best = Some((fixed, left, applied));
        } else if part.len() > 1 {
            let (first, second) = part.split_at(part.len() / 2);
            todo.extend([second, first]);
        }
    }
    best
}

/// The program with some fixes, and what is found in it; `None` where it is worse than before.
fn attempt(loaded: &Loaded, found: &Report, fixes: &[Fix], options: &Options) -> Option<(Loaded, Report)> {
    let mut sources = SourceMap::default();
    for source in loaded.findings.sources.sources() {
        sources.add(source.name.clone(), Arc::new(apply(fixes, source)));
    }
    let fixed = parse_text(sources, options).ok()?;
    let left = check(&fixed, options);
    (!is_worse(found, &left)).then_some((fixed, left))
}

/// Whether there are more errors of some kind than before, or the program has come to rely on buffering.
fn is_worse(before: &Report, after: &Report) -> bool {
    let matters =
        |found: &&Diagnostic| found.severity() == Severity::Error || found.code == Code::ReliesOnBuffering;
    let count =
        |report: &Report, code: Code| report.diagnostics.iter().filter(|found| found.code == code).count();
    let mut kinds = after.diagnostics.iter().filter(matters).map(|found| found.code);
    after.errors > before.errors || kinds.any(|code| count(after, code) > count(before, code))
}

/// What a fix does, with its place.
fn tell(fix: &Fix, loaded: &Loaded) -> Option<String> {
    let sources = &loaded.findings.sources;
    let at = fix.insertions.first()?.at;
    let (line, _) = sources.line_column(at)?;
    Some(format!("{}:{line}: {}", sources.source_of(at)?.name, fix.title))
}
