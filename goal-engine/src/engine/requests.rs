//! Requests that wait for a receive, of which a rank may have only so many.
//!
//! Threat: a request to send needs no room of its receiver, as it is what leaves where there is
//! none. So the limit on messages without a receive does not bound how many a rank on another host
//! announces, and each is kept until its receive is posted. A send has not ended while its request
//! waits. So who knows what ranks execute knows how many requests of a rank can wait at a time, and
//! a rank that announces more ends the job.

use super::error::Fault;
use super::{Core, Engine};
use crate::heap::flat;
use goal_asm::Nisa;
use goal_asm::nisa::Operation;
use std::fmt;

/// Requests of a rank that may wait before anybody asks how many it may have. The answer takes a
/// walk over its section.
const UNASKED: u32 = if cfg!(test) { 2 } else { 256 };

/// The requests of a rank that wait here.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) waiting: u32,
    /// Most that may wait; 0 where nobody has asked.
    most: u32,
}

flat!(struct Requests { waiting, most });

/// Sends to this rank that another one may have under way at a time, by its number.
pub(super) struct Bound(Box<dyn Fn(u32) -> u64 + Send>);

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bound")
    }
}

impl<T> Engine<'_, T> {
    /// Tells how many sends to this rank another one may have under way at a time, all its
    /// instances together. A rank whose requests without a receive are more ends the job. Before it
    /// is told, there is no bound. To be called before any message comes.
    pub fn bound_requests(&mut self, sends: impl Fn(u32) -> u64 + Send + 'static) {
        self.core.bound = Some(Bound(Box::new(sends)));
    }
}

impl Core {
    /// Counts a request that is about to wait.
    ///
    /// # Errors
    /// Its rank can't have that many.
    pub(super) fn count_request(&mut self, source: u32) -> Result<(), Fault> {
        let Some(Bound(sends)) = &self.bound else { return Ok(()) };
        let heap = self.held.heap;
        let Requests { waiting, most } = self.held.arrivals.requests.entry(&heap, source);
        if *waiting >= UNASKED && *most == 0 {
            *most = u32::try_from(sends(source)).unwrap_or(u32::MAX).max(UNASKED);
        }
        if *waiting >= UNASKED.max(*most) {
            return Err(Fault::Requests { most: *most });
        }
        *waiting += 1;
        Ok(())
    }
}

/// Sends of one rank to another in an instance of a schedule that is held whole.
pub fn sends(nisa: &Nisa, source: u32, to: u32) -> u64 {
    let operations = nisa.section(source).records().map(|(_, record)| record.operation());
    operations
        .filter(|operation| matches!(operation, Operation::Send { peer, .. } if *peer == to))
        .count() as u64
}
