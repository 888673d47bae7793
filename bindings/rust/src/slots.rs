//! Defines the table of the schedule instances of a process. It holds running instances, and ended
//! instances that can start again. A ticket names one run of an instance.

use crate::error::Error;
use crate::offload::KernelPart;
use goal_engine::Handle;
use goal_engine::linked::Run;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::task::Waker;

/// The name of a run of a schedule. A ticket stays valid after the end of its run. If the same
/// instance has started again, the run is known to have ended. The numbers of runs wrap around:
/// after 2^32 - 1 further runs of the same instance, a run has an equal ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket {
    slot: u32,
    /// The number of the run in its slot, from 1 on.
    run: u32,
}

impl Ticket {
    /// Returns the ticket as a number that is not 0.
    pub const fn to_number(self) -> u64 {
        (self.slot as u64) << 32 | self.run as u64
    }

    /// Returns the ticket with this number; `None` if no ticket has the number.
    pub const fn from_number(number: u64) -> Option<Self> {
        match number as u32 {
            0 => None,
            run => Some(Self { slot: (number >> 32) as u32, run }),
        }
    }
}

/// The process or kernel that runs an instance.
pub(crate) enum Instance {
    /// This process, with the engine's handle.
    Process(Handle),
    /// The calls of this process, without an engine.
    Linked(Box<Run>),
    /// The kernel, with this rank's part of the schedule.
    Kernel(Arc<KernelPart>),
    /// Nobody: the engine of the instance was dropped after the loss of a rank. The next start
    /// creates the instance again.
    Gone,
}

/// A slot of the table, which holds an instance of a schedule.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Slot {
    /// The instance; `None` if no schedule uses the slot.
    instance: Option<Instance>,
    use_: Use,
    /// The addresses of the declared buffers in the instance's last run.
    bound: Vec<usize>,
    /// The slot of the next instance of the schedule, see [`Rotation`](crate::rotation::Rotation).
    next: u32,
    /// The numbers of the runs in the slot.
    runs: Numbers,
    /// The schedule of the instance. It must live as long as the instance.
    schedule: Option<Arc<dyn Named>>,
    /// The functions to call and the tasks to wake when the run has ended.
    on_end: Vec<OnEnd>,
}

/// The state of an instance in one number: twice the number of times that its buffers have changed,
/// plus 1 if it is not known to have ended. An instance that has ended can start again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Use(u32);

impl Use {
    #[inline(always)]
    fn is_running(self) -> bool {
        self.0 & 1 != 0
    }

    #[inline(always)]
    fn set_running(&mut self, is_running: bool) {
        match is_running {
            true => self.0 |= 1,
            false => self.0 &= !1,
        }
    }

    fn note_bound(&mut self) {
        self.0 = self.0.wrapping_add(2);
    }
}

/// The numbers of the runs in a slot.
#[derive(Default)]
struct Numbers {
    /// The number of the last run; 0 before the first run.
    last: u32,
    /// True once the numbers have wrapped around. Every number other than `last` then belongs to a
    /// run that has ended.
    have_wrapped: bool,
}

impl Numbers {
    /// Returns the number of the next run, which never is 0.
    #[inline(always)]
    fn next(&mut self) -> u32 {
        let next = self.last.checked_add(1);
        self.have_wrapped |= next.is_none();
        self.last = next.unwrap_or(1);
        self.last
    }
}

/// A schedule with the code and the memory that its instances need.
pub(crate) trait Named: Send + Sync {
    /// Returns the name of the collective; `None` if the schedule is not a collective.
    fn collective(&self) -> Option<&'static str>;
}

/// A function for the end of a run. It is called once: with true when the run has ended, or with
/// false when the job can't go on. In the second case peers may use the memory of the run for ever.
pub type EndFunction = Box<dyn FnOnce(bool) + Send>;

/// A task that waits for the end of a run.
pub(crate) type Sleeper = Mutex<Option<Waker>>;

/// What is done at the end of a run.
pub(crate) enum OnEnd {
    /// A function to call.
    Call(EndFunction),
    /// A task to wake.
    Wake(Arc<Sleeper>),
}

