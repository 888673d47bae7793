//! Attaches a process of a program that another launcher has started.
//!
//! The launcher of a node is a thread of the process with the node's lowest rank. If the job can't
//! go on, the launcher says so and ends its process. The starter of that process then ends the
//! others, as after `MPI_Abort`. If the job can't begin, the processes get an error and go on
//! without it.

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

/// The time that an exchange may take. The processes of a job start at the same time, but a large
/// one takes long to start.
const PATIENCE: Duration = Duration::from_secs(120);
/// The time in which a launcher tells the others that the job has ended.
const PART: Duration = Duration::from_secs(5);

/// Attaches this process to its job, and returns when all ranks have attached. It becomes the rank
/// that `goal-run` started it as, or one of the processes that another launcher has started
/// (`mpirun`, `mpiexec`, `srun`). Otherwise it becomes a group of one. Processes that another
/// launcher has started compare their `common` settings. If those of one are an error, all of them
/// fail.
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

/// Attaches this process as `rank` of a job of `size` processes. All of them call this and exchange
/// texts by `exchange`: those of an MPI program, by `MPI_Allgather`. Returns when all of them have
/// attached. The `common` settings are as for [`attach`].
///
/// # Errors
/// [`AttachError`], on all ranks if the job can't begin. After one this process can't attach any
/// more.
pub fn attach_among(
    rank: u32,
    size: u32,
    exchange: &mut Exchange<'_>,
    common: Common,
) -> Result<Attached, AttachError> {
    attach_with(rank, size, exchange, None, common)
}

/// Attaches this process as [`attach_among`] does. Each process brings a fabric of the same name,
/// which carries the messages to ranks of other nodes. Shared memory carries those within a node,
/// and TCP those to ranks that the fabric can't reach.
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
    /// The launcher of the node, if this process has it.
    launcher: Option<Own>,
}

/// Leaves the job. Waits until the launcher of this process has told others of its end.
impl Drop for Seat {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        if let Some(launcher) = &self.launcher {
            let _ = launcher.ended.recv_timeout(PART);
        }
    }
}

/// The launcher of this node, in a thread of this process.
struct Own {
    /// Tells of the end, with the error if the job could not begin.
    ended: Receiver<Result<(), String>>,
    /// Set once by this process when it has attached, or by the launcher when it has failed. A
    /// launcher that finds it set ends the process, as the job is then under way.
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
                // The reason was told.
                Ok(status) => (status, None),
                Err(error) => (2, Some(error.to_string())),
            };
            // The launch socket closes. Processes that wait at it see that.
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
    /// The launcher has failed before.
    fn begin(&self) -> Result<(), AttachError> {
        match self.is_decided.swap(true, Ordering::AcqRel) {
            false => Ok(()),
            true => Err(self.reason().unwrap_or(AttachError::Stopped)),
        }
    }

    /// Waits for a moment for the reason why the job could not begin.
    fn reason(&self) -> Option<AttachError> {
        let ended = self.ended.recv_timeout(PART).ok()?;
        ended.err().map(|why| AttachError::System(io::Error::other(why)))
    }
}

/// Writes a line to standard error. If that takes nothing, nobody can be told.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "goal: {}", shown(text));
}

/// Runs the launcher of this node. Returns the status with which the processes of the job end.
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
