//! The output of the peers, and their files of queues and matches.

use super::Peer;
use super::arguments::Settings;
use super::queues::Queues;
use super::recorder::{Bytes, Records, create};
use goal_loggops::Workload;
use goalc::driver::{Error, print};
use std::io::{self, Write};
use std::path::Path;

/// The most hosts whose ends are printed one by one.
const HOSTS_MAX: usize = 16;

/// The figures at the end of the output.
pub(super) struct Ends {
    pub(super) finish_ns: Vec<u64>,
    pub(super) events: u64,
    /// The whole seconds that the simulation took.
    pub(super) seconds: u64,
}

/// Prints the lines before a simulation.
pub(super) fn begin(peer: Peer, settings: &Settings, workload: &Workload) -> Result<(), Error> {
    let p = &settings.printed;
    print(|out| {
        let gap_per_byte = match peer {
            Peer::Loggopsim => {
                write!(out, "LogGP network backend; ")?;
                format!("{}", p.gap_per_byte)
            }
            Peer::Atlahs => {
                if settings.statistics.is_some() {
                    out.write_all(WARNING.as_bytes())?;
                }
                writeln!(out, "The schedule will be valid after this simulation!")?;
                format!("{:.6}", p.gap_per_byte)
            }
        };
        let ranks = workload.num_ranks();
        write!(out, "size: {ranks} ({} CPUs, {} NICs); ", workload.cpus, workload.nics)?;
        write!(out, "L={}, o={} g={}, G={gap_per_byte}, ", p.latency, p.overhead, p.gap)?;
        writeln!(out, "O={}, P={ranks}, S={}", p.overhead_per_byte, p.eager)
    })
}

/// The words of ATLAHS about its own statistics.
const WARNING: &str = "\
WARNING: --qstat option provided, but LogGOPSim was compiled with LIST_MATCH;
         statistics on match queue behavior are NOT valid.
";

/// Prints the lines behind a simulation, and writes the files.
pub(super) fn end(
    peer: Peer,
    settings: &Settings,
    ends: &Ends,
    records: &Records,
) -> Result<(), Error> {
    print(|out| {
        write_performance(out, ends)?;
        if peer == Peer::Atlahs {
            writeln!(out, "Average FCT is {}", mean(&records.bytes))?;
        }
        write_times(out, &ends.finish_ns, settings.is_batch)
    })?;
    if let (Some(path), Some(matches)) = (&settings.matches, &records.matches) {
        write_file(path, settings, |out| out.write_all(matches))?;
        print(|out| writeln!(out, "[INFO] Comm dep file saved to {}", path.display()))?;
    }
    if let (Some(prefix), Some(queues)) = (&settings.statistics, &records.queues) {
        write_statistics(prefix, settings, queues)?;
    }
    Ok(())
}

fn write_performance(out: &mut dyn Write, ends: &Ends) -> io::Result<()> {
    let Ends { finish_ns, events, seconds } = ends;
    // The speed of a simulation of less than a second is infinite, as the peers print it.
    let speed = *events as f32 / *seconds as f32;
    let speed = if speed.is_nan() { "-nan".to_owned() } else { format!("{speed:.2}") };
    let ranks = finish_ns.len();
    write!(out, "PERFORMANCE: Processes: {ranks} \t Events: {events} \t ")?;
    writeln!(out, "Time: {seconds} s \t Speed: {speed} ev/s")
}

/// Returns the mean time of a message.
fn mean(bytes: &Bytes) -> String {
    match bytes.messages {
        0 => "-nan".to_owned(),
        messages => format!("{:.6}", bytes.total_ns / messages as f64),
    }
}

fn write_times(out: &mut dyn Write, finish_ns: &[u64], is_batch: bool) -> io::Result<()> {
    if finish_ns.len() <= HOSTS_MAX && !is_batch {
        writeln!(out, "Times: ")?;
        for (host, ns) in finish_ns.iter().enumerate() {
            writeln!(out, "Host {host}: {ns}")?;
        }
        return Ok(());
    }
    let max = finish_ns.iter().copied().max().unwrap_or_default();
    let host = finish_ns.iter().position(|&ns| ns == max).unwrap_or_default();
    let seconds = general(max as f64 / 1e9);
    writeln!(out, "Maximum finishing time at host {host}: {max} ({seconds} s)")
}

/// Writes a number of at least 0 as C++ streams do: with six digits, and no zeros at the end.
fn general(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let shorten = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let places = (5 - exponent) as usize;
        return shorten(&format!("{value:.places$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", shorten(digits), exponent.abs())
}

fn write_statistics(prefix: &str, settings: &Settings, queues: &Queues) -> Result<(), Error> {
    for (name, side) in [("rq", &queues.receives), ("uq", &queues.unexpected)] {
        let longest: Vec<String> = side.longest.iter().map(usize::to_string).collect();
        for (what, lines) in [("max", &longest), ("hit", &side.hits), ("miss", &side.misses)] {
            let path = format!("{prefix}-{name}-{what}.data");
            write_file(Path::new(&path), settings, |out| {
                lines.iter().try_for_each(|line| writeln!(out, "{line}"))
            })?;
        }
    }
    Ok(())
}

/// Writes a file, which appears only when it is complete.
fn write_file(
    path: &Path,
    settings: &Settings,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let mut out = create(path, settings)?;
    write(&mut out).map_err(|error| Error::io(path.display().to_string(), error))?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_streams() {
        let of = |ns: u64| general(ns as f64 / 1e9);
        assert_eq!(of(0), "0");
        assert_eq!(of(1), "1e-09");
        assert_eq!(of(99_999), "9.9999e-05");
        assert_eq!(of(100_000), "0.0001");
        assert_eq!(of(5_542), "5.542e-06");
        assert_eq!(of(1_234_567_890), "1.23457");
        assert_eq!(of(20_000_000_000), "20");
        assert_eq!(of(999_999_500_000_000), "1e+06");
        assert_eq!(of(u64::MAX), "1.84467e+10");
    }
}
