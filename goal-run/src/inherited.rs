//! Descriptors that a rank process inherits. `unsafe`: numbers become descriptors.
//!
//! Threat: the numbers come from the environment, which the starter of the process chooses. A
//! number that is not open is refused, and so are those of the standard streams and a second use of
//! a number. A rank process has no more rights than its starter, so the object of a descriptor is
//! checked only when it is used, to get an error and not a fault.
#![allow(unsafe_code)]

use goal_eth::{AnyDriver, PassedDriver};
use rustix::fs::fstat;
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The descriptors of a process that were there when it began.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    taken: Vec<RawFd>,
}

impl Inherited {
    /// Those of a process that has opened none itself. There must be one such value in a process.
    pub(crate) fn new() -> Self {
        close_on_exec();
        Self::default()
    }

    /// Takes the descriptor with this number, which no program gets that this process executes.
    ///
    /// # Errors
    /// It is not open, or was taken before.
    pub(crate) fn take(&mut self, number: RawFd) -> io::Result<OwnedFd> {
        let refused =
            |why| io::Error::new(io::ErrorKind::InvalidInput, format!("descriptor {number} {why}"));
        if number <= libc::STDERR_FILENO {
            return Err(refused("is a standard stream"));
        }
        if self.taken.contains(&number) {
            return Err(refused("is named twice"));
        }
        // SAFETY: it lives for the call, which fails if it is not open.
        fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) })
            .map_err(|_| refused("is not open"))?;
        // SAFETY: it is open, and no other part of this process uses it: it was inherited, and is
        // taken once.
        let fd = unsafe { OwnedFd::from_raw_fd(number) };
        fcntl_setfd(&fd, FdFlags::CLOEXEC)?;
        self.taken.push(number);
        Ok(fd)
    }

    /// Returns the number of the file that is open under a descriptor's number: see
    /// [`number_of_file`].
    ///
    /// # Errors
    /// It is not open.
    pub(crate) fn number_of_file(&self, number: RawFd) -> io::Result<u64> {
        if number < 0 {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        // SAFETY: it lives for the call, which fails if it is not open.
        number_of_file(unsafe { BorrowedFd::borrow_raw(number) })
    }

    /// Takes the driver that the launcher opened for this process.
    ///
    /// # Errors
    /// A descriptor can't be taken, or the driver does not match its description.
    pub(crate) fn driver(&mut self, passed: &PassedDriver) -> io::Result<AnyDriver> {
        // SAFETY: the launcher opens a driver for each process and closes its own copy after it has
        // started the process, and each descriptor is taken once. A process with another
        // starter has refused its order by now.
        unsafe { AnyDriver::inherited(passed, |number| self.take(number)) }
    }
}

/// Returns the number of a file, which no other file of its kind has while it is open.
///
/// # Errors
/// The system's error.
pub(crate) fn number_of_file(fd: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(fstat(fd)?.st_ino)
}

/// Closes all inherited descriptors, taken or not, in programs that this process executes.
fn close_on_exec() {
    let (first, last) = (libc::STDERR_FILENO as libc::c_uint + 1, libc::c_uint::MAX);
    // SAFETY: a system call on numbers that only sets flags. Kernels before 5.11 refuse it: what is
    // taken gets its flag below.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Lets the next program that is started inherit descriptors, until this is dropped.
pub(crate) struct Lent<'a>(Vec<BorrowedFd<'a>>);

impl<'a> Lent<'a> {
    /// # Errors
    /// The system's error.
    pub(crate) fn new(descriptors: Vec<BorrowedFd<'a>>) -> io::Result<Self> {
        let lent = Self(descriptors);
        lent.0.iter().try_for_each(|fd| fcntl_setfd(fd.as_fd(), FdFlags::empty()))?;
        Ok(lent)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        for fd in &self.0 {
            // An open descriptor takes its flag.
            let _ = fcntl_setfd(fd.as_fd(), FdFlags::CLOEXEC);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::{AsRawFd, IntoRawFd};

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
}
