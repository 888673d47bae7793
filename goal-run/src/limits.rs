//! Limits of the system that a job may meet, in words.

use rustix::process::{Resource, getrlimit};
use std::io;

/// What refuses processes and threads.
pub(crate) const TASKS: &str =
    "limits: ulimit -u, pids.max of the control group; a seccomp filter refuses them altogether";
/// What refuses address space.
pub(crate) const ADDRESSES: &str = "limits: ulimit -v, vm.overcommit_memory=2";

/// The same error, with the limit that it names.
pub(crate) fn files(cause: io::Error) -> io::Error {
    match cause.raw_os_error() {
        Some(libc::EMFILE) => {
            let limit =
                getrlimit(Resource::Nofile).current.map_or("no".to_owned(), |limit| limit.to_string());
            io::Error::new(cause.kind(), format!("{cause} (ulimit -n allows {limit})"))
        }
        _ => cause,
    }
}
