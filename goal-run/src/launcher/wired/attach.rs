//! A process of a program that another launcher has started.
//!
//! The launcher of a node is a thread of the process with the node's lowest rank. If the job can't
//! go on, it says so and ends the process, whose starter then ends the others, as after
//! `MPI_Abort`.

use super::arrange::{Exchange, Lead, Wired};
use super::outside::{Outside, over};
use super::rank::{admit, watch};
use crate::job::Mode;
use crate::join::join;
use crate::launcher::{Ended, LaunchError, Options, run, run_on_hosts};
use crate::limits::SEGMENT_BYTES_MAX;
use crate::order::OF_PROGRAM;
use crate::program::{
    AttachError, Attached, Guest, attach as attach_by_order, heap_bytes, skeleton,
};
use crate::report::Report;
use goal_bootstrap::{Launcher, Session};
use goal_engine as engine;
use std::io;
use std::process;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

/// The time that an exchange may take. The processes of a job start at the same time, but a large
/// one takes long to start.
const PATIENCE: Duration = Duration::from_secs(120);
/// The time in which a launcher tells the others that the job has ended.
const PART: Duration = Duration::from_secs(5);

/// Attaches this process to its job: as the rank that `goal-run` started it as, or as one of the
/// processes that another launcher has started (`mpirun`, `mpiexec`, `srun`), or else as a group of
/// one. Returns when all ranks have attached.
///
/// # Errors
/// [`AttachError`]. After one this process can't attach any more.
pub fn attach() -> Result<Attached, AttachError> {
    if std::env::var_os(OF_PROGRAM).is_some() {
        return attach_by_order();
    }
    let system = |error: goal_bootstrap::Error| AttachError::System(io::Error::other(error));
    match Launcher::of_process().map_err(system)? {
        Some(launcher) if launcher.size().is_some_and(|size| size > 1) => {
            let mut session = Session::open(&launcher, PATIENCE).map_err(system)?;
            let (rank, size) = (session.rank(), session.size());
            let mut exchange =
                |blob: &[u8]| session.allgather(blob, PATIENCE).map_err(|error| error.to_string());
            let attached = attach_among(rank, size, &mut exchange)?;
            attached.keep(Box::new(session));
            Ok(attached)
        }
        _ => attach_by_order(),
    }
}

/// Attaches this process as `rank` of a job of `size` processes, which all call this and tell each
/// other by `exchange`: those of an MPI program, by `MPI_Allgather`. Returns when all of them have
/// attached.
///
/// # Errors
/// [`AttachError`]. After one this process can't attach any more.
pub fn attach_among(
    rank: u32,
    size: u32,
    exchange: &mut Exchange<'_>,
) -> Result<Attached, AttachError> {
    attach_with(rank, size, exchange, None)
}

/// Does the same for processes that each bring a fabric of the same name, which carries the
/// messages to ranks of other nodes. Shared memory carries those within a node, and TCP those to
/// ranks that the fabric can't reach.
///
/// # Errors
/// As for [`attach_among`], or the fabric can't be opened.
pub fn attach_among_over(
    rank: u32,
    size: u32,
    exchange: &mut Exchange<'_>,
    fabric: Outside<'_>,
) -> Result<Attached, AttachError> {
    attach_with(rank, size, exchange, Some(fabric))
}

fn attach_with(
    rank: u32,
    size: u32,
    exchange: &mut Exchange<'_>,
    fabric: Option<Outside<'_>>,
) -> Result<Attached, AttachError> {
    let mut wired = match &fabric {
        None => Wired::arrange(rank, size, exchange)?,
        Some(fabric) => Wired::arrange_over(rank, size, exchange, &fabric.name)?,
    };
    let launcher = wired.lead().map(|lead| start(lead, size)).transpose()?;
    let (order, inherited, socket) = join(&wired.door, rank)?;
    admit();
    let open = fabric.map(|fabric| fabric.open);
    let attached =
        Attached::join(order, inherited, |settings, gateway| over(open, rank, settings, gateway))?;
    let (job, own) = (attached.job(), socket.try_clone()?);
    thread::Builder::new().name("launcher's end".to_owned()).spawn(move || {
        crate::threads::leave_signals();
        watch(&own, job.segment(), rank);
    })?;
    attached.keep(Box::new(Seat { socket, launcher }));
    Ok(attached)
}

/// The seat of a process in its job, until it leaves.
struct Seat {
    socket: std::os::fd::OwnedFd,
    /// The end of this process's launcher, if it has the one of its node.
    launcher: Option<Receiver<()>>,
}

impl Guest for Seat {}

/// Leaves the job, and waits until the launcher of this process has told others of its end.
impl Drop for Seat {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        if let Some(launcher) = &self.launcher {
            let _ = launcher.recv_timeout(PART);
        }
    }
}

/// Tells the other launcher that this process has left its job.
impl Guest for Session {}

/// Starts the launcher of this node in a thread. Returns a receiver that is told when it has ended.
fn start(lead: Lead, ranks: u32) -> io::Result<Receiver<()>> {
    let (tell, ended) = sync_channel(1);
    let work = move || {
        crate::threads::leave_signals();
        match launch(&lead, ranks) {
            Ok(0) => drop(tell.send(())),
            Ok(status) => process::exit(status.into()),
            Err(error) => {
                eprintln!("goal: {error}");
                process::exit(2);
            }
        }
    };
    thread::Builder::new().name("launcher".to_owned()).spawn(work)?;
    Ok(ended)
}

/// Runs the launcher of this node. Returns the status with which the processes of the job end.
fn launch(lead: &Lead, ranks: u32) -> Result<u8, LaunchError> {
    let options = Options {
        ranks: lead.ranks(true),
        bind: lead.bind().clone(),
        engine: engine::Options { pushed_max: engine::Options::PUSHED_MAX, ..Default::default() },
        progress: Mode::default(),
        tell: |text| eprintln!("goal: {text}"),
        explain: |error| error.to_string(),
        ..Options::default()
    };
    let nisa = skeleton(ranks, heap_bytes(ranks, SEGMENT_BYTES_MAX));
    let (outcome, others) = match lead.hosts() {
        None => (run(&nisa, &options)?, None),
        Some(hosts) => match run_on_hosts(&nisa, &options, hosts)? {
            Ended::Leading(outcome, others) => (*outcome, Some(others)),
            Ended::Told(verdict) => {
                verdict.errors.iter().for_each(|error| eprintln!("goal: {error}"));
                return Ok(verdict.status);
            }
        },
    };
    let report = Report::new(&outcome, None);
    report.errors().iter().for_each(|error| eprintln!("goal: {error}"));
    let status = report.exit_status();
    if let Some(others) = others {
        others.conclude(status, &report);
    }
    Ok(status)
}
