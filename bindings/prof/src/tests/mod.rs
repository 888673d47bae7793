//! Tests of the recorder without MPI: the calls are made up, and so is the time.

mod collectives;
mod output;
mod point_to_point;
mod settings;
mod tags;

use crate::{Recorder, SentMessage, Settings, Status};
use goal_lang::{ParseOptions, Program, SourceMap, parse};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// MPI's handles of the communicators that there are from the beginning.
const WORLD: u64 = 0xabc;
const OWN: u64 = 0xdef;

/// Bytes that a test can look at while a recorder writes them.
#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no test panics here").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Text {
    fn read(&self) -> String {
        String::from_utf8(self.0.lock().expect("no test panics here").clone()).expect("it is text")
    }
}

/// A rank with a clock that each call moves on.
struct Rank {
    recorder: Recorder<Text>,
    text: Text,
    now_ns: u64,
}

impl Rank {
    fn with(settings: Settings, rank: u32, ranks: u32) -> Self {
        let text = Text::default();
        let recorder = Recorder::new(settings, rank, ranks, WORLD, OWN, text.clone());
        Self { recorder, text, now_ns: 0 }
    }

    fn new(rank: u32, ranks: u32) -> Self {
        Self::with(Settings::new("test"), rank, ranks)
    }

    /// Computes for 100 ns, and makes a call of 10 ns.
    fn call<T>(&mut self, call: impl FnOnce(&mut Recorder<Text>) -> T) -> T {
        if self.now_ns == 0 {
            self.recorder.leave(0, 0);
        }
        self.now_ns += 100;
        self.recorder.enter(0, self.now_ns);
        let done = call(&mut self.recorder);
        self.now_ns += 10;
        self.recorder.leave(0, self.now_ns);
        done
    }

    /// Completes a request.
    fn wait(&mut self, request: u64, status: Status) {
        self.call(|recorder| {
            let token = recorder.claim(0, request);
            recorder.complete(0, request, token, status);
        });
    }

    /// Returns the whole text, whose end is noted.
    fn finish_noting(mut self, what: &str) -> String {
        self.recorder.finish();
        let notes = self.recorder.take_notes();
        assert!(notes.len() == 1 && notes[0].contains(what), "{notes:?}");
        self.text.read()
    }

    /// Returns the whole text.
    fn finish(mut self) -> String {
        self.recorder.finish();
        if let Some(fault) = self.recorder.fault() {
            panic!("{fault}");
        }
        self.text.read()
    }
}

fn to(rank: u32, tag: u32, bytes: u64) -> SentMessage {
    SentMessage { communicator: WORLD, to: Some(rank), tag, bytes, buffered: false }
}

fn from(rank: u32, tag: u32, bytes: u64) -> Status {
    Status { from: Some(rank), tag, bytes, cancelled: false }
}

/// Returns the program of all ranks' texts. It must have no findings, and must end in several
/// orders of events.
fn checked(texts: &[String]) -> Program {
    let mut sources = SourceMap::default();
    for (rank, text) in texts.iter().enumerate() {
        sources.add(format!("test.{rank}.goal"), Arc::new(text.clone().into_bytes()));
    }
    let parsed = parse(&sources, &ParseOptions::default());
    assert_eq!(parsed.report.diagnostics, [], "{texts:?}");
    let program = parsed.program.expect("there are no errors");
    let options = goal_check::Options { eager_limit: 0, ..Default::default() };
    let report = goal_check::check(&program, Some(&sources), &options);
    assert_eq!(report.diagnostics, [], "{texts:?}");
    for seed in 0..3 {
        let options = goal_interp::Options { seed, ..Default::default() };
        goal_interp::run(&program, &options).expect("the program ends");
    }
    program
}
