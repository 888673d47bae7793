//! Measures the growth of a job of two ranks. One figure is the cost of room for more ranks, the
//! other the time until a new rank has joined. They are figures 1 and 2 of "Concepts for
//! Integrating SISCI into Open MPI".
//!
//! `benches/README.md` says how it is measured.

mod memory;
mod rank;

pub(crate) use rank::{RankArgs, run_rank};

use crate::library::lines_of;
use crate::measure::{median, sibling};
use crate::table;
use clap::Args as ClapArgs;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// `growth`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Counted runs
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Round trips of a run, before the growth and after it
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(100..))]
    rounds: u32,
    /// Ranks that the job grows to, one by one
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(3..=64))]
    most: u32,
    /// Numbers of ranks that one call of `Group::spawn` starts
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 6])]
    spawn: Vec<u32>,
}

/// The pause between two requests for a rank.
const PAUSE: Duration = Duration::from_millis(100);
/// Seconds after which a job is ended.
const SECONDS_MAX: &str = "120";

pub(crate) fn run(args: &Args) -> io::Result<()> {
    latency(args)?;
    growth(args)?;
    spawn(args)
}

/// Returns a command that starts a job of two ranks of this program.
fn job(options: &[&str], rank: &[String]) -> io::Result<Command> {
    let mut command = Command::new(sibling("goal-run")?);
    command.args(["-n", "2", "--timeout", SECONDS_MAX]).args(options).arg("--");
    command.arg(std::env::current_exe()?).arg("growth-rank").args(rank);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// The figures that a job prints: a name and a number a line.
type Figures = BTreeMap<String, Vec<f64>>;

/// Adds the figures of a job's lines.
fn add(figures: &mut Figures, lines: &[String]) -> io::Result<()> {
    for line in lines {
        let parse = || {
            let (name, number) = line.split_once(' ')?;
            Some((name.to_owned(), number.parse().ok()?))
        };
        let (name, number) =
            parse().ok_or_else(|| io::Error::other(format!("a rank says `{line}`")))?;
        figures.entry(name).or_default().push(number);
    }
    Ok(())
}

/// Returns a row of the median, the least and the most, divided by `unit`.
fn row(names: &[&str], figures: &[f64], unit: f64) -> Vec<String> {
    let (least, most) =
        figures.iter().fold((f64::MAX, f64::MIN), |(l, m), &x| (l.min(x), m.max(x)));
    let all = [median(figures.iter().copied()), least, most];
    let numbers = all.into_iter().map(|number| format!("{:.3}", number / unit));
    names.iter().map(|&name| name.to_owned()).chain(numbers).collect()
}

/// Messages of a job that may grow beside those of one that can't.
fn latency(args: &Args) -> io::Result<()> {
    let contestants: [(&str, &[&str]); 2] =
        [("room for 64 more", &[]), ("no room (--grow-to 2)", &["--grow-to", "2"])];
    let mut figures = [const { Vec::new() }; 2];
    for run in 0..=args.runs {
        for ((_, options), figures) in contestants.iter().zip(&mut figures) {
            let output =
                job(options, &["latency".to_owned(), args.rounds.to_string()])?.output()?;
            let mut of_run = Figures::new();
            add(&mut of_run, &lines_of("goal-run", &output)?)?;
            // The first run brings files into the page cache.
            if run > 0 {
                figures.extend(of_run.remove("latency").unwrap_or_default());
            }
        }
    }
    say!("half round trip of 8 B, us: {} runs of each, alternating", args.runs);
    let rows: Vec<_> =
        contestants.iter().zip(&figures).map(|((name, _), all)| row(&[name], all, 1e3)).collect();
    table::print(&["job", "median", "least", "most"], &rows);
    Ok(())
}

/// A job that grows rank by rank while two ranks exchange messages.
fn growth(args: &Args) -> io::Result<()> {
    let mut figures = Figures::new();
    for run in 0..=args.runs {
        let rank = ["grow".to_owned(), args.rounds.to_string(), args.most.to_string()];
        let room = args.most.to_string();
        let mut child = job(&["--grow-to", &room], &rank)?.spawn()?;
        let asked = grow_from_outside(&mut child, args.most);
        if asked.is_err() {
            child.kill()?;
        }
        let (mut lines, answers) = match (asked, child.wait_with_output()?) {
            (Ok((lines, answers)), output) => {
                let rest = Output { stdout: Vec::new(), ..output };
                lines_of("goal-run", &rest)?;
                (lines, answers)
            }
            (Err(error), output) => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(io::Error::other(format!("{error}; {said}")));
            }
        };
        // From the launcher's answer, which only this process knows.
        let mut derived = Figures::new();
        let (events, own): (Vec<String>, Vec<String>) =
            lines.drain(..).partition(|line| line.starts_with("at-"));
        add(&mut derived, &events)?;
        if run == 0 {
            continue;
        }
        add(&mut figures, &own)?;
        let at = |name: &str| derived.get(name).cloned().unwrap_or_default();
        let (begun, attached, told) = (at("at-begun"), at("at-attached"), at("at-told"));
        for (number, &(asked, answered)) in answers.iter().enumerate() {
            let of = |events: &[f64]| events.get(number).copied().unwrap_or(f64::NAN);
            let mut note = |name: &str, ns: f64| {
                figures.entry(name.to_owned()).or_default().push(ns);
            };
            note("request", answered - asked);
            note("begin", of(&begun) - answered);
            note("attach", of(&attached) - of(&begun));
            note("accept", of(&told) - of(&attached));
            note("delay", of(&told) - answered);
        }
    }
    say!("\na job that grows from 2 ranks to {}, one by one, us: {} runs", args.most, args.runs);
    let named = [
        ("before", "half round trip before the growth, median of a run"),
        ("during", "half round trip during the growth, median of a run"),
        ("gap", "longest round trip during the growth"),
        ("after", "half round trip after the growth, median of a run"),
        ("request", "request until the launcher's answer"),
        ("begin", "answer until the new process begins main"),
        ("attach", "main until it has attached and waits"),
        ("accept", "attached until its first message has come"),
        ("delay", "answer until its first message (t_delay)"),
    ];
    let rows: Vec<_> = named
        .iter()
        .filter_map(|(name, what)| Some(row(&[what], figures.get(*name)?, 1e3)))
        .collect();
    table::print(&["time", "median", "least", "most"], &rows);
    say!("\nmemory of its processes (Pss) and of the segment, KiB");
    let memory = [
        ("pss-before", "all processes, 2 ranks"),
        ("pss-after", "all processes, at the end of the growth"),
        ("segment-before", "pages of the segment, 2 ranks"),
        ("segment-after", "pages of the segment, at the end of the growth"),
    ];
    let rows: Vec<_> = memory
        .iter()
        .filter_map(|(name, what)| Some(row(&[what], figures.get(*name)?, 1024.0)))
        .collect();
    table::print(&["memory", "median", "least", "most"], &rows);
    Ok(())
}

