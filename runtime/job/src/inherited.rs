//! Takes the descriptors that a rank process inherits. `unsafe`: numbers become descriptors.
//!
//! Threat: the numbers come from the environment, which the starter of the process chooses. A
//! number that is not open is refused. The numbers of the standard streams are refused too, and so
//! is a second use of a number. A rank process has no more rights than its starter. So the object
//! of a descriptor is checked only when it is used, so that a wrong object causes an error and not
//! a fault.
//!
//! Threat: a program may close the descriptors that it inherited. Or another process of the rank
//! has attached before, and has executed the program. The numbers then belong to the program's own
//! files. So the bootstrap record of a program identifies the file of each descriptor. A descriptor
//! is taken, or closed, only if all descriptors still refer to these files. Some files of one kind,
//! such as the system's events, share an inode, so they count as the same file.
#![allow(unsafe_code)]

use crate::offload::{PassedKernel, PassedTables};
use crate::remote_sockets::{PassedSockets, RemoteSockets};
use goal_eth::AnyDriver;
use goal_kernel::{Descriptors, TableDescriptors};
use goal_tcp::Listener;
use rustix::fs::fstat;
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Descriptors of one file that a launcher passes on. They have consecutive numbers. While they are
/// open, no other file has the same device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    first: RawFd,
    count: u32,
    device: u64,
    file: u64,
}

impl Passed {
    /// Returns these descriptors, grouped by file and consecutive numbers. The bells of the ranks,
    /// one for each rank, mostly are a single group.
    ///
    /// # Errors
    /// The system's error.
    pub fn all<'a>(descriptors: impl IntoIterator<Item = BorrowedFd<'a>>) -> io::Result<Vec<Self>> {
        let mut rows: Vec<Self> = Vec::new();
        for descriptor in descriptors {
            let one = Self::one(descriptor)?;
            match rows.last_mut() {
                Some(row)
                    if (Self { first: one.first, count: 1, ..*row }) == one
                        && row.numbers().end == i64::from(one.first) =>
                {
                    row.count += 1;
                }
                _ => rows.push(one),
            }
        }
        Ok(rows)
    }

    fn one(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        let (first, stat) = (descriptor.as_raw_fd(), fstat(descriptor)?);
        Ok(Self { first, count: 1, device: stat.st_dev, file: stat.st_ino })
    }

    fn numbers(&self) -> Range<i64> {
        let first = i64::from(self.first);
        first..first + i64::from(self.count)
    }

    fn has(&self, number: RawFd) -> bool {
        self.numbers().contains(&i64::from(number))
    }

    /// Returns true if the file is open under these numbers in this process.
    fn is_here(&self) -> bool {
        let is_open = |number: i64| {
            let Some(number) = RawFd::try_from(number).ok().filter(|&number| number >= 0) else {
                return false;
            };
            // SAFETY: it lives for the call, which fails if it is not open.
            let here = Self::one(unsafe { BorrowedFd::borrow_raw(number) });
            here.is_ok_and(|here| (here.device, here.file) == (self.device, self.file))
        };
        self.count > 0 && self.numbers().all(is_open)
    }
}

/// The descriptors that this process has inherited or received, and that it can take.
#[derive(Debug, Default)]
pub struct Inherited {
    taken: Vec<RawFd>,
    /// The descriptors that may be taken; `None` if there is no restriction.
    passed: Option<Vec<Passed>>,
    /// The descriptors that another process has sent, by their numbers in that process. `None` if
    /// this process has inherited its descriptors.
    received: Option<BTreeMap<RawFd, OwnedFd>>,
}

impl Inherited {
    /// Creates the value from descriptors that another process has sent, by their numbers in that
    /// process.
    pub fn received(received: BTreeMap<RawFd, OwnedFd>) -> Self {
        Self { received: Some(received), ..Self::default() }
    }

    /// Creates the value for a process that has not opened any descriptor itself. A process must
    /// have only one such value.
    pub fn new() -> Self {
        close_on_exec();
        Self::default()
    }

