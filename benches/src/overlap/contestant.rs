//! The contestants: libraries and modes that perform an allreduce beside a program's computation.

use crate::frames::pin;
use crate::host_jobs::Jobs;
use crate::host_peer::HostPeer;
use crate::job::{Job, Page, crowded, list, processors};
use crate::library::goal::{LIBGOAL, Ours, Program, Table};
use crate::library::{Libraries, OVERLAP, Peer, lines_of};
use crate::measure::sibling;
use crate::mpi::Operation;
use crate::offload::plan;
use goal_cluster::{Cluster, Host};
use goal_job::Mode;
use goal_job::Named;
use goal_run::named;
use nix::sched::{sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::io;
use std::path::Path;
use std::process::{Child, Stdio};

/// The contestants that are asked for.
#[derive(clap::Args)]
pub(crate) struct Contestants {
    #[command(flatten)]
    pub(super) libraries: Libraries,
    /// The contestants of this project
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Ours::ALL)]
    pub(super) ours: Vec<Ours>,
    #[command(flatten)]
    pub(super) table: Table,
    /// Modes in which the contestants of this project make progress
    #[arg(long, value_parser = named::<Mode>(), value_delimiter = ',', default_values = ["caller", "thread", "node"])]
    pub(super) progress: Vec<Mode>,
    /// Memory of programs in C; that of schedules lies in the segment
    #[arg(long, value_enum, default_value_t = Memory::Malloc)]
    pub(crate) memory: Memory,
}

/// The programs of contestants, compiled.
pub(crate) struct Built {
    pub(crate) peers: Vec<Peer>,
    program: Option<Program>,
}

impl Contestants {
    /// Compiles the programs into `folder`.
    ///
    /// # Errors
    /// A library is not there or not known, or its compiler fails.
    pub(crate) fn build(&self, folder: &Path) -> io::Result<Built> {
        let program = match self.ours.contains(&Ours::Libgoal) {
            true => self.table.build(&OVERLAP, folder)?,
            false => None,
        };
        Ok(Built { peers: self.libraries.build(&OVERLAP, folder)?, program })
    }

    /// Returns the contestants on one host.
    pub(crate) fn of<'a>(&self, built: &'a Built) -> Vec<Contestant<'a>> {
        let mut contestants: Vec<_> = built.peers.iter().map(Contestant::Mpi).collect();
        if self.ours.contains(&Ours::Schedule) {
            contestants.extend(self.progress.iter().map(|&mode| Contestant::Schedule(mode)));
        }
        if let Some(program) = &built.program {
            let of = |&mode: &Mode| Contestant::Library(program, mode);
            contestants.extend(self.progress.iter().map(of));
        }
        contestants
    }
}

/// The memory that programs in C take their operands and results from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Memory {
    /// Memory of the process
    Malloc,
    /// MPI_Alloc_mem, GOAL_Alloc
    Alloc,
}

impl Memory {
    /// Returns the name that programs know.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Memory::Malloc => "malloc",
            Memory::Alloc => "alloc",
        }
    }
}

/// One contestant.
#[derive(Clone, Copy)]
pub(crate) enum Contestant<'a> {
    /// A program of an MPI library.
    Mpi(&'a Peer),
    /// A schedule of this benchmark.
    Schedule(Mode),
    /// A program of the C library.
    Library(&'a Program, Mode),
    /// A program of Open MPI over TCP, a rank on each host.
    OverTcp(&'a HostPeer<'a>),
    /// A program of the C library over ESP, a rank on each host.
    OverEsp(&'a EspJobs<'a>, Mode),
    /// A schedule in the kernels of the hosts.
    InKernels(&'a InKernels<'a>),
}

/// The hosts of a test bench, and how a program of the C library is started on each of them.
pub(crate) struct EspJobs<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) jobs: &'a Jobs,
    pub(crate) program: &'a Program,
}

/// A case of a measurement, as the programs take it.
pub(crate) trait AnyCase: ToString {
    /// Returns the bytes of the allreduce.
    fn bytes(&self) -> u64;
}

