//! The time of the critical path in parts of a program: phases or collectives.

use crate::parameters::number;
use goal_loggops::path::{Path, Step};
use serde::{Serialize, Serializer};

/// The time of the critical path in a part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct OfPart<N> {
    /// `None` for steps in no part.
    #[serde(flatten)]
    pub(crate) name: Option<N>,
    #[serde(rename = "path_ns", serialize_with = "in_ns")]
    pub(crate) path_ps: u64,
}

/// Writes picoseconds as nanoseconds.
pub(crate) fn in_ns<S: Serializer>(ps: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    number(*ps, 3).serialize(serializer)
}

/// Adds up a critical path by parts, and as the last one the steps in no part. `part_of` has the
/// place of a step's part among the names.
pub(crate) fn add_up<N>(
    path: &Path,
    names: impl Iterator<Item = N>,
    mut part_of: impl FnMut(&Step) -> Option<usize>,
) -> Vec<OfPart<N>> {
    let of = |name| OfPart { name, path_ps: 0 };
    let mut sums: Vec<OfPart<N>> = names.map(Some).chain([None]).map(of).collect();
    let rest = sums.len() - 1;
    for step in &path.steps {
        sums[part_of(step).unwrap_or(rest)].path_ps += step.duration_ps;
    }
    sums
}
