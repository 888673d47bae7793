//! `goal-run tune`: starts the program `goal-tune` from the folder of `goal-run`, on ranks of this
//! host.
//!
//! Threat: someone puts another program into the folder of `goal-run`. It runs with the rights of
//! the user who starts `goal-run`, like every program that `goal-run` starts.

use super::output::Failure;
use clap::Args;
use goalc::driver::{self, Error};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The file name of the program that measures.
const PROGRAM: &str = "goal-tune";

/// The arguments of `goal-run tune`.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Tune {
    /// Number of ranks
    #[arg(short = 'n', long = "ranks", value_name = "N", required_unless_present = "help")]
    ranks: Option<u32>,
    /// Print the options of goal-tune
    #[arg(short, long)]
    help: bool,
    /// Options of goal-tune: --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    options: Vec<OsString>,
}

pub(crate) fn run(tune: &Tune) -> Result<u8, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::System(format!("the path of goal-run: {error}")))?;
    let program = own.with_file_name(PROGRAM);
    if !program.is_file() {
        let text = format!(
            "{} is not there: `cargo install --path tools/tune` or `cargo xtask install` puts it beside goal-run",
            program.display()
        );
        return Err(Failure::System(text));
    }
    // If standard output is closed, `goal-tune` would write its table to `/dev/null`, which
    // replaces it.
    drop(driver::stdout().map_err(|error| Error::io("<stdout>", error))?);
    let mut its_own = tune.options.iter().take_while(|&option| option != "--");
    let asks = tune.help || its_own.clone().any(|option| option == "--help" || option == "-h");
    let Some(ranks) = tune.ranks.filter(|_| !asks) else {
        let error = Command::new(&program).arg("--help").exec();
        return Err(Failure::System(format!("{} can't be started: {error}", program.display())));
    };
    let ranks = ranks.to_string();
    // For settings of transports and for `libgoal-mpi.so`, `goal-tune` starts jobs of its own. For
    // algorithms it is itself a job.
    let starts_jobs = |option: &OsString| {
        let text = option.to_string_lossy();
        text == "--transport" || text == "--mpi" || text.starts_with("--mpi=")
    };
    let error = match its_own.any(starts_jobs) {
        true => {
            let mut command = Command::new(program);
            command.arg("--launcher").arg(own).args(["--ranks", &ranks]).args(&tune.options).exec()
        }
        false => {
            let mut command = Command::new(own);
            command.args(["-n", &ranks, "--"]).arg(program).args(&tune.options).exec()
        }
    };
    Err(Failure::System(format!("goal-run can't be started: {error}")))
}
