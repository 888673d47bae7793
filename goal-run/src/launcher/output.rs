//! The standard output of a program's ranks, in whole lines.
//!
//! If standard output is no terminal, the C library of a rank writes it in blocks of 4,096 bytes.
//! So ranks that share it would cut into each other's lines. Each rank therefore has a pipe of its
//! own, and a thread of the launcher passes on the lines.
//!
//! Threat: a rank may write a line without an end. At most [`LINE_MAX`] bytes of it are kept.
//! Processes that a rank has started may keep its pipe open after the job. So the thread never
//! waits for the end of a pipe, and ends with the job.

use crate::threads::LibraryThread;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io::{self, stdout};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// The most bytes of a line that are kept until its end comes.
const LINE_MAX: usize = 1 << 20;
/// The bytes that are read from a rank, or written, at a time. A pipe that is ready for writing
/// takes 4,096 bytes without blocking.
const PIECE: usize = 4096;
/// The time between two checks if the job was interrupted while standard output takes nothing.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// The pipe of a rank, and the beginning of a line that has no end yet.
struct Source {
    pipe: OwnedFd,
    line: Vec<u8>,
}

/// The state that the launcher and its thread share.
struct Shared {
    /// The pipes of ranks that were started since the thread has looked.
    new: Mutex<Vec<OwnedFd>>,
    /// Wakes the thread.
    bell: OwnedFd,
    ends: AtomicBool,
    interrupted: Arc<AtomicUsize>,
}

/// The lines of all ranks on their way to standard output. Dropping this passes on what there is.
pub(super) struct Output {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Output {
    /// Begins to pass on the lines of several ranks. Returns `None` for a single rank, or if
    /// standard output is a terminal or another device.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn of_job(ranks: usize, interrupted: &Arc<AtomicUsize>) -> io::Result<Option<Self>> {
        let collects = |stat: rustix::fs::Stat| {
            let kind = FileType::from_raw_mode(stat.st_mode);
            matches!(kind, FileType::Fifo | FileType::RegularFile | FileType::Socket)
        };
        if ranks < 2 || !fstat(stdout()).is_ok_and(collects) {
            return Ok(None);
        }
        let shared = Arc::new(Shared {
            new: Mutex::default(),
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            ends: AtomicBool::new(false),
            interrupted: Arc::clone(interrupted),
        });
        let own = Arc::clone(&shared);
        let thread = Builder::new().name("output".to_owned()).spawn(move || {
            let _thread = LibraryThread::enter();
            pass_on(&own);
        })?;
        Ok(Some(Self { shared, thread: Some(thread) }))
    }

    /// Returns the standard output of another rank.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn of_rank(&self) -> io::Result<Stdio> {
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
        fcntl_setfl(&ours, fcntl_getfl(&ours)? | OFlags::NONBLOCK)?;
        self.shared.new.lock().unwrap_or_else(PoisonError::into_inner).push(ours);
        self.shared.ring();
        Ok(theirs.into())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        self.shared.ring();
        if let Some(thread) = self.thread.take() {
            // The message of a panic was printed already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn ring(&self) {
        // A bell that is full is rung.
        let _ = write(&self.bell, &1u64.to_ne_bytes());
    }
}

/// The work of the thread.
fn pass_on(shared: &Shared) {
    let mut sources: Vec<Source> = Vec::new();
    loop {
        // Before the pipes are read, so that what ranks wrote before the end is not left.
        let ends = shared.ends.load(Ordering::SeqCst);
        let new = std::mem::take(&mut *shared.new.lock().unwrap_or_else(PoisonError::into_inner));
        sources.extend(new.into_iter().map(|pipe| Source { pipe, line: Vec::new() }));
        let mut at = 0;
        while at < sources.len() {
            match sources[at].forward(shared) {
                Ok(true) => at += 1,
                Ok(false) => drop(sources.remove(at)),
                // Ranks learn of it when they write again, as they would without the pipes.
                Err(_) => return,
            }
        }
        if ends {
            let _ = sources.iter_mut().try_for_each(|source| source.end(shared));
            return;
        }
        let mut fds = vec![PollFd::new(&shared.bell, PollFlags::IN)];
        fds.extend(sources.iter().map(|source| PollFd::new(&source.pipe, PollFlags::IN)));
        let _ = poll(&mut fds, None);
        let _ = read(&shared.bell, &mut [0; 8]);
    }
}

impl Source {
    /// Passes on the lines that have come. Returns false at the end of the pipe.
    ///
    /// # Errors
    /// Standard output takes no more.
    fn forward(&mut self, shared: &Shared) -> io::Result<bool> {
        let mut piece = [0; PIECE];
        // As many bytes as the pipe holds at most: others have their turn then.
        for _ in 0..16 {
            let len = match read(&self.pipe, &mut piece) {
                Ok(0) => {
                    self.end(shared)?;
                    return Ok(false);
                }
                Ok(len) => len,
                Err(Errno::INTR) => continue,
                Err(_) => break,
            };
            self.line.extend_from_slice(&piece[..len]);
            let whole = match self.line.iter().rposition(|&byte| byte == b'\n') {
                Some(last) => last + 1,
                None if self.line.len() >= LINE_MAX => self.line.len(),
                None => continue,
            };
            write_all(&self.line[..whole], shared)?;
            self.line.drain(..whole);
        }
        Ok(true)
    }

    /// Passes on a line without an end.
    ///
    /// # Errors
    /// Standard output takes no more.
    fn end(&mut self, shared: &Shared) -> io::Result<()> {
        write_all(&std::mem::take(&mut self.line), shared)
    }
}

/// Writes to standard output, until the job is interrupted.
///
/// # Errors
/// That of the system, or the job was interrupted.
fn write_all(mut bytes: &[u8], shared: &Shared) -> io::Result<()> {
    while !bytes.is_empty() {
        let out = stdout();
        let mut fds = [PollFd::new(&out, PollFlags::OUT)];
        if poll(&mut fds, Some(&LOOK)) == Ok(0) {
            if shared.interrupted.load(Ordering::SeqCst) != 0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            continue;
        }
        match write(&out, &bytes[..bytes.len().min(PIECE)]) {
            Ok(len) => bytes = &bytes[len..],
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