/// A function to call or a task to wake now. The second field is true if the run has ended, and
/// false if it can't go on.
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

/// Wakes the task in `sleeper`, if there is one.
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
    /// The slots whose runs have a function to call or a task to wake at their end.
    pub(crate) watched: Vec<u32>,
    /// The number of running instances that are not linked.
    others: u32,
    /// The runs that the loss of a rank has ended early, each with its error.
    lost: FxHashMap<Ticket, Error>,
}

/// What is known of the run that a ticket names.
pub(crate) enum Known {
    /// There was no such run.
    Never,
    /// The run has ended.
    Ended,
    /// The run is not known to have ended.
    Running,
    /// The loss of a rank has ended the run early.
    Lost,
}

impl Slots {
    /// Returns what is known of the run that `ticket` names.
    #[inline]
    pub(crate) fn known(&self, ticket: Ticket) -> Known {
        if !self.lost.is_empty() && self.lost.contains_key(&ticket) {
            return Known::Lost;
        }
        match self.slots.get(ticket.slot as usize) {
            Some(slot) if slot.runs.last == ticket.run => match slot.use_.is_running() {
                true => Known::Running,
                false => Known::Ended,
            },
            Some(slot) if slot.runs.have_wrapped || ticket.run < slot.runs.last => Known::Ended,
            _ => Known::Never,
        }
    }

