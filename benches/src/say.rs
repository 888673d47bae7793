//! The output of benchmarks.

use goalc::driver;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Writes a line to standard output, as `println!` does, or ends the benchmark.
macro_rules! say {
    ($($line:tt)*) => { $crate::say::line(format_args!($($line)*)) };
}

/// The error of a line that could not be written.
struct Unwritten(io::Error);

/// Writes a line to standard output.
pub(crate) fn line(line: Arguments<'_>) {
    let written = driver::stdout().and_then(|mut out| writeln!(out, "{line}"));
    if let Err(error) = written {
        // Unwinds, so that processes and hosts of the benchmark are ended, but reports no panic.
        resume_unwind(Box::new(Unwritten(error)));
    }
}

/// Runs a benchmark. A line that can't be written ends it with the error of standard output, or
/// without one if the reader has gone away.
pub(crate) fn written(bench: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // Nothing of the benchmark is used afterwards.
    match catch_unwind(AssertUnwindSafe(bench)) {
        Ok(result) => result,
        Err(panic) => match panic.downcast::<Unwritten>() {
            Ok(unwritten) if unwritten.0.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Ok(unwritten) => Err(io::Error::other(format!("<stdout>: {}", unwritten.0))),
            Err(panic) => resume_unwind(panic),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_cannot_be_written_ends_the_benchmark() {
        let ended = |kind: io::ErrorKind| {
            written(|| -> io::Result<()> { resume_unwind(Box::new(Unwritten(kind.into()))) })
        };
        let full = ended(io::ErrorKind::StorageFull).expect_err("the disk is full").to_string();
        assert!(full.starts_with("<stdout>: "), "{full}");
        assert!(ended(io::ErrorKind::BrokenPipe).is_ok());
    }
}
