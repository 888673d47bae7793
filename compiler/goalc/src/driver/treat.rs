//! Collective statements of inputs: refused, kept or expanded.
//!
//! The list of groups beside an input may have any bytes and any size. At most
//! [`Options::input_bytes_max`] of them are read, and a wrong line gives a finding with its place.

use super::input::read_bounded;
use super::loaded::Loaded;
use super::{Collectives, Error, Options, name_flags};
use crate::expand::{self, ExpandError};
use goal_lang::diag::{Code, Diagnostic, Report};
use goal_lang::{
    ActionId, CollectiveForm, Groups, Program, SourceMap, Span, instances, unexpanded,
};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Refuses, keeps or expands the collective statements of a program. `name` is the name of its
/// first input.
pub(super) fn treat(loaded: &mut Loaded, name: &str, options: &Options) -> Result<(), Error> {
    if !loaded.program.has_collectives() {
        return Ok(());
    }
    if matches!(options.collectives, Collectives::Refuse) {
        let all = loaded.program.ranks.iter();
        let count = all.map(|entry| loaded.program.bodies[entry.body.index()].collectives.len());
        let rest = count.sum::<usize>() as u64 - 1;
        return Err(fail(loaded, name, unexpanded(None, rest)));
    }
    let groups = match of_groups(&loaded.program) {
        true => match list(name, &mut loaded.findings.sources, options) {
            Ok(groups) => groups,
            Err(Wrong::Finding(finding)) => return Err(fail(loaded, name, *finding)),
            Err(Wrong::Error(error)) => return Err(error),
        },
        false => None,
    };
    let Loaded { program, findings, .. } = loaded;
    let found = instances(program, &findings.sources, groups.as_ref(), &mut findings.report);
    if findings.report.has_errors() {
        name_flags(&mut findings.report);
        name_input(&mut findings.report, name);
        return Err(std::mem::take(findings).into());
    }
    let Collectives::Expand(algorithms) = &options.collectives else { return Ok(()) };
    (options.on_stage)("expanding");
    match expand::expand(program, &found, algorithms) {
        Ok(expanded) => loaded.expanded = expanded,
        Err(error) => {
            let finding = refused(loaded, &error);
            return Err(fail(loaded, name, finding));
        }
    }
    Ok(())
}

fn fail(loaded: &mut Loaded, name: &str, finding: Diagnostic) -> Error {
    let mut findings = std::mem::take(&mut loaded.findings);
    findings.report.push(finding);
    name_flags(&mut findings.report);
    name_input(&mut findings.report, name);
    findings.into()
}

/// Names the input in findings that have no place, as those of a binary.
fn name_input(report: &mut Report, name: &str) {
    let all = report
        .diagnostics
        .iter_mut()
        .filter(|finding| finding.labels.is_empty() && finding.code.kind().contains("collective"));
    all.for_each(|finding| finding.message = format!("{name}: {}", finding.message));
}

/// Returns true if a statement names a group.
fn of_groups(program: &Program) -> bool {
    let mut all = program.bodies.iter().flat_map(|body| &body.collectives);
    all.any(|stated| matches!(stated.form, CollectiveForm::Group { .. }))
}

/// The reason why there are no groups.
enum Wrong {
    Finding(Box<Diagnostic>),
    Error(Error),
}

/// Reads the list of groups that the options name, or the one beside the input `name`. Returns
/// `None` if there is none beside it.
fn list(name: &str, sources: &mut SourceMap, options: &Options) -> Result<Option<Groups>, Wrong> {
    let path = options.groups.clone().or_else(|| beside(Path::new(name)));
    let Some(path) = path else { return Ok(None) };
    let shown = path.display().to_string();
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && options.groups.is_none() => {
            return Ok(None);
        }
        opened => opened.map_err(|error| Wrong::Error(Error::io(&shown, error)))?,
    };
    let bytes =
        Arc::new(read_bounded(&shown, file, options.input_bytes_max).map_err(Wrong::Error)?);
    let base = sources.add(shown, bytes.clone());
    Groups::parse(&bytes, base).map(Some).map_err(Wrong::Finding)
}

/// Returns the path of the list of groups beside an input: its name with the extension `.groups`.
pub(super) fn beside(path: &Path) -> Option<PathBuf> {
    if path == Path::new("<stdin>") {
        return None;
    }
    let is_packed =
        path.extension().is_some_and(|extension| extension == "gz" || extension == "zst");
    let path = if is_packed { path.with_extension("") } else { path.to_owned() };
    Some(path.with_extension("groups"))
}

/// Returns the finding about statements that can't be expanded.
fn refused(loaded: &Loaded, error: &ExpandError) -> Diagnostic {
    let finding = Diagnostic::new(Code::CollectiveExpansion, error.to_string());
    let stated = |member: goal_lang::Member| (member.rank, member.stated(&loaded.program).action);
    let (place, help) = match error {
        ExpandError::NoAlgorithm { first, .. } => {
            (Some(stated(*first)), "name another algorithm with `--expand`, or take `auto`")
        }
        ExpandError::OtherEnd(end) => {
            (Some(stated(*end)), "write the messages as `send` and `recv`, which name both ends")
        }
        ExpandError::AnyTag { rank, action } => {
            (Some((*rank, *action)), "name the tag that the receive is for")
        }
        ExpandError::Tags { .. } => (None, "use smaller tags in the program"),
        ExpandError::TooLarge => (None, "cut the program into pieces, or expand fewer ranks"),
    };
    let finding = finding.help(help);
    match place.and_then(|(rank, action)| span(loaded, rank, action)) {
        Some(span) => finding.label(span, "this one"),
        None => finding,
    }
}

fn span(loaded: &Loaded, rank: u32, action: ActionId) -> Option<Span> {
    let places = &loaded.program.body_of(rank).debug.actions;
    loaded.findings.sources.statement(*places.get(action.index())?)
}
