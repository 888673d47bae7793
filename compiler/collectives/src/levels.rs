//! The levels of algorithms that have two.

use crate::error::GenerateError;
use crate::request::{Blocks, Request};
use goal_lang::{BlockList, CollectiveKind};

/// A collective of a level, and the algorithms that it takes by default: for operations that
/// commute, and for others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) kind: CollectiveKind,
    pub(crate) default: &'static str,
    pub(crate) ordered: &'static str,
}

/// The collectives of both levels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Levels {
    /// The collectives within nodes.
    pub(crate) inner: &'static [Stage],
    /// The collective among the leaders of nodes.
    pub(crate) outer: Stage,
    /// True if ranks of a node have to be consecutive for every operation.
    pub(crate) is_in_order: bool,
}

impl Stage {
    /// Returns a stage whose algorithm by default is right for all operations.
    pub(crate) const fn new(kind: CollectiveKind, name: &'static str) -> Self {
        Self { kind, default: name, ordered: name }
    }

    /// Returns the name of the algorithm: the one that is asked for, or the default.
    pub(crate) fn name(&self, request: &Request, wanted: Option<&'static str>) -> &'static str {
        wanted.unwrap_or(if request.commutes() { self.default } else { self.ordered })
    }
}

impl Levels {
    /// Calls `check` for each collective of both levels, with the name of its algorithm, a number
    /// of its ranks, and the form of its blocks.
    pub(crate) fn check(
        &self,
        own: CollectiveKind,
        request: &Request,
        check: impl Fn(CollectiveKind, &str, u32, &Blocks) -> Result<(), GenerateError>,
    ) -> Result<(), GenerateError> {
        let all = [request.ranks];
        let (sizes, nodes, is_contiguous) = match &request.nodes {
            Some(nodes) => (nodes.sizes(), nodes.count(), nodes.is_contiguous()),
            None => (&all[..], 1, true),
        };
        let is_ordered = self.is_in_order || own.combines() && !request.commutes();
        if is_ordered && !is_contiguous {
            return Err(GenerateError::NodeOrder { kind: own });
        }
        for stage in self.inner {
            let name = stage.name(request, request.inner);
            sizes.iter().try_for_each(|&size| check(stage.kind, name, size, &Blocks::Equal))?;
        }
        let blocks = match (sizes, has_blocks(self.outer.kind)) {
            ([_, _, ..], true) => Blocks::Each(BlockList::packed([])),
            _ => Blocks::Equal,
        };
        check(self.outer.kind, self.outer.name(request, request.outer), nodes, &blocks)
    }
}

/// Returns true if the collective has a block for each rank in the input or in the output.
pub(crate) fn has_blocks(kind: CollectiveKind) -> bool {
    use CollectiveKind as Kind;
    matches!(
        kind,
        Kind::Gather | Kind::Scatter | Kind::Allgather | Kind::Alltoall | Kind::ReduceScatter
    )
}
