//! Options for reading a program.

use crate::limits::Limits;

/// Options for reading a program.
#[derive(Debug, Clone, Copy)]
pub struct ParseOptions {
    /// The limits that the program must keep.
    pub limits: Limits,
    /// The number of threads that read a large text. The result does not depend on it.
    pub threads: usize,
    /// True to keep labels and the places of dependencies in the program.
    pub debug: bool,
    /// True to look for warnings that take time to find.
    pub check: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { limits: Limits::default(), threads: 1, debug: true, check: true }
    }
}
