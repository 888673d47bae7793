//! Holds the outcome of a job: how it ended, its counts and the memory of its ranks.
#![allow(unsafe_code)] // copies of what ended ranks left

use crate::monitor::Pending;
use goal_asm::Nisa;
use goal_asm::nisa::Operation;
use goal_engine::{MatchesView, Met};
use goal_job::Settings;
use goal_job::trace::{self, Omitted};
use goal_kernel::{Message, Plan};
use goal_lang::ActionId;
use goal_shm::{INSTANCES_TIMED, RankCounts, Segment, Started};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The size of a block of dumped memory, in bytes.
const DUMPED_BLOCK: usize = 1 << 20;

/// The end of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Every action of every instance ended.
    Complete,
    /// Actions could not be executed, or memory was not as expected. Each text is for one rank.
    Failed(Vec<String>),
    /// No rank could go on. The report says what ranks wait for.
    Stuck(Pending),
    /// A rank ended before the job.
    Died {
        /// The rank.
        rank: u32,
        /// A description of how it ended.
        how: String,
        /// The exit status of the launcher, if it follows from how the rank ended.
        status: Option<u8>,
        /// The unfinished actions of the rank.
        pending: Pending,
    },
    /// The time was up. The report says what ranks waited for.
    TimedOut(Pending),
    /// The launcher got this signal.
    Interrupted(usize),
    /// A host was lost. The text names the host, its ranks and the reason.
    HostLost(String),
}

/// Counts of a job, summed over all instances that have ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// The number of messages sent.
    pub messages: u64,
    /// The number of payload bytes sent.
    pub bytes: u64,
    /// The number of payload bytes that receivers compared with their pattern.
    pub verified_bytes: u64,
    /// The number of messages that no receive took. 0 unless the job is complete.
    pub unreceived: u64,
    /// The time in nanoseconds from when all ranks were ready until the last rank ended its last
    /// instance. 0 unless the job is complete.
    pub elapsed_ns: u64,
    /// The time in nanoseconds of each of the first instances. It counts from when the last rank
    /// ended the previous instance until the last rank ended this one. Empty unless the job is
    /// complete.
    pub instances_ns: Vec<u64>,
    /// The most entries that the table of any rank's window had. `None` without a window.
    pub table_max: Option<u64>,
}

/// A send or receive of an instance, and the message that it sent or took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// The rank of the action.
    pub rank: u32,
    /// The action.
    pub action: ActionId,
    /// The kind of the action.
    pub kind: MatchKind,
    /// The number of the message among all messages from its sender to its receiver.
    pub sequence: u64,
}

/// The kind of an action with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    /// A send.
    Send,
    /// A receive.
    Receive {
        /// The rank that sent the message.
        source: u32,
    },
}

/// The options of a job that appear in its report.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// The number of instances of the schedule.
    pub(crate) repeat: u64,
    /// The kind of ranks, `processes` or `threads`.
    pub(crate) ranks_as: &'static str,
    /// The names of the transports that carry messages, from the nearest peers to the farthest.
    pub(crate) transports: Vec<String>,
    /// The reason why the ranks of this host are not bound to processors. `None` if they are bound.
    pub(crate) unbound: Option<String>,
}

/// The outcome of a job, with the memory of its ranks.
#[derive(Debug)]
pub struct Outcome {
    /// The end of the job.
    pub end: End,
    /// The counts of the job.
    pub counts: Counts,
    /// A list of ranks on other hosts whose results have not arrived. Empty if all have arrived.
    /// Their memory and traces are unknown, and the report does not count their actions.
    pub(crate) missing: String,
    pub(crate) run: Run,
    /// The most payload bytes of a frame that the kernel sends. `None` if the job did not use the
    /// kernel, neither for its own schedule nor for those of programs.
    pub(crate) fragment: Option<u32>,
    /// True if the ranks are processes of a program.
    pub(crate) is_of_program: bool,
    segment: Segment,
    nisa: Arc<Nisa>,
}

