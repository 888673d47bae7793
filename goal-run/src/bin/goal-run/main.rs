//! `goal-run`: executes a program on ranks that are processes or threads of this machine.
#![allow(unsafe_code)] // the environment

mod answer;
mod arguments;
mod attended;
mod endings;
mod findings;
mod fleet;
mod grow;
mod hints;
mod hosts;
mod info;
mod interfaces;
mod key;
#[cfg(feature = "mpi")]
mod mpi;
mod output;
mod ping;
mod programs;
mod spec;
mod tune;
mod tuned;
mod values;
mod wired;

use arguments::{Arguments, Command};
use attended::{Signals, attended};
use endings::{fail, tell_verdict};
use fleet::{Fleet, Task};
use goal_asm::Nisa;
use goal_asm::nisa::{MAGIC, StreamError};
use goal_bootstrap::Launcher;
use goal_job::Window;
use goal_job::binding::Bind;
use goal_job::{SETTINGS, limits, rights};
use goal_launch::report::{Report, Status};
use goal_launch::{self, Ended, LaunchError, Omitted, Outcome, Verdict};
use goal_run::verify::{unmet, verify};
use goalc::driver::{self, Error, Findings};
use goalc::memory::Allocator;
use output::{Failure, complain, complain_of, note, tell, warn};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use wired::Role;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "goal-run" };

fn main() -> ExitCode {
    // The stack frame of the rest is too large for a small stack.
    match driver::refuse_small_stack() {
        Ok(()) => run(),
        Err(why) => {
            complain(&why);
            ended(2)
        }
    }
}

/// Returns the exit code of a process that would end with `status`. The code is higher if something
/// could not be written to standard error.
fn ended(status: u8) -> ExitCode {
    ExitCode::from(driver::exit_status(status))
}

#[inline(never)]
fn run() -> ExitCode {
    if let Some(code) = goal_launch::rank_process() {
        return code;
    }
    // SAFETY: no thread has been started yet.
    unsafe { goal_launch::forget_order() };
    if let Err(why) = rights::refuse_set_id() {
        complain(&why.to_string());
        return ended(2);
    }
    driver::survive_file_size();
    let (own, program) = programs::split(programs::with_np(std::env::args_os().collect()));
    let mut arguments = match driver::parse_these::<Arguments>("goal-run", own.clone()) {
        Ok(arguments) => arguments,
        Err(status) => return ended(status as u8),
    };
    limits::raise_open_files();
    if let Some(command) = &arguments.command {
        let status = match command {
            Command::Info(info) => info::run(info),
            Command::Ping(ping) => ping::run(ping),
            Command::Answer(answer) => answer::run(answer),
            Command::Tune(tune) => tune::run(tune),
            Command::Grow(grow) => grow::run(grow),
            Command::Key(key) => key::run(key),
            Command::Launcher => fleet::remote::run(),
            Command::Completions(shell) => {
                shell.run::<Arguments>("goal-run").map(|()| 0).map_err(Failure::from)
            }
            Command::Man(man) => man.run::<Arguments>().map(|()| 0).map_err(Failure::from),
        };
        return ended(status.unwrap_or_else(|failure| complain_of(&failure).1));
    }
    if let Some(host) = &arguments.hosts.started_as {
        output::name_host(host);
        // Ranks get only descriptors that this launcher passes on, and not the file of the
        // schedule.
        goal_launch::close_on_exec();
        // An error is ignored, as the job also ends when its connections end.
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
    }
    if let Err(failure) = tuned::apply(&mut arguments) {
        return ended(fail(&failure, &arguments));
    }
    if let Some(program) = program {
        let told = programs::execute(&arguments, &own, program);
        goal_launch::unattended();
        let status = match told {
            Ok(told) => programs::tell(&told, &arguments),
            Err(failure) => fail(&failure, &arguments),
        };
        return ended(status);
    }
    let told = execute(&arguments, &own);
    // From here on signals are not polled. Writing the output may block for ever.
    goal_launch::unattended();
    let status = match told {
        Ok(Told::Report(report)) => tell(&report, arguments.format),
        Ok(Told::Verdict(verdict)) => tell_verdict(&verdict, &arguments),
        Ok(Told::Nothing) => 0,
        Err(failure) => fail(&failure, &arguments),
    };
    driver::clear_stage();
    ended(status)
}

