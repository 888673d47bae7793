//! Defines the options of a run, which fix everything that GOAL leaves open.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// When a send is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eager {
    /// Every send completes at once, as its bytes are copied.
    All,
    /// No send completes before its receive takes the message (rendezvous).
    None,
    /// A send of at most this many bytes completes at once. Other sends complete when a receive
    /// takes the message.
    Limit(u64),
}

impl Eager {
    pub(crate) fn copies(self, size: u64) -> bool {
        match self {
            Eager::All => true,
            Eager::None => false,
            Eager::Limit(limit) => size <= limit,
        }
    }
}

/// A function that `exec user N` calls with the bytes of both buffers. Afterwards both buffers are
/// stored; the second one is stored last.
pub type UserFunction = Rc<dyn Fn(&mut [u8], &mut [u8])>;

/// The choices of a run.
#[derive(Clone)]
pub struct Options {
    /// The seed of the random choice of each step.
    pub seed: u64,
    /// When sends are complete.
    pub eager: Eager,
    /// The value that `exec wtime` stores, in seconds.
    pub wtime: f64,
    /// The user functions, by their numbers.
    pub user_functions: HashMap<u32, UserFunction>,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, eager: Eager::All, wtime: 0.0, user_functions: HashMap::new() }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let functions: Vec<&u32> = self.user_functions.keys().collect();
        f.debug_struct("Options")
            .field("seed", &self.seed)
            .field("eager", &self.eager)
            .field("wtime", &self.wtime)
            .field("user_functions", &functions)
            .finish()
    }
}
