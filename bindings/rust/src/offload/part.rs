//! Runs this rank's part of a schedule in the kernel. The start of a run copies the program's
//! memory to the part's memory, and the end of the run copies the results back.
//!
//! The kernel executes one run of a schedule at a time. If the program starts further runs
//! meanwhile, they wait in a queue. The caller of each method holds the engine lock.
#![allow(unsafe_code)] // copies from and to memory of the program

use crate::error::{Error, ErrorCode, Result, error_of};
use crate::process::{is_fork, of_fork};
use goal_engine::{Cause, Failure};
use goal_kernel::{Awaited, CompletionEvents, Rank, Unfinished};
use goal_rank::fallback::{CallFunction, FallbackOps, Fault};
use goal_rank::program::sleep;
use goal_rank::progress::Interrupted;
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time for which a rank tries to start a run while the system has no room for the frame.
const START_LIMIT: Duration = Duration::from_secs(5);
/// The time between two attempts to start a run or to give back an action.
const START_AGAIN: Duration = Duration::from_micros(100);

/// A range of the program's memory that corresponds to a range of the part's memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    /// The offset in the part's memory.
    pub(crate) at: usize,
    /// The address in the program's memory.
    pub(crate) address: usize,
    pub(crate) bytes: usize,
}

/// The memory that a run works on.
#[derive(Debug)]
pub(crate) enum Backing {
    /// Memory of the program. The segments ascend by their offsets in the part's memory.
    Program(SmallVec<[Segment; 2]>),
    /// Memory of the run itself. It begins with these bytes, and the program does not see it.
    Own(Arc<[u8]>),
}

/// This rank's part of a schedule in the kernel.
pub(crate) struct KernelPart {
    communicator: u64,
    /// The origin of each action of the part: the number and the offset of an action of the
    /// schedule.
    origins: Vec<(u32, u32)>,
    events: Arc<CompletionEvents>,
    reads: Vec<Range<usize>>,
    writes: Vec<Range<usize>>,
    /// The first operands of functions of the program. They may lie in memory that can't be
    /// written, so an operand is copied back only if its bytes have changed.
    perhaps: Vec<Range<usize>>,
    runs: Mutex<Runs>,
}

struct Runs {
    kernel: Rank,
    /// The fallback operations of the part; `None` if it has none.
    fallback_ops: Option<FallbackOps>,
    /// The slots of the runs that have not ended, each with its memory. The first run is in
    /// progress, and the others wait.
    queue: VecDeque<(u32, Backing)>,
}

impl KernelPart {
    pub(crate) fn new(
        communicator: u64,
        origins: Vec<(u32, u32)>,
        touched: [Vec<Range<u64>>; 3],
        (kernel, fallback_ops): (Rank, Option<FallbackOps>),
        events: Arc<CompletionEvents>,
    ) -> Self {
        let ranges = |ranges: Vec<Range<u64>>| {
            ranges.into_iter().map(|range| range.start as usize..range.end as usize).collect()
        };
        let [reads, writes, perhaps] = touched.map(ranges);
        let runs = Mutex::new(Runs { kernel, fallback_ops, queue: VecDeque::new() });
        Self { communicator, origins, events, reads, writes, perhaps, runs }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock()
    }

    /// Returns true if the part has fallback operations, which this process executes.
    pub(crate) fn hands_over(&self) -> bool {
        self.runs().fallback_ops.is_some()
    }

    /// Returns the number of the last run that was started.
    pub(crate) fn epoch(&self) -> u32 {
        self.runs().kernel.epoch()
    }

    /// Starts a run of the instance in `slot`. If another run of the part is in progress, the new
    /// run waits in the queue, and this returns true.
    ///
    /// # Errors
    /// The system refuses to start a run.
    ///
    /// # Safety
    /// Until the run has ended, the segments are valid memory of their lengths. Nobody else writes
    /// bytes in them that the schedule reads, or accesses bytes that it writes.
    pub(crate) unsafe fn start(&self, slot: u32, memory: Backing) -> Result<bool> {
        check_fork()?;
        let mut runs = self.runs();
        runs.queue.push_back((slot, memory));
        if runs.queue.len() > 1 {
            return Ok(true);
        }
        self.start_first(&mut runs).map(|()| false)
    }

