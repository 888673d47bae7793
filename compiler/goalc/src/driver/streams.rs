//! Standard streams that were closed when the process started, and paths that name open
//! descriptors.
//!
//! The process that starts the command decides which descriptors are open. The standard library
//! opens `/dev/null` in place of closed standard streams before `main`, and results would vanish
//! without an error. So a function that runs even earlier notes which streams are closed. `unsafe`:
//! code that runs before `main`.
#![allow(unsafe_code)]

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fs;
use std::io::{self, StdinLock, StdoutLock, Write};
use std::os::fd::AsFd;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

static STDIN_CLOSED: AtomicBool = AtomicBool::new(false);
static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: functions in this section are called once each before `main`, when there is no other
// thread. This one needs nothing that the standard library sets up.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: asks for the flags of a descriptor, which changes nothing, whether it is open or not.
    let is_closed = |descriptor| unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1;
    STDIN_CLOSED.store(is_closed(libc::STDIN_FILENO), Ordering::Relaxed);
    STDOUT_CLOSED.store(is_closed(libc::STDOUT_FILENO), Ordering::Relaxed);
}

fn open_unless(closed: &AtomicBool) -> io::Result<()> {
    match closed.load(Ordering::Relaxed) {
        true => Err(io::Error::from_raw_os_error(libc::EBADF)),
        false => Ok(()),
    }
}

/// A stream that waits until its reader takes more. The process that starts the command may have
/// made its standard output non-blocking, as Node does.
#[derive(Debug)]
pub struct Patient<W>(pub(super) W);

impl<W: AsFd> Patient<W> {
    fn when_ready<R>(&mut self, mut f: impl FnMut(&mut W) -> io::Result<R>) -> io::Result<R> {
        loop {
            match f(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], None) {
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                result => return result,
            }
        }
    }
}

impl<W: Write + AsFd> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.when_ready(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.when_ready(Write::flush)
    }
}

/// Returns standard output, locked.
///
/// # Errors
/// An error if standard output was closed when the process started.
pub fn stdout() -> io::Result<Patient<StdoutLock<'static>>> {
    open_unless(&STDOUT_CLOSED)?;
    Ok(Patient(io::stdout().lock()))
}

/// Returns standard input, locked.
///
/// # Errors
/// An error if standard input was closed when the process started.
pub(super) fn stdin() -> io::Result<StdinLock<'static>> {
    open_unless(&STDIN_CLOSED)?;
    Ok(io::stdin().lock())
}

/// The most links that are followed, as in the kernel.
const LINKS_MAX: usize = 40;

/// Returns the number of the open descriptor that a path names, as `/dev/stdout`, `/dev/fd/3` and
/// `/proc/self/fd/3` do.
pub(super) fn descriptor(path: &Path) -> Option<i32> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let folder =
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Ok(folder) = fs::canonicalize(folder)
            && let Ok(own) = fs::canonicalize("/proc/self")
            && folder.starts_with(&own)
            && folder.ends_with("fd")
        {
            return path.file_name()?.to_str()?.parse().ok();
        }
        path = folder.join(fs::read_link(&path).ok()?);
    }
    None
}

/// Returns true for an input that can't be replaced or have a result beside it: standard input
/// (`-`), a pipe, a device, an open descriptor.
pub fn is_stream(path: &Path) -> bool {
    let is_special =
        || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    path == Path::new("-") || descriptor(path).is_some() || is_special()
}

/// Returns the file that a path of a missing file stands for: the end of its links.
pub(super) fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&path) {
            Ok(next) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                path = folder.join(next);
            }
            // There is no file, or it is no link.
            Err(_) if !matches!(path.components().next_back(), Some(Component::Normal(_))) => {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}
