//! Tests small programs, each written for one question.
#![allow(unsafe_code)] // contracts that transports and storages have

use super::network::{Conditions, End, run};
use crate::engine::{Areas, Cause, Engine, Fault, Options, Schedule, Storage, Waiting};
use crate::memory::{Region, Span, Zeroed};
use crate::testing::{nisa, program, state};
use crate::transport::{Full, Header, Kind, SharedTask, Sink, Transport, Workers};
use crate::{Seed, within};
use goal_asm::{EncodeOptions, Nisa, encode};
use goal_lang::limits::Limits;
use std::collections::VecDeque;
use std::sync::Arc;

fn conditions(options: Options) -> Conditions {
    Conditions { options, depth: 4, payload_max: 64, ..Conditions::new(1) }
}

/// A transport with one rank, that shows two messages a poll.
#[derive(Default)]
struct ToOneself(VecDeque<(Header, Vec<u8>)>);

impl Transport for ToOneself {
    fn short_max(&self) -> usize {
        64
    }

    fn payload_max(&mut self, _: u32) -> usize {
        64
    }

    fn try_send_dyn(
        &mut self,
        _: u32,
        header: &Header,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        let mut payload = vec![0; header.payload_len()];
        fill(&mut payload);
        self.0.push_back((*header, payload));
        Ok(())
    }

    fn poll_dyn(&mut self, _: usize, sink: &mut dyn Sink) -> usize {
        for taken in 0..2 {
            let Some((header, payload)) = self.0.pop_front() else { return taken };
            if sink.take(&header, &payload).is_break() {
                return taken + 1;
            }
        }
        2
    }

    fn announce_room(&mut self, _: u64, _: u64) {}

    fn room(&self, _: u32) -> u64 {
        u64::MAX
    }
}

/// A transport that keeps the tags of what is sent, and delivers a header of a list with each poll.
#[derive(Default)]
struct Sent {
    tags: Vec<u32>,
    arriving: VecDeque<Header>,
    /// True if it exports payloads and takes tasks. None of the tasks ends.
    is_exposing: bool,
}

impl Transport for Sent {
    fn short_max(&self) -> usize {
        64
    }

    fn payload_max(&mut self, _: u32) -> usize {
        64
    }

    fn try_send_dyn(
        &mut self,
        _: u32,
        header: &Header,
        _: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(), Full> {
        self.tags.push(header.tag);
        Ok(())
    }

    fn poll_dyn(&mut self, _: usize, sink: &mut dyn Sink) -> usize {
        self.arriving.pop_front().map(|header| sink.take(&header, &[])).is_some().into()
    }

    fn announce_room(&mut self, _: u64, _: u64) {}

    fn room(&self, _: u32) -> u64 {
        u64::MAX
    }

    fn export(&self, _: u32, _: Span) -> Option<u64> {
        self.is_exposing.then_some(0)
    }

    fn export_mut(&self, _: u32, _: Span) -> Option<u64> {
        self.is_exposing.then_some(0)
    }

    fn workers(&self) -> Option<&dyn Workers> {
        self.is_exposing.then_some(self)
    }
}

impl Workers for Sent {
    fn is_wanted(&self) -> bool {
        true
    }

    fn forget_wanted(&self) {}

    unsafe fn open(&self, _: &SharedTask) -> Option<(u32, u32)> {
        Some((0, 1))
    }

    fn work(&self, _: u32) -> bool {
        false
    }

