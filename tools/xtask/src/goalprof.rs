//! Builds `libgoalprof.so` for one MPI library.

use crate::shim;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// The C sources in `bindings/prof/shim/`.
const SOURCES: [&str; 5] = ["main.c", "point.c", "requests.c", "communicators.c", "collectives.c"];

/// Compiles the C wrappers with an MPI compiler, and links them with the core in Rust.
///
/// # Errors
/// The compiler can't be started, or fails. Then its messages are on standard error.
pub fn build(root: &Path, core: &Path, mpicc: &OsStr, out: &Path) -> io::Result<()> {
    shim::build(root, &root.join("bindings/prof/shim"), &SOURCES, &[], core, mpicc, out)
}
