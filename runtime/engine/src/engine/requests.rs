//! Bounds the number of rendezvous requests of a rank that wait for a receive.
//!
//! Threat: a request to send needs no announced room, since senders fall back to it if there is
//! none. So the limit on unexpected messages does not bound the number of requests from a rank on
//! another host. Each request is kept until its receive is posted. A send has not ended while its
//! request waits. So the number of sends in a rank's schedule bounds its waiting requests, and a
//! rank that has more of them ends the job. The rank of a program does not know the schedules of
//! other ranks. So there the limit on unexpected messages bounds the overhead of a rank's waiting
//! requests, but always allows `KEPT_LEAST`. Both bounds also hold for requests for a made-up
//! communicator, which wait for ever.

use super::error::Fault;
use super::ids::Rank;
use crate::heap::flat;
use goal_asm::Nisa;
use goal_asm::nisa::Operation;
use goal_lang::limits::KEPT_OVERHEAD;
use std::fmt;

/// The number of waiting requests below which the bound of a rank is not computed. To compute it
/// takes a walk over the rank's section.
const UNASKED: u32 = if cfg!(test) { 2 } else { 256 };

/// The number of waiting requests that a rank of a program may have under any limit. Their overhead
/// is 8 MiB.
const KEPT_LEAST: u32 = if cfg!(test) { 4 } else { 1 << 16 };

/// The waiting requests of a rank.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) waiting: u32,
    /// The most requests that may wait; 0 if this number is not computed yet.
    most: u32,
}

flat!(struct Requests { waiting, most });

/// The bound on the waiting requests of each rank.
pub(super) enum Bound {
    /// Returns the most sends to this rank that another rank may have under way at a time.
    Sends(Box<dyn Fn(u32) -> u64 + Send>),
    /// A number for all ranks.
    Limit(u32),
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bound")
    }
}

impl Bound {
    /// Returns the bound under a limit on the bytes of unexpected messages.
    pub(super) fn from_limit(unexpected_limit: u64) -> Self {
        let most = u32::try_from(unexpected_limit / KEPT_OVERHEAD).unwrap_or(u32::MAX);
        Self::Limit(most.max(KEPT_LEAST))
    }
}

impl Requests {
    /// Counts a request of `source` that is about to wait.
    ///
    /// # Errors
    /// The rank can't have that many requests.
    pub(super) fn count(&mut self, source: Rank, bound: &Bound) -> Result<(), Fault> {
        let Self { waiting, most } = self;
        if *waiting >= UNASKED && *most == 0 {
            *most = match bound {
                Bound::Sends(sends) => u32::try_from(sends(source.0)).unwrap_or(u32::MAX),
                Bound::Limit(limit) => *limit,
            };
            *most = (*most).max(UNASKED);
        }
        if *waiting >= UNASKED.max(*most) {
            let most = *most;
            return Err(match bound {
                Bound::Sends(_) => Fault::Requests { most },
                Bound::Limit(_) => Fault::RequestsKept { most },
            });
        }
        *waiting += 1;
        Ok(())
    }
}

/// Returns the number of sends of one rank to another in one run of the rank's section.
pub fn sends(nisa: &Nisa, source: u32, to: u32) -> u64 {
    let operations = nisa.section(source).records().map(|(_, record)| record.operation());
    operations
        .filter(|operation| matches!(operation, Operation::Send { peer, .. } if *peer == to))
        .count() as u64
}
