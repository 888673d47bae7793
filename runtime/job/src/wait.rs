//! Defines how ranks wait, and how they share processors.

use crate::Named;
use serde::{Deserialize, Serialize};

/// The policy of a rank that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// It polls and never sleeps.
    Spin,
    /// It polls for a time that adapts to the length of earlier waits, then sleeps.
    #[default]
    Adaptive,
    /// It sleeps at once.
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
    /// Each has one of its own.
    None,
    /// Each is bound to a processor with at most one other rank, of those that its launcher has.
    Paired,
    /// More than two share a processor, or ranks are more than processors and not bound.
    Crowded,
}