    unsafe fn end(&self, _: u32) -> Option<Option<u64>> {
        None
    }
}

#[test]
fn ready_actions_start_in_the_order_of_the_layout() {
    // (the rank's actions, the tags of its messages in the order in which they leave)
    let cases = [
        ("send 8b to 0 tag 1  send 8b to 0 tag 2  send 8b to 0 tag 3", vec![1, 2, 3]),
        // An action that is ready from the beginning has no advantage over one that became ready
        // and stands before it.
        (
            "x: send 8b to 0 tag 1  y: send 8b to 0 tag 2  first: nop  send 8b to 0 tag 3  last: nop
             y requires first  x requires last",
            vec![2, 3, 1],
        ),
        // Nor has what became ready first: the start of `s` comes before its end.
        ("s: nop  u: send 8b to 0 tag 1  v: send 8b to 0 tag 2  u requires s  v irequires s", vec![1, 2]),
    ];
    for (text, tags) in cases {
        let schedule = Arc::new(Schedule::new(
            nisa(&program(&format!("rank 0 {{ {text} }}"))),
            0,
            Seed::default(),
        ));
        let mut engine = Engine::new(0, Sent::default(), Options::default(), state());
        engine.start(&schedule, 0, Storage::new(&schedule));
        for now in 0..4 {
            engine.poll(now).expect("nothing fails");
        }
        assert_eq!(engine.transport().tags, tags, "{text}");
    }
}

/// Ranks that read a payload in place, or work on an operation, may go on after the engine is gone.
#[test]
fn memory_that_others_may_still_access_is_not_freed() {
    let cases = [
        ("send 0,400000 to 1", true, true),
        ("exec sumInt32 with 0,200000 200000,200000", true, true),
        ("send 0,400000 to 1", false, false),
        ("send 0,4 to 1", true, false),
        ("send 0,400000 to 1  recv 0,400000 from 1", true, true),
        ("recv 0,400000 from 1", true, false),
    ];
    let request = Header { flags: Header::DIRECT, size: 400_000, ..Header::new(Kind::Rts, 1) };
    // The answer to the send, which then exposes no memory itself.
    let answer = Header::new(Kind::Fin, 1);
    for (action, is_exposing, is_kept) in cases {
        let program = program(&format!("rank 0 {{ {action} }} rank 1 {{ }}"));
        let schedule = Arc::new(Schedule::new(nisa(&program), 0, Seed::default()));
        let sizes = schedule.state_sizes();
        let memory = [400_000, 2 * sizes.counters, 8 * sizes.finished].map(Zeroed::new);
        let areas = Areas {
            memory: memory[0].region(),
            buffers: Vec::new(),
            scratch: Region::EMPTY,
            counters: memory[1].cells(),
            finished: memory[2].cells(),
            matches: None,
        };
        let owned = Arc::new(());
        let owner = (memory, Arc::clone(&owned));
        // SAFETY: the owner has the memory, which nobody else accesses.
        let storage = unsafe { Storage::over(areas, Some(Box::new(owner))) };
        let is_answered = action.starts_with("send 0,400000 to 1  recv");
        let arriving = if action.contains("recv") { vec![request] } else { vec![] };
        let arriving = arriving.into_iter().chain(is_answered.then_some(answer)).collect();
        let transport = Sent { is_exposing, arriving, ..Sent::default() };
        let mut engine = Engine::new(0, transport, Options::default(), state());
        engine.start(&schedule, 0, storage);
        for now in 0..4 {
            engine.poll(now).expect("nothing fails");
        }
        drop(engine);
        assert_eq!(Arc::strong_count(&owned) == 2, is_kept, "{action}");
    }
}

/// The schedule ends too early: its file says one action less than there are.
#[test]
#[should_panic(expected = "other ranks access the memory of instance 0")]
fn memory_that_others_may_still_access_is_not_returned() {
    let program = program("rank 0 { exec sumInt32 with 0,200000 200000,200000  nop }");
    let words = [nisa(&program).section_range(0).len() as u32 / 4, 2];
    let entry: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let options = EncodeOptions { strip: true, ..EncodeOptions::default() };
    let mut bytes = Vec::new();
    encode(&program, &options, None, &mut bytes).expect("the program fits");
    let at = bytes.windows(8).position(|window| window == entry).expect("the section's entry");
    bytes[at + 4] -= 1;
    // SAFETY: none, as the bytes are not those that were verified: the engine has to see it.
    let nisa = unsafe { Nisa::load_trusted(Arc::new(bytes), &Limits::default()) };
    let schedule = Arc::new(Schedule::new(Arc::new(nisa.unwrap()), 0, Seed::default()));
    let transport = Sent { is_exposing: true, ..Sent::default() };
    let mut engine = Engine::new(0, transport, Options::default(), state());
    let handle = engine.start(&schedule, 0, Storage::new(&schedule));
    engine.poll(0).expect("nothing fails");
    engine.finish(handle);
}

#[test]
fn a_receive_of_another_size_names_both_ends() {
    for eager_limit in [0, 1000] {
        let program = program("rank 0 { send 24b to 1 tag 5 } rank 1 { recv 20b from 0 tag 5 }");
        let End::Failed(1, failure) =
            run(&program, &conditions(Options { eager_limit, ..Options::default() }))
        else {
            panic!("must fail on rank 1")
        };
        let Cause::SizeMismatch { source_rank: 0, tag: 5, sent: 24, received: 20, .. } =
            failure.cause
        else {
            panic!("{failure}")
        };
    }
}

#[test]
fn parts_of_a_message_of_another_size_come_too_late_to_matter() {
    for seed in 0..goal_filetest::seeds(50) {
        for receive in
            ["recv 0,400 from 0", "w: recv 8b from 0 tag 1  r: recv 0,400 from 0  r requires w"]
        {
            let program = program(&format!(
                "rank 0 {{ a: send 500b to 1  b: send 8b to 1 tag 1  b irequires a }} rank 1 {{ {receive} }}"
            ));
            let mut conditions = Conditions::new(seed);
            conditions.options.eager_limit = 1000;
            (conditions.payload_max, conditions.depth) = (64, 100);
            let End::Failed(1, failure) = run(&program, &conditions) else { panic!("seed {seed}") };
            let Cause::SizeMismatch { sent: 500, received: 400, .. } = failure.cause else {
                panic!("{failure}")
            };
        }
    }
}

#[test]
fn sizes_that_together_pass_64_bits() {
    let all = u64::MAX;
    let text = format!(
        "rank 0 {{ send {all}b to 1  send {all}b to 1 }} rank 1 {{ recv 8b from 0 tag 9 }}"
    );
    let End::Stuck(_) = run(&program(&text), &conditions(Options::default())) else { panic!() };
}

#[test]
fn a_failure_is_told_again() {
    for calc in 0..8 {
        let text = format!(
            "rank 0 {{ send 500b to 0  w: calc {calc}  r: recv 0,400 from 0  r requires w }}"
        );
        let schedule = Arc::new(Schedule::new(nisa(&program(&text)), 0, Seed::default()));
        let options = Options { eager_limit: 1000, ..Options::default() };
        let mut engine = Engine::new(0, ToOneself::default(), options, state());
        let handle = engine.start(&schedule, 0, Storage::new(&schedule));
        let mut failures = (0..100).filter_map(|now| engine.poll(now).err());
        let first = failures.next().expect("the sizes differ");
        assert!(failures.by_ref().take(50).filter(|other| *other == first).count() == 50);
        assert!(!engine.test(&handle));
    }
}

#[test]
fn a_message_larger_than_any_memory_is_kept_as_it_comes() {
    let schedule = Arc::new(Schedule::new(
        nisa(&program(&format!("rank 0 {{ send {}b to 0 }}", 1u64 << 62))),
        0,
        Seed::default(),
    ));
    let options =
        Options { eager_limit: u64::MAX, unexpected_limit: u64::MAX, ..Options::default() };
    let mut engine = Engine::new(0, ToOneself::default(), options, state());
    let handle = engine.start(&schedule, 0, Storage::new(&schedule));
    for now in 0..20 {
        assert!(engine.poll(now).expect("no failure").worked);
    }
    assert!(!engine.test(&handle));
}

#[test]
fn a_poll_ends_a_bounded_number_of_calcs() {
    let calcs = "calc 1 ".repeat(10_000);
    let schedule = Arc::new(Schedule::new(
        nisa(&program(&format!("rank 0 {{ {calcs} }}"))),
        0,
        Seed::default(),
    ));
    let mut engine = Engine::new(0, ToOneself::default(), Options::default(), state());
    let handle = engine.start(&schedule, 0, Storage::new(&schedule));
    while engine.core.held.timers.is_empty() || !engine.core.held.runnable.is_empty() {
        engine.poll(0).expect("no failure");
    }
    engine.poll(1_000_000).expect("no failure");
    assert!(!engine.core.held.timers.is_empty(), "all were ended at once");
    while !engine.test(&handle) {
        engine.poll(1_000_000).expect("no failure");
    }
}

#[test]
fn division_by_zero_and_unknown_functions_fail() {
    let divided = program("rank 0 { exec divInt32 with 0,8 8,8 }");
    let End::Failed(0, failure) = run(&divided, &conditions(Options::default())) else {
        panic!("must fail")
    };
    assert_eq!(failure.cause, Cause::DivisionByZero { element: 0 });
    let unknown = program("rank 0 { exec user 7 with 0,8 8,8 }");
    let End::Failed(0, failure) = run(&unknown, &conditions(Options::default())) else {
        panic!("must fail")
    };
    assert_eq!(failure.cause, Cause::UnknownUserFunction(7));
}

#[test]
fn registered_functions_see_the_bytes_of_both_buffers() {
    for (buffers, wanted) in [
        ("0,3 3,3", [1, 2, 3, 11, 22, 33]),
        ("[2,1 0,1] [5,1 3,1]", [1, 2, 3, 11, 20, 33]),
        ("0,6 0,6", [2, 4, 6, 20, 40, 60]),
    ] {
        let text =
            format!("rank 0 {{ init 0 = UInt8 1 2 3 10 20 30  exec user 1 with {buffers} }}");
        let End::Finished(ends, _) = run(&program(&text), &conditions(Options::default())) else {
            panic!()
        };
        assert_eq!(ends[0].0, [wanted], "{buffers}");
    }
}

#[test]
fn a_sender_waits_rather_than_fill_the_receiver() {
    let text = "
        rank 0 { a: send 50b to 1 tag 1  b: send 50b to 1 tag 1  c: send 50b to 1 tag 1  d: send 8b to 1 tag 2
                 b requires a  c requires b  d requires c }
        rank 1 { d: recv 8b from 0 tag 2  a: recv 50b from 0 tag 1  b: recv 50b from 0 tag 1  c: recv 50b from 0 tag 1
                 a requires d  b requires d  c requires d }";
    let options = Options { unexpected_limit: 100, ..Options::default() };
    let End::Stuck(waiting) = run(&program(text), &conditions(options)) else {
        panic!("must be stuck")
    };
    assert_eq!(waiting, [Waiting::Messages, Waiting::Messages]);
    let End::Finished(_, stats) = run(&program(text), &conditions(Options::default())) else {
        panic!()
    };
    assert!(stats.unexpected_max > 400);
}

#[test]
fn without_any_room_every_message_waits_for_its_receive() {
    let text = "
        rank 0 { a: send 0b to 1 tag 1  b: send 8b to 1 tag 2  c: send 3000b to 1 tag 3  send 0b to 0  recv 0b from 0 }
        rank 1 { c: recv 3000b from 0 tag 3  b: recv 8b from 0 tag 2  a: recv 0b from 0 tag 1  b requires c  a requires b }";
    for direct in [false, true] {
        let options = Options { unexpected_limit: 0, ..Options::default() };
        let conditions = Conditions { direct, ..conditions(options) };
        let end = run(&program(text), &conditions);
        assert!(
            matches!(end, End::Finished(_, stats) if stats.unexpected_max == 0),
            "direct {direct}"
        );
    }
}

#[test]
fn payloads_are_copied_as_far_as_the_transport_does_and_sent_from_there_on() {
    let text = "
        rank 0 { init 0 = Int32 1 2 3  init 399996 = Int32 4  init 699996 = Int32 5
                 send 0,700000 to 1 tag 1  send 0,700000 to 1 tag 2  send 0,700000 to 1 tag 3  send 700000b to 1 tag 4 }
        rank 1 { init 4 = Int32 10
                 a: recv 0,700000 from 0 tag 1 with sumInt32  b: recv [1000000,400000 2000000,300000] from 0 tag 2
                 c: recv 3000000,700000 from 0 tag 3  recv 700000b from 0 tag 4 }";
    let program = program(text);
    let expected =
        goal_interp::run(&program, &goal_interp::Options::default()).expect("no deadlock");
    for seed in 0..goal_filetest::seeds(40) {
        let options = Options { eager_limit: 1000, ..Options::default() };
        let conditions = Conditions {
            options,
            payload_max: 8192,
            direct: true,
            mapped: false,
            ..Conditions::new(seed)
        };
        let End::Finished(ends, stats) = run(&program, &conditions) else { panic!("seed {seed}") };
        assert_eq!(
            expected.first_difference(&ends[0].0),
            None,
            "seed {seed}: (rank, address) differs"
        );
        assert_eq!(stats.verified_bytes, 700_000);
    }
}

#[test]
fn ranks_that_both_send_write_to_the_buffers_of_each_other() {
    let program = program(
        "rank 0 { init 0 = Int32 1 2 3  send 0,700000 to 1  recv 700000,700000 from 1 }
         rank 1 { init 699996 = Int32 5  send 0,700000 to 0  recv 700000,700000 from 0 }",
    );
    let expected =
        goal_interp::run(&program, &goal_interp::Options::default()).expect("no deadlock");
    let mut written = 0;
    for seed in 0..goal_filetest::seeds(40) {
        let conditions = Conditions { direct: true, ..Conditions::new(seed) };
        let End::Finished(ends, stats) = run(&program, &conditions) else { panic!("seed {seed}") };
        assert_eq!(expected.first_difference(&ends[0].0), None, "seed {seed}");
        written += stats.put_in_place;
    }
    assert!(written > 0);
}

/// A sender may only write what it was asked to write.
#[test]
fn bytes_that_nobody_asked_for_are_refused() {
    let request = Header { flags: Header::DIRECT, size: 400_000, ..Header::new(Kind::Rts, 1) };
    let written = Header { flags: Header::DIRECT, size: 400_000, ..Header::new(Kind::Data, 1) };
    for (is_exposing, size) in [(false, 400_000), (true, 399_999)] {
        let program = program("rank 0 { send 0,400000 to 1  recv 0,400000 from 1 } rank 1 { }");
        let schedule = Arc::new(Schedule::new(nisa(&program), 0, Seed::default()));
        let arriving = [request, Header { size, ..written }].into();
        let transport = Sent { is_exposing, arriving, ..Sent::default() };
        let mut engine = Engine::new(0, transport, Options::default(), state());
        engine.start(&schedule, 0, Storage::new(&schedule));
        let failure = (0..4).find_map(|now| engine.poll(now).err()).expect("it is refused");
        assert_eq!(
            failure.cause,
            Cause::Foreign { source_rank: 1, fault: Fault::Data(0) },
            "{is_exposing} {size}"
        );
    }
}

/// Returns what ends the job of a rank that gets these messages from rank 1; `None` if nothing
/// does.
fn after(arriving: impl Iterator<Item = Header>, state_bytes: usize) -> Option<Cause> {
    let options = Options { unexpected_limit: 10 * 128, ..Options::default() };
    let transport = Sent { arriving: arriving.collect(), ..Sent::default() };
    let mut engine = Engine::new(0, transport, options, Zeroed::new(state_bytes));
    engine.limit_requests();
    within(|| {
        while !engine.transport().arriving.is_empty() {
            if let Err(failure) = engine.poll(0) {
                return Some(failure.cause);
            }
        }
        None
    })
    .expect("the state has room")
}

/// The schedules of programs are not known to their peers, so a number bounds the requests.
#[test]
fn requests_of_programs_are_bounded() {
    let request = |number: u32| {
        let request = Header::new(Kind::Rts, 1);
        [
            Header { communicator: 7, instance: number, size: 1 << 20, ..request },
            Header { communicator: number + 9, size: 1 << 20, ..request },
        ]
    };
    assert_eq!(after((0..5).flat_map(request), 1 << 20), None);
    let refused = Cause::Foreign { source_rank: 1, fault: Fault::RequestsKept { most: 10 } };
    assert_eq!(after((0..6).flat_map(request), 1 << 20), Some(refused));
}

/// Messages for instances of communicators that there never were.
#[test]
fn made_up_communicators_leave_nothing() {
    let message = |number: u32| {
        let kind = if number.is_multiple_of(2) { Kind::Eager } else { Kind::Rts };
        Header { communicator: number, instance: u32::MAX, ..Header::new(kind, 1) }
    };
    assert_eq!(after((1..200_000).map(message), 1 << 20), None);
}

#[test]
fn a_deadlock_waits_for_messages() {
    let text = "rank 0 { r: recv 8b from 1 s: send 8b to 1 s requires r }
                rank 1 { r: recv 8b from 0 s: send 8b to 0 s requires r }";
    let End::Stuck(waiting) = run(&program(text), &conditions(Options::default())) else {
        panic!()
    };
    assert_eq!(waiting, [Waiting::Messages, Waiting::Messages]);
}

#[test]
fn what_nobody_receives_is_counted() {
    let text = "rank 0 { a: send 8b to 1 tag 1 b: send 8b to 1 tag 2 b requires a }
                rank 1 { recv 8b from 0 tag 2 }";
    let End::Finished(_, stats) = run(&program(text), &conditions(Options::default())) else {
        panic!()
    };
    assert_eq!((stats.messages, stats.unreceived), (2, 1));
}
