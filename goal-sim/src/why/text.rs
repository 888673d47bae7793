//! Why a run takes its time, for people.

use super::collectives::named;
use super::{PERCENTS, Why};
use crate::parameters::number;
use crate::report::in_ns;
use crate::source::Subject;
use goal_loggops::path::{Cost, OfRank, Step, Work};
use std::io::{self, Write};

/// The ranks and the pairs of ranks that a table lists.
const ROWS_MAX: usize = 10;

/// Writes why a run takes its time, with at most `steps_max` steps of its critical path.
pub(crate) fn write(
    why: &Why,
    subject: &Subject,
    steps_max: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_steps(why, subject, steps_max, out)?;
    write_costs(why, out)?;
    write_ranks(why, out)?;
    write_pairs(why, out)?;
    write_phases(why, out)?;
    write_collectives(why, subject, out)?;
    write_sensitivity(why, out)?;
    write_tolerance(why, out)
}

fn percent(part: u64, all: u64) -> f64 {
    part as f64 * 100.0 / all.max(1) as f64
}

/// Writes the longest steps in the order of time, and a line for each run of others.
fn write_steps(
    why: &Why,
    subject: &Subject,
    steps_max: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let steps: Vec<&Step> = why.path.steps.iter().filter(|step| step.duration_ps > 0).collect();
    let mut longest: Vec<usize> = (0..steps.len()).collect();
    longest.sort_by_key(|&at| std::cmp::Reverse(steps[at].duration_ps));
    longest.truncate(steps_max);
    longest.sort_unstable();
    let finish = why.path.finish_ps;
    writeln!(out, "\ncritical path: {} steps, {} ns", steps.len(), number(finish, 3))?;
    writeln!(out, "{:>14} {:>14} {:>7}  {:<10} action", "start, ns", "time, ns", "share", "cost")?;
    let mut next = 0;
    for at in longest.into_iter().chain([steps.len()]) {
        if next < at {
            let others = &steps[next..at];
            let time: u64 = others.iter().map(|step| step.duration_ps).sum();
            let start = number(others[0].start_ps, 3).to_string();
            let (time, share) = (number(time, 3).to_string(), percent(time, finish));
            let s = if others.len() == 1 { "" } else { "s" };
            let count = format!("{} step{s}", others.len());
            writeln!(out, "{start:>14} {time:>14} {share:>5.1} %  {count}")?;
        }
        if let Some(step) = steps.get(at) {
            write_step(step, finish, subject, out)?;
        }
        next = at + 1;
    }
    Ok(())
}

fn write_step(step: &Step, finish: u64, subject: &Subject, out: &mut dyn Write) -> io::Result<()> {
    let [start, time] = [step.start_ps, step.duration_ps].map(|ps| number(ps, 3).to_string());
    let share = percent(step.duration_ps, finish);
    let cost = match step.cost {
        Cost::GapPerByte | Cost::OverheadPerByte => {
            format!("{} {}", step.units, step.cost.name())
        }
        cost => cost.name().to_owned(),
    };
    let what = describe(step, subject);
    writeln!(out, "{start:>14} {time:>14} {share:>5.1} %  {cost:<10} {what}")
}

/// Returns what a step does, with its place in the input. Names of a NISA file may be any text, so
/// they are escaped for terminals.
fn describe(step: &Step, subject: &Subject) -> String {
    let place = subject.place(step.action);
    let name = match place.label {
        Some(label) => format!("{} `{}`", place.kind, label.escape_debug()),
        None => format!("{} number {}", place.kind, place.number),
    };
    let partner = step.partner.map_or(0, |partner| subject.workload.rank_of(partner));
    let way = match step.work {
        Work::Compute => String::new(),
        Work::Send => format!(" to rank {partner}"),
        Work::Travel => format!(" to rank {partner}, on its way"),
        Work::Receive => format!(" from rank {partner}"),
        Work::Release => format!(" released by rank {partner}"),
    };
    format!("rank {}, {name}{way}{}", step.rank, in_file(place.line))
}

/// Returns a file and a line in parentheses.
fn in_file(place: Option<(&str, u64)>) -> String {
    place.map_or(String::new(), |(file, line)| match file {
        _ if file.contains(char::is_control) => format!(" ({}:{line})", file.escape_debug()),
        _ => format!(" ({file}:{line})"),
    })
}

fn write_costs(why: &Why, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\ntotals by cost")?;
    writeln!(out, "  {:<5} {:>18} {:>8} {:>22}", "cost", "path, ns", "share", "whole run, ns")?;
    for of in why.totals.costs.iter().filter(|of| of.run_ps > 0) {
        let (name, share) = (of.cost.name(), percent(of.path_ps, why.path.finish_ps));
        let [path, run] = [number(of.path_ps, 3), in_ns(of.run_ps)].map(|ns| ns.to_string());
        writeln!(out, "  {name:<5} {path:>18} {share:>6.1} % {run:>22}")?;
    }
    Ok(())
}

