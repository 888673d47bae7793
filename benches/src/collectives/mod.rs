//! Collective operations between hosts of a test bench over ESP, beside MPI's over TCP between the
//! same hosts.

mod peer;
mod turns;

pub(crate) use turns::{Args, run};
