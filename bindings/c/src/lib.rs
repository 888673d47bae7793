//! The C and C++ library: `include/goal.h` declares its functions and documents them.
//!
//! Each function checks its arguments, calls the crate `goal`, and turns an error into a code. Only
//! the layer between C and Rust is here.
//!
//! - Handles are numbers with a generation (`table.rs`), so a freed one, or one of another kind, is
//!   an error and never an access.
//! - A panic ends at the border and becomes `GOAL_ERR_INTERNAL` (`border.rs`).
//! - Threat: a C program passes any pointer. One that is NULL is refused where bytes are needed.
//!   Other memory that a pointer names is the caller's duty, as everywhere in C.
#![allow(non_snake_case, non_camel_case_types)] // names of C

mod arguments;
mod blocks;
mod border;
mod collective;
mod communicator;
mod end;
mod graph;
mod group;
mod growth;
mod local;
mod memory;
mod run;
mod schedule;
mod table;
mod types;
mod user;