    /// Adds an instance, and notes that its first run has started. `bound` has the addresses of the
    /// declared buffers. Returns the ticket of the run.
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
        self.others += u32::from(!slot.is_linked());
        slot.start(number)
    }

    /// Adds an instance that has not started yet and is bound to no buffers. Returns its slot.
    pub(crate) fn park(&mut self, instance: Instance, schedule: Arc<dyn Named>) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[number as usize];
        (slot.schedule, slot.instance) = (Some(schedule), Some(instance));
        slot.bound = vec![usize::MAX];
        number
    }

    /// Returns the instance in slot `number`, which the caller starts again; `None` if it runs.
    #[inline]
    pub(crate) fn parked(&mut self, number: u32) -> Option<Parked<'_>> {
        let slot = &mut self.slots[number as usize];
        let others = &mut self.others;
        if slot.use_.is_running() { None } else { Some(Parked { number, slot, others }) }
    }

    /// Returns the instance in slot `number`; `None` if it is known to have ended.
    #[inline]
    pub(crate) fn running(&self, number: u32) -> Option<&Instance> {
        let slot = &self.slots[number as usize];
        slot.instance.as_ref().filter(|_| slot.use_.is_running())
    }

    /// Returns the linked instance in slot `number`, if it is not known to have ended.
    #[inline]
    pub(crate) fn linked(&mut self, number: u32) -> Option<&mut Run> {
        let slot = &mut self.slots[number as usize];
        match &mut slot.instance {
            Some(Instance::Linked(run)) if slot.use_.is_running() => Some(run),
            _ => None,
        }
    }

    /// Returns the state that the instance in slot `number` has once it has ended, if it is bound
    /// to these addresses.
    pub(crate) fn ended_use(&self, number: u32, addresses: &[usize]) -> Option<Use> {
        let slot = &self.slots[number as usize];
        let mut ended = slot.use_;
        ended.set_running(false);
        (slot.bound == addresses).then_some(ended)
    }

    /// Returns the linked instance in slot `number`, if it has ended.
    #[inline(always)]
    pub(crate) fn ended_linked(&mut self, number: u32) -> Option<EndedLinked<'_>> {
        let Slot { instance, use_, bound, runs, .. } = self.slots.get_mut(number as usize)?;
        match instance {
            Some(Instance::Linked(run)) if !use_.is_running() => {
                Some(EndedLinked { number, run, bound, runs, use_ })
            }
            _ => None,
        }
    }

    /// Returns the linked instance in slot `number`, if it has ended and is in this state.
    #[inline(always)]
    pub(crate) fn ended_linked_in(&mut self, number: u32, ended: Use) -> Option<EndedLinked<'_>> {
        let Slot { instance, use_, bound, runs, .. } = self.slots.get_mut(number as usize)?;
        match instance {
            Some(Instance::Linked(run)) if *use_ == ended => {
                Some(EndedLinked { number, run, bound, runs, use_ })
            }
            _ => None,
        }
    }

    /// Returns the linked instance of the run that `ticket` names. Returns `None` if the run is
    /// known to have ended.
    #[inline(always)]
    pub(crate) fn linked_of(&self, ticket: Ticket) -> Option<&Run> {
        match self.slots.get(ticket.slot as usize) {
            Some(Slot { instance: Some(Instance::Linked(linked)), use_, runs, .. })
                if use_.is_running() && runs.last == ticket.run =>
            {
                Some(linked)
            }
            _ => None,
        }
    }

    /// Returns true if `ticket` names a linked run that has ended. Calls `wait` for a linked run
    /// that goes on, which tells if the run has ended. Returns false for all other runs.
    #[inline(always)]
    pub(crate) fn end_linked(
        &mut self,
        ticket: Ticket,
        wait: impl FnOnce(&mut Run) -> bool,
    ) -> bool {
        let Some(slot) = self.slots.get_mut(ticket.slot as usize) else { return false };
        if slot.runs.last != ticket.run {
            return false;
        }
        match &mut slot.instance {
            // A loss of a rank takes the instance away, so the run has not been lost.
            Some(Instance::Linked(_)) if !slot.use_.is_running() => true,
            Some(Instance::Linked(run)) => {
                let has_ended = wait(run);
                if has_ended {
                    slot.use_.set_running(false);
                }
                has_ended
            }
            _ => false,
        }
    }

    /// Returns true if all instances that are not known to have ended are linked.
    #[inline(always)]
    pub(crate) fn are_all_linked(&self) -> bool {
        self.others == 0
    }

    /// Returns the linked instances that are not known to have ended.
    pub(crate) fn all_linked(&mut self) -> impl Iterator<Item = &mut Run> {
        let running = self.slots.iter_mut().filter(|slot| slot.use_.is_running());
        running.filter_map(|slot| match &mut slot.instance {
            Some(Instance::Linked(run)) => Some(&mut **run),
            _ => None,
        })
    }

    /// Returns the instance of the run that `ticket` names; `None` if the run is known to have
    /// ended.
    pub(crate) fn running_of(&self, ticket: Ticket) -> Option<&Instance> {
        matches!(self.known(ticket), Known::Running).then(|| self.running(ticket.slot)).flatten()
    }

    /// Notes that the run in slot `number` has ended. Returns true if there are functions to call
    /// or tasks to wake.
    #[inline]
    pub(crate) fn ended(&mut self, number: u32) -> bool {
        let slot = &mut self.slots[number as usize];
        slot.use_.set_running(false);
        self.others -= u32::from(!slot.is_linked());
        !slot.on_end.is_empty()
    }

    /// Removes and returns the functions and tasks of the ended run in slot `number`.
    pub(crate) fn take_functions(&mut self, number: u32) -> Vec<OnEnd> {
        self.watched.retain(|&watched| watched != number);
        std::mem::take(&mut self.slots[number as usize].on_end)
    }

    /// Adds a function or a task to a run that has not ended.
    pub(crate) fn watch(&mut self, ticket: Ticket, on_end: OnEnd) {
        let slot = &mut self.slots[ticket.slot as usize];
        if slot.on_end.is_empty() {
            self.watched.push(ticket.slot);
        }
        slot.on_end.push(on_end);
    }

    /// Removes and returns the functions and tasks of all runs, because no run goes on.
    pub(crate) fn give_up(&mut self) -> Vec<OnEnd> {
        let watched = std::mem::take(&mut self.watched);
        let slots = &mut self.slots;
        watched.into_iter().flat_map(|at| std::mem::take(&mut slots[at as usize].on_end)).collect()
    }

    /// Returns the error of a run that a loss has ended early; `None` for other runs.
    #[cold]
    pub(crate) fn loss(&self, ticket: Ticket) -> Option<&Error> {
        self.lost.get(&ticket)
    }

    /// Notes that a loss has ended all runs early with `error`, and that the instances must be
    /// created again.
    pub(crate) fn lose_all(&mut self, error: &Error) {
        self.others = 0;
        for (number, slot) in (0..).zip(&mut self.slots) {
            if slot.use_.is_running() {
                slot.use_.set_running(false);
                self.lost.insert(Ticket { slot: number, run: slot.runs.last }, error.clone());
            }
            if slot.instance.is_some() {
                slot.instance = Some(Instance::Gone);
            }
        }
    }

    /// Returns true if the instance in slot `number` must be created again, after a loss.
    #[inline]
    pub(crate) fn is_gone(&self, number: u32) -> bool {
        matches!(self.slots[number as usize].instance, Some(Instance::Gone))
    }

    /// Puts a new instance in the place of one that a loss has ended, and notes that a run of it
    /// has started. Returns the ticket of the run.
    pub(crate) fn revive(&mut self, number: u32, instance: Instance, bound: &[usize]) -> Ticket {
        let slot = &mut self.slots[number as usize];
        slot.instance = Some(instance);
        slot.bound = bound.to_vec();
        self.others += 1;
        slot.start(number)
    }

    /// Returns the tasks that wait for the ends of runs.
    pub(crate) fn sleepers(&self) -> Vec<Arc<Sleeper>> {
        let watched = self.watched.iter().flat_map(|&at| &self.slots[at as usize].on_end);
        let sleeper = |on_end: &OnEnd| match on_end {
            OnEnd::Wake(sleeper) => Some(Arc::clone(sleeper)),
            OnEnd::Call(_) => None,
        };
        watched.filter_map(sleeper).collect()
    }

    /// Frees the slot `number`, and returns its instance; `None` if the instance runs or there is
    /// none.
    pub(crate) fn release(&mut self, number: u32) -> Option<Instance> {
        let slot = &mut self.slots[number as usize];
        if slot.use_.is_running() {
            return None;
        }
        let instance = slot.instance.take()?;
        slot.schedule = None;
        self.free.push(number);
        Some(instance)
    }

    /// Returns the slots and instances that are not known to have ended.
    pub(crate) fn all_running(&self) -> impl Iterator<Item = (u32, &Instance)> {
        let numbered = (0..).zip(&self.slots).filter(|(_, slot)| slot.use_.is_running());
        numbered.filter_map(|(number, slot)| Some((number, slot.instance.as_ref()?)))
    }

    /// Returns false if no instance runs. Returns true if one may run, or if there are too many
    /// slots to look at.
    #[inline]
    pub(crate) fn may_run(&self) -> bool {
        const LOOKED_AT: usize = 16;
        self.slots.len() > LOOKED_AT || self.slots.iter().any(|slot| slot.use_.is_running())
    }

    /// Returns the schedules of instances that are not known to have ended.
    pub(crate) fn all_schedules(&self) -> impl Iterator<Item = &Arc<dyn Named>> {
        let running = self.slots.iter().filter(|slot| slot.use_.is_running());
        running.filter_map(|slot| slot.schedule.as_ref())
    }

    /// Frees the slots of all ended instances, and returns the instances.
    pub(crate) fn release_all(&mut self) -> Vec<Instance> {
        (0..self.slots.len() as u32).filter_map(|number| self.release(number)).collect()
    }

    /// Returns the slot of the next instance of the schedule, see [`Ring`](crate::rotation::Ring).
    #[inline]
    pub(crate) fn next(&self, number: u32) -> u32 {
        self.slots[number as usize].next
    }

    /// Sets the slot of the next instance of the schedule.
    pub(crate) fn set_next(&mut self, number: u32, next: u32) {
        self.slots[number as usize].next = next;
    }

    /// Returns the slot of a ticket.
    pub(crate) fn number(ticket: Ticket) -> u32 {
        ticket.slot
    }
}