/// Returns the rank that another launcher gave this process; 0 if there is no such launcher. Rank 0
/// alone prints notes that all ranks would print.
fn started_rank() -> u32 {
    Launcher::from_process().ok().flatten().map_or(0, |launcher| launcher.rank())
}

/// Returns the error if an option that is for programs only is given for a schedule. The ranks of a
/// schedule allocate nothing, nobody can add ranks, and none goes on alone.
fn refuse_options_of_programs(arguments: &Arguments) -> Result<(), Failure> {
    let settings = SETTINGS.iter().filter(|row| row.is_of_programs).map(|row| row.option);
    let settings = settings.filter(|option| arguments.settings.has(option));
    let heap = arguments.heap.map(|_| "heap");
    let grow_to = arguments.grow_to.map(|_| "grow-to");
    match heap.into_iter().chain(grow_to).chain(settings).next() {
        None => Ok(()),
        Some(option) => Err(Failure::System(format!(
            "--{option} is for programs, and this is a schedule: leave it out"
        ))),
    }
}

/// The end of a run on this host.
enum Told {
    Report(Box<Report>),
    /// Another host led the job and has sent this verdict.
    Verdict(Verdict),
    /// Another process of this host has the launcher and reports.
    Nothing,
}

fn execute(arguments: &Arguments, own: &[OsString]) -> Result<Told, Failure> {
    let of_schedules = &arguments.of_schedules;
    refuse_options_of_programs(arguments)?;
    if let Some(text) = arguments.input.inputs.first().and_then(|name| hints::on_word(name)) {
        return Err(Failure::System(text));
    }
    let (nisa, window, found) = read(arguments)?;
    if let Some(ranks) = arguments.ranks.filter(|&ranks| ranks != nisa.num_ranks()) {
        let has = nisa.num_ranks();
        let plural = if has == 1 { "" } else { "s" };
        return Err(Failure::System(format!(
            "the program has {has} rank{plural}, -n asks for {ranks}: leave -n out, or give {has}"
        )));
    }
    let transports = arguments.transports().map_err(|error| Failure::System(error.to_string()))?;
    let leaders = [
        ("--dump", of_schedules.dump.is_some()),
        ("--trace", of_schedules.trace.is_some()),
        ("--stats", arguments.stats),
    ];
    let leaders =
        leaders.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect();
    let hosts = arguments
        .hosts
        .hosts(of_schedules.dump.is_some(), leaders)
        .map_err(|error| Failure::System(error.to_string()))?;
    let task = if window.is_some() { Task::Files } else { Task::Schedule(nisa.bytes()) };
    // The fleet must outlive the job.
    let fleet = Fleet::start(arguments, own, nisa.num_ranks(), &task).map_err(Failure::System)?;
    let hosts = match &fleet {
        Some(fleet) => Some(fleet.hosts(of_schedules.dump.is_some())),
        None => hosts,
    };
    let at = |path: &Path, error| Error::io(path.display().to_string(), error);
    let create = |path: &Path| File::create(path).map_err(|error| at(path, error));
    // The file is created before the run, so that no run is lost because it can't be created. In a
    // job on several hosts only the leader creates it, and the leader is not known yet.
    let trace = match (&of_schedules.trace, &hosts) {
        (Some(path), None) => Some(create(path)?),
        _ => None,
    };
    // Processes that another launcher has started wait for each other here.
    let role = match hosts {
        None => {
            goal_launch::beside_stops(|| wired::role(nisa.num_ranks(), transports.prefers_mpi()))?
        }
        Some(_) => None,
    };
    if role.is_none() || !cfg!(feature = "mpi") {
        arguments.refuse_mpi().map_err(Failure::System)?;
    }
    // Signals are handled only from here on, so that until here a signal ends this process. Opening
    // a file may block, and so may waiting for other processes.
    let signals = Signals::handle()?;
    let options = arguments.launcher(transports, window, signals);
    let system = |error: LaunchError| Failure::System(hints::explain(&error));
    // The leader must be dropped after the options, which have the launch socket. The leader's own
    // rank waits at the socket until it is admitted or the socket is closed.
    let mut leader = None;
    let (mut options, mut hosts) = (options, hosts);
    match role {
        None => {}
        Some(Role::Rank(started)) => return started.run().map(|()| Told::Nothing),
        Some(Role::Leader(lead, of_leader)) => {
            options.ranks = lead.ranks(false);
            if options.spec.bind == Bind::Core {
                options.spec.bind = lead.bind().clone();
            }
            let keeps_memory = of_schedules.dump.is_some();
            hosts = lead.hosts().cloned().map(|hosts| goal_launch::Hosts { keeps_memory, ..hosts });
            leader.insert(of_leader).start_rank()?;
        }
    }
    let (outcome, others) = match hosts {
        None => (goal_launch::run(&nisa, &options).map_err(system)?, None),
        Some(hosts) => match goal_launch::run_on_hosts(&nisa, &options, &hosts).map_err(system)? {
            Ended::Leading(outcome, others) => (*outcome, Some(others)),
            Ended::Told(verdict) => return Ok(Told::Verdict(verdict)),
        },
    };
    let (ranks_as, repeat) = (arguments.ranks_as().name(), arguments.settings.spec.repeat);
    let report = |verified, unmet: Vec<String>| {
        let mut report = Report::new(&outcome, verified);
        if let Some(hint) = hints::after(&outcome.end) {
            report.add_hint(hint);
        }
        report.fail(unmet);
        report
    };
    // If results of ranks are missing, neither memory nor a trace is written.
    let is_known = outcome.is_known();
    let work = || -> Result<Report, Error> {
        let unmet = unmet(&outcome);
        if let Some(folder) = of_schedules.dump.as_ref().filter(|_| is_known) {
            driver::show_stage("writing the memory of ranks");
            dump(&outcome, folder)?;
        }
        if let Some(path) = of_schedules.trace.as_ref().filter(|_| is_known) {
            driver::show_stage("writing the trace");
            let file = trace.map_or_else(|| create(path), Ok)?;
            write_trace(&outcome, file).map_err(|error| at(path, error))?;
        }
        let is_complete = outcome.end == goal_launch::End::Complete && unmet.is_empty();
        if of_schedules.verify && is_complete {
            driver::show_stage("comparing with the interpreter");
        }
        let verified = (of_schedules.verify && is_complete).then(|| verify(&outcome));
        let mut report = report(verified, unmet);
        report.add_findings(findings::objects(&found, &report));
        if arguments.stats {
            report.add_counts(&outcome);
        }
        Ok(report)
    };
    let on_hosts = others.is_some();
    let others = RefCell::new(others);
    let signal = || {
        let elsewhere = others.borrow().as_ref().and_then(goal_launch::Others::interrupted);
        goal_launch::attend(&options, on_hosts).or(elsewhere)
    };
    let conclude = |status, report: &Report| {
        if let Some(others) = others.take() {
            others.conclude(status, report);
        }
    };
    let leave = |signal| {
        let mut report = report(None, vec![]);
        report.interrupt(signal);
        report.add_findings(findings::objects(&found, &report));
        conclude(report.exit_status(), &report);
        tell(&report, arguments.format)
    };
    match attended(work, signal, leave) {
        Ok(report) => {
            conclude(report.exit_status(), &report);
            Ok(Told::Report(Box::new(report)))
        }
        Err(error) => {
            let text = format!("on the host of rank 0: {error}");
            conclude(
                error.status() as u8,
                &Report::not_started(Status::Failed, repeat, ranks_as, text),
            );
            Err(error.into())
        }
    }
}