/// The lines of a job, and the times of each request and of its answer.
type Asked = (Vec<String>, Vec<(f64, f64)>);

/// Waits until the ranks of a job are ready, adds ranks one by one, and returns what they print.
fn grow_from_outside(child: &mut Child, most: u32) -> io::Result<Asked> {
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output.read_line(&mut line)?;
    if line.trim() != "ready" {
        return Err(io::Error::other(format!("a rank says `{}`", line.trim())));
    }
    let mut answers = Vec::new();
    for _ in 2..most {
        std::thread::sleep(PAUSE);
        let asked = goal_eth::now_ns();
        goal_job::growth::grow(child.id(), 1, None).map_err(io::Error::other)?;
        answers.push((asked as f64, goal_eth::now_ns() as f64));
    }
    let mut rest = String::new();
    output.read_to_string(&mut rest)?;
    Ok((rest.lines().map(str::to_owned).collect(), answers))
}

/// The time of a call that starts several ranks at once.
fn spawn(args: &Args) -> io::Result<()> {
    let mut rows = Vec::new();
    for &ranks in &args.spawn {
        let mut figures = Figures::new();
        for run in 0..=args.runs {
            let output = job(&[], &["spawn".to_owned(), ranks.to_string()])?.output()?;
            let lines = lines_of("goal-run", &output)?;
            if run > 0 {
                add(&mut figures, &lines)?;
            }
        }
        let named = [
            ("begin", "until the last new process begins main"),
            ("attach", "from there until the last has attached and was told"),
            ("call", "the call at the root"),
            ("all", "until a barrier of all ranks has ended"),
        ];
        let of_ranks = ranks.to_string();
        rows.extend(
            named
                .iter()
                .filter_map(|(name, what)| Some(row(&[&of_ranks, what], figures.get(*name)?, 1e6))),
        );
    }
    say!("\nGroup::spawn in a job of 2 ranks, ms: {} runs", args.runs);
    table::print(&["ranks", "time", "median", "least", "most"], &rows);
    Ok(())
}
