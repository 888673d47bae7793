//! Runs a rank of a schedule in a process that a launcher has started.
//!
//! Threat: a local user starts this file with a bootstrap record, a schedule, settings and a
//! segment of their own. If the file has capabilities, the process refuses to be a rank: see
//! [`rights`](goal_job::rights). Otherwise the process has no more rights than the user, and the
//! record is checked as far as it can be.
#![allow(unsafe_code)] // the environment

use super::signals;
use super::startup_errors;
use goal_job::SectionFile;
use goal_job::bootstrap::{OF_PROGRAM, OF_SCHEDULE, Opened, RankBootstrap};
use goal_job::inherited::Inherited;
use goal_job::offload::RemoteEndpoint;
use goal_job::{limits, rights};
use goal_rank::schedule::{self, Resources};
use rustix::process::{
    DumpableBehavior, Pid, Signal, getppid, set_dumpable_behavior, set_parent_process_death_signal,
};
use rustix::thread::set_name;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

/// The exit status of a process that can't start its rank.
pub(super) const NOT_STARTED: u8 = 2;

/// Runs the rank and returns its exit code if a launcher has started this process as a rank.
/// Returns `None` otherwise. The `main` of a program for
/// [`Ranks::Processes`](super::Ranks::Processes) must call this first.
pub fn rank_process() -> Option<ExitCode> {
    let text = std::env::var_os(OF_SCHEDULE)?;
    if !rights::is_confined() {
        let _ = writeln!(
            io::stderr(),
            "goal-run: {} is set, but no launcher started this process: unset it (a rank has no rights that its launcher lacks)",
            OF_SCHEDULE
        );
        return Some(ExitCode::from(NOT_STARTED));
    }
    let mut inherited = Inherited::new();
    let bootstrap = RankBootstrap::parse(&text);
    let told = bootstrap
        .as_ref()
        .ok()
        .and_then(|bootstrap| inherited.take(bootstrap.startup_errors?).ok());
    match bootstrap.and_then(|bootstrap| execute(&bootstrap, &mut inherited)) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(error) => {
            startup_errors::tell(told, &limits::named(&error));
            Some(ExitCode::from(NOT_STARTED))
        }
    }
}

/// Removes the bootstrap record of a rank from the environment. A rank of a program may start
/// another launcher. The ranks of that launcher, and helpers such as `ssh`, must not get the record
/// of the outer job.
///
/// # Safety
/// The process has one thread.
pub unsafe fn forget_order() {
    // SAFETY: nobody else reads the environment meanwhile.
    unsafe { std::env::remove_var(OF_PROGRAM) };
}

fn execute(bootstrap: &RankBootstrap, inherited: &mut Inherited) -> io::Result<()> {
    if bootstrap.remote_sockets.is_some() || bootstrap.kernel.is_some() {
        // Keeps other processes of the same user from taking the sockets.
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    rights::give_up()?;
    signals::end_on_faults();
    signals::stop_as_usual();
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Sets the name that lists of processes show.
    let name = CString::new(format!("rank {}", bootstrap.rank)).expect("no zero byte");
    set_name(&name)?;
    goal_shm::admit(bootstrap.launcher);
    // The launcher may have died before the death signal was set. A user may also have forged the
    // bootstrap record.
    if getppid().map(Pid::as_raw_nonzero).is_none_or(|pid| pid.get() as u32 != bootstrap.launcher) {
        let variable = OF_SCHEDULE;
        return Err(io::Error::other(format!(
            "{variable} is set, but its launcher did not start this process: unset it"
        )));
    }
    let Opened { segment, nisa, settings } = bootstrap.open(inherited)?;
    let section = match bootstrap.section {
        Some((number, place)) => {
            Some(SectionFile { file: Arc::new(File::from(inherited.take(number)?)), place })
        }
        None => None,
    };
    let endpoint = match (&bootstrap.remote_sockets, bootstrap.kernel) {
        (Some(passed), _) => Some(RemoteEndpoint::Sockets(inherited.remote_sockets(passed)?)),
        (None, Some(passed)) => Some(RemoteEndpoint::Kernel(inherited.kernel(passed)?)),
        (None, None) => None,
    };
    let resources = Resources { section, endpoint };
    schedule::run(&segment, &nisa, bootstrap.rank, &settings, resources).map_err(io::Error::other)
}
