//! How an action is named to people.

use goal_asm::Nisa;
use goal_asm::nisa::Operation;
use std::fmt;

/// An action of a rank, shown with its label and source line where they are known.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    nisa: &'a Nisa,
    /// The rank.
    pub rank: u32,
    /// The action's offset in the rank's section.
    pub offset: u32,
}

impl<'a> Place<'a> {
    /// The action of `rank` at `offset` in its section.
    pub fn new(nisa: &'a Nisa, rank: u32, offset: u32) -> Self {
        Self { nisa, rank, offset }
    }

    /// The action without its rank.
    pub(super) fn action(&self) -> String {
        let mut text = kind(&self.nisa.section(self.rank).record(self.offset).operation()).to_owned();
        let debug = self.nisa.debug(self.rank);
        let Some(index) = debug.index_of(self.offset) else { return text };
        match debug.label(index) {
            Some(label) => text.push_str(&format!(" `{label}`")),
            None => text.push_str(&format!(" number {index}")),
        }
        if let Some(line) = debug.line(index) {
            text.push_str(&format!(" (line {line})"));
        }
        text
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}, {}", self.rank, self.action())
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