fn write_ranks(why: &Why, out: &mut dyn Write) -> io::Result<()> {
    let of_path = |(_, of): &(usize, &OfRank)| of.path_ps > 0;
    let mut ranks: Vec<_> = why.totals.ranks.iter().enumerate().filter(of_path).collect();
    ranks.sort_by_key(|(_, of)| std::cmp::Reverse(of.path_ps));
    writeln!(out, "\ntotals by rank{}", of_all(ranks.len(), "on the path"))?;
    writeln!(
        out,
        "  {:<8} {:>15} {:>8} {:>22} {:>22}",
        "rank", "path, ns", "share", "computations, ns", "messages, ns"
    )?;
    for (rank, of) in ranks.into_iter().take(ROWS_MAX) {
        let share = percent(of.path_ps, why.path.finish_ps);
        let path = number(of.path_ps, 3).to_string();
        let [calc, messages] = [of.computation_ps, of.messages_ps].map(|ps| in_ns(ps).to_string());
        writeln!(out, "  {rank:<8} {path:>15} {share:>6.1} % {calc:>22} {messages:>22}")?;
    }
    Ok(())
}

/// Returns the part of a title that tells how much of a table is left out.
fn of_all(rows: usize, which: &str) -> String {
    match rows > ROWS_MAX {
        true => format!(", {ROWS_MAX} of {rows} {which}"),
        false => String::new(),
    }
}

fn write_pairs(why: &Why, out: &mut dyn Write) -> io::Result<()> {
    let pairs = &why.totals.pairs;
    if pairs.is_empty() {
        return Ok(());
    }
    writeln!(out, "\ntotals by pair of ranks{}", of_all(pairs.len(), "on the path"))?;
    writeln!(
        out,
        "  {:<17} {:>15} {:>8} {:>9} {:>15} {:>20} {:>12}",
        "pair", "path, ns", "share", "messages", "bytes", "messages of the run", "bytes"
    )?;
    for of in pairs.iter().take(ROWS_MAX) {
        let share = percent(of.path_ps, why.path.finish_ps);
        let (pair, path) = (format!("{} -> {}", of.from, of.to), number(of.path_ps, 3).to_string());
        writeln!(
            out,
            "  {pair:<17} {path:>15} {share:>6.1} % {:>9} {:>15} {:>20} {:>12}",
            of.path_messages, of.path_bytes, of.run_messages, of.run_bytes
        )?;
    }
    Ok(())
}

/// A row of a table of the path's time by parts.
struct Row {
    name: String,
    path_ps: u64,
    /// The text behind the figures.
    note: String,
}

fn write_phases(why: &Why, out: &mut dyn Write) -> io::Result<()> {
    let Some(phases) = &why.of_phases else { return Ok(()) };
    let rows = phases.iter().filter(|of| of.path_ps > 0).map(|of| Row {
        name: of.name.map_or("the end".to_owned(), |key| key.to_string()),
        path_ps: of.path_ps,
        note: String::new(),
    });
    let title = format!("phase{}", of_all(rows.clone().count(), "on the path"));
    write_rows(why, (&title, "up to", 20, ""), rows, out)
}

fn write_collectives(why: &Why, subject: &Subject, out: &mut dyn Write) -> io::Result<()> {
    let Some(collectives) = &why.of_collectives else { return Ok(()) };
    let rows = collectives.iter().map(|of| {
        let collective = named(of, subject).name;
        let note = collective.map_or(String::new(), |of| {
            format!("  {}{}", of.algorithm.unwrap_or("message"), in_file(of.place()))
        });
        let name = collective.map_or("none".to_owned(), |of| of.to_string());
        Row { name, path_ps: of.path_ps, note }
    });
    let title = format!("collective{}", of_all(collectives.len(), "on the path"));
    write_rows(why, (&title, "collective", 32, "  algorithm"), rows, out)
}

/// Writes a table with a title, the head and the width of the names, and the head of the notes.
fn write_rows(
    why: &Why,
    (title, head, width, note): (&str, &str, usize, &str),
    rows: impl Iterator<Item = Row>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "\ntotals by {title}")?;
    writeln!(out, "  {head:<width$} {:>15} {:>8}{note}", "path, ns", "share")?;
    for Row { name, path_ps, note } in rows.take(ROWS_MAX) {
        let (path, share) = (number(path_ps, 3).to_string(), percent(path_ps, why.path.finish_ps));
        writeln!(out, "  {name:<width$} {path:>15} {share:>6.1} %{note}")?;
    }
    Ok(())
}

fn write_sensitivity(why: &Why, out: &mut dyn Write) -> io::Result<()> {
    let of = &why.sensitivity;
    writeln!(out, "\nsensitivity")?;
    let rows = [
        ("L", of.latency, "latencies"),
        ("o", of.overhead, "overheads"),
        ("g", of.gap, "gaps"),
        ("G", of.gap_per_byte, "bytes"),
        ("O", of.overhead_per_byte, "bytes"),
    ];
    for (name, count, what) in rows {
        writeln!(out, "  dT/d{name} = {count} ({what})")?;
    }
    let share = percent(of.computation_ps, why.path.finish_ps);
    writeln!(out, "  computation {share:.1} %")
}

fn write_tolerance(why: &Why, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\ntolerance: the largest value of one parameter with which the run is slower by at most"
    )?;
    writeln!(out, "  {:<6} {:>18} {:>18} {:>18}", "", "L, ns", "o, ns", "G, ns")?;
    for (at, percent) in PERCENTS.into_iter().enumerate() {
        write!(out, "  {percent} %   ")?;
        for (parameter, found) in &why.tolerances {
            let value = found[at]
                .map_or("any".to_owned(), |value| number(value, parameter.digits()).to_string());
            write!(out, "{:1}{value:>18}", "")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
