//! Builds `libgoalprof.so` for one MPI library.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Command;

/// The C sources in `goal-prof/shim/`.
const SOURCES: [&str; 5] = ["main.c", "point.c", "requests.c", "communicators.c", "collectives.c"];

/// The libraries of the system that the static library needs.
const SYSTEM: [&str; 5] = ["-lgcc_s", "-lutil", "-lpthread", "-lm", "-ldl"];

/// Compiles the wrappers with an MPI compiler and links them with the core.
///
/// # Errors
/// The compiler can't be started, or fails; its report is on standard error.
pub fn build(root: &Path, core: &Path, mpicc: &OsStr, out: &Path) -> io::Result<()> {
    let shim = root.join("goal-prof/shim");
    let mut compiler = Command::new(mpicc);
    compiler.args([
        "-std=gnu11",
        "-O2",
        "-fPIC",
        "-shared",
        "-Wall",
        "-Wno-deprecated-declarations",
    ]);
    compiler.args(SOURCES.map(|source| shim.join(source))).arg(core);
    // Only the functions of MPI are seen from outside.
    compiler.args(["-Wl,--exclude-libs,ALL", "-Wl,--gc-sections"]).args(SYSTEM);
    compiler.arg("-o").arg(out);
    let status = compiler.status().map_err(|error| {
        let text = format!("{}: {error}; name the MPI compiler by --mpicc", mpicc.display());
        io::Error::new(error.kind(), text)
    })?;
    if !status.success() {
        return Err(io::Error::other(format!("{} failed, see above", mpicc.display())));
    }
    Ok(())
}
