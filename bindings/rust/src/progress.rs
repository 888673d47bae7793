//! Defines [`RankCore`], the state behind the engine lock, also called the core: the rank's engine
//! and its runs. The functions of this module make progress, and note the ends of runs.

use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result, error_of};
use crate::links::Links;
use crate::offload::KernelPart;
use crate::recent::Recent;
use crate::rotation::Ring;
use crate::slots::{Due, Instance, Known, OnEnd, Slots, Ticket};
use crate::thread::IdleFunction;
use goal_engine::Cause;
use goal_kernel::CompletionEvents;
use goal_rank::progress::{Interrupted, Member};
use rustc_hash::FxHashSet;
use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

/// The looks in vain at all linked runs after one of several blocks has gone on. Peers answer soon.
const LOOKS_IN_VAIN: u32 = 64;
/// The most looks at all linked runs between two looks whether an awaited run has ended.
const LOOKS_AT_ALL: u32 = 256;

/// The name in reports for functions that test if a run has ended, and do not wait.
pub(crate) const TEST: &str = "test";

/// The cache of the collectives that are kept for later calls.
pub(crate) trait Kept: Any + Send {
    /// Removes and returns the collectives on communicators with these numbers.
    fn take_of(&mut self, communicators: &FxHashSet<u64>) -> Box<dyn Any + Send>;
}

/// The state behind the engine lock: the rank's engine with its transports, and its runs.
pub(crate) struct RankCore {
    /// The rank's member of the job; `None` once the group is finalized.
    pub(crate) member: Option<Member<'static>>,
    pub(crate) slots: Slots,
    /// The linked runs of this rank.
    pub(crate) links: Links,
    /// The linked schedules and collectives that were started lately.
    pub(crate) recent: Recent,
    /// True if nothing but linked runs can be under way, nobody else awaits their ends, and the job
    /// goes on. It is false while a thread holds the lock for a longer call, or waits for runs.
    pub(crate) is_plain: bool,
    /// The error that ended the job.
    pub(crate) failure: Option<Error>,
    /// The runs for which other threads sleep, while one thread waits with the engine lock.
    pub(crate) parked: Vec<Ticket>,
    /// The number of threads that sleep until one of the runs in `parked` has ended.
    pub(crate) sleepers: u32,
    /// The slots of schedules that were dropped while they ran.
    orphans: Vec<u32>,
    /// The functions for the ends of runs that must be called now, without the engine lock.
    pub(crate) due: Vec<Due>,
    /// The cache of the collectives that are kept for later calls. The drop of a collective takes
    /// the engine lock.
    pub(crate) kept: Option<Box<dyn Kept>>,
    /// The function that a waiting thread calls again and again.
    pub(crate) idle: Option<IdleFunction>,
    /// The number of times that the surviving ranks have regrouped after a loss.
    generation: u32,
    /// The completion events of runs in the kernel; `None` if the kernel runs no schedules.
    events: Option<Arc<CompletionEvents>>,
    /// The parts in the kernel with runs that may not have ended.
    parts: Vec<Arc<KernelPart>>,
}

impl RankCore {
    pub(crate) fn new(
        member: Member<'static>,
        links: Links,
        events: Option<Arc<CompletionEvents>>,
    ) -> Self {
        Self {
            member: Some(member),
            slots: Slots::default(),
            links,
            recent: Recent::default(),
            is_plain: false,
            failure: None,
            parked: Vec::new(),
            sleepers: 0,
            orphans: Vec::new(),
            due: Vec::new(),
            kept: None,
            idle: None,
            generation: 0,
            events,
            parts: Vec::new(),
        }
    }

