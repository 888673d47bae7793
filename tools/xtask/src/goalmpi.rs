//! Builds `libgoal-mpi.so` for one MPI library.

use crate::shim;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// The C sources in `bindings/mpi/src/`.
const SOURCES: [&str; 13] = [
    "entries.c",
    "main.c",
    "settings.c",
    "report.c",
    "choices.c",
    "communicators.c",
    "types.c",
    "calls.c",
    "known.c",
    "run.c",
    "requests.c",
    "persistent.c",
    "collectives.c",
];

/// Compiles the wrappers into a program that has its own functions in place of libgoal.
///
/// # Errors
/// As for [`build`].
pub fn build_with(root: &Path, program: &Path, mpicc: &OsStr, out: &Path) -> io::Result<()> {
    let folder = root.join("bindings/mpi/src");
    let includes = [root.join("bindings/c/include"), root.join("bindings/mpi")];
    let includes = includes.each_ref().map(PathBuf::as_path);
    let mut compiler = shim::compiler(root, &folder, &SOURCES, &includes, mpicc);
    compiler.arg(program);
    shim::link(compiler, mpicc, out)
}

/// Compiles the wrappers with an MPI compiler and links them with libgoal.
///
/// # Errors
/// The compiler can't be started, or fails. Then its messages are on standard error.
pub fn build(root: &Path, libgoal: &Path, mpicc: &OsStr, out: &Path) -> io::Result<()> {
    let (header, own) = (root.join("bindings/c/include"), root.join("bindings/mpi"));
    let includes = [header.as_path(), own.as_path()];
    shim::build(root, &own.join("src"), &SOURCES, &includes, libgoal, mpicc, out)
}

/// Returns the Fortran compiler of the MPI library whose C compiler is `mpicc`. It must be in the
/// same folder, as a compiler elsewhere on the path belongs to another library. Returns `None` if
/// there is none.
pub fn mpifort(mpicc: &OsStr) -> Option<PathBuf> {
    let mpicc = Path::new(mpicc);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    let folder = match mpicc.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => folder.to_owned(),
        None => folders.find(|folder| folder.join(mpicc).is_file())?,
    };
    Some(folder.join("mpifort")).filter(|compiler| compiler.is_file())
}
