//! Tests schedules whose memory is a table of buffers. The buffers are bound at each start.
#![allow(unsafe_code)] // binds memory of the test

use crate::engine::{Areas, Engine, Options, Schedule, Storage, WORLD};
use crate::memory::{Region, Zeroed};
use crate::testing::{nisa, program, state};
use crate::transport::InMemory;
use goal_lang::Program;
use std::sync::Arc;

/// Copies 8 bytes through a message of the rank to itself and adds them up.
fn schedule() -> Arc<Schedule> {
    let Program { mut bodies, ranks, images } = program(
        "rank 0 { s: send 0,8 to 0; r: recv 100,8 from 0; e: exec sumInt64 with 0,8 100,8; e requires r }",
    );
    assert_eq!(bodies[0].make_table(std::slice::from_ref(&(100..108))), Ok(vec![100, 0]));
    let nisa = nisa(&Program { bodies, ranks, images });
    assert_eq!(nisa.buffers(0).collect::<Vec<_>>(), [8, 8]);
    Arc::new(Schedule::new(nisa, 0, crate::Seed::default()))
}

fn bytes(value: i64) -> Box<[u8; 8]> {
    Box::new(value.to_le_bytes())
}

fn region(bytes: &mut [u8; 8]) -> Region {
    // SAFETY: the tests keep the bytes for longer than the engine and name them nowhere else while
    // an instance runs.
    unsafe { Region::new(bytes.as_mut_ptr(), bytes.len()) }
}

/// Storage for the schedule on these buffers.
fn storage(schedule: &Schedule, buffers: Vec<Region>) -> Storage<'static> {
    let sizes = schedule.state_sizes();
    let owner = [Zeroed::new(2 * sizes.counters), Zeroed::new(8 * sizes.finished)];
    let areas = Areas {
        memory: Region::EMPTY,
        buffers,
        scratch: Region::EMPTY,
        counters: owner[0].cells(),
        finished: owner[1].cells(),
        matches: None,
    };
    // SAFETY: as for `region`; the owner has the counters.
    unsafe { Storage::over(areas, Some(Box::new(owner))) }
}

fn engine() -> Engine<'static, InMemory> {
    let [end] = <[InMemory; 1]>::try_from(InMemory::group(1)).expect("one end");
    Engine::new(0, end, Options::default(), state())
}

#[test]
fn a_schedule_starts_again_on_other_buffers() {
    let schedule = schedule();
    let [mut a, mut b, mut c, mut d] = [bytes(3), bytes(0), bytes(40), bytes(9)];
    let mut engine = engine();
    let on = vec![region(&mut b), region(&mut a)];
    let mut handle = engine.start(&schedule, WORLD, storage(&schedule, on));
    engine.wait(&handle, || 0).unwrap();
    // SAFETY: as for `region`.
    unsafe {
        engine.bind(&handle, |table| table.clone_from(&vec![region(&mut d), region(&mut c)]))
    };
    engine.start_again(&mut handle);
    engine.wait(&handle, || 0).unwrap();
    drop(engine.finish(handle));
    assert_eq!([a, b, c, d].map(|bytes| i64::from_le_bytes(*bytes)), [3, 6, 40, 80]);
}

#[test]
fn an_ended_instance_takes_no_memory_of_later_ones() {
    let schedule = schedule();
    let [mut a, mut b] = [bytes(3), bytes(0)];
    let [end] = <[InMemory; 1]>::try_from(InMemory::group(1)).expect("one end");
    let mut engine = Engine::new(0, end, Options::default(), Zeroed::new(1 << 16));
    let mut start = || {
        let on = vec![region(&mut b), region(&mut a)];
        let handle = engine.start(&schedule, WORLD, storage(&schedule, on));
        engine.wait(&handle, || 0).unwrap();
        handle
    };
    let [mut first, mut second] = [start(), start()];
    for round in 0..=1 << 16 {
        let handle = if round < 1 << 16 { &mut second } else { &mut first };
        engine.start_again(handle);
        engine.wait(handle, || 0).unwrap();
    }
    assert_eq!(engine.stats().unreceived, 0);
    drop([first, second].map(|handle| engine.finish(handle)));
}

#[test]
#[should_panic = "a buffer smaller than the schedule uses"]
fn a_buffer_that_is_too_small_is_refused() {
    let schedule = schedule();
    let mut a = bytes(0);
    let short = region(&mut a).split(&[4]);
    let on = vec![region(&mut bytes(0)), short[0]];
    engine().start(&schedule, WORLD, storage(&schedule, on));
}

#[test]
#[should_panic = "another number of buffers than the schedule has"]
fn a_table_with_too_few_buffers_is_refused() {
    let schedule = schedule();
    let on = vec![region(&mut bytes(0))];
    engine().start(&schedule, WORLD, storage(&schedule, on));
}