    /// Creates the value for a program to which a launcher has passed on descriptors. The program
    /// may have opened others itself.
    ///
    /// # Errors
    /// `passed` is empty, or one of its descriptors is not open any more or refers to another file.
    pub fn from_program(passed: &[Passed]) -> io::Result<Self> {
        if passed.is_empty() || !passed.iter().all(Passed::is_here) {
            return Err(io::Error::other(
                "its descriptors are closed, as in what a process executes that has attached, or by a wrapper (close_fds=False keeps them in Python's subprocess)",
            ));
        }
        Ok(Self { passed: Some(passed.to_vec()), ..Self::default() })
    }

    /// Takes the descriptor with this number. Programs that this process executes do not inherit
    /// it.
    ///
    /// # Errors
    /// The descriptor is not open, was taken before, or may not be taken.
    pub fn take(&mut self, number: RawFd) -> io::Result<OwnedFd> {
        let refused =
            |why| io::Error::new(io::ErrorKind::InvalidInput, format!("descriptor {number} {why}"));
        if let Some(received) = &mut self.received {
            return received.remove(&number).ok_or_else(|| refused("was not sent"));
        }
        if number <= libc::STDERR_FILENO {
            return Err(refused("is a standard stream"));
        }
        if self.taken.contains(&number) {
            return Err(refused("is named twice"));
        }
        if self.passed.as_ref().is_some_and(|all| !all.iter().any(|passed| passed.has(number))) {
            return Err(refused("is not one that the launcher passes on"));
        }
        // SAFETY: it lives for the call, which fails if it is not open.
        fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) })
            .map_err(|_| refused("is not open"))?;
        // SAFETY: it is open, and no other part of this process uses it. Either the process has
        // opened no descriptor itself, or the file under the number was passed on to it, and the
        // program does not use that file. It is taken once.
        let fd = unsafe { OwnedFd::from_raw_fd(number) };
        fcntl_setfd(&fd, FdFlags::CLOEXEC)?;
        self.taken.push(number);
        Ok(fd)
    }

    /// Takes the remote sockets that the launcher opened for this process.
    ///
    /// # Errors
    /// A descriptor can't be taken, or does not match its description.
    pub fn remote_sockets(&mut self, passed: &PassedSockets) -> io::Result<RemoteSockets> {
        match passed {
            // SAFETY: the launcher opens a driver for each process and closes its own copy after it
            // has started the process, and each descriptor is taken once. A process with another
            // starter has refused its bootstrap record by now.
            PassedSockets::Ethernet(passed) => unsafe {
                AnyDriver::inherited(passed, |number| self.take(number))
                    .map(RemoteSockets::Ethernet)
            },
            PassedSockets::Tcp(number) => {
                Ok(RemoteSockets::Tcp(Listener::of(self.take(*number)?)?))
            }
        }
    }
}

impl Inherited {
    /// Takes the descriptors of a rank whose schedule runs in the kernel.
    ///
    /// # Errors
    /// A descriptor can't be taken.
    pub fn kernel(&mut self, passed: PassedKernel) -> io::Result<Descriptors> {
        let PassedKernel { memory, status, handed, socket } = passed;
        Ok(Descriptors {
            memory: self.take(memory)?,
            status: self.take(status)?,
            handed: self.take(handed)?,
            socket: self.take(socket)?,
        })
    }

    /// Takes the descriptors of the tables in which a rank of a program installs its schedules.
    ///
    /// # Errors
    /// A descriptor can't be taken.
    pub fn tables(&mut self, passed: PassedTables) -> io::Result<TableDescriptors> {
        let [parts, status, actions, dependents, receives, sends, memory, handed, socket] =
            passed.0;
        Ok(TableDescriptors {
            parts: self.take(parts)?,
            status: self.take(status)?,
            actions: self.take(actions)?,
            dependents: self.take(dependents)?,
            receives: self.take(receives)?,
            sends: self.take(sends)?,
            memory: self.take(memory)?,
            handed: self.take(handed)?,
            socket: self.take(socket)?,
        })
    }
}

/// Makes programs that this process executes inherit none of its descriptors, except those of the
/// standard streams.
pub fn close_on_exec() {
    let (first, last) = (libc::STDERR_FILENO as libc::c_uint + 1, libc::c_uint::MAX);
    // SAFETY: a system call on numbers that only sets flags. Kernels before 5.11 refuse it: what is
    // taken gets its flag below.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Descriptors that programs inherit if they are started while this value exists.
pub struct Lent<'a>(Vec<BorrowedFd<'a>>);

