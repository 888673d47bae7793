//! Runs the model that the command line names.

use crate::Model;
use crate::outputs::Progress;
use crate::parameters::Parsed;
use goal_loggops::machine::Machine;
use goal_loggops::model::{self, Effort, Memory, ModelError, Noise, Observer};
use goal_loggops::path::{Path, critical_path};
use goal_loggops::peers::{self, Outcome, Pair, atlahs, loggopsim};
use goal_loggops::symmetry;
use goal_loggops::{Source, TooLarge, Workload};

/// The times of a program.
pub(crate) struct Times {
    /// By rank, the end in picoseconds.
    pub(crate) finish_ps: Vec<u128>,
    /// The actions that were started and the messages that were taken in.
    pub(crate) events: u64,
    /// The ranks that were simulated, each for all that behave alike.
    pub(crate) classes: usize,
    /// A sentence about the model, if the times need one.
    pub(crate) note: Option<String>,
}

/// The reason why there are no times.
pub(crate) enum Stop {
    /// Some actions never end.
    Stuck {
        /// A sentence.
        why: String,
        /// Actions that it is about.
        actions: Vec<u32>,
    },
    /// A message and its receive have different sizes.
    Unequal {
        /// The send of the message.
        send: u32,
        /// The receive.
        receive: u32,
    },
    /// A time has more than 63 bits.
    TooLate {
        /// The action that would end at that time.
        action: u32,
    },
    /// The program has too many actions.
    TooLarge(TooLarge),
}

/// Simulates a program, in the model `goal` on several threads.
pub(crate) fn simulate(
    workload: &Workload,
    model: Model,
    parameters: &Parsed,
    threads: usize,
) -> Result<Times, Stop> {
    match model {
        Model::Goal => {
            let effort = Effort { memory: Memory::Fast, threads };
            simulate_quiet(workload, &parameters.machine, effort)
        }
        Model::Loggopsim | Model::Atlahs => simulate_peer(workload, model, parameters, &mut ()),
    }
}

/// Simulates a program in the model of a peer, for an observer.
pub(crate) fn simulate_peer(
    workload: &Workload,
    model: Model,
    parameters: &Parsed,
    observer: &mut impl peers::Observer,
) -> Result<Times, Stop> {
    let machine = &parameters.of_peer;
    let outcome = match model {
        Model::Atlahs => atlahs::simulate(workload, machine, observer).map_err(|abort| {
            let Pair { send, receive } = abort.0;
            Stop::Stuck { why: abort.to_string(), actions: vec![receive, send] }
        })?,
        Model::Goal | Model::Loggopsim => loggopsim::simulate(workload, machine, observer),
    };
    let Outcome { finish_ns, events, left, waiting, unequal } = outcome;
    let name = model.program();
    let wildcards = match model {
        Model::Atlahs => workload.num_wildcards(),
        Model::Goal | Model::Loggopsim => 0,
    };
    let mut note = unequal.map(|_| {
        format!(
            "in the model of {name} messages meet receives of other sizes, which this model allows"
        )
    });
    if left + waiting > 0 {
        let why = format!(
            "in the model of {name} {left} actions never end, and {waiting} messages and receives wait"
        );
        // The model itself may be the reason, and the peer may print times all the same: ATLAHS
        // always, LogGOPSim if no message and no receive waits.
        let found = simulate(workload, Model::Goal, parameters, 1);
        let is_sound = !matches!(found, Err(Stop::Stuck { .. }));
        if !is_sound || (model == Model::Loggopsim && waiting > 0) {
            return Err(Stop::Stuck { why, actions: Vec::new() });
        }
        note = Some(format!("{why}; {name} prints these times all the same"));
    }
    if wildcards > 0 {
        let why =
            format!("in the model of {name} the wildcards of {wildcards} receives never match");
        note = Some(note.map_or(why.clone(), |note| format!("{why}; {note}")));
    }
    let finish_ps = finish_ns.into_iter().map(|ns| u128::from(ns) * 1000).collect();
    Ok(Times { finish_ps, events, classes: workload.num_ranks(), note })
}

/// Simulates a program without noise in the model `goal`: one rank of those that behave alike.
pub(crate) fn simulate_quiet(
    source: &impl Source,
    machine: &Machine,
    effort: Effort,
) -> Result<Times, Stop> {
    let progress = Progress::new(source);
    let show = |ended| progress.iter().for_each(|progress| progress.show(ended));
    let (times, classes) = symmetry::simulate(source, machine, effort, &show)?;
    Ok(Times { classes, ..times.into() })
}

/// Simulates all ranks of a program in the model `goal`, with noise, for an observer.
pub(crate) fn simulate_with(
    workload: &Workload,
    parameters: &Parsed,
    noise: &impl Noise,
    observer: &mut impl Observer,
) -> Result<Times, Stop> {
    Ok(model::simulate_with(workload, &parameters.machine, noise, observer)?.into())
}

/// Simulates a program in the model `goal`, and finds its critical path.
pub(crate) fn explain(workload: &Workload, parameters: &Parsed) -> Result<(Times, Path), Stop> {
    let (times, path) = critical_path(workload, &parameters.machine)?;
    Ok((times.into(), path))
}

impl From<model::Times> for Times {
    fn from(model::Times { finish_ps, events }: model::Times) -> Self {
        let finish_ps: Vec<u128> = finish_ps.into_iter().map(u128::from).collect();
        Self { classes: finish_ps.len(), finish_ps, events, note: None }
    }
}

impl From<ModelError> for Stop {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::TooLate { action } => Stop::TooLate { action },
            ModelError::Unequal { send, receive } => Stop::Unequal { send, receive },
            ModelError::Stuck { .. } => Stop::Stuck { why: error.to_string(), actions: Vec::new() },
            ModelError::TooLarge(error) => Stop::TooLarge(error),
        }
    }
}
