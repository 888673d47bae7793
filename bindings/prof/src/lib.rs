//! The core of a profiler that writes textual GOAL while an MPI program runs.
//!
//! A [`Recorder`] gets the MPI calls of one rank as plain numbers, with the time. It writes the
//! rank's block of a GOAL program to any writer. It knows nothing of `mpi.h`. The C sources in
//! `shim/` wrap the functions of MPI over `PMPI_` and call the recorder, so it serves every MPI
//! library. `cargo xtask goalprof --mpicc mpicc` builds both into `libgoalprof.so`.
//!
//! The text is written as the program runs. Memory grows with the requests that are outstanding,
//! the communicators and the threads, and not with the length of the run.
//!
//! The recorder reads no clock and does no input or output of its own. It never ends the program:
//! if it can't go on, it says why once and records no more ([`Recorder::fault`]).
//!
//! `docs/profiling.md` explains the text, the tags and the limits. Start at [`Recorder::new`].

mod collective;
mod communicators;
mod ffi;
mod lines;
mod matching;
mod memory;
mod order;
mod output;
mod recorder;
mod requests;
mod settings;
mod tags;
#[cfg(test)]
mod tests;

pub use collective::{Collective, Elements};
pub use communicators::{COMM_SELF, COMM_WORLD};
pub use output::{TraceFile, create};
pub use recorder::{Fault, Recorder, SentMessage, Status};
pub use settings::{Settings, SettingsError};
pub use tags::TagError;
