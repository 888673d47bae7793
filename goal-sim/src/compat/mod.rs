//! In place of a peer: takes the command line of LogGOPSim or of ATLAHS's simulator, and prints
//! what that program prints.
//!
//! The command line may come from scripts that were written for the peer. Options with an effect
//! that goal-sim does not have end with an error ([`arguments`]), and no result replaces the input.

mod arguments;
mod output;
mod queues;
mod recorder;
mod timeline;

use crate::report::{self, Context};
use crate::simulation::simulate_peer;
use crate::source::Subject;
use crate::{Model, driver};
use arguments::{Atlahs, Loggopsim, Settings};
use clap::ValueEnum;
use goalc::driver::{Error, are_one_file, clear_stage, report_error};
use output::Ends;
use recorder::Recorder;
use std::ffi::OsString;
use std::time::Instant;

/// A simulator whose place goal-sim takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// `LogGOPSim` of spcl/LogGOPSim
    Loggopsim,
    /// `LogGOPSim` of spcl/atlahs
    Atlahs,
}

impl Peer {
    fn model(self) -> Model {
        match self {
            Peer::Loggopsim => Model::Loggopsim,
            Peer::Atlahs => Model::Atlahs,
        }
    }
}

/// Returns the name of the peer, and its arguments with a name in front, if `--compat` comes first.
fn command_line(mut arguments: impl Iterator<Item = OsString>) -> Option<(String, Vec<OsString>)> {
    let program = arguments.next()?;
    let first = arguments.next()?;
    let first = first.to_str()?;
    let name = match first.strip_prefix("--compat")? {
        "" => arguments.next().unwrap_or_default().to_string_lossy().into_owned(),
        rest => rest.strip_prefix('=')?.to_owned(),
    };
    Some((name, std::iter::once(program).chain(arguments).collect()))
}

/// Runs in place of a peer if `--compat` comes first. Returns the exit status.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    let (name, arguments) = command_line(arguments)?;
    let status = match Peer::from_str(&name, false) {
        Ok(peer) => run_as(peer, arguments),
        Err(_) => Err(Error::Usage(format!("--compat {name}: name loggopsim or atlahs"))),
    };
    let status =
        status.unwrap_or_else(|error| report_error("goal-sim", &error, driver::Format::Text) as u8);
    clear_stage();
    Some(status)
}

fn run_as(peer: Peer, arguments: Vec<OsString>) -> Result<u8, Error> {
    let settings = match peer {
        Peer::Loggopsim => driver::parse_these("goal-sim", arguments).map(Loggopsim::settings),
        Peer::Atlahs => driver::parse_these("goal-sim", arguments).map(Atlahs::settings),
    };
    match settings {
        Ok(settings) => simulate_as(peer, &settings.map_err(Error::Usage)?),
        Err(status) => Ok(status as u8),
    }
}

fn simulate_as(peer: Peer, settings: &Settings) -> Result<u8, Error> {
    if let (Some(timeline), Some(matches)) = (&settings.timeline, &settings.matches)
        && are_one_file(timeline, matches)
    {
        let message = format!("{}: two results need two files", matches.display());
        return Err(Error::Usage(message));
    }
    if settings.is_verbose {
        driver::print_line("goal-sim: warning: the lines of --verbose are not printed");
    }
    let subject = Subject::read(&settings.input, driver::Format::Text)?;
    let mut recorder = Recorder::new(peer, settings, &subject.workload)?;
    output::begin(peer, settings, &subject.workload)?;
    driver::show_stage("simulating");
    let started = Instant::now();
    let result =
        simulate_peer(&subject.workload, peer.model(), &settings.parameters, &mut recorder);
    let seconds = started.elapsed().as_secs();
    let records = recorder.finish()?;
    let times = match result {
        Ok(times) => times,
        Err(stop) => {
            let context = Context {
                input: &settings.input,
                format: driver::Format::Text,
                parameters: &settings.parameters,
                partial: None,
            };
            return report::stopped(&context, subject, stop);
        }
    };
    if let Some(note) = &times.note {
        driver::print_line(&format!("goal-sim: warning: {note}"));
    }
    let finish_ns = times.finish_ps.iter().map(|&ps| (ps / 1000) as u64).collect();
    let ends = Ends { finish_ns, events: times.events, seconds };
    output::end(peer, settings, &ends, &records)?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peer_comes_first_or_not_at_all() {
        let of = |text: &str| command_line(text.split(' ').map(OsString::from));
        let found = |text: &str| of(text).map(|(name, arguments)| (name, arguments.len()));
        assert_eq!(found("goal-sim --compat atlahs -f x"), Some(("atlahs".to_owned(), 3)));
        assert_eq!(found("goal-sim --compat=x -f"), Some(("x".to_owned(), 2)));
        assert_eq!(found("goal-sim --compat"), Some((String::new(), 1)));
        for other in ["goal-sim", "goal-sim x --compat atlahs", "goal-sim --compatible x"] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
