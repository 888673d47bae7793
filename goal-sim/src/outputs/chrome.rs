//! Timelines in the Chrome trace event form, which Perfetto and chrome://tracing open.
//!
//! A rank is a process of the trace. Its processors are threads, and so are both sides of each
//! interface. A flow leads from a send to the slice that takes its message in. Events are written
//! as they come, so the memory does not grow with them.

use super::decimal::{Decimal, Unit};
use super::names::Names;
use super::{Record, Sink};
use crate::parameters::Shown;
use crate::source::Subject;
use goal_loggops::model::{Held, Job, Observer, Part, Track, tracks};
use goal_loggops::path::Path as CriticalPath;
use goal_loggops::{Kind, Workload};
use goalc::driver::Error;
use std::fmt::Display;
use std::io::Write;

/// The first thread of interfaces: processors have smaller numbers.
const INTERFACES: u32 = 1 << 16;

/// Writes a trace.
pub(super) struct Chrome<'a> {
    sink: Sink,
    parameters: String,
    names: Names<'a>,
    workload: &'a Workload,
    tracks: Vec<Track>,
    /// A message that is taken in, until it is known if its receive was posted before.
    message: Option<Job>,
    event: Vec<u8>,
    is_first: bool,
}

impl<'a> Chrome<'a> {
    pub(super) fn new(parameters: &Shown, subject: &'a Subject, sink: Sink) -> Self {
        let mut chrome = Self {
            sink,
            parameters: serde_json::to_string(parameters).unwrap_or_else(|_| "null".to_owned()),
            names: Names::new(subject),
            workload: &subject.workload,
            tracks: tracks(&subject.workload),
            message: None,
            event: Vec::new(),
            is_first: true,
        };
        chrome.sink.write(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        chrome.describe();
        chrome
    }

    /// Names the processes and threads.
    fn describe(&mut self) {
        for rank in 0..self.workload.num_ranks() as u32 {
            self.metadata("process_name", rank, 0, format_args!("\"name\":\"rank {rank}\""));
            self.metadata("process_sort_index", rank, 0, format_args!("\"sort_index\":{rank}"));
        }
        for track in 0..self.tracks.len() {
            let track = self.tracks[track];
            let Track { rank, part, number } = track;
            let (what, side) = match part {
                Part::Processor => ("cpu", ""),
                Part::Sending => ("nic", " sends"),
                Part::Receiving => ("nic", " receives"),
            };
            let name = format_args!("\"name\":\"{what} {number}{side}\"");
            self.metadata("thread_name", rank, thread(track), name);
        }
    }

    fn metadata(&mut self, name: &str, rank: u32, thread: u32, arguments: impl Display) {
        self.write(format_args!(
            "{{\"name\":\"{name}\",\"ph\":\"M\",\"pid\":{rank},\"tid\":{thread},\
             \"args\":{{{arguments}}}}}"
        ));
    }

    /// Writes an event on a line of its own.
    fn write(&mut self, event: impl Display) {
        self.event.clear();
        let separator = if std::mem::take(&mut self.is_first) { "\n" } else { ",\n" };
        // A vector takes all.
        let _ = write!(self.event, "{separator}{event}");
        self.sink.write(&self.event);
    }

    /// Writes the slice of an action.
    fn action(&mut self, job: Job) {
        let record = *self.workload.record(job.action);
        let mut arguments = self.named(job.rank, job.action);
        if record.kind == Kind::Send {
            let (peer, bytes, tag) = (record.peer, record.size, record.tag);
            arguments += &format!(",\"peer\":{peer},\"bytes\":{bytes},\"tag\":{tag}");
        }
        let (name, kind) = self.title(job.rank, job.action);
        self.slices(&job, &name, kind, &arguments);
        if record.kind == Kind::Send {
            self.flow(&job, "\"ph\":\"s\"");
        }
    }

    /// Writes the slice that takes a message in, for its receive if that was posted before.
    fn take_in(&mut self, job: Job, receive: Option<(u32, u64)>) {
        let record = *self.workload.record(job.action);
        let from = self.workload.rank_of(job.action);
        let (mut name, mut kind, mut arguments) =
            ("\"message\"".to_owned(), "recv", "\"unexpected\":true".to_owned());
        if let Some((receive, posted)) = receive {
            (name, kind) = self.title(job.rank, receive);
            let posted = micros(posted);
            arguments = format!("{},\"posted\":{posted}", self.named(job.rank, receive));
        }
        let (bytes, tag) = (record.size, record.tag);
        arguments += &format!(",\"peer\":{from},\"bytes\":{bytes},\"tag\":{tag}");
        self.slices(&job, &name, kind, &arguments);
        self.flow(&job, "\"ph\":\"f\",\"bp\":\"e\"");
    }

    /// Writes the message that is taken in, if its receive comes later.
    fn leave_message(&mut self) {
        if let Some(job) = self.message.take() {
            self.take_in(job, None);
        }
    }

    /// Writes the slices of a processor and of an interface.
    fn slices(&mut self, job: &Job, name: &str, kind: &str, arguments: &str) {
        let arguments = format!("{arguments},\"ready\":{}", micros(job.ready));
        if let Some(cpu) = job.cpu {
            self.slice(job, cpu, name, kind, &arguments);
        }
        if let Some(side) = job.side.filter(|side| side.end > job.start) {
            self.slice(job, side, name, "interface", &arguments);
        }
    }

    fn slice(&mut self, job: &Job, held: Held, name: &str, category: &str, arguments: &str) {
        let thread = self.thread(held);
        let (rank, start) = (job.rank, micros(job.start));
        let duration = micros(held.end.saturating_sub(job.start));
        self.write(format_args!(
            "{{\"name\":{name},\"cat\":\"{category}\",\"ph\":\"X\",\"pid\":{rank},\
             \"tid\":{thread},\"ts\":{start},\"dur\":{duration},\"args\":{{{arguments}}}}}"
        ));
    }

    /// Writes an end of a message's flow. It binds to the slice of a processor that begins then.
    fn flow(&mut self, job: &Job, phase: &str) {
        let Some(cpu) = job.cpu else { return };
        let (rank, thread, id) = (job.rank, self.thread(cpu), job.action);
        let time = micros(job.start);
        self.write(format_args!(
            "{{\"name\":\"message\",\"cat\":\"message\",{phase},\"pid\":{rank},\
             \"tid\":{thread},\"ts\":{time},\"id\":{id}}}"
        ));
    }

    fn thread(&self, held: Held) -> u32 {
        self.tracks.get(held.place as usize).map_or(0, |&track| thread(track))
    }

    /// Returns the name of an action as a JSON string, and its kind.
    fn title(&mut self, rank: u32, action: u32) -> (String, &'static str) {
        let name = self.names.of(rank, action);
        (serde_json::Value::String(name.to_string()).to_string(), name.kind)
    }

    /// Returns the arguments that tell where an action stands.
    fn named(&mut self, rank: u32, action: u32) -> String {
        let name = self.names.of(rank, action);
        let line = name.line.map_or(String::new(), |line| format!(",\"line\":{line}"));
        format!("\"number\":{}{line}", name.number)
    }
}

impl Observer for Chrome<'_> {
    fn start(&mut self, job: Job) {
        self.leave_message();
        if job.is_message {
            self.message = Some(job);
        } else {
            self.action(job);
        }
    }

