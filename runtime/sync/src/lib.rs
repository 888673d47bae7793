//! Lock-free structures in memory that the processes of a job share.
//!
//! Each structure has two parts. Its words lie in the shared memory, for example
//! [`mailbox::Control`] and [`mailbox::Slot`]. A view such as [`mailbox::Mailbox`] borrows the
//! words and has the methods. The crate maps no memory: its caller lends the words. `goal-shm`
//! lends them from the segment of a job.
//!
//! A new structure is all zeros. Its words hold no pointers, so each process may map them at
//! another address. All views of one structure must borrow the same words. A view with the control
//! words of one mailbox and the slots of another breaks the protocol of both.
//!
//! The crate depends on no other crate of the workspace. So loom, a model checker, compiles little
//! before it tries the interleavings of these structures: see `models`.
//!
//! One structure serves the threads of a single process: `bias`.
//!
//! Read `mailbox.rs` first to see how a message travels. Then read `ring.rs` for large payloads.
//! `board.rs` is for messages to several ranks, `directory.rs` for the boards of communicators, and
//! `napping.rs` for readers of boards that sleep.
//! `tasks.rs` is for operations that several ranks work on, and `turn.rs` for ranks that act for
//! each other.
//!
//! ```
//! use goal_sync::turn::Turn;
//!
//! let turn = Turn::default();
//! let held = turn.try_lock().expect("nobody holds the lock");
//! assert!(turn.try_lock().is_none());
//! held.unlock();
//! assert!(turn.try_lock().is_some());
//! ```
//!
//! # Layers
//! A module imports only from modules of earlier lines:
//!
//! - `full`, `shared_words`, `sync`
//! - `bias`, `board`, `directory`, `helpers`, `mailbox`, `ring`, `start_barrier`, `tasks`, `turn`
//! - `napping`, `pool`
//! - `endpoint`
//! - `models`

pub mod bias;
pub mod board;
pub mod directory;
pub mod endpoint;
mod full;
pub mod helpers;
pub mod mailbox;
#[cfg(all(test, loom))]
mod models;
pub mod napping;
pub mod pool;
pub mod ring;
mod shared_words;
pub mod start_barrier;
mod sync;
pub mod tasks;
#[cfg(all(test, not(loom)))]
mod tests;
pub mod turn;

pub use full::Full;
pub use shared_words::SharedWords;
pub use sync::{Bell, Bytes, Lent};
