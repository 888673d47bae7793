//! The heap that holds an engine's state, in memory that several processes may map. Values are
//! found by their offset in the heap and never by an address. So each of these processes can
//! continue where another one stopped.
//!
//! A heap is a range of bytes, zeros at first. [`Block`]s are allocated from it in sizes of powers
//! of two. A block that is released goes to a list of free blocks of its size. The collections of
//! this module own blocks. A collection lies in the heap itself and stores no address, so every
//! call takes the heap as an argument. The caller must ensure that one process at a time uses a
//! heap.
//!
//! Threat: if ranks act for each other, a heap lies in the shared segment, which all ranks of a
//! host can write. They trust each other by design. Unit numbers are checked against the size of
//! the heap. The capacity of a block and the places and counts of collections are not checked. A
//! rank that writes wrong ones can make any rank of the host read or write beyond a block. It gains
//! no rights by that, because no rank has any. No other process can write a heap: the segment has
//! no name, and only ranks and their launcher have its descriptor.
#![allow(unsafe_code)]

mod line;
mod min_heap;
mod out_of_memory;
mod pool;
mod queue;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use line::Line;
pub(crate) use min_heap::MinHeap;
pub(crate) use out_of_memory::STATE_PER_LIMIT;
pub use out_of_memory::{OutOfMemory, within};
pub(crate) use pool::Pool;
pub(crate) use queue::Queue;
pub(crate) use table::{Key, Table};

use crate::memory::Region;
use crate::seed::Seed;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// The size of a unit in bytes. Places and sizes of blocks are counted in units.
const UNIT: usize = 64;
/// The number of size classes. A block of class n has 2^n units.
const CLASSES: usize = 32;

/// Values that may lie in a heap.
///
/// # Safety
/// A value holds no address and no reference, is aligned to at most [`UNIT`], needs no drop, and
/// means the same in every process.
pub(crate) unsafe trait Flat: Default {}

/// Implements [`Flat`] for a type. All of its fields must be listed and be `Flat` themselves;
/// otherwise the code does not compile.
macro_rules! flat {
    (struct $type:ident $(<$($parameter:ident),+>)? { $($field:ident),* $(,)? }) => {
        flat!(@check $type $(<$($parameter),+>)?, value => {
            let $type { $($field),* } = value;
            $($crate::heap::is_flat($field);)*
        });
    };
    (struct $type:ident $(<$($parameter:ident),+>)? ($($field:ident),*)) => {
        flat!(@check $type $(<$($parameter),+>)?, value => {
            let $type($($field),*) = value;
            $($crate::heap::is_flat($field);)*
        });
    };
    (enum $type:ident {
        $($variant:ident $(($part:ident))? $({ $($field:ident),* })?),* $(,)?
    }) => {
        flat!(@check $type, value => {
            match value {
                $($type::$variant $(($part))? $({ $($field),* })? => {
                    $($crate::heap::is_flat($part);)?
                    $($($crate::heap::is_flat($field);)*)?
                })*
            }
        });
    };
    (@check $type:ident $(<$($parameter:ident),+>)?, $value:ident => $check:block) => {
        const _: () = {
            #[allow(dead_code)]
            fn check $(<$($parameter: $crate::heap::Flat),+>)? (
                $value: &$type $(<$($parameter),+>)?
            ) $check
        };
        #[allow(unsafe_code)]
        // SAFETY: `check` names all of its parts and asks each to be flat.
        unsafe impl $(<$($parameter: $crate::heap::Flat),+>)? $crate::heap::Flat
            for $type $(<$($parameter),+>)? {}
    };
}
pub(crate) use flat;

/// Does nothing. A call compiles only if the type of the value is [`Flat`].
pub(crate) fn is_flat<T: Flat>(_: &T) {}

/// Implements [`Flat`] for numbers.
macro_rules! flat_numbers {
    ($($number:ty),*) => {$(
        // SAFETY: a number.
        unsafe impl Flat for $number {}
    )*};
}
flat_numbers!(bool, u8, u16, u32, u64, usize);

// SAFETY: as its parts.
unsafe impl<A: Flat, B: Flat> Flat for (A, B) {}
// SAFETY: as its part.
unsafe impl<T: Flat> Flat for Option<T> {}
// SAFETY: as its parts.
unsafe impl<T: Flat, const N: usize> Flat for [T; N] where [T; N]: Default {}

/// The words at the beginning of a heap.
#[repr(C, align(64))]
struct Control {
    /// The first unit that was never allocated; 0 while the heap has no root.
    top: u32,
    /// The first unit of the first free block of each size class; 0 if there is none. The first
    /// word of a free block names the next free block.
    free: [u32; CLASSES],
    /// The secret numbers that decide where hash tables put their keys, in all processes alike.
    seed: Seed,
    /// The number that distinguishes this heap's blocks from those of other heaps.
    brand: u32,
}

/// Panics because a unit lies outside of the heap.
#[cold]
#[inline(never)]
fn outside() -> ! {
    panic!("a unit outside of its heap")
}

