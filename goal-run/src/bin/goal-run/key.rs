//! `goal-run key`, which makes a key, and the reading of keys.
//!
//! Threat: another user of the host creates, changes or replaces the file. So the open file itself
//! is checked before it is read: it must be a plain file that belongs to this user or root, and no
//! other user may have rights to it. Symbolic links are followed.

use super::Failure;
use clap::Args;
use goal_run::hosts::Key;
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The arguments of `goal-run key`.
#[derive(Args)]
pub(crate) struct KeyArguments {
    /// File to make, which you alone may read
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// The permission bits of users other than the owner.
const OTHERS: u32 = 0o077;
/// The most bytes that are read of a file, more than any key has.
const BYTES_MAX: u64 = 4096;

/// Makes a key.
pub(crate) fn run(arguments: &KeyArguments) -> Result<u8, Failure> {
    let make = || -> io::Result<()> {
        let mut bytes = [0; 32];
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        // An existing file stays, since it may hold a key in use.
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&arguments.file)?;
        writeln!(file, "{}", Key::new(bytes).to_text())
    };
    let told = |error: io::Error| {
        let way_out = match error.kind() {
            io::ErrorKind::AlreadyExists => {
                " (what is there stays: somebody may use it; give another name)"
            }
            _ => "",
        };
        Failure::System(format!("{}: {error}{way_out}", arguments.file.display()))
    };
    make().map_err(told)?;
    Ok(0)
}

/// Returns an error if a file with this owner and mode is not a secret of `user`.
fn check(is_plain: bool, (owner, mode): (u32, u32), user: u32) -> Result<(), String> {
    if !is_plain {
        return Err("this is no plain file".to_owned());
    }
    if owner != user && owner != 0 {
        return Err(format!(
            "it belongs to user {owner}, who knows it and may change it: copy it to a file of your own (chmod 600), or make a new one"
        ));
    }
    if mode & OTHERS != 0 {
        return Err(
            "others than its owner have rights to it, so it is no secret: chmod 600 it, or make a new one"
                .to_owned(),
        );
    }
    Ok(())
}

/// Reads a key from a file that no other user may read or change.
pub(super) fn read(path: &Path) -> Result<Key, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    // Non-blocking: opening a FIFO would wait for a writer.
    let mut options = OpenOptions::new();
    let opened = options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    let file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => told(&format!("{error} (goal-run key FILE makes one)")),
        _ => told(&error),
    })?;
    let metadata = file.metadata().map_err(|error| told(&error))?;
    check(metadata.is_file(), (metadata.uid(), metadata.mode()), geteuid().as_raw())
        .map_err(|why| told(&why))?;
    let mut text = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut text).map_err(|error| told(&error))?;
    Key::parse(&String::from_utf8_lossy(&text))
        .map_err(|error| told(&format!("{error} (goal-run key FILE makes one)")))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_key_is_its_users_or_roots() {
        assert_eq!(check(true, (1000, 0o100600), 1000), Ok(()));
        assert_eq!(check(true, (0, 0o100400), 1000), Ok(()));
        let says = |is_plain, file, user, part: &str| {
            let why = check(is_plain, file, user).unwrap_err();
            assert!(why.contains(part), "{why}");
        };
        says(true, (1001, 0o100600), 1000, "it belongs to user 1001");
        says(true, (1001, 0o100600), 0, "it belongs to user 1001");
        says(true, (1000, 0o100640), 1000, "others than its owner have rights");
        says(true, (1000, 0o100604), 1000, "others than its owner have rights");
        says(false, (1000, 0o010600), 1000, "no plain file");
    }
}
