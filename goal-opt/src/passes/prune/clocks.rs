//! Exact reduction by vector clocks over chains, for bodies of bounded width.
//!
//! Actions are divided into chains that are linked by completion dependencies. The clock of an
//! action has two entries for each chain. They name the last action of the chain that starts, and
//! the last that ends, before the start of the clock's action. All earlier actions of the chain
//! then come before it, too, as they end in order. An edge a → b is implied if a is in the clock of
//! another prerequisite of b.
//!
//! The clock of an action is needed until its last waiter has been handled. Then its memory is
//! reused. When no clock of a chain is needed any more, the slot of the chain is reused for another
//! chain. Later actions of a slot have larger numbers, so old clock entries do not count for them.

use super::incoming::{Implied, Incoming};

/// The most chains at a time for which clocks are used. With more, clocks cost more than searching.
pub(super) const SLOTS_MAX: usize = 64;
/// Bound on the bytes of all clocks.
const BYTES_MAX: usize = 256 << 20;

/// Marks the implied dependencies. Returns false, with no effect, if this takes more than
/// `slots_max` chains at a time or too much memory.
pub(super) fn mark_implied(incoming: &Incoming, slots_max: usize, implied: &mut Implied) -> bool {
    let Some(chains) = Chains::new(incoming, slots_max) else { return false };
    let width = chains.width;
    if chains.live_max.saturating_mul(width * 8) > BYTES_MAX {
        return false;
    }
    let mut clocks =
        Clocks { width, buffer_of: vec![u32::MAX; incoming.len()], free: vec![], cells: vec![] };
    let mut waiters = incoming.outdegrees();
    // The maximum of the clocks of the current action's prerequisites: by start in the first half,
    // by end in the second.
    let mut before = vec![0u32; 2 * width];
    for place in 0..incoming.len() {
        let links = incoming.of(place);
        before.fill(0);
        for link in links {
            let clock = clocks.of(link.source as usize);
            before.iter_mut().zip(clock).for_each(|(mine, &theirs)| *mine = (*mine).max(theirs));
        }
        if links.len() > 1 {
            for &link in links {
                let Chained { slot, number } = chains.of(link.source);
                let by_end = before[width + slot] >= number;
                // Dependencies on ends come first, so a dependency on the start of the same action
                // is found implied here.
                let other_kind =
                    || links.iter().any(|other| other.by_end && other.source == link.source);
                if by_end || !link.by_end && (before[slot] >= number || other_kind()) {
                    implied.mark(link);
                }
            }
        }
        if waiters[place] > 0 {
            for link in links {
                let Chained { slot, number } = chains.of(link.source);
                before[slot] = before[slot].max(number);
                if link.by_end {
                    before[width + slot] = before[width + slot].max(number);
                }
            }
            clocks.set(place, &before);
        }
        for link in links {
            let waiters = &mut waiters[link.source as usize];
            *waiters -= 1;
            if *waiters == 0 {
                clocks.release(link.source as usize);
            }
        }
    }
    true
}

/// The chain of an action, and its number in the chain, from 1 on.
#[derive(Debug, Clone, Copy)]
struct Chained {
    slot: usize,
    number: u32,
}

/// The chains of all actions that others wait for.
struct Chains {
    slot_of: Vec<u16>,
    number_of: Vec<u32>,
    /// The number of slots.
    width: usize,
    /// The largest number of actions at a time that have unhandled waiters.
    live_max: usize,
}

impl Chains {
    fn new(incoming: &Incoming, slots_max: usize) -> Option<Self> {
        let mut waiters = incoming.outdegrees();
        let (mut slot_of, mut number_of) = (vec![0u16; incoming.len()], vec![0u32; incoming.len()]);
        let mut slots: Vec<Slot> = Vec::new();
        let mut free: Vec<u16> = Vec::new();
        let (mut live, mut live_max) = (0, 0);
        for place in 0..incoming.len() {
            let links = incoming.of(place);
            if waiters[place] > 0 {
                let tail = links.iter().rev().find(|link| {
                    let slot = slot_of[link.source as usize];
                    link.by_end && slots[slot as usize].tail == link.source
                });
                let slot = match tail {
                    Some(link) => slot_of[link.source as usize],
                    None => match free.pop() {
                        Some(slot) => slot,
                        None if slots.len() < slots_max.min(u16::MAX as usize) => {
                            slots.push(Slot { tail: 0, length: 0, live: 0 });
                            slots.len() as u16 - 1
                        }
                        None => return None,
                    },
                };
                let entry = &mut slots[slot as usize];
                entry.tail = place as u32;
                entry.length += 1;
                entry.live += 1;
                (slot_of[place], number_of[place]) = (slot, entry.length);
                live += 1;
                live_max = live_max.max(live);
            }
            for link in links {
                let waiters = &mut waiters[link.source as usize];
                *waiters -= 1;
                if *waiters == 0 {
                    live -= 1;
                    let slot = slot_of[link.source as usize];
                    slots[slot as usize].live -= 1;
                    if slots[slot as usize].live == 0 {
                        slots[slot as usize].tail = u32::MAX;
                        free.push(slot);
                    }
                }
            }
        }
        Some(Self { slot_of, number_of, width: slots.len(), live_max })
    }

    #[inline]
    fn of(&self, place: u32) -> Chained {
        Chained {
            slot: self.slot_of[place as usize].into(),
            number: self.number_of[place as usize],
        }
    }
}

/// The current chain of a slot.
struct Slot {
    /// The position of its last action.
    tail: u32,
    /// The number of all actions that it has had.
    length: u32,
    /// The number of its actions that have unhandled waiters.
    live: u32,
}

/// The clocks of actions that have unhandled waiters.
struct Clocks {
    width: usize,
    /// By position of an action, the number of its buffer.
    buffer_of: Vec<u32>,
    free: Vec<u32>,
    cells: Vec<u32>,
}

impl Clocks {
    #[inline]
    fn of(&self, place: usize) -> &[u32] {
        let at = self.buffer_of[place] as usize * 2 * self.width;
        &self.cells[at..at + 2 * self.width]
    }

    fn set(&mut self, place: usize, clock: &[u32]) {
        let buffer = self.free.pop().unwrap_or_else(|| {
            self.cells.resize(self.cells.len() + clock.len(), 0);
            (self.cells.len() / clock.len()) as u32 - 1
        });
        self.buffer_of[place] = buffer;
        self.cells[buffer as usize * clock.len()..][..clock.len()].copy_from_slice(clock);
    }

    fn release(&mut self, place: usize) {
        self.free.push(self.buffer_of[place]);
    }
}