/// A view of a heap: its first byte, its number of units and its brand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heap {
    base: NonNull<u8>,
    units: u32,
    brand: u32,
}

// SAFETY: an address and a length; `Heap::new` states when the bytes may be used.
unsafe impl Send for Heap {}

impl Heap {
    /// Opens the heap in `bytes`. They are all zeros, or were used as a heap before. `seed` becomes
    /// the seed of the hash tables if the heap has none yet.
    ///
    /// # Safety
    /// The contract of [`Region::new`], and: only this heap and its views use the bytes, one
    /// of them at a time.
    ///
    /// # Panics
    /// If there is no room for anything, or the bytes are not aligned to 64.
    pub(crate) unsafe fn new(bytes: Region, seed: Seed) -> Self {
        /// The number of heaps that this process has initialised.
        static MADE: AtomicU32 = AtomicU32::new(0);
        let base =
            NonNull::new(bytes.whole().address() as *mut u8).expect("memory is not at address 0");
        assert!(base.as_ptr().addr().is_multiple_of(UNIT) && bytes.len() > size_of::<Control>());
        let units = u32::try_from(bytes.len() / UNIT).unwrap_or(u32::MAX);
        let mut heap = Self { base, units, brand: 0 };
        let control = heap.control();
        if control.brand == 0 {
            // Two heaps of one process differ in the count, and heaps of two processes in the seed.
            let made = MADE.fetch_add(1, Ordering::Relaxed);
            (control.seed, control.brand) = (seed, seed.mix(made.into(), 1) as u32 | 1);
        }
        heap.brand = control.brand;
        heap
    }

    /// Returns the root: the value from which all other values are found. The first call creates
    /// it.
    ///
    /// # Safety
    /// Every call names the same type `T`. There is one reference at a time, and no reference into
    /// a block of a collection that it holds.
    pub(crate) unsafe fn root<T: Flat>(&self) -> NonNull<T> {
        let at = size_of::<Control>().div_ceil(UNIT);
        let past = at + size_of::<T>().div_ceil(UNIT);
        assert!(past <= self.units as usize, "a heap without room for its root");
        // Another process may have written `top`.
        let top = self.control().top;
        assert!(
            top == 0 || (past..=self.units as usize).contains(&(top as usize)),
            "this is no heap"
        );
        let root = self.at(at as u32).cast::<T>();
        if top == 0 {
            self.control().top = past as u32;
            // SAFETY: the units were counted just now, and are aligned.
            unsafe { root.write(T::default()) };
        }
        root
    }

    #[expect(
        clippy::mut_from_ref,
        reason = "one call at a time, each within a function of this file"
    )]
    fn control(&self) -> &mut Control {
        // SAFETY: the first bytes of the heap, which are integers and which only this function
        // reaches.
        unsafe { self.base.cast::<Control>().as_mut() }
    }

    #[inline(always)]
    fn seed(&self) -> Seed {
        self.control().seed
    }

    #[inline(always)]
    fn at(&self, unit: u32) -> NonNull<u8> {
        // Numbers of units lie in the heap, which in a segment other processes write.
        if unit >= self.units {
            outside();
        }
        // SAFETY: it is inside the heap.
        unsafe { self.base.add(unit as usize * UNIT) }
    }

    /// Allocates a block of a size class and returns its first unit. Unwinds if the heap is used
    /// up: see [`within`].
    fn allocate(&self, class: u32) -> u32 {
        let control = self.control();
        let free = control.free.get(class as usize).copied().unwrap_or(0);
        if free != 0 {
            // SAFETY: a free block's first word was written by `release`.
            control.free[class as usize] = unsafe { self.at(free).cast::<u32>().read() };
            return free;
        }
        let units = 1u32.checked_shl(class);
        let end =
            units.and_then(|units| control.top.checked_add(units)).filter(|&end| end <= self.units);
        let unit = control.top;
        let Some(end) = end else { self.lacks(UNIT as u64 * (1 << class)) };
        control.top = end;
        unit
    }

    /// Unwinds with [`OutOfMemory`]: a block of `bytes` bytes has no room, or 32 bits can't number
    /// its values.
    #[cold]
    fn lacks(&self, bytes: u64) -> ! {
        let bytes_of = |units: u32| u64::from(units) * UNIT as u64;
        out_of_memory::used_up(
            bytes_of(self.control().top).saturating_add(bytes),
            bytes_of(self.units),
        )
    }

    fn release(&self, unit: u32, class: u32) {
        let control = self.control();
        // SAFETY: the block was given out and is no longer in use.
        unsafe { self.at(unit).cast::<u32>().write(control.free[class as usize]) };
        control.free[class as usize] = unit;
    }
}

