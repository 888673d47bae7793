//! Defines the buffers of the safe interface: typed memory that other ranks of the host can read. A
//! guard refuses access to a buffer while a schedule runs on it.
#![allow(unsafe_code)] // references to the memory, which the guard keeps apart

use crate::error::{Error, ErrorCode, Result};
use crate::group::Group;
use crate::heap::Block;
use crate::process::{is_fork, of_fork};
use goal_engine::memory::Region;
use goal_lang::{Datatype, Piece};
use parking_lot::Mutex;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Deref, DerefMut, RangeBounds};
use std::sync::Arc;

/// A type of elements on which schedules can compute.
///
/// # Safety
/// The type is a plain number with the width of its datatype, and every pattern of bits is a value
/// of it.
pub unsafe trait Element: Copy + Default + Send + Sync + 'static {
    /// The datatype in schedules.
    const DATATYPE: Datatype;
}

macro_rules! elements {
    ($($type:ty = $name:ident),*) => {
        $(
            // SAFETY: a primitive number of this width.
            unsafe impl Element for $type {
                const DATATYPE: Datatype = Datatype::$name;
            }
        )*
    };
}

elements!(
    i8 = Int8,
    i16 = Int16,
    i32 = Int32,
    i64 = Int64,
    u8 = UInt8,
    u16 = UInt16,
    u32 = UInt32,
    u64 = UInt64,
    f32 = Float32,
    f64 = Float64
);

/// The current use of a buffer's memory: any number of readers, or one writer.
#[derive(Debug, Default)]
struct Use {
    readers: u32,
    has_writer: bool,
}

/// The memory that a [`Buffer`] and its clones share.
pub(crate) struct Memory {
    region: Region,
    used: Mutex<Use>,
    _owner: Owner,
}

/// The owner of a buffer's bytes.
#[expect(dead_code, reason = "it is only held")]
enum Owner {
    Shared(Block),
    Private(Box<[u64]>),
}

// SAFETY: the region is reached through guards and runs, which `used` keeps apart.
unsafe impl Sync for Memory {}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.region.len())
    }
}

impl Memory {
    /// Begins a use of the memory, as its only writer if `writes` is true, and otherwise as a
    /// reader.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] if the memory has a writer. Also if `writes` is true and it has readers,
    /// or if it has 2^32 - 1 readers. Another error if this process is a fork of the rank.
    pub(crate) fn acquire(&self, writes: bool) -> Result<()> {
        if is_fork() {
            return Err(of_fork());
        }
        let mut used = self.used.lock();
        if used.has_writer || writes && used.readers > 0 {
            let text = "the buffer is used: a run has not ended, or its content is borrowed";
            return Err(Error::new(ErrorCode::Busy, text));
        }
        if writes {
            used.has_writer = true;
        } else {
            used.readers = used.readers.checked_add(1).ok_or_else(|| {
                let text = "the buffer has as many readers as can be: a guard was never dropped";
                Error::new(ErrorCode::Busy, text)
            })?;
        }
        Ok(())
    }

    /// Ends a use of the memory that [`Memory::acquire`] began with the same value of `writes`.
    pub(crate) fn release(&self, writes: bool) {
        // In a fork, the copied lock may be held for ever.
        if is_fork() {
            return;
        }
        let mut used = self.used.lock();
        if writes {
            used.has_writer = false;
        } else {
            used.readers -= 1;
        }
    }

    pub(crate) fn address(&self) -> usize {
        self.region.whole().address()
    }
}

/// Elements that schedules work on. Clones of a buffer share its elements.
///
/// The elements lie in memory that the ranks of this host share, if there is room, so that peers
/// read them in place. A run holds the buffers of its schedule until it has ended. Meanwhile the
/// program can't read buffers that the run writes, nor write buffers that the run reads.
pub struct Buffer<T> {
    memory: Arc<Memory>,
    len: usize,
    elements: PhantomData<T>,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self { memory: Arc::clone(&self.memory), len: self.len, elements: PhantomData }
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a buffer of {} elements", self.len)
    }
}

