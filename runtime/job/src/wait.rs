//! Defines how ranks wait, and how they share processors.

use crate::Named;
use serde::{Deserialize, Serialize};

/// The policy of a rank that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// The rank polls and never sleeps.
    Spin,
    /// The rank polls for a time that adapts to the length of earlier waits, then sleeps.
    #[default]
    Adaptive,
    /// The rank sleeps at once.
    Block,
}

impl Named for Wait {
    const NAMES: &'static [(Self, &'static str, &'static str)] = &[
        (Wait::Spin, "spin", "Polls and never sleeps"),
        (
            Wait::Adaptive,
            "adaptive",
            "Polls for a time that adapts to the length of earlier waits, then sleeps",
        ),
        (Wait::Block, "block", "Sleeps at once"),
    ];
}

/// The ways in which ranks share processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Each rank has a processor of its own.
    None,
    /// Each rank is bound to a processor that it shares with at most one other rank of its
    /// launcher.
    Paired,
    /// More than two ranks share a processor, or there are more ranks than processors and ranks are
    /// not bound.
    Crowded,
}
