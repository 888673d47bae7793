//! The description of a pass: its name, its parameters and its rewrite.

mod arguments;

pub(crate) use arguments::{Argument, Arguments};
pub use arguments::{Parameter, Values};

use crate::machine::Machine;
use goal_lang::{Body, Program};
use std::cell::RefCell;

/// A named rewrite of a program.
#[derive(Debug)]
pub struct Pass {
    /// The name in lists of passes, in reports of time and in errors.
    pub name: &'static str,
    /// One line that says what the pass does.
    pub description: &'static str,
    /// The lowest level that includes the pass; `None` if it only runs by name.
    pub level: Option<Level>,
    /// The parameters: a list of passes sets them by `name(parameter=value)`.
    pub parameters: &'static [Parameter],
    /// The rewrite.
    pub(crate) rewrite: Rewrite,
}

/// The rewrite of a pass. Both kinds return true if they changed anything.
#[derive(Debug)]
pub(crate) enum Rewrite {
    /// One body at a time, without a look at the other ranks.
    Body(fn(&mut Body, &Context<'_>) -> bool),
    /// All ranks together. A refusal leaves the program as it was.
    Program(fn(&mut Program, &Context<'_>) -> Result<bool, PassRefusal>),
}

/// The inputs of a pass beside the program.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// The values of the parameters.
    pub(crate) arguments: &'a Arguments,
    /// The machine that the schedule is meant for.
    pub(crate) machine: &'a Machine,
    /// The largest message in bytes that a send hands over before its receive is posted.
    pub(crate) eager_limit: u64,
    notes: RefCell<Vec<String>>,
}

impl<'a> Context<'a> {
    /// A context without notes.
    pub(crate) fn new(arguments: &'a Arguments, machine: &'a Machine, eager_limit: u64) -> Self {
        Self { arguments, machine, eager_limit, notes: RefCell::default() }
    }

    /// Adds a note for the user that is no error, such as a bound that cut the work. Equal notes of
    /// several bodies are kept once.
    pub(crate) fn note(&self, note: impl Into<String>) {
        self.notes.borrow_mut().push(note.into());
    }

    /// The notes in the order in which they were added.
    pub(crate) fn into_notes(self) -> Vec<String> {
        self.notes.into_inner()
    }
}

/// The reason why a pass leaves the program unchanged, and the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PassRefusal(pub String);

/// The set of passes that a program goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// Only passes that the binary form needs: the text's order and dependencies stay.
    O0,
    /// Also passes that keep every order of actions which the program allows.
    #[default]
    O1,
    /// Also passes that restrict the orders or split messages, for a given machine.
    O2,
}
