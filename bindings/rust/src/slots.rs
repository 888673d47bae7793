//! The table of schedule instances of a process. It holds running instances, and ended ones that
//! can start again. A ticket names one run of an instance.

use crate::error::Error;
use crate::offload::KernelPart;
use goal_engine::Handle;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::task::Waker;

/// A run of a schedule. It stays valid: a run that has been followed by another one on the same
/// instance has ended. The numbers of runs wrap around, so after 2^32 - 1 further runs the same
/// instance has one with an equal ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket {
    slot: u32,
    /// The number of the run on its slot, from 1 on.
    run: u32,
}

impl Ticket {
    /// Returns the ticket as a number that is not 0.
    pub const fn to_number(self) -> u64 {
        (self.slot as u64) << 32 | self.run as u64
    }

    /// Returns the ticket of a number; `None` if it is not one of a ticket.
    pub const fn from_number(number: u64) -> Option<Self> {
        match number as u32 {
            0 => None,
            run => Some(Self { slot: (number >> 32) as u32, run }),
        }
    }
}

/// The runner of an instance.
pub(crate) enum Instance {
    /// This process.
    Process(Handle),
    /// The kernel.
    Kernel(Arc<KernelPart>),
    /// Nobody any more: a loss has ended the engine that did. The next start makes it anew.
    Gone,
}

/// An instance of a schedule.
#[derive(Default)]
pub(crate) struct Slot {
    /// `None` if no schedule uses the slot.
    instance: Option<Instance>,
    /// True if the instance runs, as far as is known. If not, it has ended and can start again.
    is_running: bool,
    /// The addresses that replace those of its declared buffers.
    bound: Vec<usize>,
    /// The slot of the next instance of its schedule.
    next: Option<u32>,
    /// The number of its last run.
    run: u32,
    /// True once numbers have wrapped around: every other number is that of an ended run then.
    has_wrapped: bool,
    /// Kept while an instance of it is there.
    schedule: Option<Arc<dyn Named>>,
    /// Called when the run has ended.
    on_end: Vec<OnEnd>,
}

/// A schedule, with what it needs, that may be one of a collective.
pub(crate) trait Named: Send + Sync {
    /// Returns the name of the collective that the schedule is of, if it is of one.
    fn collective(&self) -> Option<&'static str>;
}

/// A function that is called once: with true when a run has ended, or with false when the job can't
/// go on. Peers may use the memory of such a run for ever.
pub type EndFunction = Box<dyn FnOnce(bool) + Send>;

/// A task that waits for a run.
pub(crate) type Sleeper = Mutex<Option<Waker>>;

/// The ways to tell that a run has ended.
pub(crate) enum OnEnd {
    /// A function to call.
    Call(EndFunction),
    /// A task to wake.
    Wake(Arc<Sleeper>),
}

/// A way to tell of a run, and true if it has ended, or false if it can't go on.
pub(crate) struct Due(pub(crate) OnEnd, pub(crate) bool);

impl Due {
    /// Calls the function, or wakes the task.
    pub(crate) fn call(self) {
        match self.0 {
            OnEnd::Call(function) => function(self.1),
            OnEnd::Wake(sleeper) => wake(&sleeper),
        }
    }
}

/// Wakes a task.
pub(crate) fn wake(sleeper: &Sleeper) {
    let waker = sleeper.lock().take();
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// All slots of a process.
#[derive(Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Slots with a function to call at the end of their run.
    pub(crate) watched: Vec<u32>,
    /// The runs that the loss of a rank has ended early, each with its error.
    lost: FxHashMap<Ticket, Error>,
}

/// The answer on a ticket.
pub(crate) enum Known {
    /// There was no such run.
    Never,
    /// It has ended.
    Ended,
    /// It runs, as far as is known.
    Running,
    /// The loss of a rank has ended it early.
    Lost,
}

impl Slots {
    /// Returns what is known of a run.
    #[inline]
    pub(crate) fn known(&self, ticket: Ticket) -> Known {
        if !self.lost.is_empty() && self.lost.contains_key(&ticket) {
            return Known::Lost;
        }
        match self.slots.get(ticket.slot as usize) {
            Some(slot) if slot.run == ticket.run => match slot.is_running {
                true => Known::Running,
                false => Known::Ended,
            },
            Some(slot) if slot.has_wrapped || ticket.run < slot.run => Known::Ended,
            _ => Known::Never,
        }
    }

