//! What a run says at its end, to people and to programs.

mod stats;
#[cfg(test)]
mod tests;
mod units;

pub use stats::Stats;

use crate::monitor::signal_name;
use crate::outcome::{Counts, End, Outcome};
use crate::transport::Name;
use crate::verify::Verified;
use serde::Serialize;
use std::fmt::Write;
pub use units::{count, size};
use units::{duration, rate};

/// How a run ended; the number is the exit status of `goal-run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Everything is as it should be.
    Ok,
    /// An action could not be executed, memory is not as expected, or the interpreter came to
    /// another end.
    Failed,
    /// No rank could go on.
    Stuck,
    /// A rank ended by itself, or a host is lost.
    Died,
    /// The time was up.
    Timeout,
    /// A signal ended the job.
    Interrupted,
}

/// The report of a run; serialised, the object that `--format json` prints.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// Number of ranks.
    pub ranks: u32,
    /// What the ranks were: `processes` or `threads`.
    pub ranks_as: &'static str,
    /// What carried messages: those to oneself first; nothing where the job was not started.
    pub transports: Vec<Name>,
    /// Instances of the schedule. What is counted is of all of them together.
    pub repeat: u64,
    /// Messages sent.
    pub messages: u64,
    /// Payload bytes sent.
    pub bytes: u64,
    /// Payload bytes compared with their pattern.
    pub verified_bytes: u64,
    /// Messages that no receive took.
    pub unreceived: u64,
    /// Nanoseconds from the moment when all ranks were ready until the last one ended; 0 unless the
    /// job is complete.
    pub elapsed_ns: u64,
    /// Most entries of the table of dependencies that were met before their action entered the
    /// window, of the rank that had most; absent without a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table_max: Option<u64>,
    /// What the interpreter confirmed; absent where it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// What the ranks counted; absent where it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<Stats>,
    /// What is wrong.
    pub errors: Vec<String>,
    /// Everything that there is to tell, warnings too, each as an object as `goalc check --format
    /// json` writes it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<serde_json::Value>,
    #[serde(skip)]
    signal: u8,
}

impl Report {
    /// The report on an outcome, of which `verified` is what the interpreter says.
    pub fn new(
        outcome: &Outcome,
        repeat: u64,
        (ranks_as, transports): (&'static str, &[Name]),
        verified: Option<Result<Verified, String>>,
    ) -> Self {
        let Counts { messages, bytes, verified_bytes, unreceived, elapsed_ns, table_max } =
            outcome.counts;
        let (mut status, mut errors, signal) = describe(&outcome.end);
        if !outcome.missing.is_empty() {
            let note = "what was left there had not arrived: it is not counted, and of memory and traces nothing is written";
            errors.push(format!("ranks {}: {note}", outcome.missing));
        }
        let verified = match verified {
            None => None,
            Some(Ok(verified)) => Some(verified),
            Some(Err(text)) => {
                status = Status::Failed;
                errors.push(format!("the run is not verified: {text}"));
                None
            }
        };
        Self {
            status,
            ranks: outcome.nisa().num_ranks(),
            ranks_as,
            transports: transports.to_vec(),
            repeat,
            messages,
            bytes,
            verified_bytes,
            unreceived,
            elapsed_ns,
            table_max,
            verified,
            stats: None,
            errors,
            findings: vec![],
            signal,
        }
    }

    /// The report on a job that was not started: nothing is known of its group, and nothing was
    /// done.
    pub fn not_started(repeat: u64, ranks_as: &'static str, error: String) -> Self {
        Self {
            status: Status::Failed,
            ranks: 0,
            ranks_as,
            transports: vec![],
            repeat,
            messages: 0,
            bytes: 0,
            verified_bytes: 0,
            unreceived: 0,
            elapsed_ns: 0,
            table_max: None,
            verified: None,
            stats: None,
            errors: vec![error],
            findings: vec![],
            signal: 0,
        }
    }

    /// Notes why a job that came to its end has failed after all; nothing where there are no
    /// `texts`.
    pub fn fail(&mut self, texts: Vec<String>) {
        if !texts.is_empty() {
            self.status = Status::Failed;
            self.errors.extend(texts);
        }
    }

    /// Notes that a signal ended the command after the ranks had ended.
    pub fn interrupt(&mut self, signal: usize) {
        let end;
        (self.status, end, self.signal) = describe(&End::Interrupted(signal));
        self.errors.extend(end);
    }

    /// The exit status of the command: 128 and the signal's number where a signal ended the job.
    pub fn exit_status(&self) -> u8 {
        match self.status {
            Status::Ok => 0,
            Status::Failed => 1,
            Status::Stuck => 3,
            Status::Died => 4,
            Status::Timeout => 5,
            Status::Interrupted => 128 + self.signal,
        }
    }

    /// One JSON object, without a line end.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts")
    }

    /// What was done, in words; for complete jobs.
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

    /// What is not wrong but worth a word.
    pub fn warning(&self) -> Option<String> {
        match self.unreceived {
            0 => None,
            1 => Some("1 message was sent that no receive took".to_owned()),
            count => Some(format!("{count} messages were sent that no receive took")),
        }
    }
}

fn describe(end: &End) -> (Status, Vec<String>, u8) {
    match end {
        End::Complete => (Status::Ok, vec![], 0),
        End::Failed(texts) => (Status::Failed, texts.clone(), 0),
        End::Stuck(pending) => {
            (Status::Stuck, vec![format!("stuck: no rank can go on; {pending}")], 0)
        }
        End::Died { rank, how, pending } => {
            (Status::Died, vec![format!("rank {rank} {how}; {pending}")], 0)
        }
        End::TimedOut(pending) => (Status::Timeout, vec![format!("the time is up; {pending}")], 0),
        End::HostLost(text) => (Status::Died, vec![text.clone()], 0),
        End::Interrupted(signal) => {
            (Status::Interrupted, vec![format!("ended by {}", signal_name(*signal))], *signal as u8)
        }
    }
}
