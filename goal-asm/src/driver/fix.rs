//! Texts with the changes that findings bring along.

use super::load::parse_text;
use super::{Error, Form, Input, Loaded, Options, Output, Target};
use goal_lang::SourceMap;
use goal_lang::diag::{Fix, Report, apply};
use goal_lang::limits::FIX_ROUNDS_MAX;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Puts into text files the changes that end findings, until no finding has any, and tells what was changed, a line each.
/// Changes that lead to more errors, or to a text that is none, are left out. A file without changes is not touched.
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
        // Where all together don't do, one alone may.
        let mut attempts = [&fixes[..], &fixes[..1]].into_iter();
        let Some((fixed, left, applied)) =
            attempts.find_map(|fixes| attempt(&loaded, &found, fixes, options))
        else {
            break;
        };
        told.extend(applied);
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

/// The program with some fixes, what is found in it, and what the fixes did; `None` where it is worse than before.
fn attempt(
    loaded: &Loaded,
    found: &Report,
    fixes: &[Fix],
    options: &Options,
) -> Option<(Loaded, Report, Vec<String>)> {
    let old = &loaded.findings.sources;
    let mut sources = SourceMap::default();
    for source in old.sources() {
        sources.add(source.name.clone(), Arc::new(apply(fixes, source)));
    }
    let fixed = parse_text(sources, options).ok()?;
    let left = check(&fixed, options);
    let tell = |fix: &Fix| {
        let at = fix.insertions.first()?.at;
        let (line, _) = old.line_column(at)?;
        Some(format!("{}:{line}: {}", old.source_of(at)?.name, fix.title))
    };
    (left.errors <= found.errors).then(|| (fixed, left, fixes.iter().filter_map(tell).collect()))
}
