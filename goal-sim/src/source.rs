//! The program that is simulated: read, listed for the models, and named in reports.

use crate::binary::Binary;
use crate::simulation::{Stop, Times, simulate_quiet};
use goal_lang::SourceMap;
use goal_loggops::machine::Machine;
use goal_loggops::model::{Effort, Memory};
use goal_loggops::symmetry::{CommonTimes, simulate_symmetric};
use goal_loggops::{Kind, Workload};
use goalc::driver::{
    self, Collectives, Error, Format, InputArguments, Loaded, Opened, Options, Text,
};
use std::time::Instant;

/// A program, and its actions as the models read them.
pub(crate) struct Subject {
    options: Options,
    source: Source,
    pub(crate) workload: Workload,
    /// True if the input keeps the order of dependencies, on which the times of peers depend.
    pub(crate) keeps_order: bool,
    /// When the listing of the actions began.
    pub(crate) started: Instant,
}

/// The warning that a binary with markers has no phases while it stays in the file.
const NO_PHASES: &str = "the binary stays in the file, so the phases of its markers are left out";

enum Source {
    /// A LogGOPSim binary, which is read as a program only if a report needs it.
    Opened(Opened),
    Loaded(Box<Loaded>),
}

/// A program that was read, or its result if that is known without a list of the actions.
pub(crate) enum Reading {
    /// The times of a binary that was simulated as it lies in the file, and when reading began.
    Times(Times, Instant),
    /// The times of a text that states all ranks at once.
    CommonTimes {
        /// The times.
        times: CommonTimes,
        /// Number of ranks.
        ranks: u32,
        /// When the simulation began.
        started: Instant,
    },
    /// The reason why a binary in its file has no times. Its actions were not listed.
    Stop(Stop),
    Subject(Box<Subject>),
}

/// The way to times, if nothing else is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimesOnly<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) effort: Effort,
}

impl Subject {
    /// Reads the inputs. Findings that are no errors are printed in a format.
    pub(crate) fn read(input: &InputArguments, format: Format) -> Result<Self, Error> {
        let options = input.options();
        match Self::read_for(input, options, format, None)? {
            Reading::Subject(subject) => Ok(*subject),
            Reading::Times(..) | Reading::CommonTimes { .. } | Reading::Stop(_) => {
                unreachable!("there is no machine")
            }
        }
    }

    /// Reads the inputs. Simulates a LogGOPSim binary as it lies in the file if times are enough,
    /// and makes no list of its actions unless a report needs it. If a text states all ranks at
    /// once, simulates one of them.
    pub(crate) fn read_for(
        input: &InputArguments,
        options: Options,
        format: Format,
        times: Option<TimesOnly<'_>>,
    ) -> Result<Reading, Error> {
        let options = Options { strip: false, ..options };
        let opened = driver::open(&input.inputs, &options)?;
        let expands = matches!(options.collectives, Collectives::Expand(_));
        let keeps_order = !matches!(opened, Opened::Nisa(_));
        let mut started = Instant::now();
        let (source, workload) = match opened {
            Opened::Loggopsim(ref input) if !expands => {
                driver::show_stage("reading");
                let binary = Binary(driver::ranks_of(input, &options)?);
                let only = times.filter(|_| input.is_mapped || !binary.0.has_markers());
                let known = only.and_then(|only| simulate_file(&binary, input.is_mapped, only));
                match known {
                    Some(Ok(times)) => return Ok(Reading::Times(times, started)),
                    Some(Err(stop)) => return Ok(Reading::Stop(stop)),
                    None => {}
                }
                let workload = binary.workload(input.bytes.len());
                drop(binary);
                (Source::Opened(opened), workload)
            }
            opened => {
                let loaded = match (opened, times) {
                    (Opened::Text(sources), Some(TimesOnly { machine, .. })) => {
                        match load_text(sources, &options, format, machine)? {
                            Ok(loaded) => loaded,
                            Err(times) => return Ok(times),
                        }
                    }
                    (opened, _) => opened.load(&options)?,
                };
                driver::note(&loaded.findings, format);
                started = Instant::now();
                let workload = Workload::new(&loaded.program, |_, _| 0);
                (Source::Loaded(Box::new(loaded)), workload)
            }
        };
        let workload = workload.map_err(|error| Error::Usage(error.to_string()))?;
        let subject = Self { options, source, workload, keeps_order, started };
        Ok(Reading::Subject(Box::new(subject)))
    }

