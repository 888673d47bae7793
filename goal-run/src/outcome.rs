//! How a job ended.

use crate::job::Settings;
use crate::monitor::Pending;
use crate::trace::{self, Omitted};
use goal_asm::Nisa;
use goal_asm::nisa::Operation;
use goal_engine::{slot, taken};
use goal_interp::{Matches, Taken};
use goal_lang::ActionId;
use goal_shm::{RankCounts, Segment};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of memory that are dumped at a time.
const DUMPED_BLOCK: usize = 1 << 20;

/// Why a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Every action of every instance has completed.
    Complete,
    /// Actions could not be executed, or memory is not as expected: one text a rank.
    Failed(Vec<String>),
    /// No rank could go on.
    Stuck(Pending),
    /// A rank ended by itself.
    Died {
        /// The rank.
        rank: u32,
        /// How.
        how: String,
        /// What it had not done.
        pending: Pending,
    },
    /// The time was up.
    TimedOut(Pending),
    /// The launcher got a signal.
    Interrupted(usize),
    /// A host is lost, in words which, with which ranks, and why.
    HostLost(String),
}

/// What a job did, all instances together; of instances that have ended where the job has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Messages sent.
    pub messages: u64,
    /// Payload bytes sent.
    pub bytes: u64,
    /// Payload bytes compared with their pattern.
    pub verified_bytes: u64,
    /// Messages that no receive took; 0 unless the job is complete.
    pub unreceived: u64,
    /// Nanoseconds from the moment when all ranks were ready until the last one's last instance
    /// ended; 0 unless the job is complete.
    pub elapsed_ns: u64,
    /// Most entries of the table that a rank's window needed; `None` without a window.
    pub table_max: Option<u64>,
}

/// A job that has ended, with the memory that its ranks left.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub end: End,
    /// What it did.
    pub counts: Counts,
    /// Ranks of other hosts that left something which has not arrived, in words; empty where all
    /// has. Their memory and their records are not known, and what they did is not counted.
    pub missing: String,
    segment: Segment,
    nisa: Arc<Nisa>,
}

impl Outcome {
    pub(crate) fn new(
        mut end: End,
        segment: Segment,
        nisa: &Arc<Nisa>,
        settings: &Settings,
    ) -> Self {
        let mut counts = Counts::default();
        let (mut ended_ns, mut receives, mut table_max) = (0, 0, 0);
        for rank in 0..segment.num_ranks() {
            let status = segment.status(rank);
            // A host may tell any numbers.
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
            let notes: Vec<String> =
                (0..segment.num_ranks()).filter_map(|rank| segment.failure(rank)).collect();
            if !notes.is_empty() {
                end = End::Failed(notes);
            }
            counts.elapsed_ns =
                ended_ns.saturating_sub(segment.gate().opened_ns.load(Ordering::SeqCst));
            counts.unreceived = match settings.window {
                Some(_) => counts.messages.saturating_sub(receives),
                None => settings.repeat.saturating_mul(unreceived(nisa)),
            };
        }
        counts.table_max = settings.window.map(|_| table_max);
        Self { end, counts, missing: String::new(), segment, nisa: Arc::clone(nisa) }
    }

    /// The schedule.
    pub fn nisa(&self) -> &Arc<Nisa> {
        &self.nisa
    }

    /// A rank's memory at the end of the last instance.
    pub fn memory(&self, rank: u32) -> Vec<u8> {
        self.segment.copy_of(&self.segment.rank(rank).memory)
    }

    /// Writes a rank's memory at the end of the last instance into an empty file, a block at a
    /// time; blocks of zeros become holes.
    ///
    /// # Errors
    /// Those of the system.
    pub fn dump(&self, rank: u32, file: &File) -> io::Result<()> {
        let area = &self.segment.rank(rank).memory;
        // Not through the mapping, which would give pages to memory that nobody has touched.
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

    /// What each rank counted, as far as it told: ranks do when there is nothing to do for a while,
    /// and at their end.
    pub fn rank_counts(&self) -> Vec<RankCounts> {
        (0..self.segment.num_ranks()).map(|rank| self.segment.counts(rank)).collect()
    }

    /// Writes what happened when as Chrome trace events, as far as the job came: one JSON object.
    /// Returns what of it is left out.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_trace(&self, out: &mut dyn Write) -> io::Result<Omitted> {
        trace::write(&self.segment, &self.nisa, out)
    }

    /// Which receive took which message in the last instance; complete only if the job is and a
    /// record was asked for.
    pub fn matches(&self) -> Matches {
        let mut matches = Matches::default();
        for rank in 0..self.segment.num_ranks() {
            let words: Vec<u64> = self.segment.copy_of(&self.segment.rank(rank).matches);
            for (index, (offset, record)) in self.nisa.section(rank).records().enumerate() {
                let vertex = (rank, ActionId::new(index));
                let Some((source, sequence)) =
                    words.get(slot(offset)).and_then(|&word| taken(word))
                else {
                    continue;
                };
                let sequence = u64::from(sequence);
                match record.operation() {
                    Operation::Send { .. } => {
                        matches.sends.insert(vertex, sequence);
                    }
                    Operation::Recv { .. } => {
                        matches.receives.insert(vertex, Taken { source, sequence });
                    }
                    _ => {}
                }
            }
        }
        matches
    }
}

/// Messages of an instance that no receive takes: all sends happened, and every receive took one.
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
    // A host may have told that a job is complete that can't be.
    sends.saturating_sub(recvs)
}
