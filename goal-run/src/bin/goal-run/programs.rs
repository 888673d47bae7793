//! Runs programs. Finds the program in a command line, checks the options, and reports how the run
//! ended.

use super::arguments::Arguments;
use super::attended::Signals;
use super::fleet::{Fleet, Task};
use super::hints;
use super::output::{Failure, complain, print, warn};
use super::values::{Format, RanksAs};
use clap::parser::ValueSource;
use clap::{Arg, Command, CommandFactory};
use goal_bootstrap::Launcher;
use goal_job::Stuck;
use goal_launch::report::{Report, Status};
use goal_launch::{self, Ended, LaunchError, Options, Program, Ranks, Verdict};
use goal_rank::program::{heap_bytes, skeleton};
use goalc::driver;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The options that a run of a program has, by their names in [`Arguments`].
const ALLOWED: [&str; 41] = [
    "address",
    "bind",
    "burst",
    "calc",
    "color",
    "discover",
    "driver",
    "eager_limit",
    "fault_timeout",
    "format",
    "grow_to",
    "heap",
    "here",
    "hosts",
    "initial_burst",
    "inputs",
    "interface",
    "key",
    "max_segment",
    "max_started",
    "offload",
    "peers",
    "port",
    "ports",
    "progress",
    "rank",
    "ranks",
    "rendezvous",
    "ring",
    "size",
    "ssh",
    "started_as",
    "stats",
    "stuck",
    "survive",
    "timeout",
    "tls",
    "transport",
    "unauthenticated_data",
    "unexpected_limit",
    "wait",
];

/// Splits the arguments of this process: those of this command, and the program with its own, if
/// they name one.
pub(crate) fn split(all: Vec<OsString>) -> (Vec<OsString>, Option<Program>) {
    let Some((at, is_marked)) = first_operand(&all) else { return (all, None) };
    let is_command =
        |name: &OsStr| name == "help" || Arguments::command().find_subcommand(name).is_some();
    let Some(operand) = all.get(at).filter(|name| is_marked || !is_command(name)) else {
        return (all, None);
    };
    let Some(executable) = program(Path::new(operand)) else {
        // The words after a script are its own. They would hide that a script is not a schedule.
        let is_script = driver::is_script(Path::new(operand)) && Path::new(operand).is_file();
        let kept = if is_script { at + 1 } else { all.len() };
        return (all.into_iter().take(kept).collect(), None);
    };
    let arguments = all[at + 1..].to_vec();
    let own = all.into_iter().take(at + 1).collect();
    (own, Some(Program { executable, arguments }))
}

/// Replaces the option `-np` of other launchers, which would be `-n p`, by `--np`. What follows the
/// program is its own.
pub(crate) fn with_np(mut all: Vec<OsString>) -> Vec<OsString> {
    loop {
        let end = first_operand(&all).map_or(all.len(), |(at, _)| at);
        let Some(option) = all[..end].iter_mut().skip(1).find(|option| **option == "-np") else {
            return all;
        };
        *option = "--np".into();
    }
}

/// Returns the place of the first argument that is neither an option nor the value of one, and true
/// if it follows `--`.
fn first_operand(all: &[OsString]) -> Option<(usize, bool)> {
    let command = Arguments::command();
    let mut at = 1;
    loop {
        let argument = all.get(at)?.to_string_lossy();
        let takes_next = match argument.strip_prefix('-') {
            None | Some("") => return Some((at, false)),
            Some("-") => return Some((at + 1, true)),
            Some(rest) => match rest.strip_prefix('-') {
                Some(long) => {
                    let is_it = |arg: &Arg| {
                        arg.get_long() == Some(long)
                            || arg.get_all_aliases().is_some_and(|all| all.contains(&long))
                    };
                    !long.contains('=') && takes_value(&command, is_it)?
                }
                None => short_takes_next(&command, rest)?,
            },
        };
        at += if takes_next { 2 } else { 1 };
    }
}

/// Returns true if the argument after a group of short options, such as `vn`, belongs to it.
fn short_takes_next(command: &Command, group: &str) -> Option<bool> {
    for (place, letter) in group.char_indices() {
        if takes_value(command, |arg| arg.get_short() == Some(letter))? {
            return Some(place + letter.len_utf8() == group.len());
        }
    }
    Some(false)
}

/// Returns true if an option takes a value; `None` if there is no such option.
fn takes_value(command: &Command, is_it: impl Fn(&Arg) -> bool) -> Option<bool> {
    let option = command.get_arguments().find(|arg| is_it(arg));
    let is_help = is_it(&Arg::new("help").short('h').long("help"))
        || is_it(&Arg::new("version").short('V').long("version"));
    match option {
        Some(option) => Some(option.get_action().takes_values()),
        None if is_help => Some(false),
        None => None,
    }
}

