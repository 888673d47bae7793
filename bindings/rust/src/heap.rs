//! Allocates memory that all ranks of a host can read (`GOAL_Alloc`).
//!
//! The memory lies in the job's segment. Peers read payloads there in place, without a system call.
//!
//! Threat: the other ranks of the host map the segment, so they can write the allocator's own
//! words. Nothing prevents that, as they are processes of the same user in the same job. A process
//! of another user can't map the segment.
#![allow(unsafe_code)] // hands out memory of the segment

use crate::error::{Error, ErrorCode, Result};
use crate::process::is_fork;
use goal_engine::memory::Region;
use parking_lot::Mutex;
use rlsf::Tlsf;
use rustc_hash::FxHashMap;
use std::alloc::Layout;
use std::fmt;
use std::ptr::NonNull;

/// The alignment of every block in bytes: a cache line.
const ALIGN: usize = 64;
/// The size of a page in bytes. A block of at least this size begins [`BEHIND`] bytes behind the
/// beginning of a page.
const PAGE: usize = 4096;
/// The offset in bytes of a long block in its page. The system copies payloads from and to pages of
/// its own. In these pages a message header of some dozen bytes comes first. On some processors,
/// such as AMD's Zen 3, a copy takes twice as long in one case: the target's offset in its page is
/// a little larger than the source's. With blocks at 64 or 128 bytes in a page, the receiver's copy
/// of 64 KiB to 1 MiB took up to 1.9 times as long. With blocks at the beginning of a page, the
/// sender's copy did. At 256 bytes both are fast.
const BEHIND: usize = 256;

type Blocks = Tlsf<'static, u32, u32, 28, 32>;

/// The heap of a rank: its memory in the segment, and the blocks in it.
pub(crate) struct Heap {
    state: Mutex<State>,
    bytes: usize,
}

struct State {
    blocks: Blocks,
    /// The allocated blocks, by their addresses.
    live: FxHashMap<usize, Live>,
}

/// An allocated block.
#[derive(Debug, Clone, Copy)]
struct Live {
    owner: Owner,
    is_long: bool,
}

/// The owner of a block. Only the owner frees the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The program, by [`Heap::free`].
    Program,
    /// The library, by the drop of a [`Block`].
    Block,
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a heap of {} bytes", self.bytes)
    }
}

// SAFETY: the blocks are reached under the mutex only, from any thread.
unsafe impl Send for State {}

impl Heap {
    /// Creates an empty heap in `region`.
    ///
    /// # Safety
    /// The region stays mapped until the process ends, and no other code uses it.
    pub(crate) unsafe fn new(region: Region) -> Self {
        let mut blocks = Blocks::new();
        let bytes = region.len();
        let start = region.whole().address() as *mut u8;
        if let Some(start) = NonNull::new(start).filter(|_| bytes > 0) {
            let memory = NonNull::slice_from_raw_parts(start, bytes);
            // SAFETY: as the caller says.
            unsafe { blocks.insert_free_block_ptr(memory) };
        }
        Self { state: Mutex::new(State { blocks, live: FxHashMap::default() }), bytes }
    }

    /// Allocates `bytes` bytes for the program. Their content is not defined.
    ///
    /// # Errors
    /// There is no room.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<NonNull<u8>> {
        self.allocate_for(Owner::Program, bytes)
    }

    fn allocate_for(&self, owner: Owner, bytes: usize) -> Result<NonNull<u8>> {
        let full = || {
            let text = format!(
                "there is no room for {bytes} bytes in the {} bytes of shared memory (goal-run --heap)",
                self.bytes
            );
            Error::new(ErrorCode::Memory, text)
        };
        let is_long = bytes >= PAGE;
        let (before, align) = place(is_long);
        let size = bytes.max(1).checked_add(before).ok_or_else(full)?;
        let layout = Layout::from_size_align(size, align).map_err(|_| full())?;
        let mut state = self.state.lock();
        let block = state.blocks.allocate(layout).ok_or_else(full)?;
        // SAFETY: the block has so many bytes more.
        let block = unsafe { block.add(before) };
        state.live.insert(block.as_ptr() as usize, Live { owner, is_long });
        Ok(block)
    }

    /// Frees memory of the program at `address`.
    ///
    /// # Errors
    /// No memory of the program begins at `address`. A block of the library, which may lie where
    /// the program's memory was before, is not freed.
    pub(crate) fn free(&self, address: usize) -> Result<()> {
        if self.free_of(Owner::Program, address) {
            return Ok(());
        }
        let text = format!("{address:#x} is not memory from GOAL_Alloc, or was freed");
        Err(Error::new(ErrorCode::Buffer, text))
    }

    /// Frees the block of `owner` at `address`. Returns false if there is no such block.
    fn free_of(&self, owner: Owner, address: usize) -> bool {
        let mut state = self.state.lock();
        let Some(&live) = state.live.get(&address).filter(|live| live.owner == owner) else {
            return false;
        };
        state.live.remove(&address);
        let (before, align) = place(live.is_long);
        let Some(block) = NonNull::new((address - before) as *mut u8) else { return false };
        // SAFETY: it was allocated with this alignment, and is removed once.
        unsafe { state.blocks.deallocate(block, align) };
        true
    }
}

/// Returns how many bytes of the allocator's block lie before the block that callers get, and the
/// alignment of the allocator's block.
fn place(is_long: bool) -> (usize, usize) {
    if is_long { (BEHIND, PAGE) } else { (0, ALIGN) }
}

/// A block of the heap, which is freed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Block {
    heap: &'static Heap,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the block is this value's alone: nobody else can free it.
unsafe impl Send for Block {}

impl Block {
    /// Allocates a block.
    ///
    /// # Errors
    /// There is no room.
    pub(crate) fn new(heap: &'static Heap, bytes: usize) -> Result<Self> {
        let start = heap.allocate_for(Owner::Block, bytes)?;
        Ok(Self { heap, start, bytes })
    }

    /// Returns the bytes of the block.
    pub(crate) fn region(&self) -> Region {
        // SAFETY: the block lives until it is dropped, and its user uses it no longer. Memory of
        // the segment is initialised: it was zeros at first.
        unsafe { Region::new(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // In a fork, the block belongs to the parent.
        if is_fork() {
            return;
        }
        let is_freed = self.heap.free_of(Owner::Block, self.start.as_ptr() as usize);
        debug_assert!(is_freed, "the block is one of the heap");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_blocks_have_their_place_in_a_page_and_are_given_back() {
        let memory = Box::leak(vec![0u64; 16 * PAGE].into_boxed_slice());
        // SAFETY: the memory is initialised, lives for ever, and nobody else has it.
        let region = unsafe { Region::new(memory.as_mut_ptr().cast(), size_of_val(memory)) };
        // SAFETY: as before.
        let heap = unsafe { Heap::new(region) };
        for _ in 0..100 {
            let blocks: Vec<_> =
                [100, PAGE - 1, PAGE, 3 * PAGE + 1, 7].map(|bytes| heap.allocate(bytes)).into();
            let at: Vec<usize> =
                blocks.into_iter().map(|block| block.unwrap().as_ptr() as usize).collect();
            assert!([at[2], at[3]].iter().all(|address| address % PAGE == BEHIND), "{at:x?}");
            assert!(at.iter().all(|address| address.is_multiple_of(ALIGN)), "{at:x?}");
            at.into_iter().for_each(|address| heap.free(address).unwrap());
        }
    }
}
