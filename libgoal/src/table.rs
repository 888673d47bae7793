//! Handles of C: numbers that name an object in a table, with a generation.
//!
//! A number has the kind of the object in its top 4 bits, then the generation of its slot in 32
//! bits, then the slot in 28 bits. A slot gets another generation when its object is freed, so an
//! old number names nothing; only after 2^32 uses of one slot does it name an object again. As
//! pointers, the numbers are addresses that no process has, so an access through one faults.

use crate::border::group;
use goal::{Error, ErrorCode, Result};
use parking_lot::RwLock;
use std::sync::Arc;

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

    fn of(number: usize) -> Option<Self> {
        let all = [Kind::Graph, Kind::Schedule, Kind::Communicator];
        all.into_iter().find(|&kind| number >> KIND_SHIFT == kind as usize)
    }
}

/// The content of a slot.
enum State<T> {
    Free,
    /// A call that frees the object holds it.
    Taken,
    Used(Arc<T>),
}

struct Slot<T> {
    generation: u32,
    state: State<T>,
}

struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
}

/// All objects of a kind.
pub(crate) struct Table<T> {
    kind: Kind,
    slots: RwLock<Slots<T>>,
}

impl<T> Table<T> {
    pub(crate) const fn new(kind: Kind) -> Self {
        Self { kind, slots: RwLock::new(Slots { slots: Vec::new(), free: Vec::new() }) }
    }

    /// Stores an object and returns its number, which is not 0.
    ///
    /// # Errors
    /// There are 2^28 objects.
    pub(crate) fn add(&self, object: T) -> Result<usize> {
        let mut slots = self.slots.write();
        let Slots { slots, free } = &mut *slots;
        let at = match free.pop() {
            Some(at) => at,
            None if slots.len() < 1 << SLOT_BITS => {
                slots.push(Slot { generation: 0, state: State::Free });
                slots.len() - 1
            }
            None => {
                let text = format!("there are 2^28 {}s: free some", self.kind.name());
                return Err(Error::new(ErrorCode::Limit, text));
            }
        };
        let slot = &mut slots[at];
        slot.state = State::Used(Arc::new(object));
        Ok(self.number(at, slot.generation))
    }

    fn number(&self, at: usize, generation: u32) -> usize {
        (self.kind as usize) << KIND_SHIFT | (generation as usize) << SLOT_BITS | at
    }

    /// Returns the slot of a number, if it names one of this kind.
    #[inline]
    fn slot(&self, number: usize) -> Option<(usize, u32)> {
        let at = number & ((1 << SLOT_BITS) - 1);
        let is_kind = number >> KIND_SHIFT == self.kind as usize;
        is_kind.then_some((at, (number >> SLOT_BITS) as u32))
    }

    /// Returns the object of a number.
    ///
    /// # Errors
    /// There is none, or it is being freed.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Result<Arc<T>> {
        if let Some((at, generation)) = self.slot(number)
            && let Some(slot) = self.slots.read().slots.get(at)
            && slot.generation == generation
            && let State::Used(object) = &slot.state
        {
            return Ok(Arc::clone(object));
        }
        Err(self.unknown(number))
    }

    /// Frees an object by `free`. If that returns an error and the object, the object stays.
    ///
    /// # Errors
    /// There is none, another call uses it, or the error of `free`.
    pub(crate) fn remove(
        &self,
        number: usize,
        free: impl FnOnce(T) -> Option<(Error, T)>,
    ) -> Result<()> {
        let (at, generation) = self.slot(number).ok_or_else(|| self.unknown(number))?;
        let object = {
            let mut slots = self.slots.write();
            let slot = slots.slots.get_mut(at).filter(|slot| slot.generation == generation);
            let slot = slot.ok_or_else(|| self.unknown(number))?;
            match std::mem::replace(&mut slot.state, State::Taken) {
                State::Used(object) => match Arc::try_unwrap(object) {
                    Ok(object) => object,
                    Err(shared) => {
                        slot.state = State::Used(shared);
                        let text = format!("another thread uses the {}", self.kind.name());
                        return Err(Error::new(ErrorCode::Busy, text));
                    }
                },
                other => {
                    slot.state = other;
                    return Err(self.unknown(number));
                }
            }
        };
        // Without the lock: this may call functions of the program, which may call the library.
        let freed = free(object);
        let mut slots = self.slots.write();
        let slot = &mut slots.slots[at];
        match freed {
            None => {
                slot.state = State::Free;
                slot.generation = slot.generation.wrapping_add(1);
                slots.free.push(at);
                Ok(())
            }
            Some((error, object)) => {
                slot.state = State::Used(Arc::new(object));
                Err(error)
            }
        }
    }

    /// Frees all objects.
    pub(crate) fn clear(&self) {
        let mut dropped = Vec::new();
        {
            let mut slots = self.slots.write();
            let Slots { slots, free } = &mut *slots;
            for (at, slot) in slots.iter_mut().enumerate() {
                if let State::Used(_) = slot.state {
                    dropped.push(std::mem::replace(&mut slot.state, State::Free));
                    slot.generation = slot.generation.wrapping_add(1);
                    free.push(at);
                }
            }
        }
        // Without the lock, as in `remove`.
        drop(dropped);
    }

    #[cold]
    fn unknown(&self, number: usize) -> Error {
        if let Err(error) = group() {
            return error;
        }
        let kind = self.kind.name();
        let text = match Kind::of(number) {
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
}
