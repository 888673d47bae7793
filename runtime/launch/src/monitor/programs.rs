//! Reports on ranks that are processes of a program. The launcher does not know their schedules. A
//! rank that waits writes a text on what it waits for. For other ranks the report says what their
//! status shows.

use super::pending::{Pending, SHOWN_MAX, Stopped};
use goal_shm::{ProcessState, Segment, State};
use std::collections::BTreeMap;

impl Pending {
    /// Returns the report on `ranks` of a program whose job is stuck. Each rank waits and has
    /// written a text. Ranks that have come to their end are last.
    pub(crate) fn of_stuck_programs(segment: &Segment, ranks: &[u32]) -> Self {
        let process_state = |rank: u32| &segment.status(rank).process_state;
        let mut ranks = ranks.to_vec();
        ranks.sort_by_key(|&rank| process_state(rank).has_finalized());
        let waits = |rank| format!("rank {rank} waits in {}", in_call(process_state(rank)));
        let member_state = |rank: u32| &segment.status(rank).member_state;
        ranks.retain(|&rank| !member_state(rank).is_gone());
        let text = |rank| match member_state(rank) {
            part if part.takes_part() => segment.failure(rank).unwrap_or_else(|| waits(rank)),
            _ => describe(segment, rank),
        };
        Self::of_programs(&ranks, text, vec![])
    }

    /// Returns the report on `ranks` of a program. It has the text that a rank has written, or else
    /// the state of the rank before `ask` was called. `ask` lets ranks in a wait write a text. The
    /// ranks in `stopped` were stopped by a signal.
    pub(crate) fn of_running_programs(
        segment: &Segment,
        ranks: &[u32],
        stopped: Vec<Stopped>,
        ask: impl FnOnce(),
    ) -> Self {
        let does: BTreeMap<u32, String> =
            ranks.iter().map(|&rank| (rank, describe(segment, rank))).collect();
        ask();
        let text = |rank| segment.failure(rank).unwrap_or_else(|| does[&rank].clone());
        Self::of_programs(ranks, text, stopped)
    }

    /// Returns a line on each of `ranks` of a program in which nothing moves. It has the rank's
    /// answer to the question with this number, and the number of other threads that may act.
    pub(crate) fn of_standstill(segment: &Segment, ranks: &[u32], question: u32) -> Vec<String> {
        let text = |rank: u32| {
            let process_state = &segment.status(rank).process_state;
            let told = segment.told_waits(rank, question);
            let does = told.map(|waits| format!("rank {rank} {waits}"));
            let does = does.unwrap_or_else(|| describe(segment, rank));
            match process_state.others() {
                _ if process_state.has_finalized() => does,
                Some(0) | None => does,
                Some(1) => format!("{does}; 1 other thread of it may act"),
                Some(others) => format!("{does}; {others} other threads of it may act"),
            }
        };
        Self::of_programs(ranks, text, vec![]).programs.unwrap_or_default()
    }

    /// Returns an empty report, for a program with one ended rank.
    pub(crate) fn of_ended_program() -> Self {
        Self { programs: Some(vec![]), ..Self::default() }
    }

    /// Returns true if the report is that of [`Pending::of_ended_program`].
    pub(crate) fn is_silent(&self) -> bool {
        self.programs.as_ref().is_some_and(Vec::is_empty)
    }

    pub(super) fn of_programs(
        ranks: &[u32],
        text: impl Fn(u32) -> String,
        stopped: Vec<Stopped>,
    ) -> Self {
        let shown = ranks.iter().take(SHOWN_MAX);
        let mut lines: Vec<String> = shown.map(|&rank| text(rank)).collect();
        if ranks.len() > SHOWN_MAX {
            lines.push(format!("... and {} more ranks", ranks.len() - SHOWN_MAX));
        }
        Self { programs: Some(lines), stopped, ..Self::default() }
    }
}

/// Returns a text on what a rank does, from its status.
fn describe(segment: &Segment, rank: u32) -> String {
    let status = segment.status(rank);
    let process_state = &status.process_state;
    match (process_state.process(), status.state()) {
        _ if status.is_lost() => format!("rank {rank} is lost"),
        _ if status.member_state.has_left() => format!("rank {rank} has left (GOAL_Leave)"),
        _ if status.member_state.is_gone() => format!("rank {rank} ended before it was accepted"),
        (Some(_), _) if status.member_state.is_joining() => {
            format!("rank {rank} waits to be accepted (GOAL_Accept)")
        }
        (None, _) => format!("rank {rank} has not attached"),
        (Some(_), State::Starting) => format!("rank {rank} waits for other ranks to attach"),
        (Some(_), _) if process_state.waits() => {
            format!("rank {rank} waits in {}", in_call(process_state))
        }
        (Some(_), _) if process_state.stays() => {
            format!("rank {rank} is in {}, for schedules in the kernel", in_call(process_state))
        }
        (Some(_), _) if process_state.has_finalized() => format!("rank {rank} has finalized"),
        (Some(_), _) => format!("rank {rank} computes"),
    }
}

/// Returns the name of the call in which a rank waits.
fn in_call(process_state: &ProcessState) -> String {
    process_state.last_call().unwrap_or_else(|| "a call without a name".to_owned())
}
