//! Makes the processes of a program the ranks of a job. Each starts schedules of its own at run
//! time.
//!
//! `goal-run -n 4 ./program` starts the processes, and each calls [`attach`]. The job has a
//! schedule without actions. The memory of this schedule is the heap from which ranks allocate
//! ([`Attached::heap`]). So layouts, settings and the agreement between hosts treat a program as
//! any other job.
//!
//! **From the start to the end.** [`attach`] returns when all ranks have attached.
//! [`Attached::member`] then gives the rank its [`Member`]. With it the rank starts schedules,
//! waits for them and finishes them. [`Attached::finalize`] returns when all ranks have called it.
//! Afterwards the program may go on for as long as it likes. A rank that ends earlier ends the job,
//! and an error names it.
//!
//! **Waiting.** A rank may compute for an hour, so a launcher must not take it for stuck. A rank
//! tells its launcher when it begins to wait in a call and when it stops: [`Attached::waits`],
//! [`Attached::computes`]. The job is stuck if every rank waits, has no thread outside of a call,
//! and nothing is under way. Calls of [`Member`] then return [`Interrupted::Stuck`]. Each rank
//! leaves a text that says what it waits for ([`Attached::fail`], [`Member::underway`]), and the
//! launcher shows it. A rank may have another thread, which may still act. If nothing moves for a
//! while in this case, the launcher asks for these texts ([`Attached::asks_text`]) and shows them.
//! The job goes on.
//!
//! ```no_run
//! use goal_engine::{Schedule, Storage, WORLD};
//! use goal_rank::program::attach;
//! # fn compile(_: u32, ranks: u32) -> std::sync::Arc<goal_asm::Nisa> {
//! #     goal_rank::program::skeleton(ranks, 64)
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let attached = attach()?;
//! let mut member = attached.member()?;
//! let nisa = compile(attached.rank(), attached.size());
//! let schedule = Schedule::new(nisa, attached.rank(), attached.job().seed()).into();
//! let handle = member.start_in(&schedule, WORLD, Storage::new(&schedule))?;
//! attached.waits("wait", 1);
//! member.wait(&handle)?;
//! attached.computes();
//! let storage = member.finish(handle)?;
//! println!("rank {} has {:?}", attached.rank(), storage.memory());
//! attached.finalize(member)?;
//! # Ok(())
//! # }
//! ```
//!
//! Threat: a user forges a bootstrap record and starts a program with it. The program is the
//! user's, and runs with the user's rights. The record is checked as far as it can be. If the
//! program's file gave it rights that its starter lacks, [`attach`] refuses. Otherwise the record
//! could direct a process that may do more than the user.
//!
//! A process that forks after it has attached shares the segment with its child. The child must not
//! use this crate.
//!
//! Threat: a process that a rank starts inherits the rank's bootstrap record. The descriptors are
//! closed in programs that a process executes after it has attached, and a rank is claimed in the
//! segment once. So no second process becomes the same rank.
#![allow(unsafe_code)] // the heap of a rank, claimed by its process

mod attach;
mod error;
mod growth;
mod regroup;
mod skeleton;

pub use attach::attach;
pub use error::{AttachError, FinalizeError};
pub use goal_job::threads::{LibraryThread, is_of_library, sleep, within_program};
pub use skeleton::{HEAP_BYTES, heap_bytes, skeleton};

use crate::progress::{Interrupted, Member, StartError, member_over};
use goal_asm::Nisa;
use goal_engine::memory::Region;
use goal_engine::{Failure, Waiting, within};
use goal_eth::now_ns;
use goal_job::network::Network;
use goal_job::threads::others;
use goal_job::{Job, Mode, Origin};
use goal_kernel::Tables;
use goal_tcp::Listener;
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// This process as a rank of its job. The job's segment, schedule and settings live until the
/// process ends.
pub struct Attached {
    job: Job<'static>,
    rank: u32,
    /// The rank's first member of the job, until [`Attached::member`] returns it.
    member: Mutex<Option<Member<'static>>>,
    /// The rank's tables in the kernel, until [`Attached::tables`] returns them.
    tables: Mutex<Option<Tables>>,
    /// The listener of TCP for the rank's next member, if the job goes on after the loss of a rank.
    spare: Option<Listener>,
    /// The values that are dropped when the rank ends its part in the job, in the order of the
    /// calls of [`Attached::keep`].
    guests: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl Attached {
    /// Returns the number of this rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the number of ranks that the job started with.
    pub fn size(&self) -> u32 {
        self.job.segment.num_started()
    }

    /// Returns the job.
    pub fn job(&self) -> Job<'static> {
        self.job
    }

    /// Returns the rank's area of the memory that the ranks of its host share. Peers read payloads
    /// there in place. The area is zeros at first, and each of its pages takes memory when it is
    /// first written.
    pub fn heap(&self) -> Region {
        // SAFETY: the segment is never dropped. `attach` succeeds once in a process and once for a
        // rank, and no schedule of this crate uses the memory of a job of programs.
        unsafe { self.job.segment.region(&self.job.segment.rank(self.rank).memory) }
    }

