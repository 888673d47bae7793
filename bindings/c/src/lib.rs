//! The C and C++ library: `include/goal.h` declares its functions and documents them.
//!
//! Each function checks its arguments, calls the crate `goal`, and turns an error into a code. This
//! crate is only the layer between C and Rust.
//!
//! - Handles are numbers with a generation (`table.rs`). So a freed handle, or one of another kind,
//!   causes an error and never an access to memory.
//! - A panic ends at the border and becomes `GOAL_ERR_INTERNAL` (`border.rs`).
//! - Threat: a C program may pass any pointer. NULL is refused where bytes are needed. The caller
//!   answers for any other pointer, as everywhere in C.
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
