//! How an action is named to people.

use goal_asm::Nisa;
use goal_asm::nisa::{Operation, Record};
use std::fmt;

/// An action of a rank, shown with its label and source line where they are known.
#[derive(Debug, Clone)]
pub struct Place {
    rank: u32,
    action: String,
}

impl Place {
    /// The action of `rank` at `offset` in its section. The offset may come from another host:
    /// where no action begins there, it is told as it is.
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

    /// An action of which no more is known than its number in its section and what it does.
    pub(super) fn numbered(rank: u32, number: u64, record: &Record<'_>) -> Self {
        Self { rank, action: format!("{} number {number}", kind(&record.operation())) }
    }

    /// The action without its rank.
    pub(super) fn action(&self) -> &str {
        &self.action
    }
}

impl fmt::Display for Place {
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
    }
}
