//! The tags and wildcards of a program.

use crate::driver::{Error, Ranks};
use goal_lang::limits::TAG_MAX;
use goal_lang::{ANY, Action};

/// The tags and wildcards of a program, over all ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tags {
    /// One more than the highest tag.
    pub(super) end: u64,
    /// The first rank with a receive from any source.
    pub(super) any_source: Option<u32>,
    /// The first rank with a receive with any tag from any source.
    pub(super) any: Option<u32>,
}

impl Tags {
    pub(super) fn new(ranks: &mut Ranks) -> Result<Self, Error> {
        let mut tags = Self::default();
        for rank in 0..ranks.num_ranks() {
            ranks.visit_actions(rank, |action| match *action {
                Action::Send { tag, .. } | Action::Marker { tag, .. } => {
                    tags.end = tags.end.max(u64::from(tag) + 1)
                }
                Action::Recv { from, tag, .. } => {
                    if tag != ANY {
                        tags.end = tags.end.max(u64::from(tag) + 1);
                    }
                    if from == ANY {
                        tags.any_source.get_or_insert(rank);
                        if tag == ANY {
                            tags.any.get_or_insert(rank);
                        }
                    }
                }
                _ => {}
            })?;
        }
        Ok(tags)
    }
}

/// Returns, for each program, what is added to its tags so that no two programs share one. `None`
/// stands for programs that need too many tags together.
pub(super) fn shifts(tags: &[Tags]) -> Option<Vec<u32>> {
    let mut shift = 0;
    let mut shifts = Vec::with_capacity(tags.len());
    for tags in tags {
        shifts.push(u32::try_from(shift).ok()?);
        shift += tags.end;
    }
    (shift <= u64::from(TAG_MAX) + 1).then_some(shifts)
}

/// Returns an action with another peer, and with a tag that is `shift` higher. Wildcards stay.
pub(super) fn changed(mut action: Action, peer: impl Fn(u32) -> u32, shift: u32) -> Action {
    if let Action::Send { to: other, tag, .. } | Action::Recv { from: other, tag, .. } = &mut action
    {
        if *other != ANY {
            *other = peer(*other);
        }
        if *tag != ANY {
            *tag += shift;
        }
    } else if let Action::Marker { tag, .. } = &mut action {
        *tag += shift;
    }
    action
}