/// An array of values in a heap. All values are initialised.
///
/// Invariant: where `capacity` is not 0, the units from `unit` on are this block's alone.
pub(crate) struct Block<T> {
    unit: u32,
    /// The brand of the block's heap; 0 for a block without values.
    brand: u32,
    /// The number of values. It may exceed 32 bits, because a kept message may have 4 GiB.
    capacity: usize,
    values: PhantomData<T>,
}

impl<T> Default for Block<T> {
    fn default() -> Self {
        Self { unit: 0, brand: 0, capacity: 0, values: PhantomData }
    }
}

// SAFETY: a place and a length.
unsafe impl<T: Flat> Flat for Block<T> {}

impl<T: Flat> Block<T> {
    /// Returns the size class of the smallest block with room for `capacity` values.
    fn class(capacity: usize) -> u32 {
        const { assert!(align_of::<T>() <= UNIT && size_of::<T>() > 0) };
        (capacity * size_of::<T>()).div_ceil(UNIT).next_power_of_two().ilog2()
    }

    /// Returns the number of values that fit into a block of a size class.
    fn capacity_of(class: u32) -> usize {
        (UNIT << class) / size_of::<T>()
    }

    /// Allocates a block with room for at least `capacity` values. All of them have the default
    /// value.
    pub(crate) fn new(heap: &Heap, capacity: usize) -> Self {
        let class = Self::class(capacity);
        let capacity = Self::capacity_of(class);
        let unit = heap.allocate(class);
        let block = Self { unit, brand: heap.brand, capacity, values: PhantomData };
        for i in 0..capacity {
            // SAFETY: inside the block, which was allocated for so many values.
            unsafe { heap.at(block.unit).cast::<T>().add(i).write(T::default()) };
        }
        block
    }

    /// Returns a block that begins with a copy of `values`.
    pub(crate) fn copy_of(heap: &Heap, values: &[T]) -> Self
    where
        T: Copy,
    {
        let mut block =
            if values.is_empty() { Self::default() } else { Self::new(heap, values.len()) };
        block.values_mut(heap)[..values.len()].copy_from_slice(values);
        block
    }

    /// Moves the values to a block with room for at least `capacity` values.
    pub(crate) fn grow(&mut self, heap: &Heap, capacity: usize)
    where
        T: Copy,
    {
        let mut larger = Self::new(heap, capacity);
        larger.values_mut(heap)[..self.len()].copy_from_slice(self.values(heap));
        self.release(heap);
        *self = larger;
    }

    /// Returns the number of values.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.capacity
    }

    /// Returns the largest power of two that is at most the number of values. Unwinds if 32 bits
    /// can't hold it. The block must have values.
    fn room(&self, heap: &Heap) -> u32 {
        let room = 1u32.checked_shl(self.capacity.ilog2());
        room.unwrap_or_else(|| heap.lacks((self.capacity * size_of::<T>()) as u64))
    }

    /// Returns the address of the first value. Debug builds check by the brand that the block
    /// belongs to `heap`. Tests in debug builds suffice, because all code of an engine knows only
    /// one heap.
    #[inline(always)]
    fn start(&self, heap: &Heap) -> NonNull<T> {
        debug_assert!(
            self.brand == heap.brand || self.capacity == 0,
            "a block of another heap than its own"
        );
        heap.at(self.unit).cast()
    }

    #[inline]
    pub(crate) fn values<'a>(&'a self, heap: &'a Heap) -> &'a [T] {
        // SAFETY: the invariant; the values are initialised, and the borrow of `self` keeps writes
        // away.
        unsafe { std::slice::from_raw_parts(self.start(heap).as_ptr(), self.capacity) }
    }

    #[inline]
    pub(crate) fn values_mut<'a>(&'a mut self, heap: &'a Heap) -> &'a mut [T] {
        // SAFETY: as in `values`; the borrow of `self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start(heap).as_ptr(), self.capacity) }
    }

    /// Returns the memory to the heap.
    pub(crate) fn release(&mut self, heap: &Heap) {
        if self.capacity > 0 {
            debug_assert!(self.brand == heap.brand, "a block of another heap than its own");
            heap.release(self.unit, Self::class(self.capacity));
        }
        *self = Self::default();
    }
}

/// A heap for tests, with the memory that it lies in.
#[cfg(test)]
pub(crate) struct Private(
    Heap,
    #[expect(dead_code, reason = "the heap's memory")] crate::memory::Zeroed,
);

#[cfg(test)]
impl Private {
    pub(crate) fn new() -> Self {
        Self::with_bytes(1 << 30)
    }

    pub(crate) fn with_bytes(bytes: usize) -> Self {
        let memory = crate::memory::Zeroed::new(bytes);
        // SAFETY: the mapping is this value's alone and lives as long as it does.
        let heap = unsafe { Heap::new(memory.region(), Seed::random()) };
        heap.control().top = size_of::<Control>().div_ceil(UNIT) as u32;
        Self(heap, memory)
    }

    pub(crate) fn heap(&self) -> &Heap {
        &self.0
    }
}

impl<T> std::fmt::Debug for Block<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} values at {}", self.capacity, self.unit)
    }
}
