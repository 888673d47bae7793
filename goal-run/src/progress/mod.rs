//! Who makes the schedules of a rank go on while the rank does something else.
//!
//! A [`Member`] is a rank's end of a job, for a program that starts schedules, computes and waits.
//! As its [`Mode`] says, its schedules go on
//!
//! - in the rank's own calls only (`caller`);
//! - in a thread that sleeps while there is nothing to do (`thread`);
//! - by whoever is there (`node`): what all engines remember lies in the segment, and a rank that
//!   waits acts for one that computes: takes its messages, copies, reduces, lets its actions start.
//!   So a collective ends as soon as the last rank has started it, while any rank waits, without a
//!   thread and without a call by those that compute (ESPGOAL 4.2 asks for the former).
//!
//! Who acts for a rank holds its [`Turn`](goal_shm::Turn), for one poll of its engine at a time.
//!
//! Others know of a rank the schedule and the storage that the [`Job`](crate::job::Job) gives it,
//! and act for it while it runs these, one instance at a time. What else a program starts, on other
//! schedules, on other memory or several at once, only its own process can execute: while such an
//! instance has not been finished, and always where the job's schedule calls registered functions
//! (`exec user`), a rank makes its schedules go on by itself, as in mode `caller`. A process whose
//! job has another schedule for a rank sees that before it acts, and leaves the rank to others.

mod member;
mod node;
mod thread;

pub use member::{Interrupted, Member, StartError, with_member, with_member_over};

use goal_engine::transport::Transport;
use goal_engine::{Engine, Failure};
use goal_eth::now_ns;

/// Polls an engine with the time, if something in it depends on that.
#[inline(always)]
fn poll_now<T: Transport>(engine: &mut Engine<T>) -> Result<goal_engine::Progress, Failure> {
    let now = if engine.asks_time() { now_ns() } else { 0 };
    engine.poll(now)
}