impl<'a> Lent<'a> {
    /// # Errors
    /// The system's error.
    pub fn new(descriptors: Vec<BorrowedFd<'a>>) -> io::Result<Self> {
        let lent = Self(descriptors);
        lent.0.iter().try_for_each(|fd| fcntl_setfd(fd.as_fd(), FdFlags::empty()))?;
        Ok(lent)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        for fd in &self.0 {
            // This can't fail for an open descriptor.
            let _ = fcntl_setfd(fd.as_fd(), FdFlags::CLOEXEC);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::fcntl_dupfd_cloexec;
    use std::fs::File;
    use std::os::fd::IntoRawFd;

    #[test]
    fn a_number_is_taken_once_and_is_not_passed_on() {
        let (mut inherited, file) = (Inherited::default(), File::open("/dev/null").unwrap());
        {
            let _lent = Lent::new(vec![file.as_fd()]).unwrap();
            assert_eq!(fcntl_getfd(&file).unwrap(), FdFlags::empty());
        }
        assert_eq!(fcntl_getfd(&file).unwrap(), FdFlags::CLOEXEC);
        fcntl_setfd(&file, FdFlags::empty()).unwrap();
        let number = file.into_raw_fd();
        let fd = inherited.take(number).unwrap();
        assert_eq!((fd.as_raw_fd(), fcntl_getfd(&fd).unwrap()), (number, FdFlags::CLOEXEC));
        let says =
            |inherited: &mut Inherited, number| inherited.take(number).unwrap_err().to_string();
        assert_eq!(says(&mut inherited, number), format!("descriptor {number} is named twice"));
        assert_eq!(says(&mut inherited, 1), "descriptor 1 is a standard stream");
        assert_eq!(says(&mut inherited, -1), "descriptor -1 is a standard stream");
        assert_eq!(says(&mut inherited, 1 << 20), "descriptor 1048576 is not open");
    }

    #[test]
    fn a_program_keeps_its_own_files() {
        let (passed, own) = (File::open("/dev/null").unwrap(), tempfile::tempfile().unwrap());
        let there = Passed::one(passed.as_fd()).unwrap();
        let mut inherited = Inherited::from_program(&[there]).unwrap();
        let error = inherited.take(own.as_raw_fd()).unwrap_err().to_string();
        assert!(error.ends_with("is not one that the launcher passes on"), "{error}");
        inherited.take(passed.into_raw_fd()).unwrap();
        // Another file is open under the number, on another device or with another number.
        let of_own = Passed::one(own.as_fd()).unwrap();
        for (device, file) in [(of_own.device + 1, of_own.file), (of_own.device, of_own.file + 1)] {
            let other = Passed { device, file, ..of_own };
            let error = Inherited::from_program(&[of_own, other]).unwrap_err().to_string();
            assert!(error.starts_with("its descriptors are closed"), "{error}");
        }
        assert!(fcntl_getfd(&own).is_ok());
        assert!(Inherited::from_program(&[]).is_err());
        for (first, count) in [(-1, 1), (-1, u32::MAX), (RawFd::MAX, 2), (of_own.first, 0)] {
            assert!(Inherited::from_program(&[Passed { first, count, ..of_own }]).is_err());
        }
    }

    #[test]
    fn descriptors_in_a_row_are_one() {
        let file = tempfile::tempfile().unwrap();
        let copy = |number| fcntl_dupfd_cloexec(&file, number).unwrap();
        let mut row = vec![copy(500)];
        while row.len() < 3 {
            let last = row[row.len() - 1].as_raw_fd();
            let next = copy(last + 1);
            if next.as_raw_fd() != last + 1 {
                row.clear();
            }
            row.push(next);
        }
        let other = File::open("/dev/null").unwrap();
        let files = [&row[0], &row[1], &row[2]].map(AsFd::as_fd);
        let passed = Passed::all(files.into_iter().chain([other.as_fd()])).unwrap();
        let numbers = passed.iter().map(|passed| (passed.first, passed.count));
        assert!(numbers.eq([(row[0].as_raw_fd(), 3), (other.as_raw_fd(), 1)]));
        let mut inherited = Inherited::from_program(&passed).unwrap();
        for number in row.into_iter().map(IntoRawFd::into_raw_fd) {
            inherited.take(number).unwrap();
        }
        // One of the row is closed.
        assert!(Inherited::from_program(&passed).is_err());
    }
}
