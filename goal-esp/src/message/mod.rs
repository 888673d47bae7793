//! Messages on a stream of packets: chunks, put into packets and taken out of them again (thesis
//! 4.2.2).
//!
//! A [`Writer`] fills packets with chunks, a [`Reader`] finds them. Neither knows what a chunk
//! means; which message goes on next, what is announced and what is matched decides who uses them.
//! A chunk is at most 128 KiB, so messages that take turns chunk by chunk never wait longer for
//! each other.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{Broken, Reader};
pub use writer::Writer;
