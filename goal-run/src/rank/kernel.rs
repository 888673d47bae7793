//! A rank whose part of the schedule is in the kernel.
//!
//! The rank writes its memory to its part, starts the run, sleeps until it has ended, and reads its
//! memory. The kernel executes all actions but those that it hands over: the rank does these and
//! gives them back. The rank's state stays [`State::Running`] until its last instance has ended:
//! only the kernel knows if it can go on, and it takes no schedule that can get stuck.

use super::calcs::Calcs;
use super::ended::{Ended, payload};
use crate::job::{Job, Wait};
use crate::progress::StartError;
use goal_asm::nisa::{Operation, Record};
use goal_engine::{Cause, Failure, Storage, WORLD, combine};
use goal_eth::now_ns;
use goal_kernel::{Descriptors, Operands, PartImage, Plan, Rank, RunError};
use goal_lang::{Datatype, Op};
use goal_shm::{RankCounts, State};
use std::io;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// The time between two looks of a rank that waits if the job was stopped.
const LOOK: Duration = Duration::from_millis(20);
/// Looks at the end of a run, some tens of microseconds, before a rank that has a processor of its
/// own sleeps. Waking up takes about as long.
const LOOKS: u32 = 500;
/// The same if ranks share processors. Each of these looks yields.
const LOOKS_CROWDED: u32 = 4;
/// The time for which a rank tries to start a run while the system has no room for the frame.
const START_LIMIT: Duration = Duration::from_secs(5);
/// The time between two such attempts.
const START_AGAIN: Duration = Duration::from_micros(100);

/// Runs the instances of a rank until the launcher stops the job, as [`run`](super::run) does.
///
/// # Errors
/// The rank can't start.
pub(super) fn run(
    job: Job<'_>,
    rank: u32,
    descriptors: Descriptors,
    storage: Storage<'_>,
) -> Result<(), StartError> {
    let (segment, settings) = (job.segment, job.settings);
    let member = settings.in_kernel.as_ref().and_then(|in_kernel| in_kernel.member(rank));
    let member = member.ok_or_else(|| StartError::Kernel(io::ErrorKind::InvalidData.into()))?;
    let kernel = Rank::new(descriptors, member).map_err(StartError::Kernel)?;
    if kernel.len() != storage.memory().len() {
        return Err(StartError::Kernel(io::ErrorKind::InvalidData.into()));
    }
    let hands = match member.handed {
        0 => None,
        // Without it, nobody would do what the engine hands over.
        _ => Some(
            Hands::of(job, rank)
                .ok_or_else(|| StartError::Kernel(io::ErrorKind::InvalidData.into()))?,
        ),
    };
    if !segment.gate().pass_polling(settings.awaited(segment.num_ranks()), 0, now_ns) {
        return Ok(());
    }
    segment.status(rank).enter(State::Running);
    let (counts, calcs) = (RankCounts::default(), Calcs::default());
    let mut work = Work { job, rank, kernel, storage, counts, hands, calcs };
    match work.run() {
        Err(Interrupted::Stopped) | Ok(()) => {}
        Err(Interrupted::Failed(RunError::Division { action, element }, instance)) => {
            let Some(action) = work.offset(action) else {
                segment.fail(rank, &format!("rank {rank}: element {element} is divided by zero"));
                return Ok(());
            };
            let cause = Cause::DivisionByZero { element: element.into() };
            let instance = instance as u32;
            let failure = Failure { communicator: WORLD, instance, action, number: None, cause };
            job.fail(rank, &failure);
        }
        Err(Interrupted::NotTaken(error)) => {
            segment
                .fail(rank, &format!("rank {rank}: the kernel does not take its frames: {error}"));
        }
    }
    Ok(())
}

/// The reason why a rank ends early.
enum Interrupted {
    /// The launcher stopped the job.
    Stopped,
    /// An action failed in this instance, counted from 0.
    Failed(RunError, u64),
    /// The system did not take the start of a run, or an action that was given back.
    NotTaken(io::Error),
}

struct Work<'a> {
    job: Job<'a>,
    rank: u32,
    kernel: Rank,
    storage: Storage<'a>,
    counts: RankCounts,
    hands: Option<Hands>,
    calcs: Calcs,
}

