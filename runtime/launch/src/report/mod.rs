//! Builds the report at the end of a run, as text and as JSON.

mod shown;
mod starts;
mod stats;
#[cfg(test)]
mod tests;
mod units;
mod verified;

use crate::monitor::signal_name;
use crate::outcome::{Counts, End, Outcome, Run};
use serde::Serialize;
pub use shown::{json, shown};
use stats::Stats;
use std::fmt::Write;
pub(crate) use units::{count, size};
use units::{duration, rate};
pub use verified::{Difference, Verified};

/// The status of a run. [`Report::exit_status`] maps it to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The run came to its end without errors.
    Ok,
    /// An action could not be executed, or memory differs from what the program or the interpreter
    /// expects.
    Failed,
    /// No rank could go on.
    Stuck,
    /// A rank ended before the job, or a host was lost.
    Died,
    /// The time limit was reached.
    Timeout,
    /// A signal ended the job.
    Interrupted,
}

/// The report of a run. Its serialised form is one JSON object.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The status of the run.
    status: Status,
    /// The number of ranks.
    ranks: u32,
    /// The kind of ranks, `processes` or `threads`.
    ranks_as: &'static str,
    /// The names of the transports that carried messages, from the nearest peers to the farthest.
    /// Empty if the job was not started or the kernel ran the schedule.
    transports: Vec<String>,
    /// `kernel` if the kernels of all hosts ran the schedule or had room for schedules of a
    /// program. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    offload: Option<&'static str>,
    /// The number of instances of the schedule. All counts are sums over all instances.
    repeat: u64,
    /// The number of messages sent.
    messages: u64,
    /// The number of payload bytes sent.
    bytes: u64,
    /// The number of payload bytes that were compared with their pattern.
    verified_bytes: u64,
    /// The number of messages that no receive took.
    unreceived: u64,
    /// The time in nanoseconds from when all ranks were ready until the last rank ended. 0 unless
    /// the job is complete.
    elapsed_ns: u64,
    /// The time in nanoseconds of each of the first instances. Absent for a single instance, and
    /// unless the job is complete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    instances_ns: Vec<u64>,
    /// The most entries that a rank's table of its window had. An entry is a dependency that was
    /// met before its action entered the window. Absent without a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    table_max: Option<u64>,
    /// The extent of the comparison with the interpreter. Absent if there was none or it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<Verified>,
    /// The counts of the ranks. Absent if they were not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<Stats>,
    /// The errors of the run.
    errors: Vec<String>,
    /// All errors, warnings and findings, each as an object in the form of `goalc check`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<serde_json::Value>,
    /// The exit status, if it differs from the number of `status`.
    #[serde(skip)]
    exit: Option<u8>,
}

impl Report {
    /// Returns the report on an outcome. `verified` is the result of the comparison with the
    /// interpreter, if there was one.
    pub fn new(outcome: &Outcome, verified: Option<Result<Verified, Difference>>) -> Self {
        let Run { repeat, ranks_as, ref transports, .. } = outcome.run;
        let Counts { messages, bytes, verified_bytes, unreceived, elapsed_ns, table_max, .. } =
            outcome.counts;
        let (mut status, mut errors, exit) = describe(&outcome.end);
        if !outcome.missing.is_empty() {
            let note = "what was left there had not arrived: it is not counted, and of memory and traces nothing is written";
            errors.push(format!("ranks {}: {note}", outcome.missing));
        }
        let verified = match verified {
            None => None,
            Some(Ok(verified)) => Some(verified),
            Some(Err(difference)) => {
                status = Status::Failed;
                errors.push(format!("the run is not verified: {difference}"));
                None
            }
        };
        Self {
            status,
            ranks: outcome.num_ranks(),
            ranks_as,
            transports: match outcome.fragment {
                // Ranks of a program send other messages too, by these transports.
                Some(_) if !outcome.is_of_program => vec![],
                _ => transports.clone(),
            },
            offload: outcome.fragment.map(|_| "kernel"),
            repeat,
            messages,
            bytes,
            verified_bytes,
            unreceived,
            elapsed_ns,
            instances_ns: if repeat > 1 { outcome.counts.instances_ns.clone() } else { vec![] },
            table_max,
            verified,
            stats: None,
            errors,
            findings: vec![],
            exit,
        }
    }

    /// Returns the report on a job that was not started. It also serves for a job that another host
    /// led, if that host's report has not arrived. Its counts and its number of ranks are 0.
    pub fn not_started(status: Status, repeat: u64, ranks_as: &'static str, error: String) -> Self {
        Self {
            status,
            ranks: 0,
            ranks_as,
            transports: vec![],
            offload: None,
            repeat,
            messages: 0,
            bytes: 0,
            verified_bytes: 0,
            unreceived: 0,
            elapsed_ns: 0,
            instances_ns: vec![],
            table_max: None,
            verified: None,
            stats: None,
            errors: vec![error],
            findings: vec![],
            exit: None,
        }
    }

    /// Returns the status of the run.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Returns the errors of the run.
    pub fn errors(&self) -> &[String] {
        &self.errors
    }

