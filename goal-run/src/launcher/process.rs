//! The main function of rank processes.
//!
//! Threat: a local user starts this file with an order, a schedule, settings and a segment of their
//! own. If the file has capabilities, the process refuses to be a rank: see
//! [`rights`](crate::rights). Otherwise the process has no more rights than the user, and checks
//! what can be checked at the start so that the user gets an error and not a fault: descriptors are
//! open and of the right kind, memory files have their seals and sizes.
#![allow(unsafe_code)] // trusts the launcher's schedule

use super::signals;
use super::troubles;
use crate::inherited::Inherited;
use crate::job::{SectionFile, Settings, layout};
use crate::rank::{self, Resources};
use crate::{limits, rights};
use goal_asm::Nisa;
use goal_asm::nisa::SectionPlace;
use goal_eth::PassedDriver;
use goal_lang::limits::Limits;
use goal_shm::{Sealed, Segment};
use rustix::process::{
    DumpableBehavior, Pid, Signal, getppid, set_dumpable_behavior, set_parent_process_death_signal,
};
use rustix::thread::set_name;
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::process::ExitCode;
use std::sync::Arc;

/// The launcher's order to a rank process. File descriptors are inherited under the numbers given.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) rank: u32,
    /// The process ID of the launcher.
    pub(super) launcher: u32,
    /// The pipe for the reason why the rank can't start.
    pub(super) troubles: RawFd,
    /// The segment.
    pub(super) segment: RawFd,
    /// The sealed schedule.
    pub(super) schedule: RawFd,
    /// The sealed settings. They hold the job's secret, so they are not passed in the environment,
    /// which other processes can read.
    pub(super) settings: RawFd,
    /// The file with the rank's section and its place there, if it is run through a window.
    pub(super) section: Option<(RawFd, SectionPlace)>,
    /// The rank's way to other hosts, if there are any.
    pub(super) driver: Option<PassedDriver>,
}

impl Order {
    /// The environment variable that holds the order.
    pub(super) const VARIABLE: &str = "GOAL_RUN_RANK";

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("numbers and names")
    }
}

/// The exit status of a process that can't start its rank.
pub(super) const NOT_STARTED: u8 = 2;

/// Runs the rank and returns its exit code if a launcher started this process as a rank; returns
/// `None` otherwise. A program that launchers start as
/// [`Ranks::Processes`](super::Ranks::Processes) must call this before anything else in `main`.
pub fn rank_process() -> Option<ExitCode> {
    let text = std::env::var_os(Order::VARIABLE)?;
    if !rights::is_confined() {
        eprintln!(
            "goal-run: {} is set, but no launcher started this process: unset it (a rank has no rights that its launcher lacks)",
            Order::VARIABLE
        );
        return Some(ExitCode::from(NOT_STARTED));
    }
    let mut inherited = Inherited::new();
    let order = text.to_str().ok_or_else(|| io::Error::other("the order is no text"));
    let order =
        order.and_then(|text| serde_json::from_str::<Order>(text).map_err(io::Error::other));
    let told = order.as_ref().ok().and_then(|order| inherited.take(order.troubles).ok());
    match order.and_then(|order| execute(&order, &mut inherited)) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(error) => {
            troubles::tell(told, &limits::named(&error));
            Some(ExitCode::from(NOT_STARTED))
        }
    }
}

fn execute(order: &Order, inherited: &mut Inherited) -> io::Result<()> {
    if order.driver.is_some() {
        // Keeps other processes of the same user from taking the sockets.
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    rights::give_up()?;
    signals::end_on_faults();
    signals::stop_as_usual();
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The name in lists of processes.
    let name = CString::new(format!("rank {}", order.rank)).expect("no zero byte");
    set_name(&name)?;
    goal_shm::admit(order.launcher);
    // The launcher may have died before the death signal was set, or the user may have made up the
    // order.
    if getppid().map(Pid::as_raw_nonzero).is_none_or(|pid| pid.get() as u32 != order.launcher) {
        let variable = Order::VARIABLE;
        return Err(io::Error::other(format!(
            "{variable} is set, but its launcher did not start this process: unset it"
        )));
    }
    let mut take = |what: &str, number| -> io::Result<OwnedFd> {
        inherited.take(number).map_err(|error| io::Error::other(format!("{what}: {error}")))
    };
    let sealed = Sealed::open(take("the schedule", order.schedule)?)?;
    let no_limits =
        Limits { ranks_max: u32::MAX, memory_bytes_max: u64::MAX, scratch_bytes_max: u64::MAX };
    // SAFETY: the launcher, this process's parent, verified these bytes. `Sealed::open` has checked
    // the seals that keep them from changing. A user who makes up an order runs a process of their
    // own, without other rights.
    let nisa = unsafe { Nisa::load_trusted(Arc::new(sealed), &no_limits) };
    let nisa = nisa.map_err(io::Error::other)?;
    // Closed after reading, since they hold the job's secret.
    let settings: Settings = {
        let sealed = Sealed::open(take("the settings", order.settings)?)?;
        serde_json::from_slice(&sealed)?
    };
    if order.rank >= nisa.num_ranks() || !settings.fits(nisa.num_ranks()) {
        return Err(io::Error::other("the settings are those of another schedule"));
    }
    let layout = layout(&nisa, &settings, u64::MAX).map_err(io::Error::other)?;
    let mut segment = Segment::open(take("the segment", order.segment)?, layout)?;
    if let Some(network) = &settings.network {
        let bells = network
            .here()
            .zip(&network.bells)
            .map(|(rank, &bell)| Ok((rank, take("a bell", bell)?)));
        segment.inherit_bells(bells.collect::<io::Result<_>>()?);
    }
    let section = match order.section {
        Some((number, place)) => Some(SectionFile {
            file: Arc::new(File::from(take("the schedule's file", number)?)),
            place,
        }),
        None => None,
    };
    let driver = match &order.driver {
        Some(passed) => Some(inherited.driver(passed)?),
        None => None,
    };
    let resources = Resources { section, driver };
    rank::run(&segment, &Arc::new(nisa), order.rank, &settings, resources).map_err(io::Error::other)
}
