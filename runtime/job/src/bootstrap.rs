//! Defines the bootstrap record: the text, in JSON, by which a launcher tells a process that it is
//! a rank of a job. A process that the launcher starts finds the record in its environment, and
//! inherits the descriptors that the record names.
//!
//! Threat: the starter of a process chooses its environment and its descriptors. So a record is
//! checked here as far as possible, and a forged record causes an error, not a fault. Descriptors
//! must be open and of the right kind, memory files must have their seals and sizes, and the
//! settings must fit the schedule. More is not needed, because a user can run any code in a process
//! of their own anyway. A process that got rights from its file must refuse a record before it
//! reads it. `goal-launch` (`process.rs`) and `goal-rank` (`program/attach.rs`) do so.
#![allow(unsafe_code)] // trusts the launcher's schedule

use crate::inherited::{Inherited, Passed};
use crate::offload::{PassedKernel, PassedTables};
use crate::remote_sockets::PassedSockets;
use crate::threads::namespace;
use crate::{Settings, layout};
use goal_asm::Nisa;
use goal_asm::nisa::SectionPlace;
use goal_lang::limits::Limits;
use goal_shm::{Sealed, Segment};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::Arc;

/// The environment variable with the bootstrap record of a rank that runs the job's schedule.
pub const OF_SCHEDULE: &str = "GOAL_RUN_RANK";
/// The environment variable with the bootstrap record of a rank that is a process of a program.
pub const OF_PROGRAM: &str = "GOAL_RUN_PROGRAM";

/// The version of this launcher, and of the library in programs. Both must be equal.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The part of a bootstrap record that is the same in every version.
#[derive(Deserialize)]
struct Versioned {
    version: String,
}

/// The bootstrap record of a rank process. The process inherits the file descriptors under the
/// numbers in this record.
#[derive(Debug, Serialize, Deserialize)]
pub struct RankBootstrap {
    /// The launcher's [`VERSION`]. All fields below, the settings and the segment may differ
    /// between versions.
    pub version: Cow<'static, str>,
    /// The rank of the process.
    pub rank: u32,
    /// The process ID of the launcher.
    pub launcher: u32,
    /// The PID namespace in which the launcher has this ID; `None` if the system does not state it.
    pub namespace: Option<u64>,
    /// The pipe to which the process writes the reason why the rank can't start. A program has
    /// none, because it reports errors itself.
    pub startup_errors: Option<RawFd>,
    /// The segment of the host.
    pub segment: RawFd,
    /// All descriptors that the launcher passes on. The process of a program checks that it still
    /// has them.
    #[serde(default)]
    pub passed: Vec<Passed>,
    /// The sealed schedule.
    pub schedule: RawFd,
    /// The sealed settings. They hold the job's secret, so they are not passed in the environment,
    /// which other processes can read.
    pub settings: RawFd,
    /// The file with the rank's section, and the section's place in the file, if the schedule is
    /// run through a window.
    pub section: Option<(RawFd, SectionPlace)>,
    /// The rank's remote sockets, in a job with ranks on other hosts.
    pub remote_sockets: Option<PassedSockets>,
    /// The rank's part of the schedule in the kernel, if the kernel runs the schedule.
    #[serde(default)]
    pub kernel: Option<PassedKernel>,
    /// The tables in which the rank of a program installs schedules, if the kernel runs schedules.
    #[serde(default)]
    pub tables: Option<PassedTables>,
}

/// The parts of a job that a rank process opens.
pub struct Opened {
    /// The memory that the ranks share.
    pub segment: Segment,
    /// The schedules.
    pub nisa: Arc<Nisa>,
    /// The settings of all ranks.
    pub settings: Settings,
}

impl RankBootstrap {
    /// Returns the process ID of the launcher if it has this ID in the PID namespace of this
    /// process too. Returns `None` if it does not, or if a namespace is not known. In a container
    /// another process may have the ID.
    pub fn launcher_here(&self) -> Option<u32> {
        let is_same = self.namespace.is_some() && self.namespace == namespace();
        is_same.then_some(self.launcher)
    }

    /// Returns the record as the text for the environment of the rank process.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("numbers and names")
    }

    /// Reads a bootstrap record of a launcher of this version.
    ///
    /// # Errors
    /// The text is not a bootstrap record, or comes from a launcher of another version.
    pub fn parse(text: &OsStr) -> io::Result<Self> {
        let text = text.to_str().ok_or_else(|| io::Error::other("the record is not UTF-8"))?;
        let Versioned { version } = serde_json::from_str(text).map_err(io::Error::other)?;
        if version != VERSION {
            return Err(io::Error::other(format!(
                "its launcher is goal-run {version}, and this program has the library of version \
                 {VERSION}: start it by the goal-run that was installed with its library"
            )));
        }
        serde_json::from_str(text).map_err(io::Error::other)
    }

    /// Opens the schedule, the settings and the segment.
    ///
    /// # Errors
    /// A descriptor does not match the record, or the system's error.
    pub fn open(&self, inherited: &mut Inherited) -> io::Result<Opened> {
        let mut take = |what: &str, number| -> io::Result<OwnedFd> {
            inherited.take(number).map_err(|error| io::Error::other(format!("{what}: {error}")))
        };
        let sealed = Sealed::open(take("the schedule", self.schedule)?)?;
        let no_limits =
            Limits { ranks_max: u32::MAX, memory_bytes_max: u64::MAX, scratch_bytes_max: u64::MAX };
        // SAFETY: the launcher verified these bytes. `Sealed::open` has checked the seals that keep
        // them from changing. A user who forges a record runs a process of their own, without other
        // rights.
        let nisa = unsafe { Nisa::load_trusted(Arc::new(sealed), &no_limits) };
        let nisa = nisa.map_err(io::Error::other)?;
        // The settings are closed after they were read, since they contain the job's secret.
        let settings: Settings = {
            let sealed = Sealed::open(take("the settings", self.settings)?)?;
            serde_json::from_slice(&sealed)?
        };
        if self.rank >= nisa.num_ranks() || !settings.fits(nisa.num_ranks()) {
            return Err(io::Error::other("the settings are those of another schedule"));
        }
        let layout = layout(&nisa, &settings, u64::MAX).map_err(io::Error::other)?;
        let mut segment = Segment::open(take("the segment", self.segment)?, layout)?;
        if let Some(network) = &settings.network {
            let bells = network
                .here()
                .zip(&network.bells)
                .map(|(rank, &bell)| Ok((rank, take("a bell", bell)?)));
            segment.inherit_bells(bells.collect::<io::Result<_>>()?);
        }
        Ok(Opened { segment, nisa: Arc::new(nisa), settings })
    }
}
