//! Tests the command and the crates of a job by what they do. Each module has one subject.

mod binding;
mod capture;
mod collectives;
mod common;
mod deaths;
mod endings;
mod examples;
mod hosts;
mod info;
mod limits;
mod mpirun;
mod outside;
mod parameters;
mod ping;
mod programs;
mod progress;
mod random;
mod shared;
mod signals;
mod stats;
mod stress;
mod tcp;
mod terminal;
mod trace;
#[cfg(feature = "mpi")]
mod transport_mpi;
mod transports;
mod window;
