//! One rank of a job, in a process of its own, which runs a schedule repeatedly.
#![allow(unsafe_code)] // writes to the memory of its rank

use crate::assemble::assemble;
use crate::job::{layout, settings};
use clap::Args as ClapArgs;
use goal_asm::Nisa;
use goal_engine::{Handle, Schedule, Storage};
use goal_job::{Job, JobSpec, Mode, Settings, is_crowded};
use goal_lang::Program;
use goal_rank::progress::{self, with_member};
use goal_shm::{Barrier, Segment};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::mman::{MapFlags, ProtFlags, mmap};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, ftruncate};
use std::fs::File;
use std::io;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The rank of a process, and the files that all ranks share.
#[derive(Debug, ClapArgs)]
pub(crate) struct RankPlace {
    #[arg(long)]
    pub(crate) rank: u32,
    #[arg(long)]
    pub(crate) ranks: u32,
    /// The file of the segment.
    #[arg(long)]
    pub(crate) segment: PathBuf,
    /// The file of the barrier before each operation.
    #[arg(long)]
    pub(crate) meeting: PathBuf,
    /// The file of the beginnings and ends of operations.
    #[arg(long)]
    pub(crate) marks: PathBuf,
    /// The processors of all ranks.
    #[arg(long)]
    pub(crate) processors: String,
}

impl RankPlace {
    /// Returns the place as arguments of a command line.
    pub(crate) fn arguments(&self) -> Vec<String> {
        vec![
            format!("--rank={}", self.rank),
            format!("--ranks={}", self.ranks),
            format!("--segment={}", self.segment.display()),
            format!("--meeting={}", self.meeting.display()),
            format!("--marks={}", self.marks.display()),
            format!("--processors={}", self.processors),
        ]
    }

    /// Binds the process to its processor and maps the shared memory. Makes the process end with
    /// its parent.
    pub(crate) fn open(&self, program: &Program) -> io::Result<SharedSegment> {
        set_pdeathsig(Signal::SIGKILL)?;
        let open =
            |path: &PathBuf| File::options().read(true).write(true).open(path).map(OwnedFd::from);
        let nisa = Arc::new(assemble(program)?);
        let (rank, ranks, crowded) = (self.rank, self.ranks, is_crowded(self.ranks));
        let numbers: Result<Vec<u32>, _> = self.processors.split(',').map(str::parse).collect();
        let processors = numbers.map_err(io::Error::other)?;
        let settings = settings(ranks, Mode::Caller, Some(&processors))?;
        let mut set = CpuSet::new();
        set.set(processors[rank as usize] as usize)?;
        sched_setaffinity(Pid::from_raw(0), &set)?;
        let segment = Segment::open(open(&self.segment)?, layout(&nisa)?)?;
        let barrier = Barrier::open(open(&self.meeting)?)?;
        let marks = Marks::open(open(&self.marks)?, ranks)?;
        // As goal-run does.
        Job::new(&segment, &nisa, &settings).prefault(rank);
        Ok(SharedSegment { rank, ranks, crowded, settings, segment, barrier, marks, nisa })
    }
}

/// The beginning and the end of each rank's operation, in memory that the ranks share.
#[derive(Debug)]
struct Marks {
    /// Two numbers for each rank.
    at: NonNull<[AtomicU64; 2]>,
    ranks: u32,
}

impl Marks {
    /// Maps the file, which is empty or has been mapped by other ranks. It stays mapped until the
    /// process ends.
    fn open(file: OwnedFd, ranks: u32) -> io::Result<Self> {
        let bytes = NonZero::new(16 * ranks as usize).expect("a job has ranks");
        ftruncate(&file, bytes.get() as i64)?;
        let both = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: the system chooses the place.
        let at = unsafe { mmap(None, bytes, both, MapFlags::MAP_SHARED, file, 0) }?;
        Ok(Self { at: at.cast(), ranks })
    }

    fn of(&self, rank: u32) -> &[AtomicU64; 2] {
        assert!(rank < self.ranks);
        // SAFETY: the mapping has two aligned numbers for each rank, and every process uses them
        // as atomics.
        unsafe { self.at.add(rank as usize).as_ref() }
    }

    fn set(&self, rank: u32, mark: [u64; 2]) {
        for (word, value) in self.of(rank).iter().zip(mark) {
            word.store(value, Relaxed);
        }
    }

    fn get(&self, rank: u32) -> [u64; 2] {
        self.of(rank).each_ref().map(|word| word.load(Relaxed))
    }
}

