//! Defines the limits of the crate. They are checked before bytes are sent or kept.

use std::time::Duration;

/// The largest blob of a rank in one exchange, in bytes. Addresses and keys are far smaller.
pub const BLOB_MAX: usize = 64 << 10;

/// The largest number of ranks of a job that a launcher may state.
pub const RANKS_MAX: u32 = 1 << 24;

/// The longest answer of a PMI-1 server, in bytes with its newline. Intel MPI sends the longest
/// known answers, with values of up to 4096 bytes.
pub(crate) const LINE_MAX: usize = 16 << 10;

/// The longest request to a PMI-1 server, in bytes with its newline. Slurm reads only 1024 bytes of
/// a request, and takes the rest for the next request.
pub(crate) const REQUEST_MAX: usize = 1000;

/// The most bytes of a text from another party that an error shows.
pub(crate) const SHOWN_MAX: usize = 160;

/// The time for which the drop of a session waits for the launcher to confirm the end.
pub(crate) const DROP_WAIT: Duration = Duration::from_secs(5);

/// The time for which a process waits until its launcher ends it, after it has asked the launcher
/// to abort the job.
pub(crate) const ABORT_WAIT: Duration = Duration::from_secs(5);

/// The wait before a process ends its session after a failure, or asks its launcher to abort the
/// job. Meanwhile a launcher forwards the output of the process, and may end all ranks itself.
pub(crate) const FORWARD_WAIT: Duration = Duration::from_millis(100);
