//! The schedules that instances execute, and the memory that they work on. Each process has its own
//! tables of these.

use super::buffer::Memory;
use super::ids::{Action, Rank};
use super::schedule::Schedule;
use super::steps::Steps;
use super::window::Window;
use crate::memory::{Cells, Region};
use goal_asm::nisa::Record;
use std::any::Any;
use std::sync::Arc;

/// The source of an instance's actions.
#[derive(Debug)]
pub(super) enum Code {
    /// The whole section.
    Whole(Arc<Schedule>),
    /// A window over the section.
    Window(Box<Window>),
    /// A window whose instance is finished.
    Ended,
}

impl Code {
    /// The action `action`. In a window, it must not have ended.
    #[inline]
    pub(super) fn record(&self, action: Action) -> Record<'_> {
        match self {
            Code::Whole(schedule) => schedule.section().record(action.0),
            Code::Window(window) => window.record(action),
            Code::Ended => unreachable!("its instance has ended"),
        }
    }

    /// The decoded actions, if the schedule is short.
    #[inline(always)]
    pub(super) fn steps(&self) -> Option<&Steps> {
        self.whole()?.steps()
    }

    /// The schedule, if it is not in a window.
    #[inline]
    pub(super) fn whole(&self) -> Option<&Schedule> {
        match self {
            Code::Whole(schedule) => Some(schedule),
            Code::Window(_) | Code::Ended => None,
        }
    }
}

/// The memory and the counters of an instance.
#[derive(Debug)]
pub(super) struct Home {
    pub(super) memory: Memory,
    pub(super) counters: Cells<u16>,
    pub(super) finished: Cells<u64>,
    pub(super) matches: Option<Cells<u64>>,
    /// Owns the memory, or the right to use it.
    #[expect(dead_code, reason = "it is only held")]
    pub(super) owner: Option<Box<dyn Any + Send>>,
}

impl Home {
    /// The home of an instance that is not running here.
    pub(super) const NONE: Home = Home {
        memory: Memory { memory: Region::EMPTY, scratch: Region::EMPTY },
        counters: Cells::EMPTY,
        finished: Cells::EMPTY,
        matches: None,
        owner: None,
    };

    /// Panics if the memory is smaller than a schedule needs.
    #[inline]
    pub(super) fn check_sizes(&self, memory_bytes: u64, scratch_bytes: u64) {
        let Memory { memory, scratch } = &self.memory;
        assert!(memory.len() as u64 >= memory_bytes, "less memory than the schedule uses");
        assert!(
            scratch.len() as u64 >= scratch_bytes,
            "less scratch memory than the schedule uses"
        );
    }

    /// Records the number of the message that the send `action` sent, among those to its
    /// destination.
    #[inline]
    pub(super) fn note_sent(&mut self, action: Action, sequence: u32) {
        if let Some(matches) = &mut self.matches {
            matches.as_mut_slice()[action.slot()] = match_word(Rank(0), sequence);
        }
    }

    /// Records the message that the receive `action` took. The sequence number is not validated:
    /// it comes from the sender, which may be on another host.
    #[inline(always)]
    pub(super) fn note_received(&mut self, action: Action, source: Rank, sequence: u32) {
        if let Some(matches) = &mut self.matches {
            matches.as_mut_slice()[action.slot()] = match_word(source, sequence);
        }
    }
}

/// Returns the entry for a message in a record of matches. It is never 0.
#[inline(always)]
pub(super) fn match_word(source: Rank, sequence: u32) -> u64 {
    (u64::from(source.0) << 32) + u64::from(sequence) + 1
}
