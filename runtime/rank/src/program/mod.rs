//! Makes the processes of a program the ranks of a job. Each starts schedules of its own at run
//! time.
//!
//! `goal-run -n 4 ./program` starts the processes, and each calls [`attach`]. The job has a
//! schedule without actions, whose memory is what ranks allocate from ([`Attached::heap`]). So a
//! program is a job like any other for layouts, settings and agreement between hosts.
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
//! leaves a text on its wait ([`Attached::fail`], [`Member::underway`]), which the launcher shows.
//! If a rank has another thread, that may still act. If then nothing moves for a while, the
//! launcher asks for these texts ([`Attached::asks_text`]) and shows them, and the job goes on.
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
//! program's file gave it rights that its starter lacks, [`attach`] refuses. The record could then
//! direct a process that may do more than the user.
//!
//! A process that forks after it has attached shares the segment with its child, in which this
//! crate must not be used.
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

/// This process as a rank of its job. What it refers to lives until the process ends.
pub struct Attached {
    job: Job<'static>,
    rank: u32,
    /// The rank's member of the job, until it is taken.
    member: Mutex<Option<Member<'static>>>,
    /// The tables in the kernel, until they are taken.
    tables: Mutex<Option<Tables>>,
    /// The listener for the rank's next member, if the job goes on after a loss.
    spare: Option<Listener>,
    /// The values that end with the rank's part, in their order.
    guests: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl Attached {
    /// Returns the rank.
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
    /// there in place. It is zeros at first, and a page takes memory when it is first written.
    pub fn heap(&self) -> Region {
        // SAFETY: the segment is never dropped. `attach` succeeds once in a process and once for a
        // rank, and no schedule of this crate uses the memory of a job of programs.
        unsafe { self.job.segment.region(&self.job.segment.rank(self.rank).memory) }
    }

    /// Returns true if a rank is on this host.
    pub fn is_here(&self, rank: u32) -> bool {
        self.job.settings.is_here(rank)
    }

    /// Returns a number for the host of each rank, the same on all of them, from 0 on in the order
    /// of their first ranks; `None` if all ranks are on this host.
    pub fn hosts(&self) -> Option<Vec<u32>> {
        self.job.settings.network.as_ref().map(Network::hosts)
    }

    /// Returns how schedules make progress while their ranks compute.
    pub fn progress(&self) -> Mode {
        self.job.settings.spec.progress
    }

    /// Returns the rank's member of the job. There is one at a time and, in a job on several hosts,
    /// one in all. In mode `thread` its thread ends when it is dropped.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn member(&self) -> Result<Member<'static>, StartError> {
        let first = self.member.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.map_or_else(|| member_over(self.job, self.rank, None), Ok)
    }

