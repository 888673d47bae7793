//! The cache of collectives that a program starts by one call. Each is compiled at its first call,
//! and kept for further calls.
#![allow(unsafe_code)] // hands on the contract of a start

use crate::collective::{Collective, Persistent};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::group::Group;
use crate::progress::{Kept, RankCore};
use crate::raw::Ticket;
use goal_collectives::Blocks;
use rustc_hash::{FxHashMap, FxHashSet};
use std::any::Any;
use std::mem::{ManuallyDrop, take};
use std::sync::Arc;

/// The most collectives that are kept for further calls.
const KEPT_MAX: usize = 1024;

/// The number of the communicator, which has one graph at most, and the arguments.
type Key = (u64, Collective, Blocks);

/// The collectives that are kept for further calls. They lie behind the core's lock.
type Collectives = FxHashMap<Key, Arc<Persistent>>;

/// Takes the collectives out that the core keeps.
#[inline]
fn take_kept(core: &mut RankCore) -> Option<Box<Collectives>> {
    let kept: Box<dyn Any> = core.kept.take()?;
    kept.downcast().ok()
}

impl Kept for Collectives {
    fn take_of(&mut self, communicators: &FxHashSet<u64>) -> Box<dyn Any + Send> {
        let of_these = self.extract_if(|(number, ..), _| communicators.contains(number));
        Box::new(of_these.map(|(_, collective)| collective).collect::<Vec<_>>())
    }
}

/// Starts a collective that is kept. Returns `None` if it is not.
///
/// # Safety
/// As for [`Persistent::start`].
#[inline]
unsafe fn start_kept(
    core: &mut RankCore,
    key: &Key,
    input: usize,
    output: usize,
) -> Result<Option<Ticket>> {
    let Some(kept) = take_kept(core) else { return Ok(None) };
    // A panic, which ends the job, leaks them: their drop would wait for the core.
    let kept = ManuallyDrop::new(kept);
    // SAFETY: as the caller says.
    let started = kept.get(key).map(|kept| unsafe { kept.start_with(core, input, output) });
    let kept: Box<Collectives> = ManuallyDrop::into_inner(kept);
    core.kept = Some(kept);
    started.transpose()
}

impl Collective {
    /// Starts the collective as [`start`](Self::start) does, on blocks that differ in size or
    /// place.
    ///
    /// # Errors
    /// As for [`compile_blocks`](Self::compile_blocks) and [`Persistent::start`].
    ///
    /// # Safety
    /// As for [`Persistent::start`].
    pub unsafe fn start_blocks(
        &self,
        blocks: &Blocks,
        communicator: &Communicator,
        input: usize,
        output: usize,
    ) -> Result<Ticket> {
        let shared = Group::current()?.shared();
        let key = (communicator.id(), *self, blocks.clone());
        // SAFETY: as the caller says.
        let started = shared.with(|core| unsafe { start_kept(core, &key, input, output) })?;
        if let Some(ticket) = started {
            return Ok(ticket);
        }
        let kept = self.keep(communicator, key)?;
        // SAFETY: as the caller says.
        unsafe { kept.start(input, output) }
    }

    /// Starts the collective as [`start_blocks`](Self::start_blocks) does, and waits until it has
    /// ended. `call` is the name of the caller's call, for a report on a rank that waits for ever.
    ///
    /// # Errors
    /// As for [`start_blocks`](Self::start_blocks) and [`wait`](crate::raw::wait).
    ///
    /// # Safety
    /// As for [`Persistent::start`].
    pub unsafe fn run_blocks(
        &self,
        blocks: &Blocks,
        communicator: &Communicator,
        input: usize,
        output: usize,
        call: &str,
    ) -> Result<()> {
        let shared = Group::current()?.shared();
        let key = (communicator.id(), *self, blocks.clone());
        // SAFETY: as the caller says.
        let start = |core: &mut RankCore| unsafe { start_kept(core, &key, input, output) };
        if shared.run(start, call)?.is_some() {
            return Ok(());
        }
        let kept = self.keep(communicator, key)?;
        // SAFETY: as the caller says.
        let start = |core: &mut RankCore| unsafe { kept.start_with(core, input, output) };
        shared.run(|core| start(core).map(Some), call).map(drop)
    }

    /// Compiles the collective and keeps it for further calls.
    #[cold]
    fn keep(&self, communicator: &Communicator, key: Key) -> Result<Arc<Persistent>> {
        let shared = Group::current()?.shared();
        shared.tidy();
        let compiled = self.compile_blocks(&key.2, &communicator.without_lease(), None)?;
        let compiled = Arc::new(compiled);
        let dropped = shared.with(|core| {
            let mut kept = take_kept(core).unwrap_or_default();
            let full =
                if kept.len() >= KEPT_MAX { take(&mut *kept) } else { Collectives::default() };
            let replaced = kept.insert(key, Arc::clone(&compiled));
            core.kept = Some(kept);
            Ok((full, replaced))
        });
        // Schedules take the core's lock when they are dropped.
        drop(dropped?);
        Ok(compiled)
    }
}
