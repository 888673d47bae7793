//! The file of a rank, and a buffer of bounded size in front of it.
//!
//! Threat: the folder may be one that other users can write to. A link that lies at the place of
//! the file could lead the writer to a file of the user's. So whatever lies there is removed first,
//! and the file is created only if nothing is there again (`tests/output.rs`).
//!
//! Another program of the user may be writing the file: each holds a lock on its own.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// The bytes that are written at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Creates the file, and its folder if there is none. A file of an earlier run is replaced.
///
/// # Errors
/// The system's reason, or a program that runs writes the file.
pub fn create(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        fs::create_dir_all(dir)?;
    }
    if is_being_written(path) {
        return Err(io::Error::other("another program that runs is writing it"));
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path)?;
    // Some file systems have no locks; then nothing protects the file.
    let _ = file.try_lock();
    Ok(file)
}

/// Returns true if another open file has the lock of this one. A link or a pipe is no file of a
/// run.
fn is_being_written(path: &Path) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|data| data.is_file());
    is_file
        && File::open(path)
            .is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Text on its way to a writer. Only whole lines leave, as long as the writer takes them.
pub(crate) struct Output<W> {
    to: W,
    buffer: Vec<u8>,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, buffer: Vec::with_capacity(BUFFER_BYTES + 4096) }
    }

    /// Returns the buffer, to add whole lines to.
    pub(crate) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes the buffer if it is full.
    pub(crate) fn write_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER_BYTES {
            return Ok(());
        }
        self.write()
    }

    /// Writes the buffer.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        let written = self.to.write_all(&self.buffer);
        self.buffer.clear();
        written
    }
}
