//! Defines the parts of a job that its launcher and its ranks share: settings, memory, and the
//! texts that one passes to the other.
//!
//! A launcher creates [`Settings`] from the choices of its user, a [`JobSpec`]. It creates a
//! segment of shared memory, and starts ranks. It gives each rank process a bootstrap record
//! (`bootstrap`): JSON that names inherited descriptors. Launcher and rank then both have a
//! [`Job`]: the segment, the schedules and the settings.
//!
//! `goal-rank` runs a rank. `goal-launch` starts the ranks and watches them. This crate neither
//! reads GOAL texts nor parses command lines.
//!
//! # Layers
//! A module imports only from modules of earlier lines:
//!
//! - `remote_sockets`, `host`, `limits`, `named`
//! - `offload`
//! - `binding`, `inherited`, `mode`, `network`, `rights`, `stuck`, `threads`, `trace`, `wait`
//! - `spec`
//! - `peer`, `transport`
//! - `settings`
//! - `action_name`, `window`
//! - `job`, `bootstrap`
//! - `growth`

mod action_name;
pub mod binding;
pub mod bootstrap;
pub mod growth;
pub mod host;
pub mod inherited;
mod job;
pub mod limits;
mod mode;
mod named;
pub mod network;
pub mod offload;
pub mod peer;
pub mod remote_sockets;
pub mod rights;
mod settings;
pub mod spec;
mod stuck;
pub mod threads;
pub mod trace;
pub mod transport;
mod wait;
mod window;

pub use action_name::ActionPlace;
pub use binding::is_crowded;
pub use job::Job;
pub use mode::Mode;
pub use named::Named;
pub use offload::{Offered, Offload};
pub use settings::{Origin, Settings, WindowSettings, has_time, layout, split_instance};
pub use spec::{JobSpec, SETTINGS, Setting};
pub use stuck::{NoTreatment, Stuck};
pub use wait::{Sharing, Wait};
pub use window::{SectionFile, Window};
