//! `goal-run answer`: answers echoes until a signal or a time limit ends the command.

use super::attended::interrupted;
use super::output::{Failure, print};
use super::ping::tell_note;
use super::values::Format;
use clap::Args;
use goal_esp::wire::ETHERTYPE_EDP;
use goal_eth::{AnyDriver, Driver, DriverKind};
use goal_job::Wait;
use goal_job::spec::seconds;
use goal_launch::echo::Answerer;
use goal_launch::report::json;
use goal_run::named;
use serde::Serialize;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The arguments of `goal-run answer`.
#[derive(Args)]
pub(crate) struct Answer {
    /// Interface whose echoes are answered (goal-run info lists them)
    #[arg(long, value_name = "NAME")]
    interface: String,
    /// Port whose echoes are answered, beside those to all ports [default: one that is free]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// End after so many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Driver that carries the frames
    #[arg(long, value_parser = named::<DriverKind>(), default_value = "packet")]
    driver: DriverKind,
    /// How to wait for an echo
    #[arg(long, value_parser = named::<Wait>(), default_value = "adaptive")]
    wait: Wait,
    /// How it is written: text, or a JSON object a line
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The output of the command, at its beginning and at its end.
#[derive(Serialize)]
struct Report<'a> {
    interface: &'a str,
    mac: String,
    mtu: usize,
    port: u16,
    driver: DriverKind,
    /// The number of answered echoes. `None` in the output at the beginning.
    answered: Option<u64>,
}

/// The longest time between two checks for a signal and the time limit.
const LOOK: Duration = Duration::from_millis(100);

/// Answers echoes. Returns the exit status: 0 if the time was up, 128 plus the number of a signal,
/// or 2 if a report can't be written.
pub(crate) fn run(answer: &Answer) -> Result<u8, Failure> {
    let system = |error: &dyn std::fmt::Display| Failure::System(error.to_string());
    let interrupted = interrupted()?;
    let opened = AnyDriver::open(answer.driver, &answer.interface, &[ETHERTYPE_EDP], answer.port);
    let (driver, note) = opened.map_err(|error| system(&error))?;
    tell_note(note);
    goal_job::rights::give_up().map_err(|error| system(&error))?;
    let port = driver.port();
    let mut report = Report {
        interface: &answer.interface,
        mac: driver.mac().to_string(),
        mtu: driver.mtu(),
        port,
        driver: driver.kind(),
        answered: None,
    };
    let begun = tell(&report, answer.format);
    let mut answerer = Answerer::new(driver, port, answer.wait);
    let start = Instant::now();
    let signal = loop {
        let signal = interrupted.load(Ordering::SeqCst);
        let left = answer
            .timeout
            .map_or(LOOK, |timeout| timeout.saturating_sub(start.elapsed()).min(LOOK));
        if signal != 0 || left.is_zero() {
            break signal;
        }
        answerer.answer(left).map_err(|error| system(&error))?;
    };
    goal_launch::unattended();
    report.answered = Some(answerer.answered());
    let told = tell(&report, answer.format).max(begun);
    Ok(if signal == 0 { told } else { 128 + signal as u8 })
}

/// Prints a report and returns the exit status.
fn tell(report: &Report<'_>, format: Format) -> u8 {
    let Report { interface, mac, mtu, port, .. } = report;
    let text = match (format, report.answered) {
        (Format::Json, _) => json(report),
        (Format::Text, None) => {
            format!("{mac} answers echoes at port {port} of {interface}, {mtu} bytes a frame")
        }
        (Format::Text, Some(1)) => "1 echo answered".to_owned(),
        (Format::Text, Some(answered)) => format!("{answered} echoes answered"),
    };
    print(&text, 0)
}
