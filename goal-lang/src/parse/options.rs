//! Options for reading a program.

use crate::limits::Limits;

/// Options for reading a program.
#[derive(Debug, Clone, Copy)]
pub struct ParseOptions {
    /// The limits that the program must keep.
    pub limits: Limits,
    /// The number of threads that read a large text. The result does not depend on it.
    pub threads: usize,
    /// True to take tags modulo 2^32, as LogGOPSim's `txt2bin` does, instead of refusing larger
    /// ones. A tag that becomes 2^32 - 1 is refused all the same, as it would mean any.
    pub wrap_tags: bool,
    /// True to keep labels and the places of dependencies in the program.
    pub debug: bool,
    /// True to look for warnings that take time to find.
    pub check: bool,
    /// True to keep collective statements in the program
    /// ([`Body::collectives`](crate::Body::collectives)). Otherwise they are refused, because
    /// nothing executes them.
    pub collectives: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            threads: 1,
            wrap_tags: false,
            debug: true,
            check: true,
            collectives: false,
        }
    }
}
