//! Attaches a process of a program to its job if another launcher has started it.
//!
//! The launcher of a node is a thread of the process with the node's lowest rank. If the job can't
//! go on, the launcher says so and ends its process. Then the launcher that started the processes
//! ends the others, as after `MPI_Abort`. If the job can't begin, the processes get an error and go
//! on without a job.

use super::arrange::{Common, Exchange, Lead, Wired};
use super::outside::{Outside, over};
use super::rank::{admit, watch};
use crate::join::join;
use crate::launcher::{Ended, LaunchError, Options, run, run_on_hosts};
use crate::report::{Report, shown};
use goal_bootstrap::{Launcher, Session};
use goal_job::bootstrap::OF_PROGRAM;
use goal_job::limits::SEGMENT_BYTES_MAX;
use goal_job::threads::{LibraryThread, adopting};
use goal_job::{JobSpec, Stuck};
use goal_rank::program::{AttachError, Attached, attach as attach_by_order, heap_bytes, skeleton};
use std::io::{self, Write};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

/// The longest time for an exchange. All processes of a job start together, but this takes long in
/// a large job.
const PATIENCE: Duration = Duration::from_secs(120);
/// The longest time for telling other launchers that the job has ended.
const PART: Duration = Duration::from_secs(5);

/// Attaches this process to its job. Returns when all ranks have attached. The process becomes the
/// rank for which `goal-run` or another launcher (`mpirun`, `mpiexec`, `srun`) has started it.
/// Without a launcher it becomes a group of one. Processes of another launcher compare their
/// `common` settings, and all of them fail if these differ or if one has an error.
///
/// # Errors
/// [`AttachError`]. After one this process can't attach any more.
pub fn attach(common: Common) -> Result<Attached, AttachError> {
    if std::env::var_os(OF_PROGRAM).is_some() {
        common.map_err(io::Error::other)?;
        return attach_by_order();
    }
    let system = |error: goal_bootstrap::Error| AttachError::System(io::Error::other(error));
    match Launcher::from_process().map_err(system)? {
        Some(launcher) if launcher.size().is_some_and(|size| size > 1) => {
            let session = adopting(|| Session::open(&launcher, PATIENCE));
            let mut session = session.map_err(system)?;
            let (rank, size) = (session.rank(), session.size());
            let mut exchange =
                |blob: &[u8]| session.allgather(blob, PATIENCE).map_err(|error| error.to_string());
            let attached = attach_among(rank, size, &mut exchange, common)?;
            attached.keep(Box::new(session));
            Ok(attached)
        }
        _ => {
            common.map_err(io::Error::other)?;
            attach_by_order()
        }
    }
}

/// Attaches this process as `rank` of a job of `size` processes. Each of them calls this and
/// exchanges texts by `exchange`, as by `MPI_Allgather` in an MPI program. Returns when all
/// processes have attached. [`attach`] describes the `common` settings.
///
/// # Errors
/// [`AttachError`], on all ranks if the job can't begin. After it this process can't attach again.
pub fn attach_among(
    rank: u32,
    size: u32,
    exchange: &mut Exchange<'_>,
    common: Common,
) -> Result<Attached, AttachError> {
    attach_with(rank, size, exchange, None, common)
}

/// Attaches this process like [`attach_among`]. Each process brings a fabric of the same name,
/// which carries messages to ranks of other nodes. Shared memory carries messages within a node.
/// TCP carries messages to ranks that the fabric can't reach.
///
/// # Errors
/// Those of [`attach_among`], or the fabric can't be opened.
pub fn attach_among_over(
    rank: u32,
    size: u32,
    exchange: &mut Exchange<'_>,
    fabric: Outside<'_>,
) -> Result<Attached, AttachError> {
    attach_with(rank, size, exchange, Some(fabric), Ok(String::new()))
}

fn attach_with(
    rank: u32,
    size: u32,
    exchange: &mut Exchange<'_>,
    fabric: Option<Outside<'_>>,
    common: Common,
) -> Result<Attached, AttachError> {
    let (name, open) = fabric.map(|fabric| (fabric.name, fabric.open)).unzip();
    let mut wired = Wired::agree(rank, size, exchange, name, common)?;
    let launcher = wired.lead().map(|lead| Own::start(lead, size)).transpose()?;
    let begin = || -> Result<_, AttachError> {
        let (bootstrap, inherited, socket) = join(&wired.address, rank)?;
        admit();
        let attached = Attached::join(bootstrap, inherited, |settings, remote_sockets| {
            over(open, rank, settings, remote_sockets)
        })?;
        Ok((attached, socket))
    };
    let (attached, socket) = match (begin(), &launcher) {
        (begun, None) => begun?,
        (Ok(begun), Some(launcher)) => {
            launcher.begin()?;
            begun
        }
        (Err(error), Some(launcher)) => return Err(launcher.reason().unwrap_or(error)),
    };
    let (job, own) = (attached.job(), socket.try_clone()?);
    thread::Builder::new().name("launcher's end".to_owned()).spawn(move || {
        let _thread = LibraryThread::enter();
        watch(&own, job.segment(), rank);
    })?;
    attached.keep(Box::new(Seat { socket, launcher }));
    Ok(attached)
}