    /// Returns true if `rank` is on this host.
    pub fn is_here(&self, rank: u32) -> bool {
        self.job.settings.is_here(rank)
    }

    /// Returns the number of the host of each rank, by rank; `None` if all ranks are on this host.
    /// Hosts are numbered from 0 on in the order of their first ranks, so all ranks get the same
    /// numbers.
    pub fn hosts(&self) -> Option<Vec<u32>> {
        self.job.settings.network.as_ref().map(Network::hosts)
    }

    /// Returns true if short collectives run without the engine. All ranks get the same answer.
    pub fn links_programs(&self) -> bool {
        self.why_unlinked().is_none()
    }

    /// Returns what keeps collectives in the engine, as a sentence about the job; `None` if short
    /// ones need no engine. All ranks get the same answer.
    pub fn why_unlinked(&self) -> Option<&'static str> {
        let settings = &self.job.settings;
        match settings.network {
            Some(_) => Some("it has several hosts"),
            None if settings.spec.unlinked => Some("it was started with --no-links"),
            None if settings.trace_events > 0 => Some("it records a trace"),
            None => None,
        }
    }

    /// Returns the mode of progress: how schedules go on while their ranks compute.
    pub fn progress(&self) -> Mode {
        self.job.settings.spec.progress
    }

    /// Returns the rank's member of the job. A rank has one member at a time and, in a job on
    /// several hosts, only one in all. In mode `thread` the member's thread ends when the member is
    /// dropped.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn member(&self) -> Result<Member<'static>, StartError> {
        let first = self.member.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.map_or_else(|| member_over(self.job, self.rank, None), Ok)
    }

    /// Returns the tables in which the rank can install schedules that the kernel then runs. Later
    /// calls return `None`. So do all calls if the kernels of the job's hosts run no schedules.
    /// Either all ranks of a job have tables, or none has.
    pub fn tables(&self) -> Option<Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the reason why processes run schedules that the kernels were asked to run. Returns
    /// `None` if the kernels run schedules, or were not asked to.
    pub fn not_in_kernel(&self) -> Option<&'static str> {
        self.job.settings.not_in_kernel.as_deref()
    }

    /// States that this process waits in the library's function `call`, with `threads` threads in
    /// functions of the library. Costs a few stores.
    #[inline]
    pub fn waits(&self, call: &str, threads: u32) {
        self.job.segment.status(self.rank).process_state.wait_in(call, threads);
    }

    /// Returns true from the time when the launcher asks what this rank waits for until
    /// [`Attached::tell_waits`] answers.
    #[inline]
    pub fn asks_text(&self) -> bool {
        let segment = self.job.segment;
        segment.start_barrier().text_question() != segment.status(self.rank).process_state.told()
    }

    /// Tells the launcher by `text` what this rank waits for, with `threads` threads in functions
    /// of the library. One thread at a time calls this.
    #[cold]
    pub fn tell_waits(&self, text: &str, threads: u32) {
        let segment = self.job.segment;
        let status = segment.status(self.rank);
        status.process_state.answer(status.epoch(), others(threads));
        segment.tell_waits(self.rank, segment.start_barrier().text_question(), text);
    }

    /// States that this process is in the library's function `call`, and that its runs go on
    /// without it in the kernel. Costs a few stores.
    #[inline]
    pub fn stays(&self, call: &str) {
        self.job.segment.status(self.rank).process_state.stay_in(call);
    }

    /// States that this process does not wait in a function of the library any more. Costs one
    /// store.
    #[inline]
    pub fn computes(&self) {
        self.job.segment.status(self.rank).process_state.compute();
    }

    /// Returns true if the job has been stopped, or if this rank has failed.
    pub fn is_over(&self) -> bool {
        let segment = self.job.segment;
        segment.start_barrier().is_stopped()
            || segment.status(self.rank).state() == goal_shm::State::Failed
    }

    /// Wakes the thread of this process that sleeps in a call of the rank's member, if there is
    /// one.
    pub fn wake(&self) {
        self.job.segment.mailbox(self.rank).wake();
    }

    /// Returns the counter of how often this rank has started `collective` by `algorithm`, for the
    /// reports of the launcher. `block` is the size of a block in bytes; `None` if blocks differ in
    /// size. Names longer than 24 bytes are cut. If a rank needs too many counters, several starts
    /// share one.
    pub fn starts_of(
        &self,
        collective: &str,
        algorithm: &str,
        block: Option<u64>,
    ) -> &'static AtomicU64 {
        // One thread at a time adds an entry.
        let _alone = self.member.lock().unwrap_or_else(PoisonError::into_inner);
        self.job.segment.starts_of(self.rank, collective, algorithm, block)
    }

    /// Records a failure of this rank. The launcher reports `text`, and soon afterwards ends the
    /// job and this process. After [`Interrupted::Stuck`] and [`Interrupted::Late`] the text is the
    /// rank's part of the report. If a rank records several texts, the first one counts. A text
    /// that names no rank should begin with this rank.
    pub fn fail(&self, text: &str) {
        self.job.segment.fail(self.rank, text);
    }

    /// Returns the text of the failure that ended the job; `None` if no rank of this host has
    /// failed. The failure of this rank comes first, then failures of other ranks on this host.
    pub fn failure(&self) -> Option<String> {
        let (segment, own) = (self.job.segment, self.rank);
        let others = 0..segment.num_members();
        std::iter::once(own).chain(others).find_map(|rank| segment.failure_of_failed(rank))
    }

    /// Records the failure of an action as [`Attached::fail`] does. The text names the action,
    /// which belongs to a schedule in `nisa`.
    pub fn fail_action(&self, nisa: &Nisa, failure: &Failure) {
        self.job.fail_in(nisa, self.rank, failure);
    }

    /// Returns true if this process has a launcher. Otherwise the process is a group of one.
    pub fn has_launcher(&self) -> bool {
        self.job.settings.origin == Origin::Program
    }

    /// Keeps `guest`, and drops it when the rank has ended its part in the job.
    pub fn keep(&self, guest: Box<dyn Any + Send>) {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner).push(guest);
    }

    /// Ends the rank's part in the job, and waits until all ranks have called this function. Until
    /// then the rank still takes messages. All instances must be finished before.
    ///
    /// # Errors
    /// [`FinalizeError`].
    pub fn finalize(&self, mut member: Member<'static>) -> Result<(), FinalizeError> {
        // Schedules that a loss has ended early need not be finished.
        if !self.is_broken() && member.is_in_use() == Some(true) {
            return Err(FinalizeError::Unfinished);
        }
        let segment = self.job.segment;
        let status = segment.status(self.rank);
        status.process_state.finalize();
        if !status.process_state.waits() {
            self.waits("finalize", 1);
        }
        let ended = within(|| self.take_leave(&mut member)).unwrap_or_else(|used| Err(used.into()));
        // Rank processes are stopped when all have come here, or else are killed.
        let start_barrier = segment.start_barrier();
        if start_barrier.has_ended() && !start_barrier.is_stuck() && !start_barrier.is_late() {
            self.computes();
            self.drop_guests();
            return Ok(());
        }
        Ok(ended?)
    }

    /// Drops the values that [`Attached::keep`] has kept.
    fn drop_guests(&self) {
        let guests =
            std::mem::take(&mut *self.guests.lock().unwrap_or_else(PoisonError::into_inner));
        guests.into_iter().for_each(drop);
    }

    /// Makes progress for this rank and others until all ranks have called [`Attached::finalize`],
    /// or until the loss of a rank breaks the job.
    fn take_leave(&self, member: &mut Member<'static>) -> Result<(), Interrupted> {
        let segment = self.job.segment;
        member.reclaim();
        loop {
            match self.serve(member) {
                // So far only this rank suspects the lost rank. The launcher decides if the rank is
                // lost.
                Err(Interrupted::Lost(_)) if self.survives() => {
                    self.await_verdict();
                }
                served => served?,
            }
            if segment.start_barrier().is_broken() {
                // Every schedule has ended, so no rank needs this one any more.
                if !segment.status(self.rank).has_finished() {
                    self.count_finished();
                }
                self.sit_out();
            }
            if segment.start_barrier().is_stopped() || self.job.settings.origin == Origin::Alone {
                return Ok(());
            }
        }
    }

    /// Makes progress for this rank and others until the launcher stops the job. In a group of one
    /// it returns when no message is under way.
    fn serve(&self, member: &mut Member<'static>) -> Result<(), Interrupted> {
        let Job { segment, settings, .. } = self.job;
        let status = segment.status(self.rank);
        while !segment.start_barrier().is_stopped() {
            let progress = member.step()?;
            if progress.worked {
                continue;
            }
            // Other ranks do not wait for a rank that nobody has accepted.
            let counts = || status.member_state.is_member();
            if !status.has_finished() && progress.waiting == Waiting::Nothing && counts() {
                self.publish(member);
                self.count_finished();
            }
            if status.has_finished() && settings.origin == Origin::Alone {
                return Ok(());
            }
            member.rest(progress.waiting)?;
        }
        Ok(())
    }

    /// Counts this rank as finished.
    fn count_finished(&self) {
        let Job { segment, settings, .. } = self.job;
        segment.status(self.rank).finish();
        segment.start_barrier().finish(settings.num_here(segment.num_members()));
    }

    /// Publishes the rank's counts of messages and bytes, and its end time, for the launcher.
    fn publish(&self, member: &mut Member<'static>) {
        let status = self.job.segment.status(self.rank);
        if let Some(stats) = member.with(|engine| *engine.stats()) {
            status.messages.store(stats.messages, Ordering::Relaxed);
            status.bytes.store(stats.bytes, Ordering::Relaxed);
            status.verified_bytes.store(stats.verified_bytes, Ordering::Relaxed);
        }
        status.ended_ns.store(now_ns(), Ordering::Relaxed);
        member.publish_counts();
    }
}
