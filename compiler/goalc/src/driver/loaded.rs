//! A program that was read.

use super::Findings;
use crate::expand::Expanded;
use goal_lang::{Bytes, Program};
use std::fmt;

/// A program with its findings.
pub struct Loaded {
    /// The program.
    pub program: Program,
    /// The warnings and the texts.
    pub findings: Findings,
    /// The LogGOPSim binary that the program was read from; `None` for other inputs.
    pub binary: Option<Bytes>,
    /// The collectives that were expanded into messages.
    pub expanded: Vec<Expanded>,
}

impl Loaded {
    /// Returns a program with its findings.
    pub fn new(program: Program, findings: Findings) -> Self {
        Self { program, findings, binary: None, expanded: Vec::new() }
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