/// Calls [`open`] without capabilities, but a launcher of root keeps those to write files. On one
/// host the main thread gives up its capabilities before. On several hosts it needs them later, to
/// open sockets when the number of ranks is known. So there a thread that has given them up calls
/// `open`. A thread inherits capabilities from the thread that starts it, so no thread is started
/// before they are given up.
fn read(arguments: &Arguments) -> Result<(Arc<Nisa>, Option<Window>, Findings), Failure> {
    let work = || goal_launch::beside_stops(|| open(arguments));
    let refused = |error| Failure::System(LaunchError::System(error).to_string());
    if arguments.hosts.are_named() {
        return rights::apart(work).map_err(refused)?;
    }
    rights::give_up_all_but_files().map_err(refused)?;
    work()
}

/// Reads and checks the program. Returns its schedule, its window if the user asks for one, and the
/// findings. The file of the window is the input if that is a NISA file. Otherwise it is a sealed
/// copy in memory.
fn open(arguments: &Arguments) -> Result<(Arc<Nisa>, Option<Window>, Findings), Failure> {
    let options = arguments.driver();
    if let (Some((size, reading)), [path]) = (arguments.window(), arguments.input.inputs.as_slice())
        && is_nisa(path)
    {
        let name = path.display();
        let file = File::open(path).map_err(|error| Error::io(name.to_string(), error))?;
        let window =
            Window::open(file, &options.limits, size, reading).map_err(|error| match error {
                StreamError::Invalid(error) => {
                    Failure::Driver(driver::refused(&name.to_string(), &error).into())
                }
                error => Failure::System(format!("{name}: {error}")),
            })?;
        return Ok((Arc::clone(window.nisa()), Some(window), Findings::default()));
    }
    let compiled = driver::compile(&arguments.input.inputs, &options)?;
    if let (stated, run) = compiled.actions
        && stated != run
        && started_rank() == 0
    {
        let level = arguments.of_schedules.level.unwrap_or(1);
        note(&format!(
            "-O {level} has made {run} actions of the {stated} of the source: reports and traces show these (-O 0 keeps those)"
        ));
    }
    let found = compiled.findings;
    if !found.report.is_empty() {
        driver::note(&found, findings::format());
    }
    let Some((size, reading)) = arguments.window() else {
        return Ok((Arc::new(compiled.nisa), None, found));
    };
    let window = Window::over(&compiled.nisa, &options.limits, size, reading)
        .map_err(|error| Failure::System(error.to_string()))?;
    Ok((Arc::clone(window.nisa()), Some(window), found))
}

/// Returns true if a path is a regular file that begins with the magic bytes of NISA.
fn is_nisa(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    let mut read = || File::open(path)?.read_exact(&mut magic);
    path.is_file() && read().is_ok() && magic == MAGIC
}

/// Writes the memory of every rank into a folder.
fn dump(outcome: &Outcome, folder: &Path) -> Result<(), Error> {
    let at = |path: &Path, error| Error::io(path.display().to_string(), error);
    std::fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    for rank in 0..outcome.nisa().num_ranks() {
        let path = folder.join(format!("rank-{rank}.bin"));
        File::create(&path)
            .and_then(|file| outcome.dump(rank, &file))
            .map_err(|error| at(&path, error))?;
    }
    Ok(())
}

/// Writes the trace to a file.
fn write_trace(outcome: &Outcome, file: File) -> io::Result<()> {
    let Omitted { lost, foreign } = outcome.write_trace(&mut BufWriter::new(file))?;
    if lost > 0 {
        warn(&format!("the first {lost} records of the trace did not fit (--trace-max raises it)"));
    }
    if foreign > 0 {
        warn(&format!(
            "the trace leaves out {foreign} records of what is no action of their rank: another host sent what its ranks can't have recorded"
        ));
    }
    Ok(())
}
