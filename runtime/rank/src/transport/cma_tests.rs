//! Tests two processes whose buffers are outside of the segment. The system copies large payloads,
//! or they come in messages if it may not.
#![allow(unsafe_code)] // transports of ranks

use super::RankTransport;
use goal_asm::{EncodeOptions, Nisa, encode};
use goal_engine::Seed;
use goal_engine::memory::{Imported, Span};
use goal_engine::testing::state;
use goal_engine::transport::{Distance, Full, Header, Kind, Sink, Transport, Unreadable};
use goal_engine::{Engine, Options, Schedule, Storage};
use goal_filetest::patience;
use goal_job::transport::{Choice, Request};
use goal_lang::limits::Limits;
use goal_lang::{ParseOptions, Program, SourceMap, parse};
use goal_shm::{Layout, RankSizes, Segment, State};
use goal_shm::{admit, announce};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// Set in the process of rank 1: the segment's descriptor, and the list of transports.
const PEER: &str = "GOAL_TEST_PEER";

/// Payloads go into a buffer, are added to one, and go into one in pieces; both ways.
const TEXT: &str = "
    rank 0 { init 0 = Int32 1 2 3  init 399996 = Int32 4  init 699996 = Int32 5  init 4000000 = Int32 100
             send 0,700000 to 1 tag 1  send 0,700000 to 1 tag 2  send 0,700000 to 1 tag 3
             recv 4000000,700000 from 1 with sumInt32 }
    rank 1 { init 0 = Int32 10 20
             a: recv 1000000,700000 from 0 tag 1 with sumInt32  recv [2000000,400000 3000000,300000] from 0 tag 2
             recv 4000000,700000 from 0 tag 3
             send 0,700000 to 0 }";

fn program() -> Program {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(TEXT.as_bytes().to_vec()));
    parse(&sources, &ParseOptions::default()).program.expect("a valid program")
}

fn layout() -> Layout {
    Layout::new([RankSizes::default(); 2].into_iter(), u64::MAX).expect("a small segment")
}

/// The transports of a rank, and counts of their copies and messages.
struct Counted<'a> {
    rank_transport: RankTransport<'a>,
    copies: usize,
    parts: usize,
}

impl Transport for Counted<'_> {
    fn short_max(&self) -> usize {
        self.rank_transport.short_max()
    }

    fn payload_max(&mut self, to: u32) -> usize {
        self.rank_transport.payload_max(to)
    }

    fn try_send_dyn(
        &mut self,
        to: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        self.rank_transport.try_send_dyn(to, header, fill)
    }

    fn poll_dyn(&mut self, messages_max: usize, sink: &mut dyn Sink) -> usize {
        let parts = &mut self.parts;
        self.rank_transport.poll(messages_max, |header, payload| {
            *parts += usize::from(header.kind() == Kind::Data);
            sink.take(header, payload)
        })
    }

    fn announce_room(&mut self, bytes: u64, most: u64) {
        self.rank_transport.announce_room(bytes, most);
    }

    fn room(&self, to: u32) -> u64 {
        self.rank_transport.room(to)
    }

    fn export(&self, to: u32, bytes: Span) -> Option<u64> {
        self.rank_transport.export(to, bytes)
    }

    fn import(&self, source: u32, address: u64, len: u64) -> Option<Imported<'_>> {
        self.rank_transport.import(source, address, len)
    }

    fn get_zcopy(
        &mut self,
        source: u32,
        address: u64,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Unreadable> {
        let copied = self.rank_transport.get_zcopy(source, address, offset, into);
        self.copies += usize::from(copied.is_ok());
        copied
    }
}

/// Runs a rank with memory of its own, and compares that with the interpreter's. Returns the
/// numbers of copies, and of parts that came in messages.
fn run(segment: &Segment, rank: u32, list: &str) -> (usize, usize) {
    let program = program();
    let mut bytes = Vec::new();
    encode(&program, &EncodeOptions::default(), None, &mut bytes).expect("the program fits");
    let nisa = Arc::new(Nisa::load(Arc::new(bytes), &Limits::default()).expect("it verifies"));
    let schedule = Arc::new(Schedule::new(Arc::clone(&nisa), rank, Seed::default()));
    // Memory of its own, outside the segment.
    let storage = Storage::new(&schedule);
    let choice = Choice::new(&Request::new(Some(("--transport", list)), []).unwrap());
    announce(segment, rank);
    // SAFETY: the rank has no other transports.
    let rank_transport =
        unsafe { RankTransport::new(segment, rank, &choice.paths(Distance::Node).unwrap()) };
    let mut engine = Engine::new(
        rank,
        Counted { rank_transport, copies: 0, parts: 0 },
        Options::default(),
        state(),
    );
    let (own, peer) = (segment.status(rank), segment.status(1 - rank));
    own.enter(State::Running);
    let handle = engine.start(&schedule, 0, storage);
    let (begin, limit) = (Instant::now(), patience(30));
    // The other one still needs this one's answers after this one has ended.
    while peer.state() != State::Done || !engine.test(&handle) {
        assert!(begin.elapsed() < limit, "rank {rank} waits");
        engine.poll(0).unwrap();
        if engine.test(&handle) && own.state() == State::Running {
            own.enter(State::Done);
        }
    }
    let storage = engine.finish(handle);
    let counted = (engine.transport().copies, engine.transport().parts);
    drop(engine);
    let expected =
        goal_interp::run(&program, &goal_interp::Options::default()).expect("no deadlock");
    let first = expected.memory[rank as usize]
        .iter()
        .zip(storage.memory())
        .position(|(wanted, found)| wanted != found);
    assert_eq!(first, None, "rank {rank}: the address of the first byte that differs");
    counted
}

/// Runs rank 1 in its process. Does nothing in the process of the tests.
#[test]
fn peer() {
    let Ok(bootstrap) = std::env::var(PEER) else { return };
    let parent = std::os::unix::process::parent_id();
    let (fd, list) = bootstrap.split_once(' ').unwrap();
    let file =
        File::options().read(true).write(true).open(format!("/proc/{parent}/fd/{fd}")).unwrap();
    let segment = Segment::open(file.into(), layout()).unwrap();
    admit(parent);
    check(run(&segment, 1, list), list);
}

fn check((copies, parts): (usize, usize), list: &str) {
    let is_used = Choice::new(&Request::new(Some(("--transport", list)), []).unwrap())
        .copies(Distance::Node)
        .is_some();
    assert_eq!(
        (copies > 0, parts > 0),
        (is_used, !is_used),
        "{copies} copies and {parts} parts with {list}"
    );
}

/// Rank 0 here, rank 1 in a process of its own.
fn run_both(list: &str) {
    let segment = Segment::create(layout()).unwrap();
    // The one that this process starts.
    admit(std::process::id());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "transport::cma_tests::peer"])
        .env(PEER, format!("{} {list}", segment.fd().as_raw_fd()))
        .spawn()
        .unwrap();
    let counted = run(&segment, 0, list);
    assert!(child.wait().unwrap().success());
    check(counted, list);
}

#[test]
fn payloads_in_private_memory_are_copied() {
    run_both("auto");
}

#[test]
fn without_copies_they_come_in_messages() {
    run_both("^cma");
}
