//! The file of a rank, and a buffer of bounded size in front of it.
//!
//! Threat: the folder may be one that other users can write to. A link that lies at the place of
//! the file could lead the writer to a file of the user's. So whatever lies there is removed first,
//! and the file is created only if nothing is there again (`tests/output.rs`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// The bytes that are written at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Creates the file, and its folder if there is none. A file of an earlier run is replaced.
///
/// # Errors
/// The system's reason.
pub fn create(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        fs::create_dir_all(dir)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).open(path)
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
