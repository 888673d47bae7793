//! Runs the reaper, a process that kills the ranks of programs if their launcher was killed.
//!
//! Each rank of a program is a process group. It has the rank's process and the processes that it
//! starts, unless they leave the group. A launcher that ends normally kills the groups, but a
//! killed launcher can't. The kernel then sends a death signal, but only to the first process of a
//! rank. If the program gains capabilities, as each program of root does, there is no such signal.
//!
//! So the reaper waits at a pipe whose other end only the launcher has. When the pipe closes, it
//! kills the groups. A rank that the launcher started itself asks for the death signal again when
//! it attaches. So it also ends if launcher and reaper are both killed.
//!
//! A rank's process tells the reaper its group before it executes its program. So the reaper knows
//! the group of every program that runs.
//!
//! The reaper also removes the launcher's socket for requests for more ranks, with its folder.
//!
//! `unsafe`: a child goes on after `fork` without executing another program. It makes system calls
//! only, because other threads of its parent may have held locks.
#![allow(unsafe_code)]

use goal_job::peer::Address;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

/// The message to the reaper that a process is about to be started. It is no valid group.
const STARTS: i32 = -1;
/// The message that the process was not started. The reaper forgets the groups that were added
/// since [`STARTS`], because other processes may soon have their IDs.
const NOT_STARTED: i32 = 0;

/// The launcher's handle of its reaper. Dropping it kills the reaper, which does not touch the
/// groups then.
#[derive(Debug)]
pub(super) struct Reaper {
    pipe: OwnedFd,
    process: Pid,
}

impl Reaper {
    /// Starts a reaper for up to `groups_max` groups. It also removes the socket for requests at
    /// `growth_address`, with its folder.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn start(groups_max: usize, growth_address: Option<&Address>) -> io::Result<Self> {
        let (heard, pipe) = pipe_with(PipeFlags::CLOEXEC)?;
        // Memory is reserved here, because the child can't allocate.
        let mut groups = Vec::with_capacity(groups_max);
        let remains = growth_address.into_iter().flat_map(Address::remains);
        let remains = remains.map(|file| CString::new(file.as_os_str().as_bytes()));
        let remains = remains.collect::<Result<Vec<_>, _>>()?;
        // SAFETY: the child runs `watch` alone, which makes system calls on values that it has.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => watch(heard.as_raw_fd(), &mut groups, &remains),
            process => {
                let process = Pid::from_raw(process).expect("a process has a number");
                Ok(Self { pipe, process })
            }
        }
    }

    /// Calls `start`, which starts a process that adds its own group. If `start` fails, the reaper
    /// forgets the group, as its ID is free.
    pub(super) fn around<T, E>(&self, start: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.tell(STARTS);
        let started = start();
        if started.is_err() {
            self.tell(NOT_STARTED);
        }
        started
    }

    fn tell(&self, word: i32) {
        // A failed write means that the reaper is gone.
        let _ = rustix::io::retry_on_intr(|| rustix::io::write(&self.pipe, &word.to_ne_bytes()));
    }

    /// Returns the pipe by which a child of the launcher adds its group. It is valid as long as
    /// `self`.
    pub(super) fn pipe(&self) -> ReaperPipe {
        ReaperPipe(self.pipe.as_raw_fd())
    }
}

/// The write end of the reaper's pipe, for children of the launcher before they execute a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReaperPipe(RawFd);

impl ReaperPipe {
    /// Adds the process group that the calling process leads. Does nothing if the reaper is gone.
    /// Makes system calls only.
    pub(super) fn add_own_group(self) {
        let group = rustix::process::getpid().as_raw_nonzero().get().to_ne_bytes();
        // SAFETY: the bytes are those of the array, and a closed descriptor is an error. A child
        // has one thread, so nothing else needs the signal of a broken pipe meanwhile.
        unsafe {
            let broken_pipe = libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            libc::write(self.0, group.as_ptr().cast(), group.len());
            libc::signal(libc::SIGPIPE, broken_pipe);
        }
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        let _ = kill_process(self.process, Signal::KILL);
        let _ = rustix::process::waitpid(Some(self.process), rustix::process::WaitOptions::empty());
    }
}

/// Waits until the launcher has died. Then kills the groups, and removes the files of its socket
/// for requests and their folder.
fn watch(pipe: RawFd, groups: &mut Vec<i32>, remains: &[CString]) -> ! {
    // SAFETY: system calls on values of the stack, and on memory that was allocated before. Nothing
    // else of the process goes on here.
    unsafe {
        // The reaper must not get the terminal's signals. It must not hold descriptors whose end
        // other processes wait for.
        libc::setpgid(0, 0);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGTSTP, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::prctl(libc::PR_SET_NAME, c"reaper".as_ptr());
        let pipe = pipe as libc::c_uint;
        let of_range = |first: libc::c_uint, last: libc::c_uint| {
            libc::syscall(libc::SYS_close_range, first, last, 0);
        };
        if pipe > 0 {
            of_range(0, pipe - 1);
        }
        of_range(pipe + 1, libc::c_uint::MAX);
        let (mut word, mut before) = ([0u8; size_of::<i32>()], 0);
        loop {
            match libc::read(pipe as RawFd, word.as_mut_ptr().cast(), word.len()) {
                // A pipe writes and reads this few bytes in one piece.
                4 => match i32::from_ne_bytes(word) {
                    STARTS => before = groups.len(),
                    NOT_STARTED => groups.truncate(before),
                    group if groups.len() < groups.capacity() => groups.push(group),
                    _ => {}
                },
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => break,
            }
        }
        for &group in groups.iter() {
            libc::kill(-group, libc::SIGKILL);
        }
        if let [files @ .., folder] = remains {
            for file in files {
                libc::unlink(file.as_ptr());
            }
            libc::rmdir(folder.as_ptr());
        }
        libc::_exit(0)
    }
}
