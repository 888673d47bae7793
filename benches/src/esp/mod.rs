//! Measures round trips and bandwidth of messages over ESP between two hosts of a test bench. Raw
//! frames by the same driver, UDP and TCP are measured beside it. All use the same wire, frames,
//! waiting and placement.

mod stream;
mod train;
mod way;

use crate::frames::{Setting, median, pin};
use crate::table;
use clap::Args as ClapArgs;
use goal_cluster::{Cluster, Switch, Wiring};
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use way::{Kind, Way};

/// `esp`'s arguments.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Bytes of a message
    #[arg(long, value_delimiter = ',', default_values_t = [8, 64, 1 << 10, 8 << 10, 64 << 10, 512 << 10, 4 << 20])]
    sizes: Vec<usize>,
    /// Bytes that a turn sends: it has as many messages as that takes, from 16 to 4000
    #[arg(long, default_value_t = 64 << 20)]
    bytes: usize,
    /// Turns, in which all ways follow each other
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
    /// Bytes of a frame behind Ethernet's header
    #[arg(long, value_delimiter = ',', default_values_t = [1500, 9000])]
    mtus: Vec<usize>,
    /// How both sides wait, and where they are
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Setting::ALL)]
    settings: Vec<Setting>,
    /// The ways
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    ways: Vec<Kind>,
    /// Write every turn's result there, as lines of placement, waiting, MTU, bytes, way,
    /// nanoseconds of a round trip and MB/s
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// The figures of a turn.
struct Found {
    /// The median round trip.
    round_trip_ns: u64,
    /// The rate of messages in one direction, from the first one's start to the answer to the last.
    bytes_per_s: u64,
}

pub(crate) fn run(args: &Args) -> io::Result<()> {
    let mut csv = String::from("setting,mtu,bytes,way,ns,MB/s\n");
    let mut rows = Vec::new();
    for &mtu in &args.mtus {
        let wiring = Wiring { hosts: 2, mtu, switch: Switch::Wire };
        let cluster = Cluster::new(&wiring).map_err(io::Error::other)?;
        for (&setting, &size) in args
            .settings
            .iter()
            .flat_map(|setting| args.sizes.iter().map(move |size| (setting, size)))
        {
            let mut found: Vec<[Vec<u64>; 2]> =
                args.ways.iter().map(|_| Default::default()).collect();
            for _ in 0..args.turns {
                for (&kind, found) in args.ways.iter().zip(&mut found) {
                    let Found { round_trip_ns, bytes_per_s } =
                        turn(&cluster, mtu, kind, setting, size, args.bytes)?;
                    let rate = bytes_per_s as f64 / 1e6;
                    let _ = writeln!(
                        csv,
                        "{},{mtu},{size},{kind},{round_trip_ns},{rate}",
                        setting.name()
                    );
                    found[0].push(round_trip_ns);
                    found[1].push(bytes_per_s);
                }
            }
            let [us, rates]: [Vec<f64>; 2] = [0, 1].map(|which| {
                found
                    .iter_mut()
                    .map(|found| median(&mut found[which]) as f64 / [1e3, 1e6][which])
                    .collect()
            });
            let mut row = vec![setting.name().to_owned(), mtu.to_string(), size.to_string()];
            row.extend(us.iter().map(|us| format!("{us:.2}")));
            row.extend(rates.iter().map(|rate| format!("{rate:.1}")));
            rows.push(row);
        }
    }
    say!("round trips in microseconds, then MB/s one way; medians of {} turns", args.turns);
    let names =
        |what: &str| args.ways.iter().map(|way| format!("{way} {what}")).collect::<Vec<_>>();
    let header = [
        vec!["setting".to_owned(), "MTU".to_owned(), "bytes".to_owned()],
        names("us"),
        names("MB/s"),
    ]
    .concat();
    table::print(&header.iter().map(String::as_str).collect::<Vec<_>>(), &rows);
    match &args.csv {
        Some(path) => std::fs::write(path, csv),
        None => Ok(()),
    }
}

/// Runs both ends of one way, each in its thread.
fn turn(
    cluster: &Cluster,
    mtu: usize,
    kind: Kind,
    setting: Setting,
    size: usize,
    bytes: usize,
) -> io::Result<Found> {
    let (asks, answers) = way::pair(cluster, mtu, kind, setting.spins())?;
    let [here, there] = setting.processors();
    let messages = (bytes / size).clamp(16, 4000);
    let is_over = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let answering = scope.spawn(move || {
            pin(there)?;
            answer(answers, size, messages, is_over)
        });
        let asking = scope.spawn(move || {
            pin(here)?;
            ask(asks, size, messages)
        });
        let result = asking.join().expect("asking does not panic");
        is_over.store(true, Ordering::Relaxed);
        answering.join().expect("answering does not panic")?;
        result
    })
}

/// The number of rounds before those that count.
fn warm_up(messages: usize) -> usize {
    messages / 10 + 1
}

fn ask(mut way: Box<dyn Way>, size: usize, messages: usize) -> io::Result<Found> {
    let (mut message, mut answer) = (vec![0; size], vec![0; size]);
    let mut ns = Vec::with_capacity(messages);
    for round in 0..warm_up(messages) + messages {
        message.fill(round as u8);
        let start = Instant::now();
        way.send(&message)?;
        way.receive(&mut answer)?;
        if round >= warm_up(messages) {
            ns.push(start.elapsed().as_nanos() as u64);
        }
        if answer != message {
            return Err(io::Error::other("another answer than the question"));
        }
    }
    let round_trip_ns = median(&mut ns);
    let mut took_ns = 0;
    for count in [warm_up(messages), messages] {
        let start = Instant::now();
        for _ in 0..count {
            way.send(&message)?;
        }
        way.receive(&mut answer[..1])?;
        took_ns = start.elapsed().as_nanos() as u64;
    }
    let bytes_per_s =
        (size as u128 * messages as u128 * 1_000_000_000 / u128::from(took_ns)) as u64;
    Ok(Found { round_trip_ns, bytes_per_s })
}

fn answer(
    mut way: Box<dyn Way>,
    size: usize,
    messages: usize,
    is_over: &AtomicBool,
) -> io::Result<()> {
    let mut message = vec![0; size];
    for _ in 0..warm_up(messages) + messages {
        way.receive(&mut message)?;
        way.send(&message)?;
    }
    for count in [warm_up(messages), messages] {
        for _ in 0..count {
            way.receive(&mut message)?;
        }
        way.send(&message[..1])?;
    }
    while !is_over.load(Ordering::Relaxed) {
        way.tend();
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}
