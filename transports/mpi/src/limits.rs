//! The limits of packets and transfers.
#![cfg_attr(not(feature = "mpi"), allow(dead_code))] // their users need MPI

use std::time::Duration;

/// The most bytes of payload that a message has in one piece. A longer one is sent in parts.
pub const MESSAGE_MAX: usize = 16 << 10;

/// The most bytes of a part of a longer message.
pub(crate) const PART_MAX: usize = 64 << 10;

/// The bytes of the longest packet.
pub(crate) const PACKET_MAX: usize = PART_MAX + (8 << 10);

/// The receives that are posted at a time.
pub(crate) const RECEIVES: usize = 16;

/// The packets that may be under way to a rank. A message beyond them waits in the engine.
pub(crate) const UNDER_WAY_MAX: usize = 4;

/// The buffers that are kept for others.
pub(crate) const SPARE_MAX: usize = 32;

/// The bounds of the pause between two looks for packets while a rank sleeps.
pub(crate) const PAUSE_MIN_NS: u64 = 20_000;
pub(crate) const PAUSE_MAX_NS: u64 = 1_000_000;

/// The time in which a receive that is cancelled must end.
pub(crate) const CANCEL_MAX: Duration = Duration::from_millis(100);

/// The time that all ranks have to end.
pub(crate) const SETTLE_NS: u64 = 5_000_000_000;
