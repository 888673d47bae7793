//! Callers that break the rules of the engine: each mistake is a panic that names it, or has no
//! effect.

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_engine::memory::Zeroed;
use goal_engine::transport::{Full, Header, InMemory, Sink, Transport};
use goal_engine::{Engine, Handle, Options, Schedule, Seed, Storage, WORLD, Waiting};
use goal_lang::{ParseOptions, SourceMap, parse};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const EXCHANGE: &str = "num_ranks 2
    rank 0 { send 0,8 to 1  recv 8,8 from 1 }
    rank 1 { send 0,8 to 0  recv 8,8 from 0 }";

fn schedule(text: &str, rank: u32) -> Arc<Schedule> {
    let mut sources = SourceMap::default();
    sources.add("program.goal", Arc::new(text.as_bytes().to_vec()));
    let program = parse(&sources, &ParseOptions::default()).program.unwrap();
    let mut bytes = Vec::new();
    encode(&program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Default::default()).unwrap());
    Arc::new(Schedule::new(nisa, rank, Seed::default()))
}

fn engine<T: Transport>(rank: u32, transport: T) -> Engine<'static, T> {
    Engine::new(rank, transport, Options::default(), Zeroed::new(1 << 20))
}

/// An engine of rank 0, alone.
fn alone() -> Engine<'static, InMemory> {
    engine(0, InMemory::group(2).remove(0))
}

/// Starts an instance that never ends, as rank 1 does nothing.
fn start(engine: &mut Engine<'static, InMemory>) -> Handle {
    let schedule = schedule(EXCHANGE, 0);
    engine.start(&schedule, WORLD, Storage::new(&schedule))
}

#[track_caller]
fn assert_panics<R>(message: &str, misuse: impl FnOnce() -> R) {
    let panic = catch_unwind(AssertUnwindSafe(misuse)).err().expect("no panic");
    let said = panic.downcast_ref::<&str>().map(|text| text.to_string());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap();
    assert!(said.contains(message), "{said}");
}

#[test]
fn finish_before_the_end() {
    let mut engine = alone();
    let mut handle = start(&mut engine);
    engine.poll(0).unwrap();
    assert_panics("instance 0 has not ended", || engine.start_again(&mut handle));
    assert_panics("instance 0 has not ended", || engine.memory_mut(&handle).len());
    assert_panics("instance 0 has not ended", || engine.finish(handle));
    engine.poll(0).unwrap();
}

#[test]
fn a_handle_of_another_engine() {
    let nothing = schedule("num_ranks 1 rank 0 { }", 0);
    let mut engines = [alone(), alone()];
    let handles =
        engines.each_mut().map(|engine| engine.start(&nothing, WORLD, Storage::new(&nothing)));
    let [first, second] = &mut engines;
    let [mut of_first, of_second] = handles;
    assert_panics("a handle of another engine", || second.test(&of_first));
    assert_panics("a handle of another engine", || second.window_stats(&of_first));
    assert_panics("a handle of another engine", || second.start_again(&mut of_first));
    assert_panics("a handle of another engine", || second.memory_mut(&of_first).len());
    assert_panics("a handle of another engine", || second.finish(of_first));
    assert_panics("a handle of another engine", || first.wait(&of_second, || 0));
    second.finish(of_second);
}

#[test]
fn a_schedule_of_another_rank() {
    let of_one = schedule(EXCHANGE, 1);
    let mut engine = alone();
    assert_panics("of another rank", || engine.start(&of_one, WORLD, Storage::new(&of_one)));
    start(&mut engine);
    engine.poll(0).unwrap();
}

#[test]
fn storage_of_another_schedule() {
    let mut engine = alone();
    let long = schedule(EXCHANGE, 0);
    let empty = schedule("num_ranks 1 rank 0 { }", 0);
    assert_panics("less memory", || engine.start(&long, WORLD, Storage::new(&empty)));
    let short = schedule("num_ranks 2 rank 0 { send 0,64 to 1 } rank 1 { recv 0,64 from 0 }", 0);
    assert_panics("fewer actions", || engine.start(&long, WORLD, Storage::new(&short)));
    // Neither has left anything: the instance has number 0.
    let handle = start(&mut engine);
    assert_panics("instance 0 has not ended", || engine.finish(handle));
}

#[test]
fn an_engine_that_is_dropped_in_a_run() {
    // A message that it has sent arrives. One that it has not sent never does.
    for has_sent in [false, true] {
        let mut ends = InMemory::group(2).into_iter();
        let mut dropped = engine(0, ends.next().unwrap());
        let mut peer = engine(1, ends.next().unwrap());
        let schedule = schedule(EXCHANGE, 1);
        let handle = peer.start(&schedule, WORLD, Storage::new(&schedule));
        start(&mut dropped);
        if has_sent {
            dropped.poll(0).unwrap();
        }
        drop(dropped);
        for _ in 0..100 {
            peer.poll(0).unwrap();
        }
        assert_eq!(peer.test(&handle), has_sent);
    }
}

/// A transport that never has room.
struct Stuck;

impl Transport for Stuck {
    fn short_max(&self) -> usize {
        64
    }

    fn payload_max(&mut self, _to: u32) -> usize {
        64
    }

    fn try_send_dyn(
        &mut self,
        _to: u32,
        _header: &Header,
        _fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        Err(Full)
    }

    fn poll_dyn(&mut self, _messages_max: usize, _sink: &mut dyn Sink) -> usize {
        0
    }

    fn announce_room(&mut self, _bytes: u64, _most: u64) {}

    fn room(&self, _to: u32) -> u64 {
        0
    }
}

#[test]
fn a_transport_that_never_has_room() {
    let schedule = schedule(EXCHANGE, 0);
    let mut engine = engine(0, Stuck);
    let handle = engine.start(&schedule, WORLD, Storage::new(&schedule));
    let mut last = engine.poll(0).unwrap();
    for now in 1..100 {
        last = engine.poll(now).unwrap();
    }
    assert_eq!((last.worked, last.waiting), (false, Waiting::Room));
    assert!(!engine.test(&handle));
}

#[test]
fn a_function_that_panics() {
    let text = "num_ranks 1 rank 0 { a: exec user 7 with 0,8 8,8  b: calc 1  b requires a }";
    let schedule = schedule(text, 0);
    let mut engine = alone();
    engine.register(7, Box::new(|_, _| panic!("the caller's own words")));
    let handle = engine.start(&schedule, WORLD, Storage::new(&schedule));
    assert_panics("the caller's own words", || engine.poll(0));
    // The action has not ended, and nothing else is lost.
    for now in 1..100 {
        let _ = engine.poll(now);
    }
    assert!(!engine.test(&handle));
    assert_panics("instance 0 has not ended", || engine.finish(handle));
}

#[test]
fn more_memory_than_there_is() {
    assert!(Zeroed::try_new(usize::MAX).is_none() && Zeroed::try_new(1 << 62).is_none());
}
