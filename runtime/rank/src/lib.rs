//! Runs one rank of a job: its transports, and the progress of its schedules.
//!
//! - [`progress::Member`] is for a program that computes beside its communication. One rank of a
//!   [`Job`](goal_job::Job) starts schedules with it and waits for them.
//! - [`program::attach`] makes the calling process a rank of the job that a launcher started.
//! - [`schedule`] contains the loop of a rank process that runs the job's own schedule.
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