impl Work<'_> {
    /// Runs all instances, then waits until the job is stopped.
    fn run(&mut self) -> Result<(), Interrupted> {
        let Job { segment, nisa, settings } = self.job;
        let (rank, gate, status) = (self.rank, segment.gate(), segment.status(self.rank));
        let (messages, bytes) = payload(nisa, rank);
        let mut ended = Ended::default();
        for instance in 0..settings.repeat {
            if instance > 0 {
                self.storage.memory_mut().fill(0);
                self.storage.store_image(nisa, rank);
            }
            self.kernel.write(0, self.storage.memory());
            status.instance.fetch_add(1, Ordering::Relaxed);
            self.start()?;
            self.wait(instance)?;
            self.kernel.read(0, self.storage.memory_mut());
            self.counts.messages += messages;
            self.counts.bytes += bytes;
            status.messages.store(self.counts.messages, Ordering::Relaxed);
            status.bytes.store(self.counts.bytes, Ordering::Relaxed);
            ended.note(self.job, rank, instance, self.storage.memory(), true);
        }
        segment.store_counts(rank, &self.counts);
        if let Some(text) = ended.unexpected {
            segment.record_failure(rank, &text);
        }
        status.enter(State::Done);
        gate.finish(settings.num_here(segment.num_ranks()));
        let endpoint = segment.endpoint(rank);
        while !gate.is_stopped() {
            if endpoint.arm() {
                endpoint.wait(Some(LOOK));
            }
        }
        Ok(())
    }

    /// Starts a run.
    fn start(&mut self) -> Result<(), Interrupted> {
        let began = Instant::now();
        while let Err(error) = self.kernel.start() {
            self.pause(began, error)?;
        }
        Ok(())
    }

    /// Waits until the run has ended.
    fn wait(&mut self, instance: u64) -> Result<(), Interrupted> {
        let failed = |error| Interrupted::Failed(error, instance);
        let (gate, settings) = (self.job.segment.gate(), self.job.settings);
        let looks_max = match (settings.wait, settings.crowded) {
            (Wait::Block, _) => 0,
            (Wait::Adaptive, true) => LOOKS_CROWDED,
            (Wait::Adaptive | Wait::Spin, false) | (Wait::Spin, true) => LOOKS,
        };
        let mut looks = looks_max;
        loop {
            while looks > 0 {
                if self.kernel.test().map_err(failed)? {
                    return Ok(());
                }
                looks -= u32::from(settings.wait != Wait::Spin);
                if self.serve(instance)? {
                    looks = looks_max;
                }
                if gate.is_stopped() {
                    return Err(Interrupted::Stopped);
                }
                if settings.crowded { thread::yield_now() } else { std::hint::spin_loop() }
            }
            let began = now_ns();
            let has_ended = loop {
                if self.kernel.wait(self.calcs.left(now_ns(), LOOK)).map_err(failed)? {
                    break true;
                }
                // Where one action is handed over, another one often is soon.
                if self.serve(instance)? {
                    break false;
                }
                if gate.is_stopped() {
                    return Err(Interrupted::Stopped);
                }
            };
            self.counts.sleeps += 1;
            self.counts.slept_ns += now_ns() - began;
            if has_ended {
                return Ok(());
            }
            looks = looks_max;
        }
    }

    /// Does what the engine has handed over, and gives back the calcs that have ended. Returns true
    /// if there was something to do.
    fn serve(&mut self, instance: u64) -> Result<bool, Interrupted> {
        let mut has_served = false;
        while let Some(hands) = &self.hands
            && let Some(action) = self.kernel.take_handed()
        {
            has_served = true;
            let Some(operands) = hands.image.operands(action, self.kernel.epoch()) else {
                // Only ranks of this host can write to the ring, and they trust each other.
                continue;
            };
            match hands.works[action as usize] {
                Some(Hand::Calc { nanos, cpu }) => {
                    let scale = self.job.settings.calc.unwrap_or(0.0);
                    self.calcs.start(action, (nanos as f64 * scale) as u64, cpu, now_ns());
                    continue;
                }
                Some(Hand::Time) => {
                    let time = now_ns() as f64 / 1e9;
                    self.kernel.write_part(operands.places[2], &time.to_le_bytes());
                }
                None => {
                    if let Err(element) = self.operate(&operands) {
                        let failed = RunError::Division { action, element };
                        return Err(Interrupted::Failed(failed, instance));
                    }
                }
            }
            self.give_back(action, instance)?;
        }
        while let Some(action) = self.calcs.due(now_ns()) {
            has_served = true;
            self.give_back(action, instance)?;
        }
        Ok(has_served)
    }

    /// Gives an action back.
    fn give_back(&mut self, action: u32, instance: u64) -> Result<(), Interrupted> {
        let began = Instant::now();
        while let Err(error) = self.kernel.give_back(action) {
            // The engine takes nothing back once another action has failed.
            self.kernel.test().map_err(|error| Interrupted::Failed(error, instance))?;
            self.pause(began, error)?;
        }
        Ok(())
    }

    /// Does an operation on the part's memory.
    ///
    /// # Errors
    /// The first element that is divided by zero.
    fn operate(&mut self, operands: &Operands) -> Result<(), u32> {
        let Operands { op, datatype, places, bytes } = *operands;
        let op = Op::ALL.iter().copied().find(|known| *known as u8 == op);
        let datatype = Datatype::ALL.iter().copied().find(|known| *known as u8 == datatype);
        let (Some(op), Some(datatype)) = (op, datatype) else { return Ok(()) };
        let [mut a, mut b] = [vec![0; bytes], vec![0; bytes]];
        self.kernel.read_part(places[0], &mut a);
        self.kernel.read_part(places[1], &mut b);
        combine(op, datatype, &a, &mut b).map_err(|element| element as u32)?;
        self.kernel.write_part(places[2], &b);
        Ok(())
    }

    /// Waits a moment before an attempt that the system has refused is repeated.
    fn pause(&self, began: Instant, error: io::Error) -> Result<(), Interrupted> {
        if self.job.segment.gate().is_stopped() {
            return Err(Interrupted::Stopped);
        }
        if began.elapsed() >= START_LIMIT {
            return Err(Interrupted::NotTaken(error));
        }
        thread::sleep(START_AGAIN);
        Ok(())
    }

    /// Returns the offset of the action that an action of the part comes from. The translation is
    /// done again: only a failure asks for it.
    fn offset(&self, action: u32) -> Option<u32> {
        let nisa = self.job.nisa;
        let part = part(self.job, self.rank)?;
        let number = *part.origins.get(action as usize)?;
        nisa.section(self.rank).records().nth(number as usize).map(|(offset, _)| offset)
    }
}

