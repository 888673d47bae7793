//! Implements the handles of C: numbers that name an object in a table, with a generation.
//!
//! A number has the kind of the object in its top 4 bits. The generation of its slot follows in 32
//! bits, then the slot in 28 bits. A slot gets another generation when its object is freed, so an
//! old number names nothing. Only after 2^32 uses of its slot an old number names an object again.
//! As a pointer, a number is an address that no process has, so an access through it faults.
//!
//! A look-up takes no lock: the word of a slot has the generation, and counts the users of the
//! object. The program may pass any number. A number that names no object leads to a slot of
//! another generation, to a free slot, or to no slot.

#![allow(unsafe_code)] // slots that their words lend

use crate::border::group;
use goal::{Error, ErrorCode, Result};
use parking_lot::Mutex;
use std::cell::UnsafeCell;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

const SLOT_BITS: u32 = 28;
const KIND_SHIFT: u32 = 60;

/// The kind of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Graph = 1,
    Schedule = 2,
    Communicator = 3,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::Graph => "graph",
            Kind::Schedule => "schedule",
            Kind::Communicator => "communicator",
        }
    }

    fn from_number(number: usize) -> Option<Self> {
        let all = [Kind::Graph, Kind::Schedule, Kind::Communicator];
        all.into_iter().find(|&kind| number >> KIND_SHIFT == kind as usize)
    }
}

/// The lower half of a slot's word while the slot has no object.
const FREE: u32 = 0;
/// The lower half of a slot's word while a call stores or frees the object.
const TAKEN: u32 = 1;
/// The lower half of a slot's word while the slot has an object that nobody uses. Each user adds 1.
const UNUSED: u32 = 2;

/// A slot of the table, which can hold an object.
struct Slot<T> {
    /// The generation in the upper half, and the state or the number of users in the lower half.
    word: AtomicU64,
    object: UnsafeCell<Option<T>>,
}

// SAFETY: the word lends the object, to many threads at a time or to one that takes it.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T> Slot<T> {
    fn new() -> Self {
        Self { word: AtomicU64::new(word(0, FREE)), object: UnsafeCell::new(None) }
    }

    /// Stores an object, so that look-ups can use it from now on.
    ///
    /// # Safety
    /// Only the caller uses the slot: it is TAKEN, or it is FREE and not in the list of free slots.
    unsafe fn put(&self, generation: u32, object: T) {
        // SAFETY: as the caller says.
        unsafe { *self.object.get() = Some(object) };
        // Release: pairs with the Acquire loads of those who use or take the object.
        self.word.store(word(generation, UNUSED), Ordering::Release);
    }

    /// Removes and returns the object, and makes the slot TAKEN, if nobody uses the object.
    /// Otherwise returns the word as an error.
    fn take(&self, generation: u32) -> std::result::Result<T, u64> {
        let (unused, taken) = (word(generation, UNUSED), word(generation, TAKEN));
        // Acquire: pairs with the Release stores of `put` and of those who have used the object.
        self.word.compare_exchange(unused, taken, Ordering::Acquire, Ordering::Relaxed)?;
        // SAFETY: the word was UNUSED and is TAKEN, so this call has the slot alone.
        let object = unsafe { &mut *self.object.get() }.take();
        Ok(object.expect("the slot has an object"))
    }
}

/// A use of an object. The object stays in its slot as long as this value exists.
pub(crate) struct Used<'a, T>(&'a Slot<T>);

impl<T> Deref for Used<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the word counts this user, so nobody has the slot alone.
        let object = unsafe { &*self.0.object.get() };
        object.as_ref().expect("the slot has an object")
    }
}

impl<T> Drop for Used<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the Acquire part of `take`.
        self.0.word.fetch_sub(1, Ordering::Release);
    }
}

/// Returns the word of a slot with this generation and state.
const fn word(generation: u32, state: u32) -> u64 {
    (generation as u64) << 32 | state as u64
}

/// The slots that can take a new object.
struct Spare {
    /// The number of slots that have ever had an object.
    len: usize,
    free: Vec<usize>,
}