impl Outcome {
    pub(crate) fn new(
        mut end: End,
        segment: Segment,
        nisa: &Arc<Nisa>,
        settings: &Settings,
        run: Run,
    ) -> Self {
        let mut counts = Counts::default();
        let (mut ended_ns, mut receives, mut table_max) = (0, 0, 0);
        for rank in 0..segment.num_ranks() {
            let status = segment.status(rank);
            // Saturating, because another host may have sent any number.
            let add = |sum: &mut u64, number: &AtomicU64| {
                *sum = sum.saturating_add(number.load(Ordering::SeqCst));
            };
            add(&mut counts.messages, &status.messages);
            add(&mut counts.bytes, &status.bytes);
            add(&mut counts.verified_bytes, &status.verified_bytes);
            add(&mut receives, &status.receives);
            table_max = table_max.max(status.table_max.load(Ordering::SeqCst));
            ended_ns = ended_ns.max(status.ended_ns.load(Ordering::SeqCst));
        }
        if end == End::Complete {
            // Lost ranks also have a text, but the job is complete without them.
            let left = (0..segment.num_ranks()).filter(|&rank| !segment.status(rank).is_lost());
            let notes: Vec<String> = left.filter_map(|rank| segment.failure(rank)).collect();
            if !notes.is_empty() {
                end = End::Failed(notes);
            }
            counts.elapsed_ns =
                ended_ns.saturating_sub(segment.start_barrier().opened_ns.load(Ordering::SeqCst));
            counts.instances_ns = instances_ns(&segment, settings.spec.repeat);
            counts.unreceived = match settings.window {
                Some(_) => counts.messages.saturating_sub(receives),
                None => settings.spec.repeat.saturating_mul(unreceived(nisa)),
            };
        }
        counts.table_max = settings.window.map(|_| table_max);
        let fragment = settings.in_kernel.as_ref().map(|in_kernel| in_kernel.fragment);
        let nisa = Arc::clone(nisa);
        let is_of_program = settings.are_programs();
        let missing = String::new();
        Self { end, counts, missing, run, fragment, is_of_program, segment, nisa }
    }

    /// Returns true if the memory and the traces of all ranks are known. They may be missing for
    /// ranks on other hosts.
    pub fn is_known(&self) -> bool {
        self.missing.is_empty()
    }

    /// Returns true if a process has attached as a rank of the job.
    pub fn has_attached(&self) -> bool {
        let process_state = |rank: u32| &self.segment.status(rank).process_state;
        (0..self.num_ranks()).any(|rank| process_state(rank).process().is_some())
    }

    /// Returns the number of ranks, including ranks that were added to the job.
    pub fn num_ranks(&self) -> u32 {
        self.segment.num_ranks()
    }

    /// Returns the schedule.
    pub fn nisa(&self) -> &Arc<Nisa> {
        &self.nisa
    }

    /// Returns the memory of `rank` at the end of the last instance.
    pub fn memory(&self, rank: u32) -> Vec<u8> {
        // SAFETY: the ranks have ended, those of this process too.
        unsafe { self.segment.copy_of(&self.segment.rank(rank).memory) }
    }

    /// Writes the memory of `rank` at the end of the last instance to an empty file. Blocks of
    /// zeros become holes.
    ///
    /// # Errors
    /// The system's error.
    pub fn dump(&self, rank: u32, file: &File) -> io::Result<()> {
        let area = &self.segment.rank(rank).memory;
        // Reads the segment's file, because reading untouched memory of the mapping would allocate
        // pages.
        let segment = File::from(self.segment.fd().try_clone_to_owned()?);
        file.set_len(area.len() as u64)?;
        let mut block = vec![0; DUMPED_BLOCK.min(area.len())];
        for at in (0..area.len()).step_by(DUMPED_BLOCK) {
            let part = &mut block[..DUMPED_BLOCK.min(area.len() - at)];
            segment.read_exact_at(part, (area.start + at) as u64)?;
            if part.iter().any(|&byte| byte != 0) {
                file.write_all_at(part, at as u64)?;
            }
        }
        Ok(())
    }

    /// Returns the counts of each rank. A rank publishes its counts when it is idle for a while,
    /// and at its end.
    pub fn rank_counts(&self) -> Vec<RankCounts> {
        (0..self.segment.num_ranks()).map(|rank| self.segment.counts(rank)).collect()
    }