    fn start_first(&self, runs: &mut Runs) -> Result<()> {
        let Runs { kernel, queue, .. } = runs;
        let Some((_, memory)) = queue.front() else { return Ok(()) };
        match memory {
            Backing::Own(initial) => kernel.write(0, initial),
            Backing::Program(memory) => {
                for (at, address, bytes) in overlaps(&self.reads, memory) {
                    let from = std::ptr::with_exposed_provenance::<u8>(address);
                    // SAFETY: whoever started the run answers for its memory.
                    kernel.write(at, unsafe { std::slice::from_raw_parts(from, bytes) });
                }
            }
        }
        let began = Instant::now();
        while let Err(error) = kernel.start() {
            if began.elapsed() >= START_LIMIT {
                let text = format!("a run in the kernel could not be started: {error}");
                return Err(Error::new(ErrorCode::Failed, text));
            }
            sleep(START_AGAIN);
        }
        self.events.started(kernel);
        Ok(())
    }

    /// Executes the fallback operations of the first run in the queue. If the kernel has ended the
    /// run, copies the results back, and starts the next run. Returns the slot of the ended run;
    /// `None` if none has ended. `call` calls functions of the program.
    ///
    /// # Errors
    /// The run failed, or the system refuses to start the next run.
    pub(crate) fn settle(&self, call: CallFunction<'_>) -> Result<Option<u32>> {
        let mut runs = self.runs();
        if runs.queue.is_empty() {
            return Ok(None);
        }
        check_fork()?;
        let has_ended = |kernel: &Rank| {
            let tested = kernel.test().map_err(Fault::from_run);
            tested.map_err(|fault| self.failure(fault, kernel.epoch()))
        };
        if !has_ended(&runs.kernel)? {
            let Runs { kernel, fallback_ops: Some(fallback_ops), .. } = &mut *runs else {
                return Ok(None);
            };
            self.serve(kernel, fallback_ops, call)?;
            if !has_ended(kernel)? {
                return Ok(None);
            }
        }
        self.events.settled(runs.kernel.part());
        let (slot, memory) = runs.queue.pop_front().expect("there is one");
        if let Backing::Program(memory) = &memory {
            for (at, address, bytes) in overlaps(&self.writes, memory) {
                let to = std::ptr::with_exposed_provenance_mut::<u8>(address);
                // SAFETY: as in `start_first`.
                runs.kernel.read(at, unsafe { std::slice::from_raw_parts_mut(to, bytes) });
            }
            for (at, address, bytes) in overlaps(&self.perhaps, memory) {
                let mut now = vec![0; bytes];
                runs.kernel.read(at, &mut now);
                let to = std::ptr::with_exposed_provenance_mut::<u8>(address);
                // SAFETY: as in `start_first`.
                let is_same = unsafe { std::slice::from_raw_parts(to, bytes) } == now;
                if !is_same {
                    // SAFETY: the function has written there, so it is memory that can be written.
                    unsafe { std::slice::from_raw_parts_mut(to, bytes) }.copy_from_slice(&now);
                }
            }
        }
        self.start_first(&mut runs)?;
        Ok(Some(slot))
    }

    /// Executes the fallback operations of the run in progress.
    fn serve(
        &self,
        kernel: &mut Rank,
        fallback_ops: &mut FallbackOps,
        call: CallFunction<'_>,
    ) -> Result<()> {
        let mut began = None;
        loop {
            match fallback_ops.serve(kernel, call) {
                Ok(_) => break,
                Err(Fault::NotTaken(_))
                    if began.get_or_insert_with(Instant::now).elapsed() < START_LIMIT =>
                {
                    sleep(START_AGAIN);
                }
                Err(fault) => return Err(self.failure(fault, kernel.epoch())),
            }
        }
        self.events.served(kernel, fallback_ops.left().map(|left| Instant::now() + left));
        Ok(())
    }

