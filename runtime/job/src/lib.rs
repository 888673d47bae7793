//! What the launcher and the ranks of a job agree on.
//!
//! A launcher makes [`Settings`] and a segment of shared memory, and starts ranks. It hands each
//! rank process a bootstrap record (`bootstrap`): JSON that names inherited descriptors. [`Job`] is
//! what both hold then: the segment, the schedules and the settings.
//!
//! `goal-rank` runs a rank, `goal-launch` starts the ranks and watches over them. Neither the
//! text of a schedule nor a command line is known here.
//!
//! # Layers
//! A module imports only from modules of earlier lines:
//!
//! - `remote_sockets`, `host`, `limits`, `named`
//! - `offload`
//! - `binding`, `inherited`, `network`, `rights`, `threads`, `trace`, `wait`
//! - `peer`, `transport`
//! - `action_name`, `settings`, `stuck`, `window`
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
mod named;
pub mod network;
pub mod offload;
pub mod peer;
pub mod remote_sockets;
pub mod rights;
mod settings;
mod stuck;
pub mod threads;
pub mod trace;
pub mod transport;
mod wait;
mod window;

pub use action_name::Place;
pub use binding::is_crowded;
pub use job::Job;
pub use named::Named;
pub use offload::{Offered, Offload};
pub use settings::{
    Mode, Origin, Settings, WindowSettings, factor, has_time, layout, split_instance,
};
pub use stuck::{NoTreatment, Stuck};
pub use wait::{Sharing, Wait};
pub use window::{SectionFile, Window};
