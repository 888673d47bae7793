//! Runs programs: finds the program in the command line, checks the options, and reports how the
//! run ended.

use super::arguments::{Arguments, ScheduleArguments};
use super::attended::Signals;
use super::fleet::{Fleet, Task};
use super::hints;
use super::output::{Failure, complain, print, warn};
use super::values::{Format, RanksAs};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Args, Command, CommandFactory};
use goal_bootstrap::Launcher;
use goal_job::{SETTINGS, Stuck};
use goal_launch::report::{Report, Status};
use goal_launch::{self, Ended, LaunchError, Options, Program, Ranks, Verdict};
use goal_rank::program::{heap_bytes, skeleton};
use goalc::driver::{self, InputArguments};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Splits the arguments of this process at the program. Returns the arguments of `goal-run` itself,
/// and the program with its own arguments if they name one.
pub(crate) fn split(all: Vec<OsString>) -> (Vec<OsString>, Option<Program>) {
    let may_be_program = |&at: &usize| all[at - 1] == "--" || !is_command(&all[at]);
    let Some(at) = first_operand(&all).filter(may_be_program) else { return (all, None) };
    let operand = Path::new(&all[at]);
    let Some(executable) = program(operand) else {
        // The words after a script are the script's. With them, the error would not say that a
        // script is no schedule.
        let is_script = driver::is_script(operand) && operand.is_file();
        let kept = if is_script { at + 1 } else { all.len() };
        return (all.into_iter().take(kept).collect(), None);
    };
    let arguments = all[at + 1..].to_vec();
    let own = all.into_iter().take(at + 1).collect();
    (own, Some(Program { executable, arguments }))
}

/// Replaces the option `-np` of other launchers by `--np`, since it would mean `-n p`. Leaves the
/// arguments of the program unchanged.
pub(crate) fn with_np(mut all: Vec<OsString>) -> Vec<OsString> {
    loop {
        let end = first_operand(&all).unwrap_or(all.len());
        let Some(option) = all[..end].iter_mut().skip(1).find(|option| **option == "-np") else {
            return all;
        };
        *option = "--np".into();
    }
}

fn is_command(name: &OsStr) -> bool {
    name == "help" || Arguments::command().find_subcommand(name).is_some()
}

/// Returns the index of the first argument that is neither an option nor an option's value. Returns
/// `None` if there is none, or if an option before it is unknown. Wrong values and repeated options
/// do not matter here: their errors come later, and the program's words are still its own.
fn first_operand(all: &[OsString]) -> Option<usize> {
    if is_command(all.get(1)?) {
        return Some(1);
    }
    let flag = |id, letter| Arg::new(id).short(letter).long(id).action(ArgAction::SetTrue);
    let of_any_value = |arg: Arg| match arg.is_positional() || !arg.get_action().takes_values() {
        true => arg,
        false => arg.value_parser(clap::value_parser!(OsString)).action(ArgAction::Append),
    };
    let command = Arguments::command()
        .ignore_errors(true)
        .mut_args(of_any_value)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args([flag("help", 'h'), flag("version", 'V')])
        .mut_arg("inputs", |inputs| inputs.trailing_var_arg(true));
    let matches = command.try_get_matches_from(all).ok()?;
    Some(all.len() - matches.get_raw("inputs")?.len())
}