    fn receive(&mut self, receive: u32, send: u32, posted: u64, taken: u64, end: u64) {
        let is_expected = |job: &mut Job| job.action == send && posted <= taken;
        if let Some(job) = self.message.take_if(is_expected) {
            return self.take_in(job, Some((receive, posted)));
        }
        self.leave_message();
        let rank = self.workload.rank_of(receive);
        let (name, kind) = self.title(rank, receive);
        let arguments = self.named(rank, receive);
        let (from, number) = (self.workload.rank_of(send), self.workload.record(receive).cpu);
        let (taken, end) = (micros(taken), micros(end));
        self.write(format_args!(
            "{{\"name\":{name},\"cat\":\"{kind}\",\"ph\":\"i\",\"s\":\"t\",\"pid\":{rank},\
             \"tid\":{number},\"ts\":{end},\
             \"args\":{{{arguments},\"peer\":{from},\"taken\":{taken}}}}}"
        ));
    }

    fn end(&mut self, rank: u32, action: u32, time: u64) {
        let (name, kind) = self.title(rank, action);
        let (arguments, tag) = (self.named(rank, action), self.workload.record(action).tag);
        let time = micros(time);
        self.write(format_args!(
            "{{\"name\":{name},\"cat\":\"{kind}\",\"ph\":\"i\",\"s\":\"p\",\"pid\":{rank},\
             \"tid\":0,\"ts\":{time},\"args\":{{{arguments},\"tag\":{tag}}}}}"
        ));
    }
}

impl Record for Chrome<'_> {
    fn finish(mut self: Box<Self>, finish: u64, _: Option<&CriticalPath>) -> Result<(), Error> {
        self.leave_message();
        let finish = Decimal(finish, Unit::Nanoseconds);
        let parameters = &self.parameters;
        let other = format!(
            "\n],\"otherData\":{{\"model\":\"goal\",\"parameters\":{parameters},\
             \"finish_ns\":{finish}}}}}\n"
        );
        self.sink.write(other.as_bytes());
        self.sink.finish()
    }
}

/// Returns the number of a track's thread.
fn thread(track: Track) -> u32 {
    let number = u32::from(track.number);
    match track.part {
        Part::Processor => number,
        Part::Sending => INTERFACES + 2 * number,
        Part::Receiving => INTERFACES + 2 * number + 1,
    }
}

fn micros(ps: u64) -> Decimal {
    Decimal(ps, Unit::Microseconds)
}
