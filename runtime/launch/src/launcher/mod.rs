//! Starts the ranks of a job, watches over them and cleans up.
//!
//! The launcher creates one segment of shared memory, for ranks in processes and in threads alike.
//! When [`run`] returns, no rank is left. If the launcher dies, the kernel kills its rank
//! processes. The segment has no name, so it vanishes with them.

mod attended;
mod child;
mod error;
mod forwarded;
mod growth;
mod hosts;
mod input;
mod joined;
mod losses;
mod options;
mod output;
mod pace;
mod process;
mod processes;
mod programs;
mod rank_set;
mod reaper;
mod run;
mod shutdown;
mod signals;
mod startup_errors;
mod supervise;
mod threads;
mod wired;

pub use error::LaunchError;
pub use forwarded::Forwarded;
pub use goal_job::inherited::close_on_exec;
pub use hosts::{
    Ended, Ethernet, Hosts, Meeting, Obstacle, Others, Rendezvous, Verdict, listen_at, run_on_hosts,
};
pub use options::{Options, Program, Ranks, Stage};
pub use output::output_status;
pub use process::{forget_order, rank_process};
pub use programs::beyond_shells;
pub use run::run;
pub use signals::{attend, beside_stops, interrupted, suspended, unattended};
pub use wired::{Common, Exchange, Lead, OpenFabric, Outside, Wired, attach, attach_among};
pub use wired::{Left, attach_among_over, joined_rank, joined_rank_over};
