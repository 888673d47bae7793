//! The limits of packets and transfers.
#![cfg_attr(not(feature = "mpi"), allow(dead_code))] // their users need MPI

use std::time::Duration;

/// The most bytes of payload that a message has in one piece. A longer one is sent in parts.
pub const MESSAGE_MAX: usize = 16 << 10;

/// The most bytes of a part of a longer message.
pub(crate) const PART_MAX: usize = 64 << 10;

/// The bytes of the longest packet.
pub(crate) const PACKET_MAX: usize = PART_MAX + (8 << 10);

/// The number of receives that a fabric keeps posted at a time.
pub(crate) const RECEIVES: usize = 16;

/// The most packets that may be under way to one rank. Further messages wait in the engine.
pub(crate) const UNDER_WAY_MAX: usize = 4;

/// The most unused buffers that a fabric keeps for later packets.
pub(crate) const SPARE_MAX: usize = 32;

/// The shortest pause, in nanoseconds, between two looks for packets while a rank sleeps.
pub(crate) const PAUSE_MIN_NS: u64 = 20_000;
/// The longest pause, in nanoseconds, between two looks for packets while a rank sleeps.
pub(crate) const PAUSE_MAX_NS: u64 = 1_000_000;

/// The longest wait for the end of a receive that was cancelled.
pub(crate) const CANCEL_MAX: Duration = Duration::from_millis(100);

/// The nanoseconds that all ranks have to receive the last packets when a fabric ends.
pub(crate) const SETTLE_NS: u64 = 5_000_000_000;
