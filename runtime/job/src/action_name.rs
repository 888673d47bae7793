//! Names actions in messages, and describes their failures.

use crate::Settings;
use goal_asm::Nisa;
use goal_asm::nisa::{Operation, Record};
use goal_engine::{Cause, Failure};
use std::fmt;

/// The name of an action of a rank, for messages. It has the action's label and source line if they
/// are known.
#[derive(Debug, Clone)]
pub struct ActionPlace {
    rank: u32,
    action: String,
}

impl ActionPlace {
    /// Creates the name of the action of `rank` at `offset` in its section. The offset may come
    /// from another host. If no action begins at the offset, the name contains the offset itself.
    pub fn new(nisa: &Nisa, rank: u32, offset: u32) -> Self {
        let debug = nisa.debug(rank);
        let Some(index) = debug.index_of(offset) else {
            return Self { rank, action: format!("action at offset {offset:#x}") };
        };
        let mut action = kind(&nisa.section(rank).record(offset).operation()).to_owned();
        match debug.label(index) {
            Some(label) => action.push_str(&format!(" `{label}`")),
            None => action.push_str(&format!(" number {index}")),
        }
        if let Some(line) = debug.line(index) {
            action.push_str(&format!(" (line {line})"));
        }
        Self { rank, action }
    }

    /// Creates the name of an action from its number in its section. The name has no label and no
    /// line.
    pub fn numbered(rank: u32, number: u64, record: &Record<'_>) -> Self {
        Self { rank, action: format!("{} number {number}", kind(&record.operation())) }
    }

    /// Returns the name of the action without its rank.
    pub fn action(&self) -> &str {
        &self.action
    }
}

impl fmt::Display for ActionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}, {}", self.rank, self.action)
    }
}

fn kind(operation: &Operation<'_>) -> &'static str {
    match operation {
        Operation::Send { .. } => "send",
        Operation::Recv { .. } => "recv",
        Operation::Calc { .. } => "calc",
        Operation::Exec { .. } | Operation::User { .. } | Operation::Wtime { .. } => "exec",
        Operation::Nop => "nop",
        Operation::Marker { .. } => "marker",
    }
}

/// Returns the error message about a failure: the action, the cause and, if a message had the wrong
/// size, the send of this message.
pub(super) fn describe(nisa: &Nisa, rank: u32, failure: &Failure, settings: &Settings) -> String {
    let place = |rank, action, number: Option<u64>| match (settings.window, number) {
        (None, _) => ActionPlace::new(nisa, rank, action).to_string(),
        (Some(_), Some(number)) => format!("rank {rank}, action number {number}"),
        (Some(_), None) => format!("rank {rank}, action at offset {action:#x}"),
    };
    if let Cause::Foreign { source_rank, .. } = failure.cause {
        let host = settings.network.as_ref().map(|network| network.host(source_rank));
        let host =
            host.map_or(String::new(), |host| format!(" (rank {source_rank} is on host {host})"));
        return format!("rank {rank}: {}{host}", failure.cause);
    }
    let mut text = format!("{}: {}", place(rank, failure.action, failure.number), failure.cause);
    // In a job of programs, only the sender's own process knows the sender's schedule.
    if let Cause::SizeMismatch { source_rank, source_action, .. } = failure.cause
        && !settings.are_programs()
    {
        text.push_str(&format!("; it was sent by {}", place(source_rank, source_action, None)));
    }
    if settings.spec.repeat > 1 {
        text.push_str(&format!(
            " (instance {} of {})",
            u64::from(failure.instance) + 1,
            settings.spec.repeat
        ));
    }
    text
}
