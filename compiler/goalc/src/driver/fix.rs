//! Applies the fixes of findings to texts.

use super::load::parse_text;
use super::{CheckOptions, Error, FLAGS, Form, Input, Loaded, Options, Output, Target, streams};
use crate::limits::FIX_CHECKS_MAX;
use goal_check::check_into;
use goal_lang::SourceMap;
use goal_lang::diag::{Code, Diagnostic, Fix, Report, Severity, apply};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Applies the fixes of findings to text files until no finding has one. Returns a line for each
/// change. A fix that leads to more errors of some kind, or to a text that can't be read, is left
/// out, and a line says so. Files without changes are not written.
///
/// # Errors
/// Returns an error if a text can't be read as a program, if an input is no plain text file, or if
/// a file can't be written.
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
    let (mut told, mut left_out) = (Vec::new(), BTreeSet::new());
    let mut checks_left = FIX_CHECKS_MAX;
    loop {
        let mut fixes = fixes_of(&loaded, &found);
        fixes.retain(|(_, what)| !left_out.contains(what));
        if fixes.is_empty() || checks_left == 0 {
            break;
        }
        let best = most(&loaded, &found, &fixes, options, &mut checks_left);
        let applied = best.as_ref().map_or(&[][..], |best| &best.applied);
        for (fix, what) in fixes {
            if applied.contains(&fix) {
                told.push(what);
            } else {
                left_out.insert(what);
            }
        }
        if let Some(best) = best {
            (loaded, found) = (best.program, best.found);
        }
    }
    for (_, what) in fixes_of(&loaded, &found) {
        let why = match left_out.contains(&what) && checks_left > 0 {
            true => "as it leads to other errors".to_owned(),
            false => format!("as the program was checked {FIX_CHECKS_MAX} times already"),
        };
        told.push(format!("{what}: left out, {why}"));
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
    if streams::is_stream(path) {
        let name = path.display();
        return Err(Error::Usage(format!("--fix changes text files: {name} is none")));
    }
    let input = Input::open(path, options)?;
    match input.form == Form::Text && !input.packed {
        true => Ok(input),
        false => Err(Error::Usage(format!("--fix changes text files: {} is none", input.name))),
    }
}

fn check(loaded: &Loaded, options: &Options) -> Report {
    (options.on_stage)("checking");
    let mut report = loaded.findings.report.silent();
    let checks = CheckOptions { names: FLAGS, ..options.checks.clone() };
    check_into(&loaded.program, Some(&loaded.findings.sources), &checks, &mut report);
    report
}

/// A program with harmless fixes applied.
struct Fixed {
    program: Loaded,
    found: Report,
    applied: Vec<Fix>,
}

/// Applies as many of the fixes as do no harm together. Returns `None` if each does harm alone.
/// Fixes that do harm together are tried in halves.
fn most(
    loaded: &Loaded,
    found: &Report,
    fixes: &[(Fix, String)],
    options: &Options,
    checks_left: &mut usize,
) -> Option<Fixed> {
    let mut best: Option<Fixed> = None;
    let mut todo = vec![fixes];
    while let Some(part) = todo.pop()
        && *checks_left > 0
    {
        *checks_left -= 1;
        let mut applied = best.as_ref().map_or(Vec::new(), |best| best.applied.clone());
        applied.extend(part.iter().map(|(fix, _)| fix.clone()));
        if let Some((program, found)) = attempt(loaded, found, &applied, options) {
            best = Some(Fixed { program, found, applied });
        } else if part.len() > 1 {
            let (first, second) = part.split_at(part.len() / 2);
            todo.extend([second, first]);
        }
    }
    best
}

/// Applies some fixes and checks the result. Returns `None` if the program is worse than before.
fn attempt(
    loaded: &Loaded,
    found: &Report,
    fixes: &[Fix],
    options: &Options,
) -> Option<(Loaded, Report)> {
    let mut sources = SourceMap::default();
    for source in loaded.findings.sources.sources() {
        sources.add(source.name.clone(), Arc::new(apply(fixes, source)));
    }
    let fixed = parse_text(sources, options).ok()?;
    let left = check(&fixed, options);
    (!is_worse(found, &left)).then_some((fixed, left))
}

/// Returns true if there are more errors of some kind than before, or if the program now relies on
/// buffering.
fn is_worse(before: &Report, after: &Report) -> bool {
    let matters = |found: &&Diagnostic| {
        found.severity() == Severity::Error || found.code == Code::ReliesOnBuffering
    };
    let count = |report: &Report, code: Code| {
        report.diagnostics.iter().filter(|found| found.code == code).count()
    };
    let mut kinds = after.diagnostics.iter().filter(matters).map(|found| found.code);
    after.errors > before.errors || kinds.any(|code| count(after, code) > count(before, code))
}

/// Returns the fixes of the findings, each with a text that says what it changes, and where.
fn fixes_of(loaded: &Loaded, found: &Report) -> Vec<(Fix, String)> {
    let sources = &loaded.findings.sources;
    let fixes = found.diagnostics.iter().filter_map(|finding| finding.fix.clone());
    let told = fixes.filter_map(|fix| {
        let at = fix.insertions.first()?.at;
        let (line, _) = sources.line_column(at)?;
        let what = format!("{}:{line}: {}", sources.source_of(at)?.name, fix.title);
        Some((fix, what))
    });
    told.collect()
}