/// The memory that the ranks share, as one of them sees it.
pub(crate) struct SharedSegment {
    rank: u32,
    ranks: u32,
    crowded: bool,
    settings: Settings,
    segment: Segment,
    barrier: Barrier,
    /// The beginning and the end of each rank's operation.
    marks: Marks,
    nisa: Arc<Nisa>,
}

impl SharedSegment {
    fn pause(&self) {
        if self.crowded {
            std::thread::yield_now();
        }
    }

    /// Calls `act` with the member of the rank. At its end `act` must call [`Member::leave`].
    ///
    /// # Errors
    /// The error of `act`.
    pub(crate) fn with_member<R>(
        &self,
        progress: Mode,
        act: impl FnOnce(Member<'_, '_>) -> io::Result<R>,
    ) -> io::Result<R> {
        let spec = JobSpec { progress, ..self.settings.spec.clone() };
        let settings = self.settings.clone().with_spec(spec);
        let job = Job::new(&self.segment, &self.nisa, &settings);
        let schedule = job.schedule(self.rank);
        let storage = Some(job.storage(self.rank));
        with_member(job, self.rank, |member| {
            act(Member { shared: self, member, schedule, storage, handle: None })
        })
        .expect("all ranks are here")
    }

    /// Fills the memory that the schedule works on.
    pub(crate) fn fill(&self, value: u8) {
        let area = &self.segment.rank(self.rank).memory;
        // SAFETY: the rank alone uses its memory, and runs no schedule now.
        unsafe { self.segment.write(area.start, &vec![value; area.len()]) };
    }
}

/// A rank that runs its schedule.
pub(crate) struct Member<'s, 'm> {
    shared: &'s SharedSegment,
    member: &'m mut progress::Member<'s>,
    schedule: Arc<Schedule>,
    /// The storage of the schedule before its first start.
    storage: Option<Storage<'s>>,
    /// The instance of the schedule that was started last.
    handle: Option<Handle>,
}

impl Member<'_, '_> {
    /// Waits for all ranks, without a call to the engine.
    pub(crate) fn meet(&self) {
        self.shared.barrier.wait(self.shared.ranks, || self.shared.pause());
    }

    /// Returns the nanoseconds from the beginning of an operation until its end. If ranks share
    /// processors, this is the time from the first rank's beginning to the last one's end: one rank
    /// begins while the other waits for the processor. All ranks must call this, and then meet.
    pub(crate) fn span_ns(&self, begin_ns: u64, end_ns: u64) -> u64 {
        if !self.shared.crowded {
            return end_ns - begin_ns;
        }
        let marks = &self.shared.marks;
        marks.set(self.shared.rank, [begin_ns, end_ns]);
        self.meet();
        let all = (0..self.shared.ranks).map(|rank| marks.get(rank));
        let widen =
            |[first, last]: [u64; 2], [begin, end]: [u64; 2]| [first.min(begin), last.max(end)];
        let [first_ns, last_ns] = all.fold([begin_ns, end_ns], widen);
        last_ns - first_ns
    }

    /// Calls `f` with the memory that the schedule works on. No instance may run.
    pub(crate) fn with_memory<R>(&mut self, f: impl FnOnce(&mut [u8]) -> R) -> io::Result<R> {
        match (&self.handle, &mut self.storage) {
            (Some(handle), _) => self.member.with_memory(handle, f).map_err(io::Error::other),
            (None, Some(storage)) => Ok(f(storage.memory_mut())),
            (None, None) => unreachable!("the storage is here until the first start"),
        }
    }

    /// Starts the schedule, again if it has run before.
    #[inline]
    pub(crate) fn start(&mut self) -> io::Result<()> {
        match &mut self.handle {
            Some(handle) => self.member.start_again(handle).map_err(io::Error::other),
            None => self.start_first(),
        }
    }

    fn start_first(&mut self) -> io::Result<()> {
        let storage = self.storage.take().expect("it was not started before");
        self.handle = Some(self.member.start(&self.schedule, storage).map_err(io::Error::other)?);
        Ok(())
    }

    /// Returns true if the schedule has ended. If it has not, makes a bounded amount of progress.
    #[inline]
    pub(crate) fn test(&mut self) -> io::Result<bool> {
        let handle = self.handle.as_ref().expect("a schedule runs");
        self.member.test(handle).map_err(io::Error::other)
    }

    /// Waits until the schedule has ended.
    #[inline]
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        let handle = self.handle.as_ref().expect("a schedule runs");
        self.member.wait(handle).map_err(io::Error::other)
    }

    /// Ends the rank, after all ranks have arrived here. Makes progress for the others until then.
    pub(crate) fn leave(self) {
        let Self { shared, member, .. } = self;
        shared.barrier.wait(shared.ranks, || {
            let _ = member.advance();
            shared.pause();
        });
    }
}
