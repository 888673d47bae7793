//! One rank of a job, in a process of its own: it starts a schedule again and again.

use crate::engine::assemble;
use crate::job::layout;
use crate::mpi::Operation;
use clap::Args as ClapArgs;
use goal_lang::Program;
use goal_run::engine::{Engine, Handle, Options, Progress as Polled, Schedule, Storage};
use goal_run::memory::Region;
use goal_run::rank::Pause;
use goal_run::shm::{Mapping, Meeting, Segment};
use goal_run::transport::{Choice, Ends, Paths, Request};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

/// Which rank a process is, and where it finds what all share.
#[derive(Debug, ClapArgs)]
pub(crate) struct Place {
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
    /// The processor to stay on.
    #[arg(long)]
    pub(crate) cpu: Option<usize>,
}

impl Place {
    /// It as a command line.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            format!("--rank={}", self.rank),
            format!("--ranks={}", self.ranks),
            format!("--segment={}", self.segment.display()),
            format!("--meeting={}", self.meeting.display()),
        ];
        arguments.extend(self.cpu.map(|cpu| format!("--cpu={cpu}")));
        arguments
    }

    /// Goes to the processor and maps what is shared. The process ends with its parent, however that ends.
    pub(crate) fn open(&self, program: &Program) -> io::Result<Shared> {
        set_pdeathsig(Signal::SIGKILL)?;
        if let Some(cpu) = self.cpu {
            let mut set = CpuSet::new();
            set.set(cpu)?;
            sched_setaffinity(Pid::from_raw(0), &set)?;
        }
        let open = |path: &PathBuf| File::options().read(true).write(true).open(path).map(OwnedFd::from);
        let nisa = Arc::new(assemble(program)?);
        Ok(Shared {
            rank: self.rank,
            ranks: self.ranks,
            crowded: self.cpu.is_none(),
            segment: Segment::open(open(&self.segment)?, layout(&nisa)?)?,
            page: Mapping::open(open(&self.meeting)?, size_of::<Meeting>())?,
            schedule: Arc::new(Schedule::new(nisa, self.rank)),
            // What goal-run takes where nothing is asked for.
            paths: Choice::new(&Request::default()).paths(self.ranks).map_err(io::Error::other)?,
        })
    }
}

/// What the ranks share, as one of them sees it.
pub(crate) struct Shared {
    rank: u32,
    ranks: u32,
    crowded: bool,
    segment: Segment,
    page: Mapping,
    schedule: Arc<Schedule>,
    paths: Paths,
}

impl Shared {
    fn meeting(&self) -> &Meeting {
        self.page.words(0)
    }

    fn pause(&self) {
        if self.crowded {
            std::thread::yield_now();
        }
    }

    fn storage(&self) -> Storage {
        let areas = self.segment.rank(self.rank);
        let split = areas.instance.start + 8 * self.schedule.state_sizes().finished;
        Storage {
            memory: self.memory(),
            scratch: self.segment.region(&areas.scratch),
            finished: self.segment.cells(&(areas.instance.start..split)),
            counters: self.segment.cells(&(split..areas.instance.end)),
            matches: None,
        }
    }

    /// What the schedule works on.
    pub(crate) fn memory(&self) -> Region {
        self.segment.region(&self.segment.rank(self.rank).memory)
    }

    /// Whether an allreduce of integers whose bytes are ones left their sum.
    ///
    /// # Errors
    /// Where it didn't.
    pub(crate) fn check_allreduce(&self, bytes: u64) -> io::Result<()> {
        let result = self.memory().span(Operation::Allreduce.result(self.ranks, bytes), bytes);
        let is_sum = result.read(|bytes| bytes.iter().all(|&byte| u32::from(byte) == self.ranks));
        if is_sum { Ok(()) } else { Err(io::Error::other("the allreduce has another result")) }
    }
}

/// Who makes a schedule go on that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Progress {
    /// The program, whenever it calls
    Caller,
}

impl Progress {
    pub(crate) const ALL: [Progress; 1] = [Progress::Caller];

    /// Its name on the command line and in the raw data.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Progress::Caller => "caller",
        }
    }
}

/// A rank at work.
pub(crate) struct Member<'a> {
    shared: &'a Shared,
    engine: Engine<Ends<'a>>,
    /// Of a schedule that does not run.
    storage: Option<Storage>,
    /// Of a schedule that runs.
    handle: Option<Handle>,
}

impl<'a> Member<'a> {
    pub(crate) fn new(shared: &'a Shared, progress: Progress) -> Self {
        let engine = match progress {
            Progress::Caller => {
                let ends = Ends::new(&shared.segment, shared.rank, &shared.paths);
                Engine::new(shared.rank, ends, Options::default())
            }
        };
        Self { shared, engine, storage: Some(shared.storage()), handle: None }
    }

    /// Waits for all ranks, without a call to the engine.
    pub(crate) fn meet(&self) {
        self.shared.meeting().wait(self.shared.ranks, || self.shared.pause());
    }

    /// Starts the schedule and what can be done of it at once.
    pub(crate) fn start(&mut self) -> io::Result<()> {
        let storage = self.storage.take().expect("a schedule runs already");
        self.handle = Some(self.engine.start(&self.shared.schedule, 0, storage));
        self.poll().map(drop)
    }

    /// Whether the schedule has ended; if not, goes on with it for a bounded time.
    #[inline]
    pub(crate) fn test(&mut self) -> io::Result<bool> {
        if !self.has_ended() {
            self.poll()?;
        }
        Ok(self.has_ended())
    }

    /// Waits until the schedule has ended.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        let status = self.shared.segment.status(self.shared.rank);
        let mut rest = Pause::new(self.shared.crowded);
        while !self.has_ended() {
            let progress = self.poll()?;
            if progress.worked {
                rest.over();
            } else {
                rest.rest(status, self.engine.transport(), progress.waiting);
            }
        }
        Ok(())
    }

    /// Makes a schedule that has ended ready to be started again.
    pub(crate) fn finish(&mut self) {
        let handle = self.handle.take().expect("a schedule that has ended");
        self.storage = Some(self.engine.finish(handle));
    }

    /// The rank's last act: what others still ask for leaves before.
    pub(crate) fn leave(mut self) {
        let shared = self.shared;
        shared.meeting().wait(shared.ranks, || {
            let _ = self.engine.poll(0);
            shared.pause();
        });
    }

    #[inline]
    fn has_ended(&self) -> bool {
        self.handle.as_ref().is_some_and(|handle| self.engine.test(handle))
    }

    #[inline]
    fn poll(&mut self) -> io::Result<Polled> {
        self.engine.poll(0).map_err(|failure| io::Error::other(format!("{failure:?}")))
    }
}
