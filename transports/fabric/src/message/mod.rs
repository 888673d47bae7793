//! Chunks of messages on a stream of packets (thesis 4.2.2).
//!
//! A [`Writer`] puts chunks into packets, a [`Reader`] takes them out. Neither interprets a chunk:
//! their user decides which message is sent next, announced or matched. A chunk with a whole
//! message has at most 128 KiB, and a part of a message at most 512 KiB. So messages that take
//! turns chunk by chunk wait for one chunk of each other.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{Broken, Reader};
pub use writer::Writer;
