//! Makes the schedules of a rank progress, also while the rank computes.
//!
//! A [`Member`] is for a program that starts schedules, computes and waits. The job's
//! [`Mode`](goal_job::Mode) says how the schedules of a rank make progress:
//!
//! - `caller`: only in calls of the rank itself.
//! - `thread`: in a thread of the rank, which sleeps while there is nothing to do.
//! - `node`: in other ranks of the host. The state of every engine lies in the shared segment. A
//!   rank that waits acts for one that computes: it takes messages, copies, reduces and starts
//!   actions. So a collective ends as soon as the last rank has started it, if any rank waits. It
//!   needs no thread (as ESPGOAL 4.2 demands), and no calls by the ranks that compute.
//!
//! In mode `node` a process that acts for a rank holds the rank's lock ([`Turn`](goal_shm::Turn))
//! during one poll of the rank's engine.
//!
//! Other processes know only the schedule and the storage that the [`Job`](goal_job::Job) gives a
//! rank. They act for the rank while it runs this schedule on this storage, one instance at a time.
//! A program may start other schedules, use other memory or run several instances at once. Only the
//! rank's own process can execute such instances. The rank then makes progress as in mode `caller`
//! until these instances are finished. The same holds for a rank whose schedule calls registered
//! functions (`exec user`). A process may have another schedule for a rank than the rank itself. It
//! notices the difference before it acts, and leaves the rank alone.
//!
//! # Example
//! Two ranks are threads of one program. Ranks may be processes too: one of them creates the
//! segment, and the others open its file by [`Segment::open`](goal_shm::Segment::open). They
//! inherit a descriptor of the file, or open it by a path such as `/proc/PID/fd/N`. All have the
//! same schedule and the same settings. No launcher watches such ranks: if one dies, the others
//! wait for it without end.
//!
//! ```
//! use goal_asm::{EncodeOptions, Nisa, encode};
//! use goal_lang::limits::Limits;
//! use goal_lang::{ParseOptions, SourceMap, parse};
//! use goal_job::{Job, JobSpec, Mode, Settings, layout};
//! use goal_rank::progress::with_member;
//! use goal_job::transport::Choice;
//! use goal_shm::Segment;
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut sources = SourceMap::default();
//! let text = "rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }";
//! sources.add("pair.goal", Arc::new(text.as_bytes().to_vec()));
//! let program = parse(&sources, &ParseOptions::default()).program.expect("a valid program");
//! let mut bytes = Vec::new();
//! encode(&program, &EncodeOptions::default(), None, &mut bytes)?;
//! let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Limits::default())?);
//!
//! let ranks = nisa.num_ranks();
//! let spec = JobSpec { progress: Mode::Thread, ..JobSpec::default() };
//! let settings = Settings::new(ranks, &Choice::default())?.with_spec(spec);
//! let segment = Segment::create(layout(&nisa, &settings, 1 << 30)?)?;
//! let job = Job::new(&segment, &nisa, &settings);
//! std::thread::scope(|scope| {
//!     for rank in 0..ranks {
//!         scope.spawn(move || {
//!             let run = with_member(job, rank, |member| {
//!                 let handle = member.start(&job.schedule(rank), job.storage(rank))?;
//!                 // The rank computes here, while its thread makes progress.
//!                 member.wait(&handle)?;
//!                 member.finish(handle).map(drop)
//!             });
//!             run.expect("the rank joins").expect("the schedule ends");
//!         });
//!     }
//! });
//! # Ok(())
//! # }
//! ```

mod counts;
mod embedding;
mod engines;
mod error;
mod member;
mod node;
mod start;
mod thread;
mod threaded;
mod watched;

pub use error::{Interrupted, StartError};
pub use member::Member;
pub use start::with_member;
pub(crate) use start::{member_over, with_member_over};
pub use watched::Watched;

use goal_engine::transport::Transport;
use goal_engine::{Engine, Failure};
use goal_eth::now_ns;

/// Polls an engine.
#[inline(always)]
fn poll_now<T: Transport>(engine: &mut Engine<T>) -> Result<goal_engine::Progress, Failure> {
    engine.poll(now_of(engine))
}

/// Returns the time in nanoseconds for a poll of an engine. If nothing in the engine depends on the
/// time, returns 0 without a look at the clock.
#[inline(always)]
fn now_of<T: Transport>(engine: &Engine<T>) -> u64 {
    if engine.asks_time() { now_ns() } else { 0 }
}