impl<T: Element> Buffer<T> {
    /// Creates a buffer of zeros.
    pub(crate) fn zeros(group: Group, len: usize) -> Result<Self> {
        let too_many =
            || Error::new(ErrorCode::Memory, format!("{len} elements are more than memory has"));
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(too_many)?;
        let (region, owner) = match Block::new(&group.own()?.heap, bytes) {
            Ok(block) => (block.region(), Owner::Shared(block)),
            Err(_) => {
                let mut words = Vec::new();
                words.try_reserve_exact(bytes.div_ceil(8)).map_err(|_| too_many())?;
                words.resize(bytes.div_ceil(8), 0u64);
                let mut words = words.into_boxed_slice();
                // SAFETY: the words live as long as the memory, and are reached through it only.
                (unsafe { Region::new(words.as_mut_ptr().cast(), bytes) }, Owner::Private(words))
            }
        };
        let memory = Memory { region, used: Mutex::default(), _owner: owner };
        let buffer = Self { memory: Arc::new(memory), len, elements: PhantomData };
        buffer.write()?.fill(T::default());
        Ok(buffer)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns a guard through which the elements can be read.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] while a run writes the elements or a guard of [`write`](Self::write)
    /// lives. Also if 2^32 - 1 guards live, or were forgotten.
    pub fn read(&self) -> Result<Read<'_, T>> {
        self.memory.acquire(false)?;
        Ok(Read(self))
    }

    /// Returns a guard through which the elements can be changed.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] while a run or another guard uses the elements.
    pub fn write(&self) -> Result<Write<'_, T>> {
        self.memory.acquire(true)?;
        Ok(Write(self))
    }

    /// Returns a part of the buffer, as an operand of actions.
    ///
    /// # Panics
    /// If the range is not inside the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Slice<'_> {
        let behind = |at: usize| match at.checked_add(1) {
            Some(next) => next,
            None => panic!("element {at} of {} elements", self.len),
        };
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => behind(before),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => behind(last),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        assert!(start <= end && end <= self.len, "{start}..{end} of {} elements", self.len);
        let address = self.memory.address() + start * size_of::<T>();
        let piece = crate::graph::memory(address, ((end - start) * size_of::<T>()) as u64);
        Slice { piece, memory: Some(&self.memory), datatype: Some(T::DATATYPE) }
    }

    /// Returns the whole buffer, as an operand of actions.
    pub fn all(&self) -> Slice<'_> {
        self.slice(..)
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }
}

/// Bytes that an action works on: a part of a [`Buffer`], or of the schedule's scratch memory
/// ([`scratch`](crate::scratch)).
#[derive(Debug, Clone, Copy)]
pub struct Slice<'b> {
    pub(crate) piece: Piece,
    pub(crate) memory: Option<&'b Arc<Memory>>,
    /// The type of the elements; `None` for scratch memory, which can hold elements of any type.
    pub(crate) datatype: Option<Datatype>,
}

impl<'b, T: Element> From<&'b Buffer<T>> for Slice<'b> {
    fn from(buffer: &'b Buffer<T>) -> Self {
        buffer.all()
    }
}

/// A guard through which the elements of a buffer can be read.
pub struct Read<'b, T: Element>(&'b Buffer<T>);

/// A guard through which the elements of a buffer can be changed.
pub struct Write<'b, T: Element>(&'b Buffer<T>);

impl<T: Element> Deref for Read<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the bytes are initialised, aligned to a cache line or a word, and of a plain
        // type; no run and no guard writes them meanwhile.
        unsafe { std::slice::from_raw_parts(self.0.memory.address() as *const T, self.0.len) }
    }
}

impl<T: Element> Deref for Write<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: as for `Read`.
        unsafe { std::slice::from_raw_parts(self.0.memory.address() as *const T, self.0.len) }
    }
}

impl<T: Element> DerefMut for Write<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `Read`; this guard is the only user.
        unsafe { std::slice::from_raw_parts_mut(self.0.memory.address() as *mut T, self.0.len) }
    }
}

impl<T: Element> Drop for Read<'_, T> {
    fn drop(&mut self) {
        self.0.memory.release(false);
    }
}

impl<T: Element> Drop for Write<'_, T> {
    fn drop(&mut self) {
        self.0.memory.release(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_that_never_end_do_not_let_a_writer_in() {
        let used = Mutex::new(Use { readers: u32::MAX - 1, has_writer: false });
        let owner = Owner::Private(Box::default());
        let memory = Memory { region: Region::EMPTY, used, _owner: owner };
        assert!(memory.acquire(false).is_ok());
        for writes in [false, true] {
            assert_eq!(memory.acquire(writes).unwrap_err().code(), ErrorCode::Busy);
        }
    }
}