/// Returns the program that an operand names, as it is executed; `None` if it names something else.
fn program(name: &Path) -> Option<PathBuf> {
    let has_slash = name.parent().is_some_and(|folder| folder != Path::new(""));
    if name.is_file() {
        let mut start = Vec::with_capacity(driver::FIRST_LINE_MAX);
        let most = driver::FIRST_LINE_MAX as u64;
        let read = File::open(name).and_then(|file| file.take(most).read_to_end(&mut start));
        // A file that can't be read may still be executed. A text of GOAL may name its own reader.
        let is_program = match read {
            Ok(_) => {
                start.starts_with(b"\x7fELF")
                    || start.starts_with(b"#!") && !driver::is_goal_script(&start)
            }
            Err(_) => is_executable(name),
        };
        let path = if has_slash { name.to_owned() } else { Path::new(".").join(name) };
        return is_program.then_some(path);
    }
    let is_in_path = || {
        let folders = env::var_os("PATH")?;
        env::split_paths(&folders).find(|folder| is_executable(&folder.join(name)))
    };
    // A folder of that name, as `python` beside a script, hides no program.
    let is_taken = name.exists() && !name.is_dir();
    (!has_slash && !is_taken && is_in_path().is_some()).then(|| name.to_owned())
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// The result of a run on this host.
pub(crate) enum Told {
    Report(Box<Report>),
    /// Another host leads the job and has sent this verdict.
    Verdict(Verdict),
}

/// Runs a program.
pub(crate) fn execute(
    arguments: &Arguments,
    own: &[OsString],
    program: Program,
) -> Result<Told, Failure> {
    refuse_others(arguments, own, &program).map_err(Failure::System)?;
    arguments.refuse_mpi().map_err(Failure::System)?;
    let refused = |error| Failure::System(LaunchError::System(error).to_string());
    let _low = goal_launch::beyond_shells().map_err(refused)?;
    let transports = arguments.transports().map_err(|error| Failure::System(error.to_string()))?;
    let leaders = if arguments.stats { vec!["--stats"] } else { vec![] };
    let hosts = arguments.hosts.hosts(false, leaders);
    let hosts = hosts.map_err(|error| Failure::System(error.to_string()))?;
    let ranks = arguments.ranks.unwrap_or(1);
    let task = Task::Program(&program);
    // Must outlive the job.
    let fleet = Fleet::start(arguments, own, ranks, &task).map_err(Failure::System)?;
    let hosts = match &fleet {
        Some(fleet) => Some(fleet.hosts(false)),
        None => hosts,
    };
    let signals = Signals::handle()?;
    let mut options = arguments.launcher(transports, None, signals);
    if arguments.stuck.is_none() {
        options.stuck =
            Stuck::from_environment().map_err(|error| Failure::System(error.to_string()))?;
    }
    let engine = goal_engine::Options { pushed_max: arguments.pushed_max(), ..options.engine };
    let options = Options {
        ranks: Ranks::Program(program),
        engine,
        // The terminal is the program's.
        show: |_| {},
        ..options
    };
    let limit = options.ranks_max;
    if ranks > limit {
        // This comes before a schedule of `ranks` ranks is made.
        let error = LaunchError::TooManyRanks { ranks, limit };
        return Err(Failure::System(hints::explain(&error)));
    }
    let heap = arguments.heap.unwrap_or_else(|| heap_bytes(ranks, options.segment_bytes_max));
    let reserve = reserve(arguments, ranks, heap, hosts.is_some()).map_err(Failure::System)?;
    let options = Options { reserve, must_grow: arguments.grow_to.is_some(), ..options };
    let nisa = skeleton(ranks + reserve, heap);
    let system = |error: LaunchError| Failure::System(hints::explain(&error));
    let (outcome, others) = match hosts {
        None => (goal_launch::run(&nisa, &options).map_err(system)?, None),
        Some(hosts) => match goal_launch::run_on_hosts(&nisa, &options, &hosts).map_err(system)? {
            Ended::Leading(outcome, others) => (*outcome, Some(others)),
            Ended::Told(verdict) => return Ok(Told::Verdict(verdict)),
        },
    };
    let is_alone = others.is_none() && !outcome.has_attached();
    if ranks > 1 && is_alone && outcome.end == goal_launch::End::Complete {
        warn(&format!(
            "none of the {ranks} processes was a rank: each ran alone, as a group of one. A rank calls GOAL_Init; a program of MPI is started by mpirun"
        ));
    }
    let mut report = Report::new(&outcome, None);
    if arguments.stats {
        report.add_counts(&outcome);
    }
    if let Some(others) = others {
        others.conclude(report.exit_status(), &report);
    }
    Ok(Told::Report(Box::new(report)))
}

/// The ranks that a job has room for beside those of the start, by default.
const RESERVE: u32 = 64;
/// The most bytes that all of these ranks may allocate. Valgrind maps no more than 64 GiB or so.
const RESERVED_BYTES_MAX: u64 = 16 << 30;

/// Returns the number of ranks that the job has room for beside those of the start.
fn reserve(arguments: &Arguments, ranks: u32, heap: u64, has_hosts: bool) -> Result<u32, String> {
    let Some(most) = arguments.grow_to else {
        let fit = u32::try_from(RESERVED_BYTES_MAX / heap.max(1)).unwrap_or(u32::MAX);
        let grows = !has_hosts && !arguments.survive;
        return Ok(if grows { RESERVE.min(fit).min(u32::MAX - ranks) } else { 0 });
    };
    if has_hosts {
        return Err("--grow-to is for jobs on one host: a job on several does not grow".to_owned());
    }
    if arguments.survive {
        let text =
            "a job that goes on after losses does not grow: leave --grow-to or --survive out";
        return Err(text.to_owned());
    }
    let limit = arguments.max_started;
    if most > limit {
        return Err(format!("--grow-to {most} is above --max-started, which is {limit}"));
    }
    most.checked_sub(ranks).ok_or_else(|| {
        format!("--grow-to {most} is below the {ranks} ranks that the job starts with")
    })
}

/// Returns the text on an option that is not for programs, if one was given.
fn refuse_others(arguments: &Arguments, own: &[OsString], program: &Program) -> Result<(), String> {
    let name = program.executable.display();
    let mut command = Arguments::command();
    let matches = command.try_get_matches_from_mut(own).map_err(|error| error.to_string())?;
    let is_given =
        |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let allows = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        ALLOWED.contains(&id) || id == "ranks_as" && !has_threads(arguments)
    };
    if let Some(other) = command.get_arguments().filter(is_given).find(|arg| !allows(arg)) {
        let option = match (other.get_long(), other.get_short()) {
            (None, Some(letter)) => format!("-{letter}"),
            (long, _) => format!("--{}", long.unwrap_or_default()),
        };
        return Err(format!(
            "{option} is for schedules, and {name} is a program, which starts its own: leave {option} out"
        ));
    }
    if has_threads(arguments) {
        return Err(format!("{name} is a program, whose ranks are processes: leave out threads"));
    }
    match arguments.ranks {
        None => Err(match started_by() {
            Some((launcher, size)) => format!(
                "{name} is a program, and {launcher} has started {size} processes of goal-run: let it start {name} itself"
            ),
            None => format!(
                "{name} is a program: how many of its processes are ranks? Give -n N before it, as in goal-run -n 4 {name}"
            ),
        }),
        Some(0) => Err("a job has at least one rank".to_owned()),
        Some(ranks) => {
            if let Some((launcher, size)) = started_by() {
                warn(&format!(
                    "{launcher} has started {size} processes of goal-run, and each starts a job of {ranks} ranks: for one job, let it start {name} itself"
                ));
            }
            Ok(())
        }
    }
}