/// The part of a rank, translated again as the launcher has done.
fn part(job: Job<'_>, rank: u32) -> Option<PartImage> {
    let fragment = job.settings.in_kernel.as_ref()?.fragment;
    let plan = match job.settings.calc {
        None => Plan::without_calc(job.nisa, fragment),
        Some(_) => Plan::of(job.nisa, fragment),
    };
    Some(plan.ok()?.part(rank))
}

/// A rank's part, and what its actions are that the engine may hand over.
struct Hands {
    image: PartImage,
    /// By action of the part; `None` for operations.
    works: Vec<Option<Hand>>,
}

/// The work of an action that is no operation.
#[derive(Clone, Copy)]
enum Hand {
    /// It computes for a time, on a processor that it names.
    Calc { nanos: u64, cpu: u8 },
    /// It stores the time.
    Time,
}

impl Hands {
    /// Returns `None` if the schedule is not the one that the launcher has translated.
    fn of(job: Job<'_>, rank: u32) -> Option<Self> {
        let image = part(job, rank)?;
        let hand = |record: Record<'_>| match record.operation() {
            Operation::Calc { nanos } => Some(Hand::Calc { nanos, cpu: record.placement().cpu }),
            Operation::Wtime { .. } => Some(Hand::Time),
            _ => None,
        };
        let records = job.nisa.section(rank).records();
        let of_section: Vec<Option<Hand>> = records.map(|(_, record)| hand(record)).collect();
        let works = image.origins.iter();
        let works = works.map(|&origin| of_section.get(origin as usize).copied().flatten());
        Some(Self { works: works.collect(), image })
    }
}
