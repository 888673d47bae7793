//! `goal-run key`: creates a file with a new key. This module also reads such files.
//!
//! Threat: another user of the host creates, changes or replaces the file. So the file is opened
//! first and checked then. It must be a regular file of this user or of root, and give no rights to
//! other users. Symbolic links are followed.

use super::output::Failure;
use clap::Args;
use goal_launch::hosts::{Key, KeyError};
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

/// The permission bits for users other than the owner.
const OTHERS: u32 = 0o077;
/// The most bytes that are read of a file. No key is longer.
const BYTES_MAX: u64 = 4096;

/// A file whose key can't be made or used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub(super) struct KeyFileError {
    path: PathBuf,
    #[source]
    fault: Fault,
}

/// The reason why a key can't be made or used.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("this is no plain file")]
    NotPlain,
    #[error(
        "it belongs to user {owner}, who knows it and may change it: copy it to a file of your own (chmod 600), or make a new one"
    )]
    Foreign { owner: u32 },
    #[error(
        "others than its owner have rights to it, so it is no secret: chmod 600 it, or make a new one"
    )]
    Shared,
    #[error("{0} (what is there stays: somebody may use it; give another name)")]
    Exists(#[source] io::Error),
    #[error("{0} (goal-run key FILE makes one)")]
    Missing(#[source] io::Error),
    #[error("{0} (goal-run key FILE makes one)")]
    Text(#[from] KeyError),
    #[error(transparent)]
    System(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::Exists(error),
            io::ErrorKind::NotFound => Self::Missing(error),
            _ => Self::System(error),
        }
    }
}

/// Creates a file with a new key.
pub(crate) fn run(arguments: &KeyArguments) -> Result<u8, Failure> {
    let path = &arguments.file;
    make(path).map_err(|error| {
        // If the folder of the file is missing, the text must not advise to create another key.
        let fault = match error.kind() {
            io::ErrorKind::NotFound => Fault::System(error),
            _ => error.into(),
        };
        Failure::System(KeyFileError { path: path.clone(), fault }.to_string())
    })?;
    Ok(0)
}

fn make(path: &Path) -> io::Result<()> {
    let mut bytes = [0; 32];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    // An existing file stays, since it may hold a key in use.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", Key::new(bytes).to_text())
}

/// Returns an error if a file with this owner and mode is no secret of `user`.
fn check(is_plain: bool, (owner, mode): (u32, u32), user: u32) -> Result<(), Fault> {
    if !is_plain {
        Err(Fault::NotPlain)
    } else if owner != user && owner != 0 {
        Err(Fault::Foreign { owner })
    } else if mode & OTHERS != 0 {
        Err(Fault::Shared)
    } else {
        Ok(())
    }
}

/// Reads a key from a file that no other user may read or change.
pub(super) fn read(path: &Path) -> Result<Key, KeyFileError> {
    key_of(path).map_err(|fault| KeyFileError { path: path.to_owned(), fault })
}

fn key_of(path: &Path) -> Result<Key, Fault> {
    if path == Path::new("-") {
        let mut text = Vec::new();
        io::stdin().take(BYTES_MAX).read_to_end(&mut text)?;
        return Ok(Key::parse(&String::from_utf8_lossy(&text))?);
    }
    // Without `O_NONBLOCK`, opening a FIFO would wait for a writer.
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let metadata = file.metadata()?;
    check(metadata.is_file(), (metadata.uid(), metadata.mode()), geteuid().as_raw())?;
    let mut text = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut text)?;
    Ok(Key::parse(&String::from_utf8_lossy(&text))?)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_key_is_its_users_or_roots() {
        assert!(check(true, (1000, 0o100600), 1000).is_ok());
        assert!(check(true, (0, 0o100400), 1000).is_ok());
        let says = |is_plain, file, user, part: &str| {
            let why = check(is_plain, file, user).unwrap_err().to_string();
            assert!(why.contains(part), "{why}");
        };
        says(true, (1001, 0o100600), 1000, "it belongs to user 1001");
        says(true, (1001, 0o100600), 0, "it belongs to user 1001");
        says(true, (1000, 0o100640), 1000, "others than its owner have rights");
        says(true, (1000, 0o100604), 1000, "others than its owner have rights");
        says(false, (1000, 0o010600), 1000, "no plain file");
    }
}