    /// Adds an instance that runs for the first time, on declared buffers at the addresses `bound`.
    pub(crate) fn add(
        &mut self,
        instance: Instance,
        schedule: Arc<dyn Named>,
        bound: &[usize],
    ) -> Ticket {
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[number as usize];
        slot.schedule = Some(schedule);
        slot.instance = Some(instance);
        slot.bound = bound.to_vec();
        slot.start(number)
    }

    /// Returns an instance that has ended, which the caller starts again.
    #[inline]
    pub(crate) fn parked(&mut self, number: u32) -> Option<Parked<'_>> {
        let slot = &mut self.slots[number as usize];
        if slot.is_running { None } else { Some(Parked { number, slot }) }
    }

    /// Returns the slot of the next instance of the same schedule.
    #[inline]
    pub(crate) fn next(&self, number: u32) -> Option<u32> {
        self.slots[number as usize].next
    }

    /// Sets the slot of the next instance of the same schedule.
    pub(crate) fn set_next(&mut self, number: u32, next: Option<u32>) {
        self.slots[number as usize].next = next;
    }

    /// Returns an instance that runs, as far as is known.
    #[inline]
    pub(crate) fn running(&self, number: u32) -> Option<&Instance> {
        let slot = &self.slots[number as usize];
        slot.instance.as_ref().filter(|_| slot.is_running)
    }

    /// Returns the instance of a run, if that runs as far as is known.
    pub(crate) fn running_of(&self, ticket: Ticket) -> Option<&Instance> {
        matches!(self.known(ticket), Known::Running).then(|| self.running(ticket.slot)).flatten()
    }

    /// Notes that the run of a slot has ended. Returns true if it has functions to call.
    #[inline]
    pub(crate) fn ended(&mut self, number: u32) -> bool {
        let slot = &mut self.slots[number as usize];
        slot.is_running = false;
        !slot.on_end.is_empty()
    }

    /// Takes the functions of an ended run out.
    pub(crate) fn take_functions(&mut self, number: u32) -> Vec<OnEnd> {
        self.watched.retain(|&watched| watched != number);
        std::mem::take(&mut self.slots[number as usize].on_end)
    }

    /// Adds a function that is called at the end of a run that has not ended.
    pub(crate) fn watch(&mut self, ticket: Ticket, on_end: OnEnd) {
        let slot = &mut self.slots[ticket.slot as usize];
        if slot.on_end.is_empty() {
            self.watched.push(ticket.slot);
        }
        slot.on_end.push(on_end);
    }

    /// Takes all functions out: no run goes on.
    pub(crate) fn give_up(&mut self) -> Vec<OnEnd> {
        let watched = std::mem::take(&mut self.watched);
        let slots = &mut self.slots;
        watched.into_iter().flat_map(|at| std::mem::take(&mut slots[at as usize].on_end)).collect()
    }

    /// Returns the error of a run that a loss has ended early.
    #[cold]
    pub(crate) fn loss(&self, ticket: Ticket) -> Option<&Error> {
        self.lost.get(&ticket)
    }

    /// Notes that a loss has ended all runs early, and that no instance is left.
    pub(crate) fn lose_all(&mut self, error: &Error) {
        for (number, slot) in (0..).zip(&mut self.slots) {
            if std::mem::take(&mut slot.is_running) {
                self.lost.insert(Ticket { slot: number, run: slot.run }, error.clone());
            }
            if slot.instance.is_some() {
                slot.instance = Some(Instance::Gone);
            }
        }
    }

    /// Returns true if the instance of a slot has to be made anew.
    #[inline]
    pub(crate) fn is_gone(&self, number: u32) -> bool {
        matches!(self.slots[number as usize].instance, Some(Instance::Gone))
    }

    /// Puts an instance that runs in the place of one that is gone.
    pub(crate) fn revive(&mut self, number: u32, instance: Instance, bound: &[usize]) -> Ticket {
        let slot = &mut self.slots[number as usize];
        slot.instance = Some(instance);
        slot.bound = bound.to_vec();
        slot.start(number)
    }

    /// The tasks that wait for runs.
    pub(crate) fn sleepers(&self) -> Vec<Arc<Sleeper>> {
        let watched = self.watched.iter().flat_map(|&at| &self.slots[at as usize].on_end);
        let sleeper = |on_end: &OnEnd| match on_end {
            OnEnd::Wake(sleeper) => Some(Arc::clone(sleeper)),
            OnEnd::Call(_) => None,
        };
        watched.filter_map(sleeper).collect()
    }

    /// Frees the slot of a parked instance and returns this.
    pub(crate) fn release(&mut self, number: u32) -> Option<Instance> {
        let slot = &mut self.slots[number as usize];
        if slot.is_running {
            return None;
        }
        let instance = slot.instance.take()?;
        slot.schedule = None;
        self.free.push(number);
        Some(instance)
    }

    /// The slots whose instances run, as far as is known.
    pub(crate) fn all_running(&self) -> impl Iterator<Item = (u32, &Instance)> {
        let numbered = (0..).zip(&self.slots).filter(|(_, slot)| slot.is_running);
        numbered.filter_map(|(number, slot)| Some((number, slot.instance.as_ref()?)))
    }

    /// Returns false if no instance runs, as far as is known. Looks at a few slots only.
    #[inline]
    pub(crate) fn may_run(&self) -> bool {
        const LOOKED_AT: usize = 16;
        self.slots.len() > LOOKED_AT || self.slots.iter().any(|slot| slot.is_running)
    }

    /// The schedules whose instances run, as far as is known.
    pub(crate) fn all_schedules(&self) -> impl Iterator<Item = &Arc<dyn Named>> {
        let running = self.slots.iter().filter(|slot| slot.is_running);
        running.filter_map(|slot| slot.schedule.as_ref())
    }

    /// Frees all slots of parked instances and returns these.
    pub(crate) fn release_all(&mut self) -> Vec<Instance> {
        (0..self.slots.len() as u32).filter_map(|number| self.release(number)).collect()
    }

    /// The slot of a ticket.
    pub(crate) fn number(ticket: Ticket) -> u32 {
        ticket.slot
    }
}

