//! Linked schedules: random programs whose results the reference interpreter knows.

use goal::raw::{self, Schedule};
use goal::{Communicator, ErrorCode, Group, Mode};
use goal_asm::{EncodeOptions, Nisa, encode};
use goal_engine::Seed;
use goal_engine::memory::Region;
use goal_lang::limits::Limits;
use goal_smith::Shape;
use std::sync::Arc;

/// Runs random programs on two communicators. Many of them can be linked.
pub(crate) fn all(group: Group) {
    let same: Vec<u32> = (0..group.size()).collect();
    let twin = group.communicator(group.world(), &same).unwrap();
    let (mut linked, mut several_rounds) = (0, 0);
    for seed in 0..goal_filetest::seeds(150) {
        let communicator = if seed % 3 == 0 { &twin } else { group.world() };
        match random(group, communicator, seed) {
            Ok(()) => linked += 1,
            Err(why) => several_rounds += u32::from(why.contains("waits for a receive")),
        }
    }
    let (some, is_thread) = (linked > 20, group.progress() == Mode::Thread);
    assert_eq!(some, (2..=4).contains(&group.size()), "{linked} schedules are linked");
    assert!(is_thread || several_rounds == 0, "{several_rounds} schedules have several rounds");
    graphs(group);
}

/// Runs a program several times. Returns `Ok` if it is linked, or the reason.
#[allow(unsafe_code)] // the memory of the runs
fn random(group: Group, communicator: &Communicator, seed: u64) -> Result<(), Box<str>> {
    let ranks = group.size();
    let program =
        goal_smith::program(seed, &Shape { ranks: (ranks, ranks), ..Shape::linked(seed) });
    let options = goal_interp::Options::default();
    let expected = goal_interp::run(&program, &options).expect("no deadlock");
    let mut bytes = Vec::new();
    encode(&program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    let nisa = Arc::new(Nisa::load(Arc::new(bytes.clone()), &Limits::default()).unwrap());
    let own = goal_engine::Schedule::new(nisa, group.rank(), Seed::default());
    let mut words = vec![0u64; own.memory_size().div_ceil(8) as usize + 1];
    // SAFETY: the memory lasts as long as the region is used, and only through it.
    let memory = unsafe { Region::new(words.as_mut_ptr().cast(), own.memory_size() as usize) };
    let schedule = Schedule::load(bytes, communicator, Some(memory), &[], "load").unwrap();
    let mut linked = Err("it was not linked yet".into());
    for run in 0..4 {
        // SAFETY: no run is under way, and nobody else has the memory.
        own.reset(unsafe { memory.whole().as_mut_slice() });
        // SAFETY: the memory lasts until the run has ended.
        raw::wait(unsafe { schedule.start(None) }.unwrap(), "wait").unwrap();
        let mut all = expected.memory.clone();
        // SAFETY: as above.
        all[group.rank() as usize] = unsafe { memory.whole().as_slice() }.to_vec();
        let difference = expected.first_difference(&all);
        assert_eq!(difference, None, "seed {seed}, run {run}, {linked:?}: (rank, address)");
        if run == 1 {
            linked = raw::link(Ok(&schedule), communicator, "link").unwrap();
        }
    }
    linked
}

/// Links a graph of buffers.
fn graphs(group: Group) {
    let (next, before) = super::graphs::neighbours(group);
    let own = group.zeros::<u32>(3).unwrap();
    let got = group.zeros::<u32>(3).unwrap();
    let mut graph = group.graph();
    graph.send(&own, next, 1).unwrap();
    graph.recv(&got, before, 1).unwrap();
    let schedule = graph.compile().unwrap();
    for round in 0..100 {
        own.write().unwrap().fill(1000 * group.rank() + round);
        let run = schedule.run().unwrap();
        if round == 50 {
            let refused = schedule.link(group.world()).map(drop).map_err(|error| error.code());
            let fits = (2..=16).contains(&group.size());
            assert!(refused == Ok(()) || fits && refused == Err(ErrorCode::Busy), "{refused:?}");
        }
        run.wait().unwrap();
        assert_eq!(*got.read().unwrap(), [1000 * before + round; 3]);
        if round == 70 {
            let is_linked = schedule.link(group.world()).unwrap().is_ok();
            assert_eq!(is_linked, group.size() > 1);
        }
    }
}
