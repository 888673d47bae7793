//! What a process that was started as a rank does.

use super::faults;
use crate::rank::{self, SectionFile, Settings, layout};
use crate::shm::{Sealed, Segment};
use crate::transport;
use goal_asm::Nisa;
use goal_asm::nisa::SectionPlace;
use goal_lang::limits::Limits;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::thread::set_name;
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::process::ExitCode;
use std::sync::Arc;

/// What the launcher asks of a process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) rank: u32,
    /// The launcher's process.
    pub(super) launcher: u32,
    /// Descriptor of the segment.
    pub(super) segment: RawFd,
    /// Descriptor of the sealed schedule.
    pub(super) schedule: RawFd,
    /// Descriptor of the sealed settings: not for the environment, which more can read than the memory.
    pub(super) settings: RawFd,
    /// Descriptor of the file that the section is read from where it is run through a window, and where it lies in it.
    pub(super) section: Option<(RawFd, SectionPlace)>,
}

impl Order {
    /// The environment variable that holds it.
    pub(super) const VARIABLE: &str = "GOAL_RUN_RANK";

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("numbers only")
    }
}

/// To be called first in `main` of a program that launchers start ranks with: in such a process it runs the rank and
/// returns its exit code, in any other `None`.
pub fn rank_process() -> Option<ExitCode> {
    let text = std::env::var(Order::VARIABLE).ok()?;
    let result = match serde_json::from_str(&text) {
        Ok(order) => execute(&order),
        Err(error) => Err(io::Error::other(error)),
    };
    Some(match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("goal-run: a rank can't start: {error}");
            ExitCode::from(2)
        }
    })
}

fn execute(order: &Order) -> io::Result<()> {
    faults::end_the_process();
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // What lists of processes show.
    let name = CString::new(format!("rank {}", order.rank)).expect("no zero byte");
    set_name(&name)?;
    transport::admit(order.launcher);
    // The launcher may have died before that.
    if getppid().map(Pid::as_raw_nonzero).is_none_or(|pid| pid.get() as u32 != order.launcher) {
        return Ok(());
    }
    let sealed = Sealed::open(inherited(order.schedule, false)?)?;
    // The launcher verified these bytes, and nobody can have changed them.
    let none = Limits { ranks_max: u32::MAX, memory_bytes_max: u64::MAX, scratch_bytes_max: u64::MAX };
    let nisa = Nisa::load_verified(Arc::new(sealed), &none).map_err(io::Error::other)?;
    let settings = Sealed::open(inherited(order.settings, false)?)?;
    let settings: Settings = serde_json::from_slice(&settings)?;
    let layout = layout(&nisa, &settings, u64::MAX).map_err(io::Error::other)?;
    let segment = Segment::open(inherited(order.segment, true)?, layout)?;
    let section = match order.section {
        Some((fd, place)) => {
            let file = Arc::new(File::from(inherited(fd, false)?));
            Some(SectionFile { file, place })
        }
        None => None,
    };
    rank::run(&segment, &Arc::new(nisa), order.rank, section, &settings);
    Ok(())
}

/// Another descriptor of an inherited file.
fn inherited(fd: RawFd, write: bool) -> io::Result<OwnedFd> {
    let file = OpenOptions::new().read(true).write(write).open(format!("/proc/self/fd/{fd}"))?;
    Ok(file.into())
}
