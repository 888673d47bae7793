//! Runs one job of several launchers that meet at an address of TCP, from the meeting to the
//! report.

mod bench;
mod callers;
mod endings;
mod losses;
mod mistakes;
mod random;
mod runs;
mod ssh;
