//! The state behind the engine lock, called the core: the rank's engine and its runs. The module
//! makes progress, and notes the ends of runs.

use crate::error::{Error, ErrorCode, Result, error_of};
use crate::offload::KernelPart;
use crate::slots::{Due, Instance, Known, OnEnd, Slots, Ticket};
use goal_engine::Cause;
use goal_kernel::CompletionEvents;
use goal_rank::progress::{Interrupted, Member};
use rustc_hash::FxHashSet;
use std::any::Any;
use std::sync::Arc;

/// Stands behind the reason in the error of a rank that waits when the job ends. In the launcher's
/// report the number of the rank stands for all of this.
const THIS_ONE: &str = "; this one ";

/// The name in reports of calls that look for the end of a run and do not wait.
pub(crate) const TEST: &str = "test";

/// The beginning of the text on a failed action without a name.
const ACTION: &str = "action at ";

/// Adds the name of the collective to the error of a failed action: of one that runs, or
/// `starting`. If several run, the text names all of them. Other errors stay as they are.
#[cold]
pub(crate) fn name_collectives(
    core: &RankCore,
    starting: Option<&'static str>,
    error: Error,
) -> Error {
    let text = error.to_string();
    if error.code() != ErrorCode::Failed || !text.starts_with(ACTION) {
        return error;
    }
    let running = core.slots.all_schedules();
    let running = running.filter_map(|schedule| schedule.collective());
    let mut names: Vec<&str> = running.chain(starting).collect();
    names.sort_unstable();
    names.dedup();
    match names.is_empty() {
        true => error,
        false => Error::new(error.code(), format!("{}: {text}", names.join(" or "))),
    }
}

/// Returns what a rank waits for, if its error is of [`RankCore::error_in`].
pub(crate) fn waits_for(text: &str) -> Option<&str> {
    let reasons = [Interrupted::Stuck, Interrupted::Late];
    let behind = |why: &Interrupted| text.strip_prefix(&why.to_string())?.strip_prefix(THIS_ONE);
    reasons.iter().find_map(behind)
}

/// The collectives that are kept for further calls.
pub(crate) trait Kept: Any + Send {
    /// Takes those out that are kept on communicators with these numbers.
    fn take_of(&mut self, communicators: &FxHashSet<u64>) -> Box<dyn Any + Send>;
}

/// The state behind the engine lock: the rank's engine with its transports, and its runs.
pub(crate) struct RankCore {
    /// `None` once the group is finalized.
    member: Option<Member<'static>>,
    pub(crate) slots: Slots,
    /// The error that ended the job.
    pub(crate) failure: Option<Error>,
    /// The runs that other threads wait for meanwhile.
    pub(crate) parked: Vec<Ticket>,
    /// The number of these threads.
    pub(crate) sleepers: u32,
    /// Slots of schedules that were dropped while they ran.
    orphans: Vec<u32>,
    /// Functions of runs that have ended, to be called without the lock.
    pub(crate) due: Vec<Due>,
    /// The collectives that are kept for further calls. Their drop takes the core's lock.
    pub(crate) kept: Option<Box<dyn Kept>>,
    /// The number of times that the ranks which are left have regrouped after a loss.
    generation: u32,
    /// The completion events of runs in the kernel, if it runs schedules.
    events: Option<Arc<CompletionEvents>>,
    /// The parts in the kernel with runs that have not ended, as far as is known.
    parts: Vec<Arc<KernelPart>>,
}

impl RankCore {
    pub(crate) fn new(member: Member<'static>, events: Option<Arc<CompletionEvents>>) -> Self {
        Self {
            member: Some(member),
            slots: Slots::default(),
            failure: None,
            parked: Vec::new(),
            sleepers: 0,
            orphans: Vec::new(),
            due: Vec::new(),
            kept: None,
            generation: 0,
            events,
            parts: Vec::new(),
        }
    }

    /// Returns the rank's end of the job and the slots.
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

