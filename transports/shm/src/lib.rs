//! Shared memory between the ranks of a job on one host, and the transports over it.
//!
//! A [`Segment`] holds everything that the launcher and the ranks of a host share: each rank's
//! memory, mailbox, counters and status. It is a memory file without a name, which the launcher
//! creates before it starts the ranks, and which all of them map. A second, [`Sealed`] file holds
//! the schedule. The system removes both files when no process has them open any more.
//!
//! The crate offers three transports for `goal_engine` over the segment: [`Local`] for messages of
//! a rank to itself, [`ShmTransport`] between ranks, and [`Cma`]. The last one copies payloads from
//! the memory of another process.
//!
//! This crate starts no process, reads no schedule and decides nothing about a job. That is the
//! work of `goal-run`. It makes system calls only to map memory, to copy from other processes, and
//! to sleep and wake. The endpoint and the memory of a rank have one user at a time. Within a
//! process, [`Segment::claim`] keeps two users apart. Between processes nothing does. So the
//! functions that give access to an endpoint or to memory are unsafe, and state what their callers
//! must ensure.
//!
//! Start with [`Layout::new`], which gives every area its place, and [`Segment::create`]. The
//! lock-free structures in the segment are in the crate [`goal_sync`]: mailboxes, boards, rings,
//! tasks and locks. Read about them there.
//!
//! ```
//! use goal_shm::{Layout, Part, RankSizes, Segment, State};
//!
//! // Two ranks with a page of memory each, in a segment of at most 1 GiB.
//! let sizes = [RankSizes { memory: 4096, ..RankSizes::default() }; 2];
//! let segment = Segment::create(Layout::new(sizes.into_iter(), 1 << 30)?)?;
//!
//! // Rank 0 has one user at a time.
//! let claim = segment.claim(0, Part::Member).expect("nobody else uses rank 0");
//! assert!(segment.claim(0, Part::Member).is_none());
//!
//! // Everybody sees what rank 0 states about itself.
//! segment.status(0).enter(State::Running);
//! assert_eq!(segment.status(0).state(), State::Running);
//! assert_eq!(segment.status(1).state(), State::Starting);
//!
//! // A failure is kept with the first text that was recorded.
//! segment.fail(0, "rank 0: divided by zero");
//! assert_eq!(segment.failure_of_failed(0).as_deref(), Some("rank 0: divided by zero"));
//! drop(claim);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod barrier;
mod bell;
mod claims;
mod cma;
mod counts;
mod exporter;
mod layout;
mod local;
mod mapping;
mod member_state;
mod members;
mod populate;
mod process_state;
mod rank_count;
mod sealed;
mod segment;
mod starts;
mod status;
#[cfg(test)]
mod tests;
mod transport;
mod workers;

pub use barrier::Barrier;
pub use claims::{Claim, Part};
pub use cma::{CMA, Cma, admit, announce, ptrace_scope};
pub use counts::RankCounts;
pub use exporter::Exporter;
pub use goal_sync::Bell;
pub use goal_sync::board::{self, Board};
pub use goal_sync::directory::{self, Directory};
pub use goal_sync::endpoint::Endpoint;
pub use goal_sync::helpers::Helpers;
pub use goal_sync::mailbox::{HEADER_WORDS, Mailbox, SHORT_MAX};
pub use goal_sync::napping::{Napping, UNSEEN_MAX};
pub use goal_sync::start_barrier::StartBarrier;
pub use goal_sync::turn::{HeldTurn, Turn};
pub use layout::{
    BOARD_RANKS, Layout, RING_BYTES, RING_BYTES_MAX, RING_BYTES_MIN, RankLayout, RankSizes,
    SegmentTooLarge,
};
pub use local::{LOCAL, Local, PAYLOAD_MAX as LOCAL_PAYLOAD_MAX};
pub use mapping::zeroed;
pub use member_state::MemberState;
pub use populate::populate_read;
pub use process_state::{Identity, ProcessState};
pub use rank_count::RankCount;
pub use sealed::Sealed;
pub use segment::Segment;
pub use starts::Started;
pub use status::{INSTANCES_TIMED, RecoveryState, State, Status};
pub use transport::{SHM, ShmTransport};