impl Slot {
    /// Notes that the next run of the instance has started.
    #[inline]
    fn start(&mut self, number: u32) -> Ticket {
        self.is_running = true;
        self.count();
        Ticket { slot: number, run: self.run }
    }

    /// Gives the next run its number, which is never 0.
    #[inline]
    fn count(&mut self) {
        let next = self.run.checked_add(1);
        self.has_wrapped |= next.is_none();
        self.run = next.unwrap_or(1);
    }
}

/// An instance that has ended.
pub(crate) struct Parked<'a> {
    number: u32,
    slot: &'a mut Slot,
}

impl Parked<'_> {
    /// The handle of an instance that this process runs, for the next start.
    #[inline]
    pub(crate) fn handle(&mut self) -> &mut Handle {
        match self.slot.instance.as_mut().expect("a schedule uses the slot") {
            Instance::Process(handle) => handle,
            Instance::Kernel(_) | Instance::Gone => unreachable!("no engine of ours runs it"),
        }
    }

    /// Returns true if its declared buffers lie at these addresses.
    #[inline]
    pub(crate) fn is_bound(&self, addresses: &[usize]) -> bool {
        // Not `==`, which calls `memcmp`. With masked loads of AVX-512, glibc's `memcmp` takes 100
        // ns for an empty slice, because the address of the slice is not mapped.
        let bound = &self.slot.bound;
        bound.len() == addresses.len() && bound.iter().zip(addresses).all(|(a, b)| a == b)
    }

    /// Notes that its declared buffers lie at these addresses.
    pub(crate) fn note_bound(&mut self, addresses: &[usize]) {
        self.slot.bound.clear();
        self.slot.bound.extend_from_slice(addresses);
    }

    /// Notes that the instance runs again.
    #[inline]
    pub(crate) fn restarted(self) -> Ticket {
        self.slot.start(self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_stays_valid_when_numbers_wrap_around() {
        let slot = Slot { run: u32::MAX - 1, ..Slot::default() };
        let mut slots = Slots { slots: vec![slot], ..Slots::default() };
        let ended =
            |slots: &Slots, run| matches!(slots.known(Ticket { slot: 0, run }), Known::Ended);
        assert!(ended(&slots, u32::MAX - 1) && ended(&slots, 1) && !ended(&slots, u32::MAX));
        for last in [u32::MAX, 1, 2] {
            slots.slots[0].count();
            assert_eq!(slots.slots[0].run, last);
            assert!([1, 2, 1 << 31, u32::MAX].iter().all(|&run| ended(&slots, run)), "{last}");
        }
    }
}
