//! Applies the parameters of transports from the table of decisions that the environment names.
//!
//! Threat: a local user starts a file that has capabilities, and chooses its environment. Such a
//! process reads no file that the environment names.

use super::arguments::Arguments;
use super::output::{Failure, warn};
use goal_job::rights;
use goal_job::transport::Tuned;
use goal_launch::LaunchError;
use std::path::Path;

/// The environment variable with the path of a table of decisions. Programs read it too.
const TABLE: &str = "GOAL_TABLE";

/// Adds the parameters of the table in [`TABLE`] to the job, if the variable is set. Also checks
/// the parameters on the command line.
pub(crate) fn apply(arguments: &mut Arguments) -> Result<(), Failure> {
    let tuned = match std::env::var_os(TABLE) {
        None => Tuned::default(),
        Some(_) if rights::are_of_file() => {
            warn(&format!(
                "{TABLE} is not read, as the file of goal-run has capabilities: give the options"
            ));
            Tuned::default()
        }
        Some(path) => {
            let path = Path::new(&path);
            let refused = |error| Failure::System(LaunchError::System(error).to_string());
            let read = rights::apart(|| Tuned::read(path)).map_err(refused)?;
            let named = |error| Failure::System(format!("{TABLE}: {}: {error}", path.display()));
            read.map_err(named)?
        }
    };
    let has_hosts = arguments.hosts.are_named();
    let taken = arguments.settings.take(tuned, has_hosts);
    taken.map_err(|error| Failure::System(error.to_string()))
}