/// The table of all objects of one kind.
pub(crate) struct Table<T> {
    kind: Kind,
    /// The slots, in parts so that they never move: the n-th part has 2^n slots.
    parts: [OnceLock<Box<[Slot<T>]>>; SLOT_BITS as usize + 1],
    spare: Mutex<Spare>,
}

impl<T> Table<T> {
    pub(crate) const fn new(kind: Kind) -> Self {
        let parts = [const { OnceLock::new() }; SLOT_BITS as usize + 1];
        Self { kind, parts, spare: Mutex::new(Spare { len: 0, free: Vec::new() }) }
    }

    /// Returns the slot with the number `at`, which must be below 2^28. Returns `None` if no slot
    /// of its part has ever had an object.
    #[inline]
    fn slot(&self, at: usize) -> Option<&Slot<T>> {
        let part = (at + 1).ilog2();
        self.parts[part as usize].get()?.get(at + 1 - (1 << part))
    }

    /// Stores an object and returns its number, which is not 0.
    ///
    /// # Errors
    /// There are 2^28 objects already.
    pub(crate) fn add(&self, object: T) -> Result<usize> {
        let mut spare = self.spare.lock();
        let at = match spare.free.pop() {
            Some(at) => at,
            None if spare.len < 1 << SLOT_BITS => {
                spare.len += 1;
                spare.len - 1
            }
            None => {
                let text = format!("there are 2^28 {}s: free some", self.kind.name());
                return Err(Error::new(ErrorCode::Limit, text));
            }
        };
        drop(spare);
        let part = (at + 1).ilog2();
        let make = || (0..1usize << part).map(|_| Slot::new()).collect();
        let slot = &self.parts[part as usize].get_or_init(make)[at + 1 - (1 << part)];
        let generation = (slot.word.load(Ordering::Relaxed) >> 32) as u32;
        // SAFETY: a FREE slot, which this call has taken out of the list.
        unsafe { slot.put(generation, object) };
        Ok((self.kind as usize) << KIND_SHIFT | (generation as usize) << SLOT_BITS | at)
    }

    /// Returns the number of the slot that a handle's number names, the slot, and the generation in
    /// the number. Returns `None` for a number of another kind, or if there is no slot.
    #[inline]
    fn named(&self, number: usize) -> Option<(usize, &Slot<T>, u32)> {
        if number >> KIND_SHIFT != self.kind as usize {
            return None;
        }
        let at = number & ((1 << SLOT_BITS) - 1);
        Some((at, self.slot(at)?, (number >> SLOT_BITS) as u32))
    }

