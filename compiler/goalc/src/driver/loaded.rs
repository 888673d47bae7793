//! A program that was read.

use super::Findings;
use crate::expand::Expansions;
use goal_lang::{ActionId, Bytes, Position, Program};
use std::fmt;

/// A program with its findings.
pub struct Loaded {
    /// The program.
    pub program: Program,
    /// The warnings and the texts.
    pub findings: Findings,
    /// The LogGOPSim binary that the program was read from; `None` for other inputs.
    pub binary: Option<Bytes>,
    /// The programs that collective statements became.
    pub expanded: Expansions,
}

impl Loaded {
    /// Returns a program with its findings.
    pub fn new(program: Program, findings: Findings) -> Self {
        Self { program, findings, binary: None, expanded: Expansions::default() }
    }

    /// Returns the name of the file and the line of an action, if the input has lines.
    pub fn place(&self, rank: u32, action: ActionId) -> Option<(&str, u64)> {
        let debug = &self.program.body_of(rank).debug;
        let position = debug.actions.get(action.index()).copied();
        let in_text = position.and_then(|position| self.line(position));
        let in_binary = debug.lines.get(action.index()).filter(|&&line| line > 0);
        let in_binary = in_binary.map(|&line| (debug.source_name.as_str(), u64::from(line)));
        in_text.or(in_binary)
    }

    /// Returns the name of the file and the line of a position in a text.
    pub fn line(&self, position: Position) -> Option<(&str, u64)> {
        let sources = &self.findings.sources;
        Some((sources.source_of(position)?.name.as_str(), sources.line_column(position)?.0))
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, findings, binary: _, expanded } = self;
        f.debug_struct("Loaded")
            .field("program", program)
            .field("findings", findings)
            .field("expanded", expanded)
            .finish_non_exhaustive()
    }
}
