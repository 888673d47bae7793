//! Defines option values that several commands share.

use clap::ValueEnum;
use goal_job::transport::{Choice, Request, RequestError};
use std::ffi::OsString;

/// The kind of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RanksAs {
    /// Processes of this machine
    Processes,
    /// Threads of one process
    Threads,
}

impl RanksAs {
    pub(crate) fn name(self) -> &'static str {
        match self {
            RanksAs::Processes => "processes",
            RanksAs::Threads => "threads",
        }
    }
}

/// The value of `--transport` that makes ranks threads. As a list of transports it means `auto`.
pub(crate) const THREADS: &str = "threads";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// Words
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// Returns the transports that `list` and the environment allow, in the order of preference.
pub(crate) fn choice(list: Option<&str>) -> Result<Choice, RequestError> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    };
    let list = list.map(|text| if text == THREADS { "auto" } else { text });
    let list = list.map(|list| ("--transport", list));
    Ok(Choice::new(&Request::new(list, std::env::vars_os().filter_map(text))?))
}

/// Returns an error if `list` asks for the transport MPI in a job without MPI.
pub(crate) fn refuse_mpi(list: Option<&str>) -> Result<(), String> {
    let names =
        |list: &str| !list.starts_with('^') && list.split(',').any(|one| one.trim() == "mpi");
    if !list.is_some_and(names) {
        return Ok(());
    }
    let way_out = match cfg!(feature = "mpi") {
        true => {
            "start as many processes of goal-run as there are ranks (mpirun -n N goal-run ...), or leave mpi out"
        }
        false => "build goal-run with its feature mpi, or leave mpi out",
    };
    Err(format!("--transport names mpi, and this is no job of MPI on a schedule: {way_out}"))
}

/// Parses a number of ranks.
pub(crate) fn number(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "the number of ranks is a whole number, as in -n 4")
}
