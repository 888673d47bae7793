//! The places where a library of PMIx is looked for.
//!
//! 1. `GOAL_LIBPMIX`, a file. If it is set, no other place is tried.
//! 2. Below `PMIX_PREFIX`, which `mpirun` of Open MPI 5 sets: its own library fits its server.
//! 3. The loader's places, by the names of the library.
//! 4. Beside the `mpirun` on the path, where packages bundle it.
//!
//! Threat: whoever writes the environment chooses the code that runs, as with `LD_LIBRARY_PATH`.
//! That is the user who starts the process. A process with other rights than its user's opens no
//! session, and loads no library: see [`session`](crate::session).

use super::library::Library;
use crate::error::Error;
use std::env::{split_paths, var_os};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const NAME: &str = "libpmix.so.2";

/// Folders below a prefix in which packages keep the library.
const FOLDERS: [&str; 4] = ["lib", "lib64", "lib/openmpi", "lib/pmix"];

/// Loads the first usable library.
///
/// # Errors
/// There is none. The error lists the files and the causes.
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

/// Returns the files to try, in their order. Files with a path are there; names without one are for
/// the loader.
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
