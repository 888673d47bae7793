//! Caches the collectives that a program starts by one call. A collective is compiled at its first
//! call, and kept for later calls.
#![allow(unsafe_code)] // hands on the contract of a start

use crate::collective::{Collective, Persistent};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::group::Group;
use crate::progress::{Kept, RankCore};
use crate::raw::Ticket;
use crate::recent::RawCall;
use goal_collectives::Blocks;
use rustc_hash::{FxHashMap, FxHashSet};
use std::any::Any;
use std::mem::{ManuallyDrop, take};
use std::sync::Arc;

/// The most collectives in the cache. A further collective empties the cache.
const KEPT_MAX: usize = 1024;

/// The key of a collective in the cache: the number of its communicator, its arguments and its
/// blocks. The key needs no neighbours, because a communicator has one graph at most.
type Key = (u64, Collective, Blocks);

/// The cache of collectives. The engine lock guards it.
type Collectives = FxHashMap<Key, Arc<Persistent>>;

/// Removes and returns the cache of the core; `None` if there is none.
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

/// Starts the collective with this key from the cache. Returns `None` if it is not in the cache.
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
    // If this panics, which ends the job, the cache is leaked. Its drop would wait for the engine
    // lock, which this thread holds.
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
    /// ended. `call` names the caller's function in reports about a rank that waits for ever.
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

    /// Lets a later call with the arguments `call` find the collective at once. Does nothing if the
    /// collective is not linked. It has run before on the communicator, with equal blocks.
    #[cold]
    pub fn note_call(&self, call: &RawCall, communicator: &Communicator) -> Result<()> {
        let shared = Group::current()?.shared();
        if !shared.attached.links_programs() {
            return Ok(());
        }
        shared.with(|core| {
            let Some(kept) = take_kept(core) else { return Ok(()) };
            let kept = ManuallyDrop::new(kept);
            let key = (communicator.id(), *self, Blocks::Equal);
            let linked = kept.get(&key).and_then(|kept| kept.schedule().linked_slot());
            if let Some((slot, starts)) = linked {
                core.recent.keep_call(*call, slot, starts);
            }
            let kept: Box<Collectives> = ManuallyDrop::into_inner(kept);
            core.kept = Some(kept);
            Ok(())
        })
    }

    /// Compiles the collective, and puts it into the cache.
    #[cold]
    fn keep(&self, communicator: &Communicator, key: Key) -> Result<Arc<Persistent>> {
        let shared = Group::current()?.shared();
        shared.tidy();
        let compiled = self.compile_blocks(&key.2, &communicator.without_lease(), None)?;
        let compiled = Arc::new(compiled);
        let dropped = shared.with(|core| {
            let mut kept = take_kept(core).unwrap_or_default();
            core.recent.clear();
            let full =
                if kept.len() >= KEPT_MAX { take(&mut *kept) } else { Collectives::default() };
            let replaced = kept.insert(key, Arc::clone(&compiled));
            core.kept = Some(kept);
            Ok((full, replaced))
        });
        // The drop of a schedule takes the engine lock, so it happens without the lock.
        drop(dropped?);
        Ok(compiled)
    }
}
