//! Defines the modes of progress.

use crate::Named;
use serde::{Deserialize, Serialize};

/// The mode of progress, which determines the thread or rank that executes the schedules of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Schedules make progress only in calls of the rank itself.
    #[default]
    Caller,
    /// Schedules make progress in a thread for each rank. The thread sleeps while there is nothing
    /// to do.
    Thread,
    /// Any rank of the host that waits makes progress for the others. Programs make progress as in
    /// `caller`.
    Node,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Caller, Mode::Thread, Mode::Node];
}

impl Named for Mode {
    const NAMES: &'static [(Self, &'static str, &'static str)] = &[
        (Mode::Caller, "caller", "In calls of the rank itself"),
        (
            Mode::Thread,
            "thread",
            "In a thread for each rank, which sleeps while there is nothing to do",
        ),
        (Mode::Node, "node", "Through any rank of the host that waits; as `caller` for programs"),
    ];
}
