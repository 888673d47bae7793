//! Passes on the standard output of a program's ranks, in whole lines.
//!
//! If standard output is no terminal, the C library of a rank writes it in blocks of 4,096 bytes.
//! So ranks that share it would cut into each other's lines. Each rank therefore has a pipe of its
//! own, and a thread of the launcher passes on the lines.
//!
//! Threat: a rank may write a line without an end. At most [`LINE_MAX`] bytes of it are kept.
//! Processes that a rank has started may keep its pipe open after the job. So the thread never
//! waits for the end of a pipe, and ends with the job.
//!
//! Threat: standard output may be closed, or nobody may read it. If it is closed, ranks learn of it
//! when they write, also those that start later. If nobody reads it, the thread gives up a while
//! after the job was ended or its time is up. It waits until then for the reader of a job that came
//! to its end by itself.
//!
//! Each pipe takes a file of the launcher. If it may open too few, ranks write to standard output
//! themselves.

use super::options::Options;
use goal_job::limits::open_files_left;
use goal_job::threads::LibraryThread;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::{Errno, ioctl_fionread, read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io::{self, stdout};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// The most bytes of a line that are kept until its end comes.
const LINE_MAX: usize = 1 << 20;
/// The bytes that are read from a rank, or written, at a time. A pipe that is ready for writing
/// takes 4,096 bytes without blocking.
const PIECE: usize = 4096;
/// The time between two checks for a signal and for progress while standard output takes nothing.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// The time after which a reader that takes nothing is not waited for any more.
const PATIENCE: Duration = Duration::from_secs(1);
/// The open files of the launcher for each rank: its pipe, and the process that attaches.
const FILES_EACH: u64 = 2;
/// The open files that are kept for all else, as the start of a process.
const FILES_KEPT: u64 = 16;

/// The pipe of a rank, and the beginning of a line that has no end yet.
struct Source {
    pipe: OwnedFd,
    line: Vec<u8>,
}

/// The state that the launcher and its thread share.
struct Shared {
    /// The pipes of ranks that were started since the thread has looked; `None` once it has ended.
    new: Mutex<Option<Vec<OwnedFd>>>,
    /// Wakes the thread.
    bell: OwnedFd,
    /// Set at the end of the job: see [`Output::end`].
    ends: OnceLock<Option<Instant>>,
    interrupted: Arc<AtomicUsize>,
}

/// The lines of all ranks on their way to standard output. Dropping this passes on what there is.
pub(super) struct Output {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<io::Result<()>>>,
    /// The number of ranks that may still have a pipe.
    room: u64,
    tell: fn(&str),
}

impl Output {
    /// Begins to pass on the lines of several ranks. Returns `None` for a single rank, if standard
    /// output is a terminal or another device, or if the system refuses: ranks inherit it then.
    pub(super) fn of_job(ranks: usize, options: &Options) -> Option<Self> {
        let collects = |stat: rustix::fs::Stat| {
            let kind = FileType::from_raw_mode(stat.st_mode);
            matches!(kind, FileType::Fifo | FileType::RegularFile | FileType::Socket)
        };
        let room = open_files_left().saturating_sub(FILES_KEPT) / FILES_EACH;
        if ranks < 2 || room < ranks as u64 || !fstat(stdout()).is_ok_and(collects) {
            return None;
        }
        let shared = Arc::new(Shared {
            new: Mutex::new(Some(Vec::new())),
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?,
            ends: OnceLock::new(),
            interrupted: Arc::clone(&options.interrupted),
        });
        let own = Arc::clone(&shared);
        let work = move || {
            let _thread = LibraryThread::enter();
            let ended = pass_on(&own);
            *own.pipes() = None;
            ended
        };
        let thread = Builder::new().name("output".to_owned()).spawn(work).ok()?;
        Some(Self { shared, thread: Some(thread), room, tell: options.tell })
    }

    /// Returns the standard output of another rank.
    pub(super) fn of_rank(&mut self) -> Stdio {
        // A rank without a pipe learns itself that standard output is closed.
        self.pipe().map_or_else(Stdio::inherit, Stdio::from)
    }

    fn pipe(&mut self) -> Option<OwnedFd> {
        self.room = self.room.checked_sub(1)?;
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC).ok()?;
        fcntl_setfl(&ours, fcntl_getfl(&ours).ok()? | OFlags::NONBLOCK).ok()?;
        self.shared.pipes().as_mut()?.push(ours);
        self.shared.ring();
        Some(theirs)
    }

    /// Says that the job has ended. From `limit` on, it does not wait for a reader that takes
    /// nothing for a while.
    pub(super) fn end(&self, limit: Option<Instant>) {
        let _ = self.shared.ends.set(limit);
        self.shared.ring();
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.end(Some(Instant::now()));
        // The message of a panic was printed already.
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        match ended {
            Some(Err(error)) if error.kind() == io::ErrorKind::TimedOut => {
                (self.tell)("nobody reads standard output: the last lines of ranks are lost");
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {
                let signal = self.shared.interrupted.load(Ordering::SeqCst) as i32;
                let name = signal_hook::low_level::signal_name(signal).unwrap_or("a signal");
                (self.tell)(&format!("ended by {name}: the last lines of ranks are lost"));
                STATUS.store(128 + signal as u8, Ordering::Relaxed);
            }
            // A reader that has gone away wants no more.
            Some(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
                (self.tell)(&format!("<stdout>: {error}: lines of ranks are lost"));
                STATUS.store(2, Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

/// The exit status of a job that came to its end, and whose lines standard output did not take. It
/// is 0 if it took them.
static STATUS: AtomicU8 = AtomicU8::new(0);

/// Returns the exit status of a job of this process that came to its end. It is not 0 if standard
/// output refused lines of ranks, as on a full disk, or if a signal came first.
pub fn output_status() -> u8 {
    STATUS.load(Ordering::Relaxed)
}

impl Shared {
    fn pipes(&self) -> MutexGuard<'_, Option<Vec<OwnedFd>>> {
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        // A bell that is full is rung.
        let _ = write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Returns true if a reader that has taken nothing `since` then is not waited for.
    fn gives_up(&self, since: Instant) -> bool {
        let limit = self.ends.get().copied().flatten();
        limit.is_some_and(|limit| limit.max(since).elapsed() >= PATIENCE)
    }
}

/// The work of the thread.
///
/// # Errors
/// Standard output takes no more.
fn pass_on(shared: &Shared) -> io::Result<()> {
    let mut sources: Vec<Source> = Vec::new();
    loop {
        // This is read before the pipes, so that all output from before the end is passed on.
        let ends = shared.ends.get().is_some();
        let new = shared.pipes().replace(Vec::new()).into_iter().flatten();
        sources.extend(new.map(|pipe| Source { pipe, line: Vec::new() }));
        let mut at = 0;
        while at < sources.len() {
            // Ranks learn of an error when they write again, as they would without the pipes.
            match sources[at].forward(shared)? {
                true => at += 1,
                false => drop(sources.remove(at)),
            }
        }
        if ends {
            return sources.iter_mut().try_for_each(|source| source.end(shared));
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
        // One pass takes at most the bytes that the pipe holds. Then the other ranks are served.
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

/// Writes to standard output, until nobody reads it any more or, after the job, a signal comes.
///
/// # Errors
/// That of the system, or [`io::ErrorKind::Interrupted`] or [`io::ErrorKind::TimedOut`].
fn write_all(mut bytes: &[u8], shared: &Shared) -> io::Result<()> {
    let (mut since, mut unread) = (Instant::now(), None);
    while !bytes.is_empty() {
        let out = stdout();
        let mut fds = [PollFd::new(&out, PollFlags::OUT)];
        if poll(&mut fds, Some(&LOOK)) == Ok(0) {
            // While the job goes on, the launcher takes the signal and ends it.
            if shared.ends.get().is_some() && shared.interrupted.load(Ordering::SeqCst) != 0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            // A slow reader may take less than a piece.
            let before = std::mem::replace(&mut unread, ioctl_fionread(&out).ok());
            if before != unread {
                since = Instant::now();
            } else if shared.gives_up(since) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            continue;
        }
        match write(&out, &bytes[..bytes.len().min(PIECE)]) {
            Ok(len) => (bytes, since) = (&bytes[len..], Instant::now()),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
