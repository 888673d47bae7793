//! Passes on the standard output of a program's ranks, in whole lines.
//!
//! If standard output is no terminal, the C library of a rank writes blocks of 4,096 bytes. Ranks
//! that share standard output would then cut each other's lines. So each rank has a pipe of its
//! own, and a thread of the launcher passes the lines on.
//!
//! Threat: a rank may write a line without an end. The thread keeps at most [`LINE_MAX`] bytes of
//! it. Processes that a rank has started may keep its pipe open after the job. So the thread does
//! not wait for the end of a pipe, but ends with the job.
//!
//! Threat: standard output may be closed, or nobody may read it. If it is closed, every rank gets
//! an error when it writes, even a rank that starts later. If nobody reads it, the thread gives up
//! [`PATIENCE`] after the job was ended early or its time was up. If the job came to its end by
//! itself, the thread waits for the reader until the time is up.
//!
//! Each pipe takes an open file of the launcher. If the limit of open files is too low, ranks
//! inherit standard output.

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

/// The most bytes of a line that are kept before its end has come.
const LINE_MAX: usize = 1 << 20;
/// The most bytes of one read or write. A pipe that is ready for writing takes 4,096 bytes without
/// blocking.
const PIECE: usize = 4096;
/// The time between two checks, for a signal and for progress, while standard output is full.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// The time after which the thread no longer waits for a reader that takes nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// The open files of the launcher for each rank: its pipe, and the pidfd of the process that
/// attaches.
const FILES_EACH: u64 = 2;
/// The open files that are kept for other purposes, such as starting a process.
const FILES_KEPT: u64 = 16;

/// The pipe of a rank, and the beginning of a line whose end has not come.
struct Source {
    pipe: OwnedFd,
    line: Vec<u8>,
}

/// The state that the launcher shares with its output thread.
struct Shared {
    /// The pipes of ranks that the thread has not taken yet. `None` once the thread has ended.
    new: Mutex<Option<Vec<OwnedFd>>>,
    /// The eventfd that wakes the thread.
    bell: OwnedFd,
    /// Set at the end of the job, to the limit of [`Output::end`].
    ends: OnceLock<Option<Instant>>,
    interrupted: Arc<AtomicUsize>,
}

/// The output thread. Dropping this passes on the lines that are left, and ends the thread.
pub(super) struct Output {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<io::Result<()>>>,
    /// The number of ranks that can still get a pipe.
    room: u64,
    tell: fn(&str),
}

impl Output {
    /// Starts the thread that passes on the lines of ranks. Returns `None`, and ranks inherit
    /// standard output, in these cases: there is one rank, standard output is no file, pipe or
    /// socket, the launcher can open too few files, or the system refuses.
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

    /// Returns what the next rank gets as its standard output: a pipe, or the launcher's own.
    pub(super) fn of_rank(&mut self) -> Stdio {
        // If standard output is closed, a rank without a pipe gets the error itself.
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

    /// Tells the thread that the job has ended. From the time `limit` on, the thread gives up when
    /// the reader takes nothing for [`PATIENCE`].
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
            // A reader that has closed its end does not want the remaining lines.
            Some(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
                (self.tell)(&format!("<stdout>: {error}: lines of ranks are lost"));
                STATUS.store(2, Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

/// The exit status of a job that came to its end. It is 0 if standard output took all lines of
/// ranks.
static STATUS: AtomicU8 = AtomicU8::new(0);

/// Returns the exit status of a job of this process that came to its end. It is 2 if standard
/// output refused lines of ranks, as on a full disk. It is 128 plus the number of a signal if that
/// came first. Otherwise it is 0.
pub fn output_status() -> u8 {
    STATUS.load(Ordering::Relaxed)
}

impl Shared {
    fn pipes(&self) -> MutexGuard<'_, Option<Vec<OwnedFd>>> {
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        // An error means that the counter is full, so the bell has rung.
        let _ = write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Returns true if the thread no longer waits for a reader that has taken nothing since
    /// `since`.
    fn gives_up(&self, since: Instant) -> bool {
        let limit = self.ends.get().copied().flatten();
        limit.is_some_and(|limit| limit.max(since).elapsed() >= PATIENCE)
    }
}

/// Passes on lines until the job has ended. This is the work of the thread.
///
/// # Errors
/// Standard output takes no more.
fn pass_on(shared: &Shared) -> io::Result<()> {
    let mut sources: Vec<Source> = Vec::new();
    loop {
        // This is read before the pipes, so that all output from before the end of the job is
        // passed on.
        let ends = shared.ends.get().is_some();
        let new = shared.pipes().replace(Vec::new()).into_iter().flatten();
        sources.extend(new.map(|pipe| Source { pipe, line: Vec::new() }));
        let mut at = 0;
        while at < sources.len() {
            // After an error the pipes are closed, so ranks get an error at their next write.
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
    /// Passes on the lines that have arrived. Returns false at the end of the pipe.
    ///
    /// # Errors
    /// Standard output takes no more.
    fn forward(&mut self, shared: &Shared) -> io::Result<bool> {
        let mut piece = [0; PIECE];
        // One call takes at most 64 KiB, as much as a pipe holds. Then the other ranks have their
        // turn.
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

    /// Passes on the rest of the line, which has no end.
    ///
    /// # Errors
    /// Standard output takes no more.
    fn end(&mut self, shared: &Shared) -> io::Result<()> {
        write_all(&std::mem::take(&mut self.line), shared)
    }
}

/// Writes `bytes` to standard output. Gives up if nobody reads it, or on a signal after the job.
///
/// # Errors
/// The system's error. [`io::ErrorKind::Interrupted`] after a signal, and
/// [`io::ErrorKind::TimedOut`] if nobody reads.
fn write_all(mut bytes: &[u8], shared: &Shared) -> io::Result<()> {
    let (mut since, mut unread) = (Instant::now(), None);
    while !bytes.is_empty() {
        let out = stdout();
        let mut fds = [PollFd::new(&out, PollFlags::OUT)];
        if poll(&mut fds, Some(&LOOK)) == Ok(0) {
            // While the job goes on, the launcher handles the signal and ends the job.
            if shared.ends.get().is_some() && shared.interrupted.load(Ordering::SeqCst) != 0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            // A slow reader may take fewer bytes than a piece. So fewer unread bytes are progress
            // too.
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
