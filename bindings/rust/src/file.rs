//! Reads files for the library, within limits on their kind and size.
//!
//! Threat: a path may come from somebody else, and name anything. A FIFO would block its reader
//! until somebody writes. A device may act when it is opened. A file may have more bytes than there
//! is memory. So the library reads only regular files, up to a limit.

use std::fs::{File, FileType, OpenOptions, metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Reads a regular file of at most `most` bytes. If the file does not begin with `magic`, reads
/// only as many bytes as `magic` has.
///
/// # Errors
/// The system's error, or the file is larger or of another kind.
pub(crate) fn read(path: &Path, magic: &[u8], most: u64) -> io::Result<Vec<u8>> {
    // The kind is checked before the file is opened, since the opening may block or have an effect.
    // It is checked again for the open file.
    refuse_others(metadata(path)?.file_type())?;
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let of_open = file.metadata()?;
    refuse_others(of_open.file_type())?;
    let mut bytes = Vec::new();
    let mut rest: io::Take<File> = file.take(magic.len() as u64);
    rest.read_to_end(&mut bytes)?;
    if bytes != magic {
        return Ok(bytes);
    }
    let length = of_open.len();
    if length > most {
        return Err(io::Error::other(format!("it has {length} bytes, and the most is {most}")));
    }
    let left = length.saturating_sub(magic.len() as u64);
    bytes.try_reserve_exact(left as usize).map_err(|_| io::ErrorKind::OutOfMemory)?;
    rest.set_limit(left);
    rest.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn refuse_others(kind: FileType) -> io::Result<()> {
    let name = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "folder",
        () if kind.is_fifo() => "FIFO",
        () if kind.is_socket() => "socket",
        () => "device",
    };
    Err(io::Error::other(format!("it is a {name}, and only regular files are read")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    #[test]
    fn regular_files_are_read_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "magic and more").unwrap();
        let text =
            |magic: &[u8], most| String::from_utf8(read(&path, magic, most).unwrap()).unwrap();
        assert_eq!(text(b"magic", 14), "magic and more");
        assert_eq!(text(b"", 14), "magic and more");
        assert_eq!(text(b"other", 0), "magic", "the beginning of another file");
        let error = read(&path, b"magic", 13).unwrap_err().to_string();
        assert_eq!(error, "it has 14 bytes, and the most is 13");
        // It takes no room on the disk, and more than there is in memory.
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read(&path, b"magic", 1 << 32).is_err());
    }

    /// None of these calls waits for a writer.
    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for (path, kind) in
            [(&*fifo, "FIFO"), (folder.path(), "folder"), (Path::new("/dev/zero"), "device")]
        {
            let error = read(path, b"", 1 << 20).unwrap_err().to_string();
            assert_eq!(error, format!("it is a {kind}, and only regular files are read"));
        }
        assert!(read(&folder.path().join("none"), b"", 1).is_err());
    }
}