impl Contestant<'_> {
    /// Returns the name in tables and raw data.
    pub(crate) fn name(self) -> String {
        match self {
            Contestant::Mpi(peer) => peer.library.name.clone(),
            Contestant::Schedule(progress) => progress.name().to_owned(),
            Contestant::Library(_, progress) => format!("{LIBGOAL} {}", progress.name()),
            Contestant::OverTcp(peer) => format!("{} over TCP", peer.name()),
            Contestant::OverEsp(_, progress) => format!("{LIBGOAL} over ESP {}", progress.name()),
            Contestant::InKernels(_) => "schedule in the kernels".to_owned(),
        }
    }

    /// Checks that it can run an allreduce of `bytes` bytes.
    ///
    /// # Errors
    /// The reason why it can't.
    pub(crate) fn check(self, ranks: u32, bytes: u64) -> io::Result<()> {
        let Contestant::InKernels(hosts) = self else { return Ok(()) };
        let program = Operation::Allreduce.program_between_hosts(ranks, bytes);
        plan(&program, hosts.mtu as u32).map(drop)
    }

    /// Returns true for a library of MPI.
    pub(crate) fn is_mpi(self) -> bool {
        matches!(self, Contestant::Mpi(_) | Contestant::OverTcp(_))
    }

    /// Returns the lines that the ranks print for these cases. A rank of a schedule is this
    /// program's `subcommand`, and its memory lies in the segment.
    ///
    /// # Errors
    /// A rank fails.
    pub(crate) fn lines<C: AnyCase>(
        self,
        ranks: u32,
        memory: Memory,
        cases: &[C],
        subcommand: &str,
    ) -> io::Result<Vec<String>> {
        let page = Page::new()?;
        let processors = processors(ranks)?;
        let bound = (!crowded(ranks)).then_some(processors.as_slice());
        let meeting = match self {
            Contestant::OverTcp(_) | Contestant::OverEsp(..) => "-".to_owned(),
            _ => page.path().display().to_string(),
        };
        let mut arguments = vec![meeting];
        arguments.extend([bound.map_or("-".to_owned(), list), memory.name().to_owned()]);
        arguments.extend(cases.iter().map(C::to_string));
        match self {
            Contestant::Mpi(peer) => peer.run(ranks, &arguments),
            Contestant::Library(program, mode) => program.run(ranks, bound, mode, &arguments),
            Contestant::OverTcp(peer) => peer.run(&arguments),
            Contestant::OverEsp(hosts, mode) => hosts.run(bound, mode, &arguments),
            Contestant::InKernels(hosts) => {
                let mut lines = Vec::new();
                for case in cases {
                    lines.extend(hosts.run(bound, &page, &case.to_string())?);
                }
                Ok(lines)
            }
            Contestant::Schedule(progress) => {
                let mut lines = Vec::new();
                for case in cases {
                    let job = Job::new(&Operation::Allreduce.program(ranks, case.bytes()))?;
                    let arguments = [
                        format!("--progress={}", progress.name()),
                        format!("--case={}", case.to_string()),
                    ];
                    let printed = job.run(subcommand, &arguments)?;
                    lines.extend(printed.iter().flat_map(|text| text.lines()).map(str::to_owned));
                }
                Ok(lines)
            }
        }
    }
}

/// The hosts of a test bench whose kernels run a schedule.
pub(crate) struct InKernels<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) mtu: usize,
}

impl InKernels<'_> {
    /// Runs a case, with a rank and one processor for each host, or free. Returns the lines of all.
    fn run(&self, processors: Option<&[u32]>, page: &Page, case: &str) -> io::Result<Vec<String>> {
        let own = sibling("goal-bench")?;
        let hosts = self.cluster.hosts();
        let macs: Vec<String> = hosts.iter().map(|host| host.mac().to_string()).collect();
        let start = |(rank, host): (usize, &Host)| {
            let mut command = host.command(&own);
            command.arg("overlap-kernel-rank").arg("--meeting").arg(page.path());
            command.args(["--rank", &rank.to_string(), "--mtu", &self.mtu.to_string()]);
            command.args(["--macs", &macs.join(","), "--case", case]);
            if let Some(processor) = processors.and_then(|list| list.get(rank)) {
                command.args(["--processor", &processor.to_string()]);
            }
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
        };
        let children = hosts.iter().enumerate().map(start).collect::<io::Result<Vec<_>>>()?;
        let outputs: Vec<_> = children.into_iter().map(Child::wait_with_output).collect();
        let mut lines = Vec::new();
        for output in outputs {
            lines.extend(lines_of("a schedule in the kernels", &output?)?);
        }
        Ok(lines)
    }
}

impl EspJobs<'_> {
    /// Runs the program on all hosts, a rank each: with one processor for the whole host, threads
    /// of the rank included, or free. Returns the lines of all.
    fn run(
        &self,
        processors: Option<&[u32]>,
        progress: Mode,
        arguments: &[String],
    ) -> io::Result<Vec<String>> {
        let hosts = self.cluster.hosts();
        let mut children = Vec::new();
        for (rank, host) in hosts.iter().enumerate() {
            let processor = processors.and_then(|list| list.get(rank));
            let bound = processor.map_or("none".to_owned(), u32::to_string);
            let mut command = self.jobs.command(host, hosts.len());
            let options = ["-n".to_owned(), hosts.len().to_string(), "--bind".to_owned(), bound];
            self.program.start(&mut command, progress, &options, arguments);
            children.push(match processor {
                Some(&processor) => on_processor(processor, || command.spawn())?,
                None => command.spawn()?,
            });
        }
        // All end before the first error is told.
        let outputs: Vec<_> = children.into_iter().map(Child::wait_with_output).collect();
        let mut lines = Vec::new();
        for output in outputs {
            lines.extend(lines_of(LIBGOAL, &output?)?);
        }
        Ok(lines)
    }
}

/// Calls `start` while the calling thread, and so the process that it starts, is bound to a
/// processor.
fn on_processor<T>(processor: u32, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let this = Pid::from_raw(0);
    let before = sched_getaffinity(this)?;
    pin(processor as usize)?;
    let started = start();
    sched_setaffinity(this, &before)?;
    started
}