/// Returns the path to execute if an operand names a program. Returns `None` otherwise.
fn program(name: &Path) -> Option<PathBuf> {
    let has_slash = name.parent().is_some_and(|folder| folder != Path::new(""));
    if name.is_file() {
        let mut start = Vec::with_capacity(driver::FIRST_LINE_MAX);
        let most = driver::FIRST_LINE_MAX as u64;
        let read = File::open(name).and_then(|file| file.take(most).read_to_end(&mut start));
        // A file that can't be read may still be executable. A GOAL text may begin with `#!` too.
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
    // A folder with the name of a program, such as `python` beside a script, does not hide the
    // program.
    let is_taken = name.exists() && !name.is_dir();
    (!has_slash && !is_taken && is_in_path().is_some()).then(|| name.to_owned())
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// The end of a run on this host.
pub(crate) enum Told {
    Report(Box<Report>),
    /// Another host led the job and has sent this verdict.
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
    // The fleet must outlive the job.
    let fleet = Fleet::start(arguments, own, ranks, &task).map_err(Failure::System)?;
    let hosts = match &fleet {
        Some(fleet) => Some(fleet.hosts(false)),
        None => hosts,
    };
    let signals = Signals::handle()?;
    let mut options = arguments.launcher(transports, None, signals);
    if !arguments.settings.has("stuck") {
        options.spec.stuck =
            Stuck::from_environment().map_err(|error| Failure::System(error.to_string()))?;
    }
    let options = Options {
        ranks: Ranks::Program(program),
        pushed_max: arguments.pushed_max(),
        // The program uses the terminal, so no stage is shown.
        show: |_| {},
        ..options
    };
    let limit = options.spec.ranks_max;
    if ranks > limit {
        // The check comes before memory for a schedule of `ranks` ranks is allocated.
        let error = LaunchError::TooManyRanks { ranks, limit };
        return Err(Failure::System(hints::explain(&error)));
    }
    let heap = arguments.heap.unwrap_or_else(|| heap_bytes(ranks, options.spec.segment_bytes_max));
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

/// The most ranks that can be added to a job by default.
const RESERVE: u32 = 64;
/// The most bytes that all ranks that can be added may allocate by default. Valgrind can map only
/// about 64 GiB.
const RESERVED_BYTES_MAX: u64 = 16 << 30;

/// Returns the number of ranks that can be added to the job.
fn reserve(arguments: &Arguments, ranks: u32, heap: u64, has_hosts: bool) -> Result<u32, String> {
    let Some(most) = arguments.grow_to else {
        let fit = u32::try_from(RESERVED_BYTES_MAX / heap.max(1)).unwrap_or(u32::MAX);
        let grows = !has_hosts && !arguments.settings.spec.survives;
        return Ok(if grows { RESERVE.min(fit).min(u32::MAX - ranks) } else { 0 });
    };
    if has_hosts {
        return Err("--grow-to is for jobs on one host: a job on several does not grow".to_owned());
    }
    if arguments.settings.spec.survives {
        let text =
            "a job that goes on after losses does not grow: leave --grow-to or --survive out";
        return Err(text.to_owned());
    }
    let limit = arguments.settings.spec.ranks_max;
    if most > limit {
        return Err(format!("--grow-to {most} is above --max-started, which is {limit}"));
    }
    most.checked_sub(ranks).ok_or_else(|| {
        format!("--grow-to {most} is below the {ranks} ranks that the job starts with")
    })
}

/// Returns an error if an option was given that programs do not have.
fn refuse_others(arguments: &Arguments, own: &[OsString], program: &Program) -> Result<(), String> {
    let name = program.executable.display();
    let mut command = Arguments::command();
    let matches = command.try_get_matches_from_mut(own).map_err(|error| error.to_string())?;
    let is_given =
        |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let of_schedules = InputArguments::augment_args(Command::new(""));
    let of_schedules = ScheduleArguments::augment_args(of_schedules);
    let is_of_schedules = |arg: &&Arg| {
        let id = arg.get_id();
        let is_it = |other: &Arg| other.get_id() == id && !other.is_positional();
        of_schedules.get_arguments().any(is_it)
            || SETTINGS.iter().any(|row| row.is_of_schedules && row.option == id.as_str())
            || id == "ranks_as" && has_threads(arguments)
    };
    if let Some(other) = command.get_arguments().filter(is_given).find(is_of_schedules) {
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

/// Returns the name of the launcher that has started several processes like this one, and their
/// number. Returns `None` if there is no such launcher.
fn started_by() -> Option<(&'static str, u32)> {
    let launcher = Launcher::from_process().ok()??;
    let size = launcher.size().filter(|&size| size > 1)?;
    Some((launcher.kind().name(), size))
}

fn has_threads(arguments: &Arguments) -> bool {
    arguments.ranks_as() == RanksAs::Threads
}

/// Prints how a run ended. Returns the exit status. After a run without errors it prints no text,
/// because standard output belongs to the program.
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
        // The leader has started this launcher, and shows the errors to the user itself.
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

#[cfg(test)]
mod tests {
    use super::{first_operand, with_np};
    use std::ffi::OsString;

    fn arguments(text: &str) -> Vec<OsString> {
        ["goal-run"].into_iter().chain(text.split_whitespace()).map(OsString::from).collect()
    }

    #[test]
    fn the_first_operand_is_found() {
        for (text, operand) in [
            ("-n 4 prog -n 3 --help", Some(3)),
            ("-n4 prog --bogus", Some(2)),
            ("--ranks=4 --stats prog -- x", Some(3)),
            ("--np 4 --survive sh -c x", Some(4)),
            ("-- prog --help", Some(2)),
            ("-- -- x", Some(2)),
            ("-n 4 -- info", Some(4)),
            ("-n 4 info", Some(3)),
            ("info --transport ^cma", Some(1)),
            ("grow 4711 -n 2", Some(1)),
            ("--help prog -x", Some(2)),
            ("-hV prog", Some(2)),
            ("-O 2 --allow G0308,G0301 x.goal --verify", Some(5)),
            ("-O2 - --window 5", Some(2)),
            ("--hosts localhost,node1 -n 2 -- ./prog", Some(6)),
            ("--rank 1 --stuck end,0.2 python x.py -n 3", Some(5)),
            ("--ring=64K --burst 8 --timeout 2.5 prog", Some(6)),
            ("-n x prog --format json", Some(3)),
            ("-n 2 -n 3 prog -x", Some(5)),
            ("--burst 1 prog --color always", Some(3)),
            ("--bogus prog -x", None),
            ("-h", None),
            ("-n", None),
            ("", None),
        ] {
            assert_eq!(first_operand(&arguments(text)), operand, "{text}");
        }
    }

    #[test]
    fn np_is_an_option_before_the_program() {
        for (text, becomes) in [
            ("-np 4 prog -np 3", "--np 4 prog -np 3"),
            ("-np 4 -np 5 prog", "--np 4 --np 5 prog"),
            ("--stats -np 4 -- prog -np", "--stats --np 4 -- prog -np"),
            ("-n 4 prog -np 3", "-n 4 prog -np 3"),
            ("grow 4711 -np 2", "grow 4711 -np 2"),
        ] {
            assert_eq!(with_np(arguments(text)), arguments(becomes));
        }
    }
}