impl Slot {
    #[inline(always)]
    fn is_linked(&self) -> bool {
        matches!(self.instance, Some(Instance::Linked(_)))
    }

    /// Notes that the next run of the instance has started, and returns its ticket. `number` is
    /// that of this slot.
    #[inline]
    fn start(&mut self, number: u32) -> Ticket {
        self.use_.set_running(true);
        Ticket { slot: number, run: self.runs.next() }
    }
}

/// A linked instance that has ended and can start again.
pub(crate) struct EndedLinked<'s> {
    number: u32,
    /// The instance.
    pub(crate) run: &'s mut Run,
    bound: &'s [usize],
    runs: &'s mut Numbers,
    use_: &'s mut Use,
}

impl EndedLinked<'_> {
    /// Returns true if the instance is bound to the buffers of a collective.
    #[inline(always)]
    pub(crate) fn is_bound_to(&self, in_place: bool, input: usize, output: usize) -> bool {
        match *self.bound {
            [bound] => in_place && bound == output,
            [first, second] => !in_place && first == input && second == output,
            _ => false,
        }
    }

    /// Notes that the instance has started again, and perhaps ended. Returns the ticket of the run.
    #[inline(always)]
    pub(crate) fn started(self, has_ended: bool) -> Ticket {
        if !has_ended {
            self.use_.set_running(true);
        }
        Ticket { slot: self.number, run: self.runs.next() }
    }
}