    /// Returns the program, unless it is a LogGOPSim binary.
    pub(crate) fn loaded(&self) -> Option<&Loaded> {
        match &self.source {
            Source::Opened(_) => None,
            Source::Loaded(loaded) => Some(loaded),
        }
    }

    /// Returns the program with its names and places, and the actions.
    pub(crate) fn load(self) -> Result<(Loaded, Workload), Error> {
        let loaded = match self.source {
            Source::Opened(opened) => opened.load(&self.options)?,
            Source::Loaded(loaded) => *loaded,
        };
        Ok((loaded, self.workload))
    }
}

/// Simulates a binary as it lies in its file. Returns `None` if a report about the result needs a
/// list of the actions.
fn simulate_file(
    binary: &Binary<'_>,
    is_mapped: bool,
    TimesOnly { machine, mut effort }: TimesOnly<'_>,
) -> Option<Result<Times, Stop>> {
    driver::show_stage("simulating");
    if is_mapped {
        effort.memory = Memory::Lean;
    }
    match simulate_quiet(binary, machine, effort) {
        Ok(mut times) => {
            times.note = binary.0.has_markers().then(|| NO_PHASES.to_owned());
            Some(Ok(times))
        }
        Err(stop) if effort.memory == Memory::Lean => Some(Err(stop)),
        Err(_) => None,
    }
}

/// Reads texts. Returns times instead of a program if the texts state all ranks at once, and if one
/// rank is enough.
fn load_text(
    sources: SourceMap,
    options: &Options,
    format: Format,
    machine: &Machine,
) -> Result<Result<Loaded, Reading>, Error> {
    let (program, findings) = match driver::load_text(sources, options)? {
        Text::Loaded(loaded) => return Ok(Ok(loaded)),
        Text::Symmetric(program, findings) => (program, findings),
    };
    let started = Instant::now();
    match simulate_symmetric(&program, machine) {
        Some(times) => {
            driver::note(&findings, format);
            Ok(Err(Reading::CommonTimes { times, ranks: program.num_ranks, started }))
        }
        None => Opened::Text(findings.sources).load(options).map(Ok),
    }
}

/// The place of an action in the input.
pub(crate) struct Place<'a> {
    /// `send`, `recv`, and so on.
    pub(crate) kind: &'static str,
    pub(crate) label: Option<&'a str>,
    /// The number of the action on its rank.
    pub(crate) number: u32,
    /// The file and the line, if the input has lines.
    pub(crate) line: Option<(&'a str, u64)>,
}

impl Subject {
    /// Returns the place of an action. LogGOPSim binaries have neither labels nor lines.
    pub(crate) fn place(&self, action: u32) -> Place<'_> {
        let rank = self.workload.rank_of(action);
        let number = action - self.workload.actions(rank).start;
        let Source::Loaded(loaded) = &self.source else {
            let record = self.workload.record(action);
            let kind = match record.kind {
                Kind::Dummy if record.is_marker() => "marker",
                Kind::Send => "send",
                Kind::Recv => "recv",
                Kind::Calc | Kind::Local | Kind::Dummy => "calc",
            };
            return Place { kind, label: None, number, line: None };
        };
        let id = goal_lang::ActionId(number);
        let body = loaded.program.body_of(rank);
        let kind = body.action(id).kind().name();
        Place { kind, label: body.debug.labels.get(id), number, line: loaded.place(rank, id) }
    }
}

/// Returns the rank, the label and the kind of an action. A NISA file's labels may be any text, so
/// they are escaped for terminals.
pub(crate) fn name(loaded: &Loaded, workload: &Workload, action: u32) -> String {
    let rank = workload.rank_of(action);
    let id = goal_lang::ActionId(action - workload.actions(rank).start);
    let body = loaded.program.body_of(rank);
    let kind = body.action(id).kind().name();
    match body.debug.labels.get(id) {
        Some(label) => format!("rank {rank}, {kind} `{}`", label.escape_debug()),
        None => format!("rank {rank}, {kind} number {}", id.0),
    }
}