    /// Returns the tables in which the rank can install schedules that the kernel then runs. Only
    /// the first call returns them; `None` if the kernels of the job's hosts run no schedules. All
    /// ranks of a job have tables, or none has.
    pub fn tables(&self) -> Option<Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the reason why processes run schedules that the kernels were asked to run; `None` if
    /// these run some, or were not asked.
    pub fn not_in_kernel(&self) -> Option<&'static str> {
        self.job.settings.not_in_kernel.as_deref()
    }

    /// States that this process waits in a call of this name, with `threads` threads in calls of
    /// the library. Costs a few stores.
    #[inline]
    pub fn waits(&self, call: &str, threads: u32) {
        self.job.segment.status(self.rank).process_state.wait_in(call, threads);
    }

    /// Returns true if the launcher asks what this rank waits for, until [`Attached::tell_waits`].
    #[inline]
    pub fn asks_text(&self) -> bool {
        let segment = self.job.segment;
        segment.start_barrier().text_question() != segment.status(self.rank).process_state.told()
    }

    /// Tells the launcher what this rank waits for, with `threads` threads in calls of the library.
    /// One thread at a time calls this.
    #[cold]
    pub fn tell_waits(&self, text: &str, threads: u32) {
        let segment = self.job.segment;
        let status = segment.status(self.rank);
        status.process_state.answer(status.epoch(), others(threads));
        segment.tell_waits(self.rank, segment.start_barrier().text_question(), text);
    }

    /// States that this process is in a call of this name, and that its runs go on by themselves in
    /// the kernel. Costs a few stores.
    #[inline]
    pub fn stays(&self, call: &str) {
        self.job.segment.status(self.rank).process_state.stay_in(call);
    }

    /// States that this process does not wait in a call any more. Costs a store.
    #[inline]
    pub fn computes(&self) {
        self.job.segment.status(self.rank).process_state.compute();
    }

    /// Returns true if the job has ended, or can't go on because of this rank.
    pub fn is_over(&self) -> bool {
        let segment = self.job.segment;
        segment.start_barrier().is_stopped()
            || segment.status(self.rank).state() == goal_shm::State::Failed
    }

    /// Ends a sleep of the thread of this process that waits with the rank's member.
    pub fn wake(&self) {
        self.job.segment.mailbox(self.rank).wake();
    }

    /// Returns the counter of this rank's starts of a collective by an algorithm, for the reports
    /// of the launcher; `block` is the bytes of a block if all are equal. Names longer than 24
    /// bytes are cut. If there are too many different ones, several have the same counter.
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

    /// Records a failure, which the launcher reports. It ends the job soon afterwards, and this
    /// process with it. After [`Interrupted::Stuck`] and [`Interrupted::Late`] the text is the
    /// rank's part of the report. Of several texts of a rank the first one counts. One without a
    /// rank should begin with it.
    pub fn fail(&self, text: &str) {
        self.job.segment.fail(self.rank, text);
    }

    /// Returns the text on the failure that ended the job. That of this rank comes first, and then
    /// those of other ranks on this host.
    pub fn failure(&self) -> Option<String> {
        let (segment, own) = (self.job.segment, self.rank);
        let others = 0..segment.num_members();
        std::iter::once(own).chain(others).find_map(|rank| segment.failure_of_failed(rank))
    }

    /// Records the failure of an action of a schedule from `nisa` as [`Attached::fail`] does, with
    /// the name of the action.
    pub fn fail_action(&self, nisa: &Nisa, failure: &Failure) {
        self.job.fail_in(nisa, self.rank, failure);
    }

    /// Returns true if this process has a launcher. Otherwise it is a group of one.
    pub fn has_launcher(&self) -> bool {
        self.job.settings.origin == Origin::Program
    }

    /// Keeps a value until the rank has ended its part in the job.
    pub fn keep(&self, guest: Box<dyn Any + Send>) {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner).push(guest);
    }

    /// Ends the rank's part in the job, and waits until all ranks have called this. Until then the
    /// rank still takes messages. All instances must be finished.
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

    /// Drops the values that end with the rank's part.
    fn drop_guests(&self) {
        let guests =
            std::mem::take(&mut *self.guests.lock().unwrap_or_else(PoisonError::into_inner));
        guests.into_iter().for_each(drop);
    }

    /// Serves other ranks until all have come to their end, or until a loss breaks the job.
    fn take_leave(&self, member: &mut Member<'static>) -> Result<(), Interrupted> {
        let segment = self.job.segment;
        member.reclaim();
        loop {
            match self.serve(member) {
                // A loss that this rank alone has met so far: the launcher decides on it.
                Err(Interrupted::Lost(_)) if self.survives() => {
                    self.await_verdict();
                }
                served => served?,
            }
            if segment.start_barrier().is_broken() {
                // No rank needs this one any more: every schedule has ended.
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

    /// Serves other ranks until the start barrier is stopped, or until this rank has come to its
    /// end if it is alone.
    fn serve(&self, member: &mut Member<'static>) -> Result<(), Interrupted> {
        let Job { segment, settings, .. } = self.job;
        let status = segment.status(self.rank);
        while !segment.start_barrier().is_stopped() {
            let progress = member.step()?;
            if progress.worked {
                continue;
            }
            // One that nobody has accepted is not awaited.
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

    /// Publishes the counts of the rank.
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