    /// Returns the rank's member of the job; `None` once the group is finalized.
    pub(crate) fn member(&self) -> Option<&Member<'static>> {
        self.member.as_ref()
    }

    /// Returns the rank's member of the job, and the slots.
    ///
    /// # Errors
    /// The job has failed, or the group is finalized.
    #[inline]
    pub(crate) fn parts(&mut self) -> Result<(&mut Member<'static>, &mut Slots)> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        match &mut self.member {
            Some(member) => Ok((member, &mut self.slots)),
            None => Err(Error::new(ErrorCode::Finalized, "the group is finalized")),
        }
    }

    /// Gives up all runs, which a loss has ended early. Removes and returns the rank's member;
    /// `None` if it was removed before.
    pub(crate) fn abandon(&mut self) -> Option<Member<'static>> {
        if self.failure.is_none() {
            let error = self.met().unwrap_or_else(|| Error::new(ErrorCode::Lost, "a rank is lost"));
            self.give_up(&error);
        }
        if let Some(error) = &self.failure {
            self.slots.lose_all(error);
            self.links.forget();
        }
        self.member.take()
    }

    /// Returns the error of a run that a loss has ended early.
    #[cold]
    fn loss(&self, ticket: Ticket) -> Error {
        self.slots.loss(ticket).cloned().unwrap_or_else(no_run)
    }

    /// Goes on with a new member of the rank, in `generation` of the job.
    pub(crate) fn resume(&mut self, member: Member<'static>, generation: u32) {
        self.member = Some(member);
        self.failure = None;
        self.generation = generation;
    }

    /// Returns the number of times that the surviving ranks have regrouped after a loss.
    #[inline]
    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns true if collectives on a communicator may be linked: since it was made, the ranks
    /// have not regrouped. All its ranks get the same answer when they start a collective there.
    #[inline]
    pub(crate) fn links_on(&self, communicator: &Communicator) -> bool {
        communicator.generation() == self.generation
    }

    /// Returns the set of boards of a communicator; `None` if it has none.
    pub(crate) fn set_of(&mut self, communicator: &Communicator) -> Option<u8> {
        // A rank that has left the job must not write to the directory, which the launcher empties
        // after a loss.
        let has_part = self.member.is_some() && self.links_on(communicator);
        let ranks = has_part.then(|| communicator.all_in_group())?;
        self.links.set_of(communicator.id(), &ranks, communicator.rank())
    }

    /// Lets the rank's thread, if there is one, call `after_progress` after it has made progress.
    pub(crate) fn follow_thread(&self, after_progress: impl Fn() + Send + Sync + 'static) {
        if let Some(member) = &self.member {
            member.call_on_progress(after_progress);
        }
    }

    /// Removes and returns the rank's member. If the job is broken by a loss, gives up all runs;
    /// otherwise every run must have ended.
    pub(crate) fn leave(&mut self, is_broken: bool) -> Result<Member<'static>> {
        if is_broken && let Some(member) = self.abandon() {
            return Ok(member);
        }
        self.reap_all()?;
        let (member, slots) = self.parts()?;
        if slots.all_running().next().is_some() {
            let text = "a run has not ended: wait for it first (GOAL_Wait)";
            return Err(Error::new(ErrorCode::Busy, text));
        }
        for instance in slots.release_all() {
            if let Instance::Process(handle) = instance {
                member.finish(handle).map_err(|error| error_of(&error))?;
            }
        }
        self.links.leave_all();
        Ok(self.member.take().expect("it is there"))
    }

    /// Notes the end of the run in slot `number`, if it has ended. Returns true if the slot has no
    /// run in progress.
    #[inline]
    pub(crate) fn settle(&mut self, number: u32) -> Result<bool> {
        let (member, slots) = self.parts()?;
        match slots.running(number) {
            None => return Ok(true),
            Some(Instance::Process(handle)) => {
                if !member.has_ended(handle).map_err(|error| error_of(&error))? {
                    return Ok(false);
                }
            }
            Some(Instance::Linked(_)) => {
                if !self.poll_linked(number)? {
                    return Ok(false);
                }
                if self.slots.ended(number) {
                    self.tell_end(number);
                }
                return Ok(true);
            }
            Some(Instance::Kernel(part)) => {
                let part = Arc::clone(part);
                self.settle_part(&part)?;
                return Ok(self.slots.running(number).is_none());
            }
            Some(Instance::Gone) => return Ok(true),
        }
        self.note_end(number);
        Ok(true)
    }

    /// Notes that the run in slot `number` has ended, which this process runs.
    #[inline]
    fn note_end(&mut self, number: u32) {
        if let Some(member) = &self.member {
            member.note_end();
        }
        if self.slots.ended(number) {
            self.tell_end(number);
        }
    }

    /// Executes what can be executed of the linked run in slot `number`. Returns true if it has
    /// ended.
    #[inline]
    fn poll_linked(&mut self, number: u32) -> Result<bool> {
        let Some(run) = self.slots.linked(number) else { return Ok(true) };
        let polled = self.links.poll(run);
        let polled = polled.map_err(|mismatch| self.links.of_mismatch(&mismatch, run));
        if self.links.is_behind(run) {
            self.links.publish_all(self.slots.all_linked());
        }
        polled
    }

    /// Adds a part in the kernel, which is about to run, to the parts whose runs are looked at.
    pub(crate) fn follow_part(&mut self, part: &Arc<KernelPart>) {
        if !self.parts.iter().any(|known| Arc::ptr_eq(known, part)) {
            self.parts.push(Arc::clone(part));
        }
    }

    /// Notes the runs of a part in the kernel that have ended, and starts the next run in its
    /// queue.
    fn settle_part(&mut self, part: &KernelPart) -> Result<()> {
        let mut gone = None;
        loop {
            let member = &mut self.member;
            let mut call = |function, a: &mut [u8], b: &mut [u8]| {
                let unknown = Err(Cause::UnknownUserFunction(function));
                let Some(member) = member else { return unknown };
                member.call(function, a, b).unwrap_or_else(|interrupted| {
                    gone = Some(interrupted);
                    unknown
                })
            };
            let settled = part.settle(&mut call);
            if let Some(interrupted) = gone {
                return Err(error_of(&interrupted));
            }
            match settled? {
                Some(slot) if self.slots.ended(slot) => self.tell_end(slot),
                Some(_) => {}
                None => break,
            }
        }
        if part.is_idle() {
            self.parts.retain(|known| !std::ptr::eq(&**known, part));
        }
        Ok(())
    }

    /// Returns true if a rank that waits may wait for ever: no run in the kernel is in progress, or
    /// all runs there have been silent for long.
    pub(crate) fn may_wait_for_ever(events: Option<&Arc<CompletionEvents>>) -> bool {
        events.is_none_or(|events| events.is_idle() || events.is_silent())
    }

    /// Returns the completion events of runs in the kernel; `None` if the kernel runs no schedules.
    pub(crate) fn events(&self) -> Option<Arc<CompletionEvents>> {
        self.events.clone()
    }

    /// Moves the functions and tasks for the end of the run in slot `number` to `due`.
    #[cold]
    fn tell_end(&mut self, number: u32) {
        let told = self.slots.take_functions(number).into_iter().map(|on_end| Due(on_end, true));
        self.due.extend(told);
    }

    /// Notes the ends of all runs in the kernel, and of all runs whose end calls a function or
    /// wakes a task.
    #[inline]
    pub(crate) fn reap(&mut self) -> Result<()> {
        // The runs of a part end one after the other. So all ends of runs in the kernel are noted
        // before the watched runs are looked at.
        for at in (0..self.parts.len()).rev() {
            let part = Arc::clone(&self.parts[at]);
            self.settle_part(&part)?;
        }
        for at in (0..self.slots.watched.len()).rev() {
            if let Some(&number) = self.slots.watched.get(at) {
                self.settle(number)?;
            }
        }
        if !self.slots.watched.is_empty() {
            self.watch_by_thread();
        }
        Ok(())
    }

    /// Keeps the error that ended the job. No run goes on, and the functions for their ends become
    /// due. Returns false if there was such an error before.
    #[cold]
    pub(crate) fn give_up(&mut self, error: &Error) -> bool {
        if self.failure.is_some() {
            return false;
        }
        self.failure = Some(error.clone());
        // The caller may use the memory of its runs again, so the rank's thread must not use it any
        // more.
        if error.code() == ErrorCode::Lost
            && let Some(member) = &mut self.member
        {
            member.halt();
        }
        let told = self.slots.give_up().into_iter().map(|on_end| Due(on_end, false));
        self.due.extend(told);
        true
    }

    /// Makes a bounded amount of progress. Returns the error if that fails; `None` otherwise.
    #[cold]
    pub(crate) fn met(&mut self) -> Option<Error> {
        let Ok((member, _)) = self.parts() else { return None };
        member.advance().err().map(|error| error_of(&error))
    }

    /// Adds a function that is called at the end of a run. A run may have several, which are called
    /// one after the other.
    pub(crate) fn watch(&mut self, ticket: Ticket, on_end: OnEnd) -> Result<()> {
        if self.test(ticket)? {
            self.due.push(Due(on_end, true));
        } else {
            self.slots.watch(ticket, on_end);
            self.watch_by_thread();
        }
        Ok(())
    }

    /// Returns true if nothing but linked runs can be under way, nobody else awaits their ends, and
    /// the job goes on.
    #[inline]
    pub(crate) fn has_linked_runs_only(&self) -> bool {
        self.slots.are_all_linked()
            && self.slots.watched.is_empty()
            && self.parked.is_empty()
            && self.due.is_empty()
            && self.failure.is_none()
            && self.member.is_some()
    }

    /// Lets the thread of mode `thread` notice when linked runs can go on, if their ends call
    /// functions or wake tasks. The thread forgets each word that has come, so this is called after
    /// all progress.
    #[cold]
    fn watch_by_thread(&mut self) {
        let Self { member: Some(member), slots, links, .. } = self else { return };
        if slots.watched.is_empty() {
            return;
        }
        let awaited = links.awaited(slots.all_linked());
        if !awaited.is_empty() {
            member.watch_by_thread(awaited);
        }
    }

    /// Keeps the slots of a dropped schedule until their runs have ended.
    pub(crate) fn adopt(&mut self, slots: impl Iterator<Item = u32>) {
        self.orphans.extend(slots);
    }

    /// Frees the slots of dropped schedules whose runs have ended.
    pub(crate) fn release_orphans(&mut self) -> Result<()> {
        for at in (0..self.orphans.len()).rev() {
            if self.release(self.orphans[at])? {
                self.orphans.swap_remove(at);
            }
        }
        Ok(())
    }

    /// Frees the instance in slot `number`. Returns false, and frees nothing, if the instance runs.
    pub(crate) fn release(&mut self, number: u32) -> Result<bool> {
        if !self.settle(number)? {
            return Ok(false);
        }
        let (member, slots) = self.parts()?;
        if let Some(Instance::Process(handle)) = slots.release(number) {
            member.finish(handle).map_err(|error| error_of(&error))?;
        }
        Ok(true)
    }

    fn reap_all(&mut self) -> Result<()> {
        let running: Vec<u32> = self.slots.all_running().map(|(number, _)| number).collect();
        for number in running {
            self.settle(number)?;
        }
        Ok(())
    }

    /// Returns true if a run has ended. If it has not, makes a bounded amount of progress, and
    /// tests it again.
    #[inline]
    pub(crate) fn test(&mut self, ticket: Ticket) -> Result<bool> {
        Ok(self.has_ended(ticket)? || self.test_running(ticket)?)
    }

    /// Makes a bounded amount of progress, and returns true if the run has ended. The caller has
    /// just found that it had not.
    #[inline]
    pub(crate) fn test_running(&mut self, ticket: Ticket) -> Result<bool> {
        let number = Slots::number(ticket);
        let (member, slots) = self.parts()?;
        let tested = match slots.running(number) {
            Some(Instance::Process(handle)) => member.test(handle),
            // These runs need no engine, but other runs make progress as in every test.
            Some(Instance::Linked(_) | Instance::Kernel(_)) => {
                member.advance().inspect(|&worked| member.note_test(worked))
            }
            Some(Instance::Gone) | None => Ok(false),
        };
        tested.map_err(|interrupted| self.error_in(TEST, &interrupted))?;
        self.advance_linked()?;
        self.reap()?;
        self.settle(number)
    }

    /// Makes a bounded amount of progress.
    #[inline]
    pub(crate) fn progress(&mut self) -> Result<()> {
        let (member, _) = self.parts()?;
        let advanced = member.advance().map(|worked| member.note_test(worked));
        advanced.map_err(|interrupted| self.error_in(TEST, &interrupted))?;
        self.advance_linked()?;
        self.reap()
    }

    /// Makes progress of all linked runs.
    ///
    /// # Errors
    /// One of them can't go on. So this rank can't either, whatever it waits for.
    pub(crate) fn advance_linked(&mut self) -> Result<()> {
        if !self.links.has_open_runs() {
            return Ok(());
        }
        let advanced = self.links.advance(self.slots.all_linked());
        self.links.publish_all(self.slots.all_linked());
        advanced
    }

    /// Returns true if a run has ended. Makes no progress.
    #[inline]
    pub(crate) fn has_ended(&mut self, ticket: Ticket) -> Result<bool> {
        match self.slots.known(ticket) {
            Known::Never => Err(no_run()),
            Known::Ended => Ok(true),
            Known::Lost => Err(self.loss(ticket)),
            Known::Running => self.settle(Slots::number(ticket)),
        }
    }

    /// Returns the index in `tickets` of the first run that has ended; `None` if none has.
    #[inline]
    pub(crate) fn first_ended(&mut self, tickets: &[Ticket]) -> Result<Option<usize>> {
        for (at, &ticket) in tickets.iter().enumerate() {
            if self.has_ended(ticket)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Makes progress, and sleeps if there is nothing to do; calls `before_rest` before that.
    /// Returns when a run in `tickets`, a parked or a watched run has ended. Also returns when a
    /// completion event has come, or when `is_wanted` returns true. If there is a function for idle
    /// threads, does not sleep, and returns when it is due. If it returns because of a run in
    /// `tickets`, notes its end and returns its index. `None` means that the caller must look.
    pub(crate) fn work_until(
        &mut self,
        tickets: &[Ticket],
        is_wanted: impl Fn() -> bool,
        mut before_rest: impl FnMut(),
    ) -> std::result::Result<Option<usize>, Interrupted> {
        let Self { member: Some(member), slots, links, parked, events, idle, .. } = self else {
            return Ok(None);
        };
        let (parked, events, has_idle) = (&*parked, events.as_deref(), idle.is_some());
        // A run of several blocks that had to wait for long goes on fast afterwards, if no other
        // one has to go on meanwhile.
        let is_alone = links.has_one_relay() && !has_idle;
        if is_alone
            && let [ticket] = tickets
            && let Some(run) = slots.linked(Slots::number(*ticket))
            && run.is_long()
            && links.spin(run, u32::MAX, &is_wanted)
        {
            return Ok(None);
        }
        let runs = RefCell::new((slots, links));
        let (mut ended, mut has_rested) = (None, false);
        member.stay_awake(has_idle);
        let goes_on = |member: &mut Member<'static>| {
            let has_news = events.is_some_and(|events| events.is_due() || events.is_news());
            // A rest notices the end of the job, so there is one between two calls of the function.
            let is_due = std::mem::replace(&mut has_rested, true) && member.has_waited();
            if is_wanted() || has_news || has_idle && is_due {
                return Ok(false);
            }
            let (slots, links) = &mut *runs.borrow_mut();
            let mut looks = 0;
            for _ in 0..LOOKS_AT_ALL {
                if !links.has_open_runs() || looks >= LOOKS_IN_VAIN {
                    break;
                }
                links.has_moved = false;
                // The caller meets the error of a failed run again.
                if links.advance(slots.all_linked()).is_err() {
                    return Ok(false);
                }
                if links.owes_ends {
                    links.publish_all(slots.all_linked());
                }
                looks = if links.has_moved { 1 } else { looks + 1 };
                if looks == 1 {
                    // Either nothing had come, or more may come soon.
                    if !links.has_moved || is_wanted() {
                        break;
                    }
                    member.note_arrival();
                    if is_alone {
                        return Ok(false);
                    }
                }
            }
            let mut runs = |number: u32| {
                Ok::<_, Interrupted>(match slots.running(number) {
                    None | Some(Instance::Gone) => false,
                    Some(Instance::Process(handle)) => !member.has_ended(handle)?,
                    Some(Instance::Linked(run)) => !run.has_ended(),
                    Some(Instance::Kernel(_)) => true,
                })
            };
            for (at, &awaited) in tickets.iter().enumerate() {
                let number = Slots::number(awaited);
                if !runs(number)? {
                    let is_own = matches!(slots.running(number), Some(Instance::Process(_)));
                    ended = is_own.then_some(at);
                    if !is_own {
                        member.note_arrival();
                    }
                    return Ok(false);
                }
            }
            for &awaited in parked {
                if !runs(Slots::number(awaited))? {
                    return Ok(false);
                }
            }
            for &watched in &slots.watched {
                if !runs(watched)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let before_rest = |member: &mut Member<'static>| {
            let (slots, links) = &mut *runs.borrow_mut();
            // Words of a linked run that has ended would keep the rank from resting.
            member.unwatch();
            if links.has_open_runs() {
                links.publish_all(slots.all_linked());
                member.watch(links.awaited(slots.all_linked()));
            }
            before_rest();
        };
        let worked = member.wait_while(goes_on, before_rest);
        member.stay_awake(false);
        member.unwatch();
        worked?;
        if let Some(at) = ended {
            self.note_end(Slots::number(tickets[at]));
        }
        Ok(ended)
    }

    /// Returns the function that the waiting thread must call now, if any. Notes a test in vain for
    /// the launcher, which would otherwise take the thread for one that computes.
    pub(crate) fn due_idle(&self) -> Option<IdleFunction> {
        let idle = self.idle.as_ref()?;
        let member = self.member()?;
        if !member.has_waited() {
            return None;
        }
        member.note_test(false);
        Some(Arc::clone(idle))
    }

    /// Removes from `parked` the runs that have ended. Returns true if there was one.
    pub(crate) fn unpark_ended(&mut self) -> Result<bool> {
        let mut any = false;
        for at in (0..self.parked.len()).rev() {
            if self.has_ended(self.parked[at])? {
                self.parked.swap_remove(at);
                any = true;
            }
        }
        Ok(any)
    }
}

impl Ring for RankCore {
    #[inline]
    fn next(&self, slot: u32) -> u32 {
        self.slots.next(slot)
    }

    fn set_next(&mut self, slot: u32, next: u32) {
        self.slots.set_next(slot, next);
    }
}

/// Returns the error of a call whose ticket names no run.
#[cold]
pub(crate) fn no_run() -> Error {
    Error::new(ErrorCode::Handle, "the handle is not one that GOAL_Run returned")
}

/// Returns true if no schedule can go on after an error with this code.
pub(crate) fn is_fatal(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::Failed | ErrorCode::Stopped | ErrorCode::Stuck | ErrorCode::Lost)
}
