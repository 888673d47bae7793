//! `goal-run key`: makes a key; and how one is read.

use super::Failure;
use clap::Args;
use goal_run::hosts::Key;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What `goal-run key` is asked.
#[derive(Args)]
pub(crate) struct KeyArguments {
    /// File to make, which you alone may read
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Rights of others than the owner.
const OTHERS: u32 = 0o077;
/// Bytes that are read of a file: more than any key has.
const BYTES_MAX: u64 = 4096;

/// Makes a key.
pub(crate) fn run(arguments: &KeyArguments) -> Result<u8, Failure> {
    let make = || -> io::Result<()> {
        let mut bytes = [0; 32];
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        // One that is there stays: somebody may use it.
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&arguments.file)?;
        writeln!(file, "{}", Key::new(bytes).to_text())
    };
    let told = |error: io::Error| {
        let way_out = match error.kind() {
            io::ErrorKind::AlreadyExists => " (what is there stays: somebody may use it; give another name)",
            _ => "",
        };
        Failure::System(format!("{}: {error}{way_out}", arguments.file.display()))
    };
    make().map_err(told)?;
    Ok(0)
}

/// The key in a file that nobody else may read or change.
pub(super) fn read(path: &Path) -> Result<Key, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => told(&format!("{error} (goal-run key FILE makes one)")),
        _ => told(&error),
    })?;
    let mode = file.metadata().map_err(|error| told(&error))?.mode();
    if mode & OTHERS != 0 {
        return Err(told(
            &"others than its owner have rights to it, so it is no secret: chmod 600 it, or make a new one",
        ));
    }
    let mut text = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut text).map_err(|error| told(&error))?;
    Key::parse(&String::from_utf8_lossy(&text))
        .map_err(|error| told(&format!("{error} (goal-run key FILE makes one)")))
}
