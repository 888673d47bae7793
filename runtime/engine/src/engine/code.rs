//! The schedules that instances execute. Each process has its own table of schedules.

use super::ids::Action;
use super::schedule::Schedule;
use super::steps::Steps;
use super::window::Window;
use goal_asm::nisa::Record;
use std::sync::Arc;

/// The source of an instance's actions.
#[derive(Debug)]
pub(super) enum Code {
    /// The whole section.
    Whole(Arc<Schedule>),
    /// A window over the section.
    Window(Box<Window>),
    /// A dropped schedule or window, whose instances have ended. The entry can be used again.
    Ended,
}

impl Code {
    /// Returns the record of `action`. In a window, the action must not have ended.
    #[inline]
    pub(super) fn record(&self, action: Action) -> Record<'_> {
        match self {
            Code::Whole(schedule) => schedule.section().record(action.0),
            Code::Window(window) => window.record(action),
            Code::Ended => unreachable!("its instance has ended"),
        }
    }

    /// Returns the decoded actions, if the schedule has them.
    #[inline(always)]
    pub(super) fn steps(&self) -> Option<&Steps> {
        self.whole()?.steps()
    }

    /// Returns the schedule, if it is not in a window.
    #[inline]
    pub(super) fn whole(&self) -> Option<&Schedule> {
        match self {
            Code::Whole(schedule) => Some(schedule),
            Code::Window(_) | Code::Ended => None,
        }
    }
}
