//! Runs one rank of a job: its transports, and the progress of its schedules.
//!
//! - A program that computes beside its communication takes a [`progress::Member`] of a
//!   [`Job`](goal_job::Job). With it one rank starts schedules and waits for them.
//! - [`program::attach`] makes the calling process a rank of the job that a launcher started.
//! - [`schedule`] is the loop of a rank process that runs a schedule of the job itself.
//!
//! # Layers
//! A module imports only from modules of earlier lines:
//!
//! - `fallback`, `pause`
//! - `transport`
//! - `equip`
//! - `progress`
//! - `schedule`, `program`

mod equip;
pub mod fallback;
mod pause;
pub mod program;
pub mod progress;
pub mod schedule;
pub mod transport;
