//! The shared segment: every rank's memory, mailbox, counters and status, mapped by the launcher
//! and all ranks.
//!
//! One memfd, made by the launcher before any rank starts, holds everything that ranks and launcher
//! share; a second one, sealed, holds the schedule. Both vanish with the last process that has them
//! open: there is no name to clean up.

mod bell;
mod claims;
mod cma;
mod counts;
mod endpoint;
mod gate;
mod layout;
mod local;
mod mailbox;
mod mapping;
mod meeting;
#[cfg(all(test, loom))]
mod models;
mod pair;
mod pool;
mod segment;
mod sleepers;
mod status;
mod sync;
mod tasks;
#[cfg(all(test, not(loom)))]
mod tests;
mod transport;
mod turn;
mod workers;

pub use bell::Bell;
pub use claims::{Claim, Part};
pub use cma::{CMA, Cma, admit, announce, ptrace_scope};
pub use counts::RankCounts;
pub use endpoint::Endpoint;
pub use gate::Gate;
pub use layout::{LOCAL_BYTES, Layout, RankLayout, RankSizes, RingsLayout, SegmentTooLarge};
pub use local::{LOCAL, Local, PAYLOAD_MAX as LOCAL_PAYLOAD_MAX};
pub use mailbox::{Full, HEADER_WORDS, Mailbox, SHORT_MAX};
pub use mapping::{Mapping, Sealed};
pub use meeting::Meeting;
pub use segment::Segment;
pub use sleepers::Sleepers;
pub use status::{State, Status};
pub use tasks::{Chunk, Task, Tasks};
pub use transport::{SHM, ShmTransport};
pub use turn::Turn;