/// An instance that has ended and can start again.
pub(crate) struct Parked<'a> {
    number: u32,
    slot: &'a mut Slot,
    /// The number of running instances that are not linked.
    others: &'a mut u32,
}

impl Parked<'_> {
    /// Returns the engine's handle of the instance. This process must run the instance.
    #[inline]
    pub(crate) fn handle(&mut self) -> &mut Handle {
        match self.slot.instance.as_mut().expect("a schedule uses the slot") {
            Instance::Process(handle) => handle,
            Instance::Linked(_) | Instance::Kernel(_) | Instance::Gone => {
                unreachable!("no engine of ours runs it")
            }
        }
    }

    /// Returns the linked instance. The schedule must be linked.
    #[inline]
    pub(crate) fn linked(&mut self) -> &mut Run {
        match self.slot.instance.as_mut().expect("a schedule uses the slot") {
            Instance::Linked(run) => run,
            _ => unreachable!("the schedule is linked"),
        }
    }

    /// Returns true if the declared buffers of the instance are bound to `addresses`.
    #[inline]
    pub(crate) fn is_bound(&self, addresses: &[usize]) -> bool {
        // The code avoids `==`, which calls `memcmp`. With masked loads of AVX-512, glibc's
        // `memcmp` takes 100 ns for an empty slice, because the address of the slice is not mapped.
        let bound = &self.slot.bound;
        bound.len() == addresses.len() && bound.iter().zip(addresses).all(|(a, b)| a == b)
    }

    /// Notes that the declared buffers of the instance are bound to `addresses`.
    pub(crate) fn note_bound(&mut self, addresses: &[usize]) {
        self.slot.use_.note_bound();
        self.slot.bound.clear();
        self.slot.bound.extend_from_slice(addresses);
    }

    /// Notes that the instance runs again, and returns the ticket of the run.
    #[inline]
    pub(crate) fn restarted(self) -> Ticket {
        *self.others += u32::from(!self.slot.is_linked());
        self.slot.start(self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_stays_valid_when_numbers_wrap_around() {
        let runs = Numbers { last: u32::MAX - 1, ..Numbers::default() };
        let slot = Slot { runs, ..Slot::default() };
        let mut slots = Slots { slots: vec![slot], ..Slots::default() };
        let ended =
            |slots: &Slots, run| matches!(slots.known(Ticket { slot: 0, run }), Known::Ended);
        assert!(ended(&slots, u32::MAX - 1) && ended(&slots, 1) && !ended(&slots, u32::MAX));
        for last in [u32::MAX, 1, 2] {
            assert_eq!(slots.slots[0].runs.next(), last);
            assert!([1, 2, 1 << 31, u32::MAX].iter().all(|&run| ended(&slots, run)), "{last}");
        }
    }
}
