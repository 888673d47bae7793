//! Schedules that progress in the kernel, on a stock Linux, while their processes compute.
//!
//! A classifier program on both hooks of an interface holds the schedule engine (`bpf/engine.c`).
//! It executes parts of schedules when frames arrive. [`Plan`] translates a schedule for it, or says
//! why an action must be executed by processes.
//!
//! # Layers
//!
//! The modules in layers, lowest first; each imports only from layers below its own:
//!
//! - `limits`, `layout`
//! - `reason`
//! - `graph`
//! - `matching`
//! - `image`
//! - `translate`
//! - `job`
//! - `frame`
//! - `install`

mod frame;
mod graph;
mod image;
mod install;
mod job;
pub mod layout;
pub mod limits;
mod matching;
mod reason;
mod translate;

pub use image::PartImage;
pub use install::{InstallError, Installation, MapImage, Member};
pub use job::{Job, Peer};
pub use reason::{Reason, Refusal};
pub use translate::Plan;
