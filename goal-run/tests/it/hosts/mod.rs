//! Runs one job on several hosts of a test bench, from the search for each other to the report.

mod bench;
mod endings;
mod examples;
mod gather;
mod losses;
mod mistakes;
mod offload;
mod random;
mod rights;
mod runs;
