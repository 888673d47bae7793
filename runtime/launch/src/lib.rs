//! Starts the ranks of a GOAL job, watches over them and reports.
//!
//! - [`run`] starts the ranks of a schedule, watches over them and returns how the job ended.
//!   [`Options`] describes the job: kind of ranks, transports, limits, window.
//! - [`run_on_hosts`] runs the part of a job that is on this host.
//! - [`report`] describes an outcome as text and as JSON.
//!
//! This crate never reads the text of a schedule. A job that can't go on ends at once with an
//! error. The error names the reason, such as a dead rank or a lost host. When a launcher returns,
//! no rank of its job runs any more, and the launcher has ended the processes that it started.
//!
//! ```no_run
//! use goal_asm::Nisa;
//! use goal_job::JobSpec;
//! use goal_launch::{End, Options, run};
//! use goal_lang::limits::Limits;
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bytes = std::fs::read("ring.nisa")?;
//! let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Limits::default())?);
//! // The default options run ranks as threads of this process.
//! let spec = JobSpec { repeat: 10, ..JobSpec::default() };
//! let outcome = run(&nisa, &Options { spec, ..Options::default() })?;
//! assert_eq!(outcome.end, End::Complete);
//! println!("rank 0 ended with {:?}", outcome.memory(0));
//! # Ok(())
//! # }
//! ```
//!
//! # Layers
//! A module imports only from modules of earlier lines:
//!
//! - `growth_socket`, `echo`, `join`, `monitor`
//! - `outcome`
//! - `report`
//! - `hosts`
//! - `launcher`

pub mod echo;
mod growth_socket;
pub mod hosts;
mod join;
mod launcher;
mod monitor;
mod outcome;
pub mod report;

pub use goal_job::trace::Omitted;
pub use launcher::{
    Common, Ended, Ethernet, Exchange, Forwarded, Hosts, LaunchError, Lead, Left, Meeting,
    Obstacle, OpenFabric, Options, Others, Outside, Program, Ranks, Rendezvous, Stage, Verdict,
    Wired, attach, attach_among, attach_among_over, attend, beside_stops, beyond_shells,
    close_on_exec, forget_order, interrupted, joined_rank, joined_rank_over, listen_at,
    output_status, rank_process, run, run_on_hosts, suspended, unattended,
};
pub use monitor::Pending;
pub use outcome::{Counts, End, Match, MatchKind, Outcome};