/// Returns the name of the launcher that has started this process with others, and their number.
fn started_by() -> Option<(&'static str, u32)> {
    let launcher = Launcher::from_process().ok()??;
    let size = launcher.size().filter(|&size| size > 1)?;
    Some((launcher.kind().name(), size))
}

fn has_threads(arguments: &Arguments) -> bool {
    arguments.ranks_as() == RanksAs::Threads
}

/// Prints how a run ended, and returns the exit status. After a run without errors it prints no
/// text: standard output is the program's.
pub(crate) fn tell(told: &Told, arguments: &Arguments) -> u8 {
    match tell_end(told, arguments) {
        0 => goal_launch::output_status(),
        status => status,
    }
}

fn tell_end(told: &Told, arguments: &Arguments) -> u8 {
    let format = arguments.format;
    match (told, format) {
        (Told::Report(report), _) => {
            report.errors().iter().for_each(|error| complain(error));
            let text = match format {
                Format::Json => Some(report.to_json()),
                Format::Text => report.table(),
            };
            text.map_or(report.exit_status(), |text| print(&text, report.exit_status()))
        }
        // A leader that has started this launcher tells its user itself.
        (Told::Verdict(verdict), _)
            if arguments.hosts.started_as.is_some() && verdict.report.is_some() =>
        {
            verdict.status
        }
        (Told::Verdict(verdict), _) => {
            verdict.errors.iter().for_each(|error| complain(error));
            let report = || {
                let status = match verdict.status {
                    0 => Status::Ok,
                    1..128 => Status::Died,
                    _ => Status::Interrupted,
                };
                let text = verdict.errors.join("; ");
                Report::not_started(status, 1, RanksAs::Processes.name(), text).to_json()
            };
            match format {
                Format::Json => {
                    let text = verdict.report.clone().unwrap_or_else(report);
                    print(&text, verdict.status)
                }
                Format::Text => verdict.status,
            }
        }
    }
}