    /// Returns the collectives that each rank has started, by algorithm and size. The lists are
    /// empty unless the ranks are processes of a program.
    pub fn rank_starts(&self) -> Vec<Vec<Started>> {
        (0..self.segment.num_ranks()).map(|rank| self.segment.started(rank)).collect()
    }

    /// Returns the processor that each rank was bound to; `None` for a rank that was not bound.
    pub(crate) fn processors(&self) -> Vec<Option<u32>> {
        let processor = |rank| self.segment.status(rank).processor.load(Ordering::SeqCst);
        (0..self.segment.num_ranks()).map(|rank| processor(rank).checked_sub(1)).collect()
    }

    /// Returns the number of bytes that each rank made resident before it started.
    pub(crate) fn prefaulted(&self) -> impl Iterator<Item = u64> {
        let bytes = |rank| self.segment.status(rank).prefaulted.load(Ordering::SeqCst);
        (0..self.segment.num_ranks()).map(bytes)
    }

    /// Writes the trace of the job as Chrome trace events, one JSON object. Returns the number of
    /// records that the trace leaves out.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn write_trace(&self, out: &mut dyn Write) -> io::Result<Omitted> {
        trace::write(&self.segment, &self.nisa, out)
    }

    /// Returns the sends and receives of the last instance, with their messages. The list is
    /// complete only if the job is complete and its options asked for a record.
    pub fn matches(&self) -> Vec<Match> {
        if let Some(fragment) = self.fragment {
            return planned(&self.nisa, fragment);
        }
        let mut matches = Vec::new();
        for rank in 0..self.segment.num_ranks() {
            let recorded = &self.segment.rank(rank).matches;
            // SAFETY: the ranks have ended, those of this process too.
            let recorded = MatchesView::new(unsafe { self.segment.copy_of(recorded) });
            for (index, (offset, record)) in self.nisa.section(rank).records().enumerate() {
                let Some(Met { source, sequence }) = recorded.met(offset) else { continue };
                let kind = match record.operation() {
                    Operation::Send { .. } => MatchKind::Send,
                    Operation::Recv { .. } => MatchKind::Receive { source },
                    _ => continue,
                };
                let (action, sequence) = (ActionId::new(index), sequence.into());
                matches.push(Match { rank, action, kind, sequence });
            }
        }
        matches
    }
}

/// Returns the matches of a run in the kernel, where they are fixed before the run.
fn planned(nisa: &Nisa, fragment: u32) -> Vec<Match> {
    let plan = Plan::of(nisa, fragment).expect("the same plan was installed");
    let both = |Message { send, receive, sequence }: Message| {
        let one = |(rank, action): (u32, u32), kind| Match {
            rank,
            action: ActionId::new(action as usize),
            kind,
            sequence,
        };
        [one(send, MatchKind::Send), one(receive, MatchKind::Receive { source: send.0 })]
    };
    plan.messages().flat_map(both).collect()
}

/// Returns the time of each of the first instances of a complete job.
fn instances_ns(segment: &Segment, repeat: u64) -> Vec<u64> {
    let mut before = 0;
    let timed = 0..INSTANCES_TIMED.min(usize::try_from(repeat).unwrap_or(usize::MAX));
    let time = |instance: usize| {
        let end = |rank| segment.status(rank).instances_ns[instance].load(Ordering::SeqCst);
        let end = (0..segment.num_ranks()).map(end).max().unwrap_or(0);
        let time = end.saturating_sub(before);
        before = end;
        time
    };
    timed.map(time).collect()
}

/// Returns the number of messages of a complete instance that no receive took.
fn unreceived(nisa: &Nisa) -> u64 {
    let per_section: Vec<(u64, u64)> = (0..nisa.num_sections())
        .map(|section| {
            nisa.section_by_id(section).records().fold((0, 0), |(sends, recvs), (_, record)| {
                match record.operation() {
                    Operation::Send { .. } => (sends + 1, recvs),
                    Operation::Recv { .. } => (sends, recvs + 1),
                    _ => (sends, recvs),
                }
            })
        })
        .collect();
    let all = (0..nisa.num_ranks()).map(|rank| per_section[nisa.section_id(rank) as usize]);
    let (sends, recvs) = all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // Saturating, because another host may have claimed that an impossible job is complete.
    sends.saturating_sub(recvs)
}