    /// Returns the error of a failed run. It is the same as if processes had run the schedule.
    #[cold]
    fn failure(&self, fault: Fault, epoch: u32) -> Error {
        let (action, cause): (u32, Cause) = match fault {
            Fault::Failed(action, cause) => (action, cause),
            Fault::NotTaken(error) => {
                let text = format!("an action could not be given back to the kernel: {error}");
                return Error::new(ErrorCode::Failed, text);
            }
        };
        let communicator = self.communicator;
        let (number, action) = self.origins.get(action as usize).copied().unwrap_or_default();
        let (instance, number) = (epoch - 1, Some(number.into()));
        let failure = Failure { communicator, instance, action, number, cause };
        error_of(&Interrupted::Failed(failure))
    }

    /// Returns texts that state what the run in progress waits for.
    #[cold]
    pub(crate) fn waits(&self) -> Vec<String> {
        let silent = || vec!["a schedule in the kernel to which no message comes".to_owned()];
        let ranks = |ranks: &[u32]| {
            let ranks: BTreeSet<String> = ranks.iter().map(ToString::to_string).collect();
            ranks.into_iter().collect::<Vec<_>>().join(", ")
        };
        let part = self.runs().kernel.part();
        let waits = match self.events.unfinished(part) {
            Some(Unfinished::Waits(waits)) if !waits.is_empty() => waits,
            Some(Unfinished::Held(peers)) if !peers.is_empty() => {
                let peers = ranks(&peers);
                return vec![format!(
                    "a run in the kernel waits until earlier messages are known to have come to rank {peers}"
                )];
            }
            _ => return silent(),
        };
        let line = |(action, awaited): (u32, Awaited)| {
            let (number, _) = self.origins.get(action as usize).copied().unwrap_or_default();
            match awaited {
                Awaited::Messages(peers) => format!(
                    "recv number {number} in the kernel waits for a message from rank {}",
                    ranks(&peers)
                ),
                Awaited::Process => format!("action number {number} waits for this process"),
            }
        };
        waits.into_iter().map(line).collect()
    }

    /// Returns true if no run is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.runs().queue.is_empty()
    }
}

/// # Errors
/// This process is a fork of a rank: the part and its runs are its parent's.
fn check_fork() -> Result<()> {
    if is_fork() { Err(of_fork()) } else { Ok(()) }
}

/// Returns the bytes that lie both in a range and in a segment: their offset in the part's memory,
/// their address and their number. The ranges must ascend.
fn overlaps<'a>(
    ranges: &'a [Range<usize>],
    memory: &'a [Segment],
) -> impl Iterator<Item = (usize, usize, usize)> + 'a {
    memory.iter().flat_map(move |segment| {
        let end = segment.at + segment.bytes;
        let first = ranges.partition_point(|range| range.end <= segment.at);
        let inside = ranges[first..].iter().take_while(move |range| range.start < end);
        inside.map(move |range| {
            let (start, end) = (range.start.max(segment.at), range.end.min(end));
            (start, segment.address + (start - segment.at), end - start)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_become_memory_of_the_program() {
        let memory = [
            Segment { at: 0, address: 1000, bytes: 10 },
            Segment { at: 64, address: 2000, bytes: 8 },
        ];
        let of = |ranges: &[Range<usize>]| overlaps(ranges, &memory).collect::<Vec<_>>();
        assert_eq!(of(&[2..4, 6..70]), [(2, 1002, 2), (6, 1006, 4), (64, 2000, 6)]);
        assert_eq!(of(&[10..64, 72..80]), []);
        assert_eq!(of(&[]), []);
    }
}
