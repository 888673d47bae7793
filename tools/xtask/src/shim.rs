//! Builds libraries for `LD_PRELOAD`: wrappers in C over PMPI, compiled by the compiler of an MPI
//! library and linked with a core in Rust.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Command;

/// The linker arguments for system libraries that the static library needs.
const SYSTEM: [&str; 5] = ["-lgcc_s", "-lutil", "-lpthread", "-lm", "-ldl"];

/// Compiles the sources in `folder` with an MPI compiler, and links them with the static library
/// `core`. `root` is the folder of the repository.
///
/// # Errors
/// The compiler can't be started, or fails. Then its messages are on standard error.
pub(crate) fn build(
    root: &Path,
    folder: &Path,
    sources: &[&str],
    includes: &[&Path],
    core: &Path,
    mpicc: &OsStr,
    out: &Path,
) -> io::Result<()> {
    let mut compiler = compiler(root, folder, sources, includes, mpicc);
    compiler.args(["-fPIC", "-shared"]).arg(core);
    // The library exports only the functions of MPI.
    compiler.args(["-Wl,--exclude-libs,ALL", "-Wl,--gc-sections"]).args(SYSTEM);
    link(compiler, mpicc, out)
}

/// Returns a command that compiles the sources in a folder.
pub(crate) fn compiler(
    root: &Path,
    folder: &Path,
    sources: &[&str],
    includes: &[&Path],
    mpicc: &OsStr,
) -> Command {
    let mut compiler = Command::new(mpicc);
    compiler.args(["-std=gnu11", "-O2", "-Wall", "-Wno-deprecated-declarations"]);
    compiler.arg("-I").arg(root.join("tools/xtask/include"));
    for include in includes {
        compiler.arg("-I").arg(include);
    }
    compiler.args(sources.iter().map(|source| folder.join(source)));
    compiler
}

/// Runs a compiler that writes `out`.
///
/// # Errors
/// The compiler can't be started, or fails. Then its messages are on standard error.
pub(crate) fn link(mut compiler: Command, mpicc: &OsStr, out: &Path) -> io::Result<()> {
    let status = compiler.arg("-o").arg(out).status().map_err(|error| {
        let text = format!("{}: {error}; name the MPI compiler by --mpicc", mpicc.display());
        io::Error::new(error.kind(), text)
    })?;
    if !status.success() {
        return Err(io::Error::other(format!("{} failed, see above", mpicc.display())));
    }
    Ok(())
}