    /// Appends a hint to the first error, which says how the job ended. A hint may name an option
    /// of the command line.
    pub fn add_hint(&mut self, hint: &str) {
        if let Some(error) = self.errors.first_mut() {
            error.push_str(hint);
        }
    }

    /// Adds the counts of each rank to the report.
    pub fn add_counts(&mut self, outcome: &Outcome) {
        self.stats = Some(Stats::new(outcome));
    }

    /// Adds errors, warnings and findings to the report, as objects in the form of `goalc check`.
    pub fn add_findings(&mut self, findings: Vec<serde_json::Value>) {
        self.findings.extend(findings);
    }

    /// Adds errors to the report. Sets the status to [`Status::Failed`] if there are any.
    pub fn fail(&mut self, texts: Vec<String>) {
        if !texts.is_empty() {
            self.status = Status::Failed;
            self.errors.extend(texts);
        }
    }

    /// Notes that a signal ended the command after the ranks had ended.
    pub fn interrupt(&mut self, signal: usize) {
        let end;
        (self.status, end, self.exit) = describe(&End::Interrupted(signal));
        self.errors.extend(end);
    }

    /// Returns the exit status of the command. If a signal ended the job, it is 128 plus its
    /// number. If a rank of a program died, it is the exit status of the rank, or 128 plus the
    /// signal that killed it.
    pub fn exit_status(&self) -> u8 {
        match self.status {
            Status::Ok => 0,
            Status::Failed => 1,
            Status::Stuck => 3,
            Status::Died => self.exit.unwrap_or(4),
            Status::Timeout => 5,
            Status::Interrupted => self.exit.unwrap_or(128),
        }
    }

    /// Returns the report as one JSON object without a line end.
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// Returns the summary of a complete job, for the user.
    pub fn summary(&self) -> String {
        let plural =
            |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let mut text = plural(self.ranks.into(), "rank");
        if self.repeat > 1 {
            let _ = write!(text, ", {} instances", self.repeat);
        }
        let _ = write!(text, ": {}, {}", plural(self.messages, "message"), size(self.bytes));
        if self.verified_bytes > 0 {
            let _ = write!(
                text,
                ", {} of them checked against their pattern",
                size(self.verified_bytes)
            );
        }
        let _ = write!(text, ", {}", duration(self.elapsed_ns));
        if self.repeat == 1 && self.elapsed_ns > 0 {
            text.push_str(" (first instance)");
        }
        if self.offload.is_some() {
            text.push_str(" in the kernel");
        }
        if let [first, later @ ..] = self.instances_ns.as_slice()
            && !later.is_empty()
        {
            let later = later.iter().sum::<u64>() / later.len() as u64;
            let _ = write!(text, " (the first {}, then {})", duration(*first), duration(later));
        }
        if let Some(rate) = rate(self.bytes, self.elapsed_ns) {
            let _ = write!(text, ", {rate}");
        }
        if let Some(table_max) = self.table_max {
            let entries = if table_max == 1 { "entry" } else { "entries" };
            let _ = write!(text, "\nwindow: at most {table_max} {entries} in a rank's table");
        }
        if let Some(Verified { memory_bytes, receives }) = self.verified {
            let (bytes, receives) = (size(memory_bytes), plural(receives, "receive"));
            let _ = write!(
                text,
                "\nverified: {bytes} of memory and the messages of {receives} as the interpreter has them"
            );
            if self.repeat > 1 {
                text.push_str(", after the last instance");
            }
        }
        text
    }

    /// Returns the counts of ranks as a table without a final line end. Returns `None` if they were
    /// not added.
    pub fn table(&self) -> Option<String> {
        self.stats.as_ref().map(Stats::table)
    }

    /// Returns the warning about messages that no receive took. Returns `None` if there are none.
    pub fn warning(&self) -> Option<String> {
        match self.unreceived {
            0 => None,
            1 => Some("1 message was sent that no receive took".to_owned()),
            count => Some(format!("{count} messages were sent that no receive took")),
        }
    }
}

fn describe(end: &End) -> (Status, Vec<String>, Option<u8>) {
    match end {
        End::Complete => (Status::Ok, vec![], None),
        End::Failed(texts) => (Status::Failed, texts.clone(), None),
        End::Stuck(pending) => {
            (Status::Stuck, vec![format!("stuck: no rank can go on; {pending}")], None)
        }
        End::Died { rank, how, status, pending } if pending.is_silent() => {
            (Status::Died, vec![format!("rank {rank} {how}")], *status)
        }
        End::Died { rank, how, status, pending } => {
            (Status::Died, vec![format!("rank {rank} {how}; {pending}")], *status)
        }
        End::TimedOut(pending) => {
            (Status::Timeout, vec![format!("the time is up; {pending}")], None)
        }
        End::HostLost(text) => (Status::Died, vec![text.clone()], None),
        End::Interrupted(signal) => {
            let text = format!("ended by {}", signal_name(*signal));
            (Status::Interrupted, vec![text], Some(128 + *signal as u8))
        }
    }
}
