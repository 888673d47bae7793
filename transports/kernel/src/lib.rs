//! Runs GOAL schedules in the kernel of a stock Linux, while their processes compute.
//!
//! A classifier program on both hooks of an interface holds the schedule engine (`bpf/engine.c`).
//! The engine executes parts of schedules when frames arrive. [`Plan`] translates a schedule for
//! the engine, or says why an action must be executed by processes.
//!
//! A launcher takes these steps:
//!
//! 1. It asks [`probe`] if the kernel can do this.
//! 2. It translates the schedule once for all hosts ([`Plan::of`]).
//! 3. It lays out its host's maps ([`Installation`]).
//! 4. It loads and attaches the engine ([`Kernel::load`]), and starts a [`Ticker`].
//! 5. It hands each rank its [`Descriptors`] and its [`Member`]. The rank's process opens a
//!    [`Rank`] with them.
//!
//! `docs/kernel.md` describes frames, runs and limits.
//!
//! Ranks of a program make their schedules at run time. For such schedules the launcher only makes
//! room ([`Installation::reserve`]). Each rank installs its parts itself ([`Tables`]).
//!
//! # Layers
//!
//! The modules in layers, lowest first; each imports only from layers below its own:
//!
//! - `limits`, `layout`
//! - `reason`
//! - `graph`
//! - `matching`
//! - `image`, `analysis`
//! - `translate`
//! - `job`
//! - `frame`
//! - `room`
//! - `install`
//! - `error`, `sys`
//! - `rank`
//! - `look`
//! - `events`
//! - `tables`
//! - `kernel`
//! - `netlink`
//! - `circle`
//! - `ticker`
//! - `probe`

mod analysis;
mod circle;
mod error;
mod events;
mod frame;
mod graph;
mod image;
mod install;
mod job;
mod kernel;
pub mod layout;
pub mod limits;
mod look;
mod matching;
mod netlink;
mod probe;
mod rank;
mod reason;
mod room;
mod sys;
mod tables;
mod ticker;
mod translate;

pub use error::LoadError;
pub use events::{Announced, CompletionEvents};
pub use graph::Abilities;
pub use image::{Call, Operands, PartImage};
pub use install::{InstallError, Installation, MEMBER_BYTES, MapImage, Member};
pub use job::{Job, Peer};
pub use kernel::{Hook, Kernel};
pub use look::{Awaited, Look, Lost, Unfinished, Unheard};
pub use probe::{Missing, Offer, probe};
pub use rank::{Descriptors, Rank, RunError};
pub use reason::{ActionRefusal, Reason, in_words};
pub use room::{Room, SHARE_BYTES, Share};
pub use tables::{TableDescriptors, Tables};
pub use ticker::{Ticker, Ticks};
pub use translate::{Message, Plan};
