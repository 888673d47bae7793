//! `goal-run grow`: asks the launcher of a running job for more ranks.

use super::output::{Failure, print};
use clap::Args;
use goal_job::growth::{self, Command};
use goal_job::rights;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The arguments of `goal-run grow`.
#[derive(Args)]
pub(crate) struct Grow {
    /// Process ID of the goal-run that started the job
    #[arg(value_name = "JOB")]
    job: u32,
    /// Number of ranks to add
    #[arg(short = 'n', long = "ranks", value_name = "N", default_value_t = 1)]
    ranks: u32,
    /// Program of the new ranks, and its arguments [default: those of rank 0]
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

pub(crate) fn run(grow: &Grow) -> Result<u8, Failure> {
    let system = |error: &dyn ToString| Failure::System(error.to_string());
    let command = match grow.command.split_first() {
        None => None,
        Some((program, arguments)) => {
            let executable = executable(program.as_ref()).map_err(|error| system(&error))?;
            Some(Command { executable: executable.into(), arguments: arguments.to_vec() })
        }
    };
    // The launcher inspects this process, so it must have no more rights than the user.
    rights::give_up().map_err(|error| system(&error))?;
    set_dumpable_behavior(DumpableBehavior::Dumpable).map_err(|error| system(&error))?;
    let first = growth::grow(grow.job, grow.ranks, command).map_err(|error| system(&error))?;
    let text = match grow.ranks {
        1 => format!("rank {first} was started"),
        ranks => format!("ranks {first} to {} were started", first + ranks - 1),
    };
    Ok(print(&text, 0))
}

/// Returns the path of a program for the launcher, whose working folder may differ. A plain name
/// stays as it is, and the launcher looks it up in its own `PATH`.
fn executable(program: &Path) -> std::io::Result<PathBuf> {
    let has_slash = program.parent().is_some_and(|folder| folder != Path::new(""));
    if has_slash { Ok(env::current_dir()?.join(program)) } else { Ok(program.to_owned()) }
}
