//! The shared segment: every rank's memory, message ring, counters and status, mapped by the launcher and all ranks.
//!
//! One memfd, made by the launcher before any rank starts, holds everything that ranks and launcher share; a second one,
//! sealed, holds the schedule. Both vanish with the last process that has them open: there is no name to clean up.

mod layout;
mod mapping;
mod meeting;
mod ring;
mod segment;
mod status;
#[cfg(test)]
mod tests;

pub use layout::{Layout, RankLayout, RankSizes, SegmentTooLarge};
pub use mapping::{Mapping, Sealed};
pub use meeting::Meeting;
pub use ring::{Consumer, Full, HEADER_WORDS, Inbox};
pub use segment::Segment;
pub use status::{Gate, State, Status};