    /// Returns the object that a number names, for use.
    ///
    /// # Errors
    /// The number names no object, or a call is freeing the object. This may be a call of this
    /// thread, because `free` of [`remove`](Self::remove) may call functions of the program.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Result<Used<'_, T>> {
        let Some((_, slot, generation)) = self.named(number) else {
            return Err(self.unknown(number));
        };
        let mut now = slot.word.load(Ordering::Relaxed);
        loop {
            if now < word(generation, UNUSED) || now >= word(generation, u32::MAX) {
                return Err(self.unknown(number));
            }
            // Acquire: pairs with the Release store of `put`.
            let counted =
                slot.word.compare_exchange_weak(now, now + 1, Ordering::Acquire, Ordering::Relaxed);
            match counted {
                Ok(_) => return Ok(Used(slot)),
                Err(changed) => now = changed,
            }
        }
    }

    /// Frees the object that a number names by a call of `free`. If `free` returns an error and the
    /// object, the object stays in the table.
    ///
    /// # Errors
    /// The number names no object, another call uses the object, or the error of `free`.
    pub(crate) fn remove(
        &self,
        number: usize,
        free: impl FnOnce(T) -> Option<(Error, T)>,
    ) -> Result<()> {
        let (at, slot, generation) = self.named(number).ok_or_else(|| self.unknown(number))?;
        let object = slot.take(generation).map_err(|now| {
            if now <= word(generation, UNUSED) || now > word(generation, u32::MAX) {
                return self.unknown(number);
            }
            let text = format!("another thread uses the {}", self.kind.name());
            Error::new(ErrorCode::Busy, text)
        })?;
        // The object is freed without a lock. The call may call functions of the program, which may
        // call the library.
        match free(object) {
            None => {
                self.give_back(at, slot, generation);
                Ok(())
            }
            Some((error, object)) => {
                // SAFETY: this call has taken the slot.
                unsafe { slot.put(generation, object) };
                Err(error)
            }
        }
    }

    /// Makes a TAKEN slot free, with the next generation.
    fn give_back(&self, at: usize, slot: &Slot<T>, generation: u32) {
        slot.word.store(word(generation.wrapping_add(1), FREE), Ordering::Relaxed);
        self.spare.lock().free.push(at);
    }

    /// Frees all objects that nobody uses.
    pub(crate) fn clear(&self) {
        let len = self.spare.lock().len;
        for at in 0..len {
            let Some(slot) = self.slot(at) else { continue };
            let generation = (slot.word.load(Ordering::Relaxed) >> 32) as u32;
            if let Ok(object) = slot.take(generation) {
                self.give_back(at, slot, generation);
                drop(object);
            }
        }
    }

    #[cold]
    fn unknown(&self, number: usize) -> Error {
        if let Err(error) = group() {
            return error;
        }
        let kind = self.kind.name();
        let text = match Kind::from_number(number) {
            _ if number == 0 => format!("the {kind} is NULL"),
            Some(other) if other != self.kind => {
                format!("this is a {}, and a {kind} is needed", other.name())
            }
            Some(_) => format!("the {kind} was freed, or is none of this library"),
            None => format!("{number:#x} is no {kind} of this library"),
        };
        Error::new(ErrorCode::Handle, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_number_names_nothing() {
        let table = Table::new(Kind::Graph);
        let first = table.add("first").unwrap();
        assert_eq!(*table.get(first).unwrap(), "first");
        table.remove(first, |_| None).unwrap();
        let second = table.add("second").unwrap();
        assert!(table.get(first).is_err() && table.remove(first, |_| None).is_err());
        assert_eq!(*table.get(second).unwrap(), "second");
    }

    #[test]
    fn a_number_of_another_kind_names_nothing() {
        let (graphs, schedules) = (Table::new(Kind::Graph), Table::new(Kind::Schedule));
        let graph = graphs.add(()).unwrap();
        schedules.add(()).unwrap();
        for number in [0, graph, usize::MAX, 1, graph + 1] {
            assert!(schedules.get(number).is_err(), "{number:#x}");
        }
    }

    #[test]
    fn an_object_in_use_stays() {
        let table = Table::new(Kind::Schedule);
        let number = table.add(7).unwrap();
        let used = table.get(number).unwrap();
        assert_eq!(table.remove(number, |_| None).unwrap_err().code(), ErrorCode::Busy);
        drop(used);
        let busy = || Error::new(ErrorCode::Busy, "it runs");
        assert!(table.remove(number, |object| Some((busy(), object))).is_err());
        assert_eq!(*table.get(number).unwrap(), 7);
        table.clear();
        assert!(table.get(number).is_err());
    }
    #[test]
    fn an_object_that_is_freed_is_in_use_by_nobody() {
        struct Counted<'a>(&'a AtomicU64, u64);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let (shared, seen, dropped) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let table: Table<Counted<'_>> = Table::new(Kind::Graph);
        std::thread::scope(|scope| {
            let user = scope.spawn(|| {
                loop {
                    let number = shared.load(Ordering::Acquire) as usize;
                    if number == usize::MAX {
                        break;
                    }
                    if let Ok(used) = table.get(number) {
                        seen.store(number as u64, Ordering::Relaxed);
                        let round = used.1;
                        std::thread::yield_now();
                        assert!(used.1 == round && dropped.load(Ordering::Relaxed) == round);
                    }
                    std::thread::yield_now();
                }
            });
            for round in 0..500 {
                let number = table.add(Counted(&dropped, round)).unwrap();
                shared.store(number as u64, Ordering::Release);
                while seen.load(Ordering::Relaxed) != number as u64 && !user.is_finished() {
                    std::thread::yield_now();
                }
                while table.remove(number, |_| None).is_err() && !user.is_finished() {
                    std::thread::yield_now();
                }
            }
            shared.store(u64::MAX, Ordering::Release);
        });
        assert_eq!(dropped.load(Ordering::Relaxed), 500);
    }
}