/// The connection of a process with its job. Dropping it leaves the job.
struct Seat {
    socket: std::os::fd::OwnedFd,
    /// The launcher of the node. `None` if another process has it.
    launcher: Option<Own>,
}

/// Leaves the job. Waits until the launcher in this process has told others of the end, for at most
/// [`PART`].
impl Drop for Seat {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        if let Some(launcher) = &self.launcher {
            let _ = launcher.ended.recv_timeout(PART);
        }
    }
}

/// The launcher of this node, which runs in a thread of this process.
struct Own {
    /// Receives the result of the launcher: an error if the job could not begin.
    ended: Receiver<Result<(), String>>,
    /// Set by the first of two: this process when it has attached, or the launcher when it has
    /// failed. If a launcher that fails finds it set, the job is under way, so it ends the process.
    is_decided: Arc<AtomicBool>,
}

impl Own {
    fn start(lead: Lead, ranks: u32) -> io::Result<Self> {
        let (tell, ended) = sync_channel(1);
        let is_decided = Arc::new(AtomicBool::new(false));
        let decide = Arc::clone(&is_decided);
        let work = move || {
            let _thread = LibraryThread::enter();
            let (status, why) = match launch(&lead, ranks) {
                Ok(0) => return drop(tell.send(Ok(()))),
                // The launcher has shown the reason already.
                Ok(status) => (status, None),
                Err(error) => (2, Some(error.to_string())),
            };
            // This closes the launch socket, so that processes that wait at it notice.
            drop(lead);
            // AcqRel: pairs with the swap in `begin`.
            if decide.swap(true, Ordering::AcqRel) {
                why.inspect(|why| say(why));
                process::exit(status.into());
            }
            let _ = tell.send(Err(why.unwrap_or_else(|| "the job did not begin".to_owned())));
        };
        thread::Builder::new().name("launcher".to_owned()).spawn(work)?;
        Ok(Self { ended, is_decided })
    }

    /// Notes that this process has attached.
    ///
    /// # Errors
    /// The launcher has failed already.
    fn begin(&self) -> Result<(), AttachError> {
        match self.is_decided.swap(true, Ordering::AcqRel) {
            false => Ok(()),
            true => Err(self.reason().unwrap_or(AttachError::Stopped)),
        }
    }

    /// Returns the reason why the job could not begin. Waits for it for at most [`PART`].
    fn reason(&self) -> Option<AttachError> {
        let ended = self.ended.recv_timeout(PART).ok()?;
        ended.err().map(|why| AttachError::System(io::Error::other(why)))
    }
}

/// Writes a line to standard error. An error is ignored, as there is nowhere else to write.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "goal: {}", shown(text));
}

/// Runs the launcher of this node. Returns the exit status for the processes of the job.
fn launch(lead: &Lead, ranks: u32) -> Result<u8, LaunchError> {
    let options = Options {
        spec: JobSpec {
            bind: lead.bind().clone(),
            stuck: Stuck::from_environment()?,
            ..JobSpec::default()
        },
        pushed_max: goal_engine::Options::PUSHED_MAX,
        ranks: lead.ranks(true),
        tell: say,
        explain: |error| error.to_string(),
        ..Options::default()
    };
    let nisa = skeleton(ranks, heap_bytes(ranks, SEGMENT_BYTES_MAX));
    let (outcome, others) = match lead.hosts() {
        None => (run(&nisa, &options)?, None),
        Some(hosts) => match run_on_hosts(&nisa, &options, hosts)? {
            Ended::Leading(outcome, others) => (*outcome, Some(others)),
            Ended::Told(verdict) => {
                verdict.errors.iter().for_each(|error| say(error));
                return Ok(verdict.status);
            }
        },
    };
    let report = Report::new(&outcome, None);
    report.errors().iter().for_each(|error| say(error));
    let status = report.exit_status();
    if let Some(others) = others {
        others.conclude(status, &report);
    }
    Ok(status)
}
