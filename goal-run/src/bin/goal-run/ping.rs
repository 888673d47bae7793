//! `goal-run ping`: measures the round-trip time of a frame to another host.

use super::output::{Failure, print};
use super::values::Format;
use clap::Args;
use goal_esp::wire::{ETHERTYPE_EDP, Mac};
use goal_eth::{AnyDriver, Driver, DriverKind, NoXdp};
use goal_job::Wait;
use goal_job::spec::seconds;
use goal_launch::echo::Asker;
use goal_launch::hosts::mac;
use goal_launch::report::json;
use goal_run::named;
use goalc::driver;
use serde::Serialize;
use std::time::Duration;

/// The arguments of `goal-run ping`.
#[derive(Args)]
pub(crate) struct Ping {
    /// Address of the interface that is to answer
    #[arg(value_name = "MAC", value_parser = mac)]
    to: Mac,
    /// Interface that asks (goal-run info lists them)
    #[arg(long, value_name = "NAME")]
    interface: String,
    /// Port that is to answer, 0 for all of the interface
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Echoes to send, one after the other
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// Bytes that an echo carries
    #[arg(long, value_name = "BYTES", default_value_t = 56)]
    size: usize,
    /// How long to wait for an answer, in seconds
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds)]
    timeout: Duration,
    /// How long to pause between an answer and the next echo, in seconds
    #[arg(long, value_name = "S", default_value = "0.1", value_parser = seconds)]
    interval: Duration,
    /// Driver that carries the frames
    #[arg(long, value_parser = named::<DriverKind>(), default_value = "packet")]
    driver: DriverKind,
    /// How to wait for an answer
    #[arg(long, value_parser = named::<Wait>(), default_value = "adaptive")]
    wait: Wait,
    /// How it is written: text, or one JSON object
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The output of the command.
#[derive(Serialize)]
struct Report<'a> {
    interface: &'a str,
    mac: String,
    driver: DriverKind,
    to: String,
    port: u16,
    bytes: usize,
    sent: usize,
    answered: usize,
    /// The shortest round-trip time in nanoseconds. `None` if no echo was answered.
    least_ns: Option<u64>,
    median_ns: Option<u64>,
    most_ns: Option<u64>,
    /// The round-trip time of each echo, in the order of sending. `None` if no answer came.
    round_trips_ns: &'a [Option<u64>],
}

/// Sends the echoes and prints the times. Returns the exit status, which is 1 if an answer is
/// missing.
pub(crate) fn run(ping: &Ping) -> Result<u8, Failure> {
    let system = |error: &dyn std::fmt::Display| Failure::System(error.to_string());
    let opened = AnyDriver::open(ping.driver, &ping.interface, &[ETHERTYPE_EDP], None);
    let (driver, note) = opened.map_err(|error| system(&error))?;
    tell_note(note);
    goal_job::rights::give_up().map_err(|error| system(&error))?;
    let (mac, port, kind) = (driver.mac(), driver.port(), driver.kind());
    let mut asker = Asker::new(driver, port, ping.wait);
    let bytes_max = asker.payload_max();
    if ping.size > bytes_max {
        return Err(Failure::System(format!(
            "an echo of {} bytes is too long: frames of {} have room for {bytes_max}",
            ping.size, ping.interface
        )));
    }
    let payload: Vec<u8> = (0..ping.size).map(|at| at as u8).collect();
    let mut round_trips_ns = Vec::new();
    for number in 1..=ping.count {
        let round_trip_ns = asker
            .ask(ping.to, ping.port, &payload, ping.timeout)
            .map_err(|error| system(&error))?;
        round_trips_ns.push(round_trip_ns);
        if ping.format == Format::Text {
            let answer =
                round_trip_ns.map_or("no answer".to_owned(), |ns| format!("{} us", us(ns)));
            let text = format!("{}, echo {number} of {} bytes: {answer}", ping.to, ping.size);
            let status = print(&text, 0);
            if status != 0 {
                return Ok(status);
            }
        }
        if number < ping.count && round_trip_ns.is_some() {
            std::thread::sleep(ping.interval);
        }
    }
    let mut answers_ns: Vec<u64> = round_trips_ns.iter().copied().flatten().collect();
    answers_ns.sort_unstable();
    let report = Report {
        interface: &ping.interface,
        mac: mac.to_string(),
        driver: kind,
        to: ping.to.to_string(),
        port: ping.port,
        bytes: ping.size,
        sent: round_trips_ns.len(),
        answered: answers_ns.len(),
        least_ns: answers_ns.first().copied(),
        median_ns: answers_ns.get(answers_ns.len() / 2).copied(),
        most_ns: answers_ns.last().copied(),
        round_trips_ns: &round_trips_ns,
    };
    let status = u8::from(report.answered < report.sent);
    let text = match ping.format {
        Format::Json => json(&report),
        Format::Text => text(&report),
    };
    Ok(print(&text, status))
}

/// Tells the user why another driver than the requested one is used.
pub(super) fn tell_note(note: Option<NoXdp>) {
    if let Some(note) = note {
        driver::print_line(&format!("goal-run: by packet sockets: {note}"));
    }
}

fn text(report: &Report<'_>) -> String {
    let counts = format!("{} sent, {} answered", report.sent, report.answered);
    let (Some(least), Some(median), Some(most)) =
        (report.least_ns, report.median_ns, report.most_ns)
    else {
        return format!("{counts}: is goal-run answer --interface NAME running there?");
    };
    format!("{counts}; least {} us, median {}, most {}", us(least), us(median), us(most))
}

fn us(ns: u64) -> f64 {
    (ns / 10) as f64 / 100.0
}
