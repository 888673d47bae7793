//! Prints the output of runs without a report of this host. They were not started, or another host
//! led them.

use super::arguments::Arguments;
use super::findings;
use super::output::{Failure, complain, complain_of, print};
use super::values::Format;
use goal_launch::Verdict;
use goal_launch::report::{Report, Status};
use goalc::driver::{Error, Findings};

/// Prints the reason why there is no report. Returns the exit status.
pub(crate) fn fail(failure: &Failure, arguments: &Arguments) -> u8 {
    let (text, status) = complain_of(failure);
    match arguments.format {
        Format::Text => status,
        Format::Json => {
            let ranks_as = arguments.ranks_as().name();
            let mut report =
                Report::not_started(Status::Failed, arguments.settings.spec.repeat, ranks_as, text);
            report.add_findings(match failure {
                Failure::Driver(Error::Input(found)) => findings::of(found),
                _ => findings::objects(&Findings::default(), &report),
            });
            print(&report.to_json(), status)
        }
    }
}

/// Prints how a job ended that another host has led. Returns the exit status.
pub(crate) fn tell_verdict(verdict: &Verdict, arguments: &Arguments) -> u8 {
    // If the leader has started this launcher, the leader shows the errors to the user itself.
    let is_led = arguments.hosts.started_as.is_some() && verdict.report.is_some();
    for error in verdict.errors.iter().filter(|_| !is_led) {
        complain(error);
    }
    if is_led {
        return verdict.status;
    }
    let text = match (arguments.format, &verdict.report) {
        (Format::Text, _) if verdict.status == 0 => verdict.here.clone(),
        (Format::Text, _) => return verdict.status,
        (Format::Json, Some(report)) => report.clone(),
        (Format::Json, None) => {
            let text = verdict.errors.join("; ");
            let status = if verdict.status < 128 { Status::Died } else { Status::Interrupted };
            let ranks_as = arguments.ranks_as().name();
            Report::not_started(status, arguments.settings.spec.repeat, ranks_as, text).to_json()
        }
    };
    print(&text, verdict.status)
}
