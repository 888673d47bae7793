//! The time of the critical path in collectives that were expanded into messages.

use crate::parts::{OfPart, add_up};
use crate::source::Subject;
use goal_lang::{ActionId, CollectiveForm};
use goal_loggops::path::Path;
use goalc::expand::Origin;
use serde::Serialize;
use std::cmp::Reverse;
use std::fmt;

/// A collective, named as its statements name it.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Collective<'a> {
    kind: &'static str,
    #[serde(flatten)]
    numbers: Numbers,
    /// `None` for a message whose ends are statements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) algorithm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
enum Numbers {
    Group { group: u32, instance: u32 },
    Nccl { comm: u32, seq: u32 },
}

impl<'a> Collective<'a> {
    fn new(origin: &Origin, subject: &'a Subject) -> Self {
        let numbers = match origin.form {
            CollectiveForm::Group { group, instance, .. } => Numbers::Group { group, instance },
            CollectiveForm::Nccl { comm, seq, .. } => Numbers::Nccl { comm, seq },
        };
        let place = origin.position.and_then(|position| subject.loaded()?.line(position));
        let (file, line) = place.unzip();
        let algorithm = origin.algorithm.map(|algorithm| algorithm.name);
        Self { kind: origin.form.name(), numbers, algorithm, file, line }
    }

    /// Returns the file and the line of the first statement.
    pub(super) fn place(&self) -> Option<(&'a str, u64)> {
        self.file.zip(self.line)
    }
}

impl fmt::Display for Collective<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.numbers {
            Numbers::Group { group, instance } => {
                write!(f, "{} group {group} instance {instance}", self.kind)
            }
            Numbers::Nccl { comm, seq } => write!(f, "{} comm {comm} seq {seq}", self.kind),
        }
    }
}

/// Adds up a critical path by the collectives that it meets, the largest first. A step belongs to
/// the collective of its action. Returns `None` if nothing was expanded.
pub(super) fn of_path(path: &Path, subject: &Subject) -> Option<Vec<OfPart<usize>>> {
    let expanded = &subject.loaded()?.expanded;
    if expanded.origins.is_empty() {
        return None;
    }
    let mut sums = add_up(path, 0..expanded.origins.len(), |step| {
        let number = step.action - subject.workload.actions(step.rank).start;
        expanded.origin_of(step.rank, ActionId(number))
    });
    sums.retain(|of| of.path_ps > 0);
    sums.sort_by_key(|of| Reverse(of.path_ps));
    Some(sums)
}

/// Names the collective of a sum.
pub(super) fn named<'a>(of: &OfPart<usize>, subject: &'a Subject) -> OfPart<Collective<'a>> {
    let expanded = subject.loaded().map(|loaded| &loaded.expanded);
    let origin = of.name.and_then(|at| expanded?.origins.get(at));
    OfPart { name: origin.map(|origin| Collective::new(origin, subject)), path_ps: of.path_ps }
}
