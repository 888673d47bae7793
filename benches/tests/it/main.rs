//! Tests that the benchmarks run to their tables.

mod library;
mod overlap;
mod tcp;
mod window;
