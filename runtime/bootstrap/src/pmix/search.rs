//! Searches for a PMIx library. The places are tried in this order:
//!
//! 1. The file that `GOAL_LIBPMIX` names. If the variable is set, no other place is tried.
//! 2. Below `PMIX_PREFIX`. `mpirun` of Open MPI 5 sets this variable, and the library there fits
//!    its server.
//! 3. The places of the system's loader, by the names of the library.
//! 4. Beside the `mpirun` in `PATH`, where some packages bundle the library.
//!
//! Threat: whoever writes the environment chooses the code that runs, as with `LD_LIBRARY_PATH`.
//! This is the user who starts the process. A process with other rights than its user's opens no
//! session, and loads no library: see [`session`](crate::session).

use super::library::Library;
use crate::error::Error;
use std::env::{split_paths, var_os};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const NAME: &str = "libpmix.so.2";

/// The folders below a prefix in which packages keep the library.
const FOLDERS: [&str; 4] = ["lib", "lib64", "lib/openmpi", "lib/pmix"];

/// Loads the first usable PMIx library. `rank` is used in errors.
///
/// # Errors
/// There is no usable library. The error lists the files that were tried, each with its cause.
pub(super) fn load(rank: u32) -> Result<Library, Error> {
    let mut tried = Vec::new();
    for name in candidates(var_os) {
        match Library::load(&name) {
            Ok(library) => return Ok(library),
            Err(cause) => tried.push(format!("{}: {cause}", Path::new(&name).display())),
        }
    }
    Err(Error::Library { rank, tried: tried.join("; ") })
}

/// Returns the files to try, in their order. A file with a path exists, but the one in
/// `GOAL_LIBPMIX` may not. The loader searches names without a path.
pub(super) fn candidates(env: impl Fn(&'static str) -> Option<OsString>) -> Vec<OsString> {
    if let Some(file) = env("GOAL_LIBPMIX") {
        return vec![file];
    }
    let below = |prefix: &Path| {
        let files = FOLDERS.map(|folder| prefix.join(folder).join(NAME));
        files.into_iter().filter(|file| file.is_file()).map(PathBuf::into_os_string)
    };
    let mut all = Vec::new();
    if let Some(prefix) = env("PMIX_PREFIX").filter(|prefix| !prefix.is_empty()) {
        all.extend(below(Path::new(&prefix)));
    }
    all.extend([OsString::from(NAME), OsString::from("libpmix.so")]);
    for folder in split_paths(&env("PATH").unwrap_or_default()) {
        if folder.join("mpirun").is_file()
            && let Some(prefix) = folder.parent()
        {
            all.extend(below(prefix));
        }
    }
    all
}
