//! Tests the installed library by programs in C and C++. Each module has one subject.

mod console;
mod containers;
mod guide;
mod header;
mod hosts;
mod mpi;
mod mpirun;
#[path = "../support/mod.rs"]
mod support;
mod tcp;
