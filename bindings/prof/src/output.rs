#![allow(unsafe_code)] // The mask of signals, and the report of `close`.
//! Writes the file of a rank, through a buffer of bounded size.
//!
//! Threats:
//!
//! - Other users may be able to write to the folder, or to its parent. A link in place of the
//!   folder or the file could lead the writer to other files of the user. So a folder that is a
//!   link is an error. A file that exists already is removed, and the new file is created only if
//!   nothing has its name.
//! - Another program of the user may be writing the same file. So each program locks its file.
//! - The program may close the file's descriptor, and get its number for a file of its own. So the
//!   file behind the descriptor is compared before each write.
//! - A process that the program forks has the descriptor too. So a forked process writes nothing.
//! - A write beyond `ulimit -f`, or to a pipe that nobody reads, raises a signal that would end the
//!   program. The signal is removed, and the write returns an error.
//!
//! `tests/output.rs` has a test for each threat.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, openat, unlinkat};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The number of buffered bytes from which on the buffer is written to the file.
const BUFFER_BYTES: usize = 64 << 10;

/// The device and the inode of a file.
type Identity = (u64, u64);

fn identity(file: impl AsFd) -> io::Result<Identity> {
    let Stat { st_dev, st_ino, .. } = fstat(file)?;
    Ok((st_dev, st_ino))
}

/// The descriptor and the identity of the first trace file, for processes that the program forks.
static FIRST: OnceLock<(RawFd, Identity)> = OnceLock::new();

/// Closes the first trace file in a process that the program has forked. Otherwise its lock would
/// last until this process ends. It may be called by handlers of `pthread_atfork`.
pub(crate) fn leave_to_parent() {
    let Some(&(number, of)) = FIRST.get() else { return };
    // SAFETY: if there is no such descriptor, the system call returns an error.
    let now = identity(unsafe { BorrowedFd::borrow_raw(number) });
    if now.is_ok_and(|now| now == of) {
        // SAFETY: the descriptor is the trace file's, which nothing in this process uses any more.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
    }
}

/// The trace file of a rank. Every use checks that its descriptor still leads to this file.
#[derive(Debug)]
pub struct TraceFile {
    file: ManuallyDrop<File>,
    identity: Identity,
    process: u32,
}

impl TraceFile {
    #[cfg(test)]
    pub(crate) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Returns an error if the descriptor leads to another file by now, or if this process is a
    /// fork.
    fn look(&self) -> io::Result<()> {
        if std::process::id() != self.process {
            return Err(io::Error::other("this process is a fork of the rank"));
        }
        match identity(&*self.file) {
            Ok(now) if now == self.identity => Ok(()),
            _ => Err(io::Error::other("the program has closed the file")),
        }
    }
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.look()?;
        without_signals(|| self.file.write(bytes))
    }

    /// Returns write errors that the system reports only when a file is closed, as NFS does. Also
    /// releases the lock, so another program may replace the file from now on.
    fn flush(&mut self) -> io::Result<()> {
        self.look()?;
        let _ = self.file.unlock();
        let number = self.file.try_clone()?.into_raw_fd();
        // SAFETY: the number is that of the copy, which nothing else uses.
        match without_signals(|| unsafe { libc::close(number) }) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        if self.look().is_ok() {
            // SAFETY: the file is dropped nowhere else.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

/// Calls `write` so that a failed write raises no signal in the program.
pub(crate) fn without_signals<T>(write: impl FnOnce() -> T) -> T {
    // SAFETY: sets of signals are plain memory, which the first calls fill in. All calls get valid
    // pointers, and change only the mask of this thread, which the last one restores.
    unsafe {
        let mut raised: libc::sigset_t = std::mem::zeroed();
        let (mut before, mut pending) = (raised, raised);
        libc::sigemptyset(&mut raised);
        libc::sigpending(&mut pending);
        for signal in [libc::SIGXFSZ, libc::SIGPIPE] {
            // A signal that is pending already because the program blocks it stays pending.
            if libc::sigismember(&pending, signal) == 0 {
                libc::sigaddset(&mut raised, signal);
            }
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raised, &mut before);
        let done = write();
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let error = *libc::__errno_location();
        while libc::sigtimedwait(&raised, std::ptr::null_mut(), &now) > 0 {}
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        *libc::__errno_location() = error;
        done
    }
}

/// Creates the trace file, and its folder if there is none. Replaces a file of an earlier run.
///
/// # Errors
/// The system's error. Also if the folder is a link, or a running program writes the file.
pub fn create(path: &Path) -> io::Result<TraceFile> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    // The path must not end with `/` or `/.`, as the system would follow a link then.
    let dir: PathBuf = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir.components().collect(),
        _ => ".".into(),
    };
    if let Ok(to) = fs::read_link(&dir) {
        let told = format!("{} is a link; name {} itself", dir.display(), to.display());
        return Err(io::Error::other(told));
    }
    fs::create_dir_all(&dir)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = openat(CWD, &dir, flags, Mode::empty())?;
    // If there is a pipe in place of the file, this does not block.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    if let Ok(file) = openat(&dir, name, flags, Mode::empty()) {
        let file = File::from(file);
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(io::Error::other("another program that runs is writing it"));
        }
    }
    match unlinkat(&dir, name, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = File::from(openat(&dir, name, flags, Mode::from_raw_mode(0o666))?);
    // Some file systems have no locks. On them nothing protects the file from other programs.
    let _ = file.try_lock();
    let identity = identity(&file)?;
    FIRST.get_or_init(|| (file.as_raw_fd(), identity));
    Ok(TraceFile { file: ManuallyDrop::new(file), identity, process: std::process::id() })
}

/// Text that is buffered for a writer. Only whole lines are passed on, as far as the writer takes
/// them.
pub(crate) struct Output<W> {
    to: W,
    buffer: Vec<u8>,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, buffer: Vec::with_capacity(BUFFER_BYTES + 4096) }
    }

    /// Returns the buffer, to which the caller adds whole lines.
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

    /// Writes the buffer, and checks that everything is in the file.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.write()?;
        self.to.flush()
    }
}
