//! Chunks of messages on a stream of packets (thesis 4.2.2).
//!
//! A [`Writer`] puts chunks into packets, a [`Reader`] takes them out. Neither interprets a chunk:
//! their user decides which message is sent next, announced or matched. A chunk has at most 128
//! KiB, so messages that take turns chunk by chunk wait no longer for each other.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{Broken, Reader};
pub use writer::Writer;
