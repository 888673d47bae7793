//! Runs GOAL schedules as a job: every rank is a process or a thread, of this host or of several.
//!
//! - [`launcher::run`] starts the ranks of a schedule, watches over them and returns how the job
//!   ended. [`launcher::Options`] describes the job: kind of ranks, transports, limits, window.
//!   [`launcher::run_on_hosts`] does the same for the part of a job that is on this host.
//! - [`report`] describes an outcome as text and as JSON, and [`verify`] compares it with the
//!   reference interpreter.
//! - A program that computes beside its communication takes a [`progress::Member`] of a
//!   [`job::Job`] instead: the end of one rank, with which it starts schedules and waits for them.
//!
//! This crate never looks at text. A job that can't go on, whose rank has died or whose host is
//! lost ends at once with an error that gives the reason. When a launcher returns, nothing of its
//! job is left.
//!
//! ```no_run
//! use goal_asm::Nisa;
//! use goal_lang::limits::Limits;
//! use goal_run::launcher::{End, Options, run};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bytes = std::fs::read("ring.nisa")?;
//! let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Limits::default())?);
//! // The default options run ranks as threads of this process.
//! let outcome = run(&nisa, &Options { repeat: 10, ..Options::default() })?;
//! assert_eq!(outcome.end, End::Complete);
//! println!("rank 0 ended with {:?}", outcome.memory(0));
//! # Ok(())
//! # }
//! ```
//!
//! # Layers
//! A module imports only from modules of earlier lines:
//!
//! - `gateway`, `handed`, `host`, `limits`
//! - `offload`
//! - `binding`, `inherited`, `network`, `rights`, `threads`, `trace`, `wait`
//! - `peer`, `transport`
//! - `job`
//! - `order`
//! - `growth`, `join`
//! - `progress`
//! - `rank`, `program`
//! - `monitor`
//! - `outcome`
//! - `verify`
//! - `report`
//! - `hosts`
//! - `launcher`

pub mod binding;
mod gateway;
pub mod growth;
pub mod handed;
mod host;
pub mod hosts;
mod inherited;
pub mod job;
mod join;
pub mod launcher;
pub mod limits;
mod monitor;
mod network;
mod offload;
mod order;
mod outcome;
mod peer;
pub mod program;
pub mod progress;
mod rank;
pub mod report;
pub mod rights;
mod threads;
mod trace;
pub mod transport;
pub mod verify;
mod wait;

pub use offload::{Offered, Offload};
