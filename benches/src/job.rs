//! Ranks that are processes of this program, each bound to a processor, in turn if
//! there are too few. MPI programs are placed alike.

use crate::assemble::assemble;
use crate::member::RankPlace;
use goal_asm::Nisa;
use goal_engine::Calc;
use goal_job::binding::{cores, num_processors};
pub(crate) use goal_job::is_crowded as crowded;
use goal_job::transport::Choice;
use goal_job::{JobSpec, Mode, Settings};
use goal_lang::Program;
use goal_shm::{Barrier, Layout, Segment};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The memory that the ranks of a job share.
pub(crate) struct Job {
    segment: Segment,
    meeting: Page,
    marks: OwnedFd,
    ranks: u32,
}

impl Job {
    pub(crate) fn new(program: &Program) -> io::Result<Self> {
        let nisa = assemble(program)?;
        let segment = Segment::create(layout(&nisa)?)?;
        let marks = memfd_create("goal-bench-marks", MFdFlags::MFD_CLOEXEC)?;
        Ok(Self { segment, meeting: Page::new()?, marks, ranks: nisa.num_ranks() })
    }

    /// Runs every rank as this program's `subcommand`. Returns the output of each, in the order of
    /// ranks.
    pub(crate) fn run(&self, subcommand: &str, arguments: &[String]) -> io::Result<Vec<String>> {
        let mut children = Vec::new();
        let processors = list(&processors(self.ranks)?);
        for rank in 0..self.ranks {
            let place = RankPlace {
                rank,
                ranks: self.ranks,
                segment: path(self.segment.fd()),
                meeting: self.meeting.path(),
                marks: path(self.marks.as_fd()),
                processors: processors.clone(),
            };
            let mut command = Command::new(std::env::current_exe()?);
            command.arg(subcommand).args(place.arguments()).args(arguments);
            command.process_group(group(&children));
            children.push(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?);
        }
        wait(&children)?;
        let printed = |child: &mut Child| {
            let mut text = String::new();
            child.stdout.take().expect("a pipe").read_to_string(&mut text)?;
            Ok(text)
        };
        children.iter_mut().map(printed).collect()
    }
}

/// Returns the process group of the children, which the first one leads.
fn group(children: &[Child]) -> i32 {
    children.first().map_or(0, |leader| leader.id() as i32)
}

/// Waits for all children of a group. If one fails, kills the others, which may wait for it.
fn wait(children: &[Child]) -> io::Result<()> {
    let group = Pid::from_raw(group(children));
    let mut failed = false;
    for ended in 1..=children.len() {
        let status = waitpid(Pid::from_raw(-group.as_raw()), None)?;
        if !failed && !matches!(status, WaitStatus::Exited(_, 0)) {
            failed = true;
            if ended < children.len() {
                killpg(group, Signal::SIGKILL)?;
            }
        }
    }
    if failed { Err(io::Error::other("a rank failed")) } else { Ok(()) }
}

/// Returns the settings of a job whose ranks are bound to these processors, if any.
///
/// # Errors
/// The environment asks for transports that can't be used, or the system does not tell the
/// processors.
pub(crate) fn settings(
    ranks: u32,
    progress: Mode,
    processors: Option<&[u32]>,
) -> io::Result<Settings> {
    let settings = Settings::new(ranks, &Choice::default()).map_err(io::Error::other)?;
    let spec = JobSpec { calc: Calc::Skip, progress, ..JobSpec::default() };
    let settings = settings.with_spec(spec);
    match processors {
        Some(processors) => settings.with_processors(processors),
        None => Ok(settings),
    }
}

/// Returns the layout of the segment, with room for every mode of progress.
pub(crate) fn layout(nisa: &Nisa) -> io::Result<Layout> {
    let settings = settings(nisa.num_ranks(), Mode::Node, None)?;
    goal_job::layout(nisa, &settings, u64::MAX).map_err(io::Error::other)
}

/// A page for the barrier.
pub(crate) struct Page(Barrier);

impl Page {
    pub(crate) fn new() -> io::Result<Self> {
        Barrier::create().map(Self)
    }

    /// Returns the path at which other processes open the page.
    pub(crate) fn path(&self) -> PathBuf {
        path(self.0.fd().as_fd())
    }
}

fn path(fd: BorrowedFd<'_>) -> PathBuf {
    format!("/proc/{}/fd/{}", std::process::id(), fd.as_raw_fd()).into()
}

/// Returns the processor of each rank: its own, or one of all in turn if they are too few. Does not
/// look at other jobs, so that it is the same for all contestants of a measurement.
///
/// # Errors
/// The system does not bind processes.
pub(crate) fn processors(ranks: u32) -> io::Result<Vec<u32>> {
    let mut own = cores()?;
    own.truncate(num_processors());
    Ok(own.into_iter().cycle().take(ranks as usize).collect())
}

/// Returns a list of processors as MPI launchers and the ranks of this program take it.
pub(crate) fn list(processors: &[u32]) -> String {
    processors.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::{group, wait};
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    fn shells(scripts: &[&str]) -> Vec<Child> {
        let mut children = Vec::new();
        for script in scripts {
            let mut command = Command::new("sh");
            command.args(["-c", script]).process_group(group(&children));
            children.push(command.spawn().expect("a shell"));
        }
        children
    }

    #[test]
    fn a_rank_that_fails_ends_those_that_wait_for_it() {
        wait(&shells(&["true", "true"])).expect("all end well");
        for scripts in [["exit 3", "sleep 1000"], ["sleep 1000", "kill -9 $$"]] {
            let error = wait(&shells(&scripts)).expect_err("one fails");
            assert_eq!(error.to_string(), "a rank failed");
        }
        wait(&shells(&["sleep 0.1", "sleep 0.1; exit 1"])).expect_err("the last one fails");
    }
}
