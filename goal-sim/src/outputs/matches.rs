//! The messages and the receives that they met, as CSV (RFC 4180).

use super::decimal::{Decimal, Unit};
use super::names::{Name, Names};
use super::{Record, Sink};
use crate::source::Subject;
use goal_loggops::model::{Job, Observer};
use goal_loggops::path::Path as CriticalPath;
use goal_loggops::{Kind, Workload};
use goalc::driver::Error;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt::Write;

const HEADER: &str = "send_rank,send_action,send_line,send_label,\
    recv_rank,recv_action,recv_line,recv_label,\
    tag,bytes,send_start_ns,arrival_ns,posted_ns,taken_ns,recv_end_ns\n";

/// Writes a line for each message that is received.
pub(super) struct Matches<'a> {
    sink: Sink,
    names: Names<'a>,
    workload: &'a Workload,
    /// By send, the message that no receive has taken yet.
    under_way: FxHashMap<u32, Way>,
    line: String,
}

/// The way of a message. Times are in picoseconds.
#[derive(Debug, Clone, Copy)]
struct Way {
    from: u32,
    start: u64,
    /// 0 before the message is taken in.
    arrival: u64,
}

impl<'a> Matches<'a> {
    pub(super) fn new(subject: &'a Subject, mut sink: Sink) -> Self {
        sink.write(HEADER.as_bytes());
        Self {
            sink,
            names: Names::new(subject),
            workload: &subject.workload,
            under_way: FxHashMap::default(),
            line: String::new(),
        }
    }
}

impl Observer for Matches<'_> {
    fn start(&mut self, job: Job) {
        if job.is_message {
            if let Some(way) = self.under_way.get_mut(&job.action) {
                way.arrival = job.ready;
            }
        } else if self.workload.record(job.action).kind == Kind::Send {
            let way = Way { from: job.rank, start: job.start, arrival: 0 };
            self.under_way.insert(job.action, way);
        }
    }

    fn receive(&mut self, receive: u32, send: u32, posted: u64, taken: u64, end: u64) {
        let Some(Way { from, start, arrival }) = self.under_way.remove(&send) else { return };
        let to = self.workload.rank_of(receive);
        self.line.clear();
        push_end(&mut self.line, from, &self.names.of(from, send));
        push_end(&mut self.line, to, &self.names.of(to, receive));
        let record = self.workload.record(send);
        let _ = write!(self.line, "{},{}", record.tag, record.size);
        for time in [start, arrival, posted, taken, end] {
            let _ = write!(self.line, ",{}", Decimal(time, Unit::Nanoseconds));
        }
        self.line.push('\n');
        self.sink.write(self.line.as_bytes());
    }
}

impl Record for Matches<'_> {
    fn finish(self: Box<Self>, _: u64, _: Option<&CriticalPath>) -> Result<(), Error> {
        self.sink.finish()
    }
}

/// Writes the columns of one end of a message.
fn push_end(line: &mut String, rank: u32, name: &Name<'_>) {
    let source_line = name.line.map_or(String::new(), |line| line.to_string());
    let label = field(name.label.unwrap_or_default());
    let _ = write!(line, "{rank},{},{source_line},{label},", name.number);
}

/// Returns a label as a field. It is quoted if it could be taken for several fields. Programs for
/// tables take texts with some beginnings for formulas, so these get `'` before them. Control
/// characters are escaped for terminals.
fn field(label: &str) -> Cow<'_, str> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if label.bytes().all(is_name) {
        return label.into();
    }
    let mark = if label.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    let shown: String = label
        .chars()
        .map(|char| match char {
            '"' => "\"\"".to_owned(),
            char if char.is_control() => char.escape_default().to_string(),
            char => char.to_string(),
        })
        .collect();
    format!("\"{mark}{shown}\"").into()
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn labels_stay_one_field() {
        assert_eq!(field("plain_1"), "plain_1");
        assert_eq!(field("a,\"b\"\n"), "\"a,\"\"b\"\"\\n\"");
        assert_eq!(field("=1+1"), "\"'=1+1\"");
        assert_eq!(field("\u{1b}[2J\u{9b}"), "\"\\u{1b}[2J\\u{9b}\"");
    }
}
