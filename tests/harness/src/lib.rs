//! Runs tests that are files. The first lines of each file in a folder say which commands to run.
//! The expected output is in files beside it.
//!
//! ```text
//! # RUN: goalc build %s -o a.nisa
//! # RUN: goalc stats a.nisa
//! # EXIT: 0
//! ```
//!
//! The `RUN` lines form one shell script. It runs in an empty folder, and ends at the first command
//! that fails. `%s` is the name of the file without its folder, and `%d` is the folder. The
//! expected exit status is 0 unless an `EXIT` line says otherwise. Standard output must equal the
//! file with `.out` added to its name, and standard error the file with `.err` added. A missing
//! file counts as empty. With `GOAL_BLESS=1` these files are written instead. Files in folders
//! named `inputs` are not tests.

mod case;
pub mod mpi;
mod script;
mod seeds;
mod skips;
mod terminal;
mod time;

use case::Case;
use libtest_mimic::{Arguments, Conclusion, Trial};
pub use seeds::seeds;
pub use skips::skipped;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
pub use terminal::{Terminal, open_terminal, screen};
pub use time::{patience, timeout, until};

/// Runs the tests below a folder and ends the process. The commands find `binaries` by their names.
/// The process takes the same arguments as every test binary.
pub fn run(folder: &Path, binaries: &[&str]) -> ! {
    let mut arguments = Arguments::from_args();
    // As in tests of the standard library.
    let threads = || std::env::var("RUST_TEST_THREADS").ok()?.parse().ok();
    arguments.test_threads = arguments.test_threads.or_else(threads);
    let mut files = Vec::new();
    if let Err(error) = collect(folder, &mut files) {
        eprintln!("{}: {error}", folder.display());
        std::process::exit(2);
    }
    assert!(!files.is_empty(), "no cases in {}", folder.display());
    let binaries: Vec<PathBuf> = binaries.iter().map(PathBuf::from).collect();
    let trials = files.into_iter().map(|file| {
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        let binaries = binaries.clone();
        Trial::test(name, move || {
            Case::read(&file).and_then(|case| case.run(&binaries)).map_err(Into::into)
        })
    });
    let conclusion: Conclusion = libtest_mimic::run(&arguments, trials.collect());
    conclusion.exit()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "inputs") {
                collect(&path, files)?;
            }
        } else if path.extension().is_none_or(|extension| extension != "out" && extension != "err")
        {
            files.push(path);
        }
    }
    Ok(())
}
