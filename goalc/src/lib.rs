//! The GOAL compiler: everything behind the command line of `goalc`, as a library.
//!
//! It reads inputs of any form, reports what is wrong with them, runs the checks and the passes,
//! and writes programs in any form. It defines no format: the language is in `goal_lang`, the
//! binary forms are in `goal_asm`. Nothing here executes a schedule. Start at [`driver`].

pub mod driver;
pub mod graph;
mod limits;
pub mod memory;
pub mod stats;