    /// Gives up all runs, which a loss has ended early, and takes the rank's end out.
    pub(crate) fn abandon(&mut self) -> Option<Member<'static>> {
        if self.failure.is_none() {
            let error = self.met().unwrap_or_else(|| Error::new(ErrorCode::Lost, "a rank is lost"));
            self.give_up(&error);
        }
        if let Some(error) = &self.failure {
            self.slots.lose_all(error);
        }
        self.member.take()
    }

    /// Returns the error of a run that a loss has ended early.
    #[cold]
    fn loss(&self, ticket: Ticket) -> Error {
        self.slots.loss(ticket).cloned().unwrap_or_else(no_run)
    }

    /// Goes on with a new end of the rank, in a generation of the job.
    pub(crate) fn resume(&mut self, member: Member<'static>, generation: u32) {
        self.member = Some(member);
        self.failure = None;
        self.generation = generation;
    }

    /// The number of times that the ranks which are left have regrouped after a loss.
    #[inline]
    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// Lets the rank's thread, if it has one, call the functions of runs that end.
    pub(crate) fn follow_thread(&self, after_progress: impl Fn() + Send + Sync + 'static) {
        if let Some(member) = &self.member {
            member.call_on_progress(after_progress);
        }
    }

    /// Takes the rank's end out, if no instance runs.
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
        Ok(self.member.take().expect("it is there"))
    }

    /// Notes that a run has ended if it has. Returns true if so.
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
            Some(Instance::Kernel(part)) => {
                let part = Arc::clone(part);
                self.settle_part(&part)?;
                return Ok(self.slots.running(number).is_none());
            }
            Some(Instance::Gone) => return Ok(true),
        }
        member.note_end();
        if slots.ended(number) {
            self.tell_end(number);
        }
        Ok(true)
    }

    /// Notes that a part in the kernel is about to run.
    pub(crate) fn follow_part(&mut self, part: &Arc<KernelPart>) {
        if !self.parts.iter().any(|known| Arc::ptr_eq(known, part)) {
            self.parts.push(Arc::clone(part));
        }
    }

    /// Notes which runs of a part in the kernel have ended, and starts the next one.
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

    /// Returns true if a rank that waits may wait for ever. This is so if no run in the kernel is
    /// in progress, or if these runs have been silent for long.
    pub(crate) fn may_wait_for_ever(events: Option<&Arc<CompletionEvents>>) -> bool {
        events.is_none_or(|events| events.is_idle() || events.is_silent())
    }

    /// The completion events of runs in the kernel.
    pub(crate) fn events(&self) -> Option<Arc<CompletionEvents>> {
        self.events.clone()
    }

    /// Makes the functions of an ended run due.
    #[cold]
    fn tell_end(&mut self, number: u32) {
        let told = self.slots.take_functions(number).into_iter().map(|on_end| Due(on_end, true));
        self.due.extend(told);
    }

    /// Notes the ends of all watched runs, and of all runs in the kernel.
    #[inline]
    pub(crate) fn reap(&mut self) -> Result<()> {
        // Runs of a part end one after the other, so all of them before the others are looked at.
        for at in (0..self.parts.len()).rev() {
            let part = Arc::clone(&self.parts[at]);
            self.settle_part(&part)?;
        }
        for at in (0..self.slots.watched.len()).rev() {
            if let Some(&number) = self.slots.watched.get(at) {
                self.settle(number)?;
            }
        }
        Ok(())
    }

    /// Keeps the error that ended the job: no run goes on. Returns false if there was one before.
    #[cold]
    pub(crate) fn give_up(&mut self, error: &Error) -> bool {
        if self.failure.is_some() {
            return false;
        }
        self.failure = Some(error.clone());
        // The caller may use the memory of its runs again, so the rank's thread must not.
        if error.code() == ErrorCode::Lost
            && let Some(member) = &mut self.member
        {
            member.halt();
        }
        let told = self.slots.give_up().into_iter().map(|on_end| Due(on_end, false));
        self.due.extend(told);
        true
    }

    /// Returns the error that the rank's end has met, if it has.
    #[cold]
    pub(crate) fn met(&mut self) -> Option<Error> {
        let Ok((member, _)) = self.parts() else { return None };
        member.advance().err().map(|error| error_of(&error))
    }

    /// Sets the function that is called at the end of a run; several are called one after the
    /// other.
    pub(crate) fn watch(&mut self, ticket: Ticket, on_end: OnEnd) -> Result<()> {
        if self.test(ticket)? {
            self.due.push(Due(on_end, true));
        } else {
            self.slots.watch(ticket, on_end);
        }
        Ok(())
    }

    /// Keeps slots that run and belong to no schedule any more, until they have ended.
    pub(crate) fn adopt(&mut self, slots: impl Iterator<Item = u32>) {
        self.orphans.extend(slots);
    }

    /// Frees the slots of dropped schedules that have ended.
    pub(crate) fn release_orphans(&mut self) -> Result<()> {
        for at in (0..self.orphans.len()).rev() {
            if self.release(self.orphans[at])? {
                self.orphans.swap_remove(at);
            }
        }
        Ok(())
    }

    /// Frees the instance of a slot. Returns false if it runs.
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

    /// Returns true if a run has ended, after a bounded amount of progress if it has not.
    #[inline]
    pub(crate) fn test(&mut self, ticket: Ticket) -> Result<bool> {
        Ok(self.has_ended(ticket)? || self.test_running(ticket)?)
    }

    /// Returns true if a run has ended that had not just now, after a bounded amount of progress.
    #[inline]
    pub(crate) fn test_running(&mut self, ticket: Ticket) -> Result<bool> {
        let number = Slots::number(ticket);
        let (member, slots) = self.parts()?;
        let tested = match slots.running(number) {
            Some(Instance::Process(handle)) => member.test(handle),
            // Runs of the process make progress as in every test.
            Some(Instance::Kernel(_)) => {
                member.advance().inspect(|&worked| member.note_test(worked))
            }
            Some(Instance::Gone) | None => Ok(false),
        };
        tested.map_err(|interrupted| self.error_in(TEST, &interrupted))?;
        self.reap()?;
        self.settle(number)
    }

    /// Makes a bounded amount of progress.
    #[inline]
    pub(crate) fn progress(&mut self) -> Result<()> {
        let (member, _) = self.parts()?;
        let advanced = member.advance().map(|worked| member.note_test(worked));
        advanced.map_err(|interrupted| self.error_in(TEST, &interrupted))?;
        self.reap()
    }

    /// Returns true if a run has ended, without making progress.
    #[inline]
    pub(crate) fn has_ended(&mut self, ticket: Ticket) -> Result<bool> {
        match self.slots.known(ticket) {
            Known::Never => Err(no_run()),
            Known::Ended => Ok(true),
            Known::Lost => Err(self.loss(ticket)),
            Known::Running => self.settle(Slots::number(ticket)),
        }
    }

    /// Returns the error of a call that waits and was interrupted.
    #[cold]
    pub(crate) fn error_in(&mut self, call: &str, why: &Interrupted) -> Error {
        match why {
            Interrupted::Stuck | Interrupted::Late => {
                let text = format!("{why}{THIS_ONE}{}", self.describe_waiting(call));
                Error::new(error_of(why).code(), text)
            }
            other => error_of(other),
        }
    }

    /// Says what this rank waits for: its call, and the actions of each run that have started.
    #[cold]
    pub(crate) fn describe_waiting(&mut self, call: &str) -> String {
        const ACTIONS_MAX: usize = 8;
        let mut text = format!("waits in {call}");
        let RankCore { member: Some(member), slots, .. } = self else { return text };
        let mut lines = Vec::new();
        for (_, instance) in slots.all_running() {
            match instance {
                Instance::Process(handle) => {
                    let actions = member.underway(handle).into_iter().flatten();
                    lines.extend(actions.map(|action| action.to_string()));
                }
                Instance::Kernel(part) => lines.extend(part.waits()),
                Instance::Gone => {}
            }
        }
        let more = lines.len().saturating_sub(ACTIONS_MAX);
        lines.truncate(ACTIONS_MAX);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        if !lines.is_empty() {
            text.push_str(": ");
            text.push_str(&lines.join("; "));
        }
        text
    }

    /// Returns the place of the first run that has ended.
    #[inline]
    pub(crate) fn first_ended(&mut self, tickets: &[Ticket]) -> Result<Option<usize>> {
        for (at, &ticket) in tickets.iter().enumerate() {
            if self.has_ended(ticket)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Makes progress, and sleeps if there is nothing to do, until one of the runs, or one that
    /// others wait for, has ended, or `is_wanted` returns true.
    pub(crate) fn work_until(
        &mut self,
        tickets: &[Ticket],
        is_wanted: impl Fn() -> bool,
    ) -> std::result::Result<(), Interrupted> {
        let Self { member: Some(member), slots, parked, events, .. } = self else { return Ok(()) };
        let (slots, parked, events) = (&*slots, &*parked, events.as_deref());
        member.wait_while(|member| {
            if is_wanted() || events.is_some_and(|events| events.is_due() || events.is_news()) {
                return Ok(false);
            }
            let mut runs = |instance: Option<&Instance>| {
                Ok::<_, Interrupted>(match instance {
                    None => false,
                    Some(Instance::Process(handle)) => !member.has_ended(handle)?,
                    Some(Instance::Kernel(_)) => true,
                    Some(Instance::Gone) => false,
                })
            };
            for &awaited in tickets.iter().chain(parked) {
                if !runs(slots.running(Slots::number(awaited)))? {
                    return Ok(false);
                }
            }
            for &watched in &slots.watched {
                if !runs(slots.running(watched))? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Forgets the runs that others wait for and that have ended. Returns true if there was one.
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

/// Returns the error of a call that names no run.
#[cold]
pub(crate) fn no_run() -> Error {
    Error::new(ErrorCode::Handle, "the handle is not one that GOAL_Run returned")
}

/// Returns true if no schedule can go on after an error.
pub(crate) fn is_fatal(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::Failed | ErrorCode::Stopped | ErrorCode::Stuck | ErrorCode::Lost)
}
