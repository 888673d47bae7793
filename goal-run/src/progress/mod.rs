//! One rank's end of a job, and how its schedules make progress while the rank computes.
//!
//! A [`Member`] is for a program that starts schedules, computes and waits. The job's
//! [`Mode`](crate::job::Mode) says how the schedules of a rank make progress:
//!
//! - `caller`: only in calls of the rank itself.
//! - `thread`: in a thread of the rank, which sleeps while there is nothing to do.
//! - `node`: through other ranks of the host. The state of every engine lies in the shared segment,
//!   and a rank that waits acts for one that computes: it takes messages, copies, reduces and
//!   starts actions. So a collective ends as soon as the last rank has started it, as long as any
//!   rank waits, without a thread and without calls of the ranks that compute (ESPGOAL 4.2 asks
//!   for the former).
//!
//! In mode `node` the process that acts for a rank holds the rank's [`Turn`](goal_shm::Turn) during
//! one poll of its engine.
//!
//! Other processes know only the schedule and the storage that the [`Job`](crate::job::Job) gives a
//! rank, and act for the rank while it runs these, one instance at a time. A program may start
//! other schedules, use other memory or run several instances at once, but then only its own
//! process can execute them. Until such an instance is finished, the rank makes progress as in mode
//! `caller`; so does a rank whose schedule calls registered functions (`exec user`). A process
//! whose job has another schedule for a rank notices that before it acts, and leaves the rank
//! alone.

mod error;
mod member;
mod node;
mod start;
mod thread;

pub use error::{Interrupted, StartError};
pub use member::Member;
pub use start::with_member;
pub(crate) use start::with_member_over;

use goal_engine::transport::Transport;
use goal_engine::{Engine, Failure};
use goal_eth::now_ns;

/// Polls an engine. Reads the clock only if something in the engine depends on the time.
#[inline(always)]
fn poll_now<T: Transport>(engine: &mut Engine<T>) -> Result<goal_engine::Progress, Failure> {
    let now = if engine.asks_time() { now_ns() } else { 0 };
    engine.poll(now)
}
