//! The engine under a deterministic simulation: random schedules on hosts whose network
//! loses, doubles, delays and damages frames, compared with the reference interpreter.
//!
//! `GOAL_KERNEL_SEED=S cargo test -p goal-kernel --test simulation one_seed` replays a seed.
#![allow(missing_docs, unreachable_pub)]

mod ahead;
mod dissector;
mod long;
#[path = "../common/matches.rs"]
mod matches;
mod matching;
mod memory;
mod native;
mod network;
mod operations;
mod races;
mod tags;

use goal_asm::{EncodeOptions, Nisa, encode};
use goal_interp::Options;
use goal_kernel::layout::Counter;
use goal_kernel::{Installation, Job, Peer, Plan, Reason};
use goal_lang::limits::Limits;
use goal_lang::{ANY, Action, Datatype, Datum, ImageId, MemoryImage, Program};
use goal_smith::Shape;
use matches::matches;
use native::Engine;
use network::{Faults, Network, Random};
use std::sync::Arc;

/// A random shape of what the kernel can do.
fn shape(seed: u64) -> Shape {
    // In two of three, processes have something to do: they compute, and store the time.
    let (wtime, calc_nanos_max) = if seed.is_multiple_of(3) { (false, 0) } else { (true, 5) };
    // The matching that the plan chose decides between outcomes.
    let outcomes_may_differ = seed.is_multiple_of(2);
    Shape { wtime, calc_nanos_max, outcomes_may_differ, ..Shape::varied(seed) }
}

/// The installation of a job of one rank, without a part.
fn alone() -> Installation {
    let mac = [2, 0, 0, 0, 0, 0];
    let job = Job {
        number: 1,
        key: [1, 2],
        secrets: [3, 4],
        ethertype: 0x88b6,
        ifindex: 1,
        mac,
        peers: vec![Peer { mac, port: 0 }],
    };
    Installation::new(job).unwrap()
}

fn nisa(program: &Program) -> Nisa {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).unwrap();
    Nisa::load(Arc::new(bytes), &Limits::default()).unwrap()
}

/// The memory of each rank at the start of a run.
fn inputs(nisa: &Nisa) -> Vec<Vec<u8>> {
    let of_rank = |rank| {
        let mut memory = vec![0; nisa.memory_size(rank) as usize];
        for value in nisa.image(rank).into_iter().flat_map(|image| image.init) {
            memory[value.addr as usize..][..value.bytes.len()].copy_from_slice(value.bytes);
        }
        memory
    };
    (0..nisa.num_ranks()).map(of_rank).collect()
}

/// The program with other bytes at the start.
fn varied(program: &Program, sizes: &[usize], random: &mut Random) -> Program {
    let mut varied = program.clone();
    varied.images.clear();
    for (rank, &size) in sizes.iter().enumerate() {
        let bytes: Vec<u8> = (0..size).map(|_| random.next() as u8 | 1).collect();
        let init = vec![Datum { addr: 0, datatype: Datatype::UInt8, bytes }];
        let image = MemoryImage { init, expect: Vec::new() };
        varied.ranks[rank].image = (size > 0).then(|| {
            varied.images.push(image);
            ImageId::new(varied.images.len() - 1)
        });
    }
    varied
}

/// Counts of schedules and runs over many seeds.
#[derive(Debug, Default)]
struct Sums {
    schedules: u64,
    refused: u64,
    /// Schedules with messages that are sent in portions, and with receives from any source or with
    /// any tag.
    cut: u64,
    wild: u64,
    runs: u64,
    handed: u64,
    counters: [u64; 12],
}

/// Returns true if the engine sends a message of a plan in portions.
fn is_cut(plan: &Plan) -> bool {
    let messages = plan.messages().filter(|message| message.send.0 != message.receive.0).count();
    let part = |rank| plan.part(rank).part;
    let sends: u32 = (0..plan.ranks()).map(|rank| part(rank).sends - part(rank).acks).sum();
    sends as usize > messages
}

fn is_wild(program: &Program) -> bool {
    let is_wild = |action: &Action| matches!(*action, Action::Recv { from, tag, .. } if from == ANY || tag == ANY);
    program.bodies.iter().any(|body| body.ids().any(|id| is_wild(body.action(id))))
}

/// Runs a seed: one or two schedules at once, several runs of each.
fn run(engine: Engine, seed: u64, sums: &mut Sums) {
    let mut random = Random(seed);
    let fragment = [8, 24, 64, 512, 1424, 8192][random.below(6) as usize];
    let (mut plans, mut programs) = (Vec::new(), Vec::new());
    for schedule in 0..1 + random.below(2) {
        let seed = seed.wrapping_mul(2).wrapping_add(schedule);
        let program = goal_smith::program(seed, &shape(seed));
        let file = nisa(&program);
        match Plan::of(&file, fragment) {
            Ok(plan) => {
                sums.cut += u64::from(is_cut(&plan));
                sums.wild += u64::from(is_wild(&program));
                plans.push(plan);
                programs.push((program, file));
            }
            Err(refusals) => {
                sums.refused += 1;
                let is_known = |reason| matches!(reason, Reason::ManyBytes(_));
                let other = refusals.iter().find(|refusal| !is_known(refusal.reason));
                assert!(other.is_none(), "seed {seed}: {}", other.unwrap());
            }
        }
    }
    if plans.is_empty() {
        return;
    }
    let epochs = 1 + random.below(4);
    let (mut starts, mut outcomes) = (Vec::new(), Vec::new());
    for ((program, file), plan) in programs.iter().zip(&plans) {
        let matches = matches(plan);
        let first = inputs(file);
        let sizes: Vec<usize> = first.iter().map(Vec::len).collect();
        let (mut inputs_of, mut outcomes_of) = (Vec::new(), Vec::new());
        for epoch in 0..epochs {
            let other = varied(program, &sizes, &mut random);
            let options = Options { seed, ..Options::default() };
            let replayed = |program| goal_interp::replay(program, &options, &matches);
            let outcome = (epoch > 0).then(|| replayed(&other).ok()).flatten();
            match outcome {
                Some(outcome) => {
                    inputs_of.push(inputs(&nisa(&other)));
                    outcomes_of.push(outcome);
                }
                None => {
                    inputs_of.push(first.clone());
                    outcomes_of.push(replayed(program).unwrap());
                }
            }
        }
        starts.push(inputs_of);
        outcomes.push(outcomes_of);
    }
    let faults = match random.below(4) {
        0 => Faults::default(),
        1 => Faults { lost: 10, doubled: 10, late: 10, damaged: 2, flooded: 50 },
        2 => Faults { lost: 30, doubled: 30, late: 30, damaged: 5, flooded: 10 },
        _ => Faults {
            lost: random.below(20),
            doubled: random.below(60),
            late: random.below(80),
            damaged: random.below(10),
            flooded: random.below(100),
        },
    };
    let mut network = Network::new(engine, random.next(), faults, &plans, &starts);
    let replay = format!("GOAL_KERNEL_SEED={seed} cargo test -p goal-kernel --test simulation one");
    assert!(network.run(), "seed {seed} does not end: {replay}");
    for process in &network.processes {
        for (epoch, result) in process.results.iter().enumerate() {
            let outcome = &outcomes[process.schedule][epoch];
            let rank = process.rank as usize;
            let is_free = |at: usize| outcome.unspecified[rank].get(at).is_some_and(|&flag| flag);
            let differs = (0..result.len())
                .find(|&at| result[at] != outcome.memory[rank][at] && !is_free(at));
            assert_eq!(
                differs, None,
                "schedule {} rank {rank} run {epoch}: {replay}",
                process.schedule
            );
        }
    }
    let memories = |network: &mut Network| -> Vec<Vec<u8>> {
        network.hosts.iter().map(|host| host.everything()).collect()
    };
    network.settle();
    let before = memories(&mut network);
    assert_eq!(network.replay(), 0, "a replayed or forged frame is answered: {replay}");
    assert!(before == memories(&mut network), "a replayed or forged frame changes maps: {replay}");
    sums.handed += network.handed;
    sums.schedules += plans.len() as u64;
    sums.runs += epochs * plans.len() as u64;
    for counter in Counter::ALL {
        sums.counters[counter as usize] += network.counter(counter);
    }
}

#[test]
fn many_seeds() {
    let Some(engine) = Engine::or_skip("many_seeds") else { return };
    let seeds = goal_filetest::seeds(200);
    let mut sums = Sums::default();
    for seed in 0..seeds {
        run(engine, seed, &mut sums);
    }
    println!("{seeds} seeds: {sums:?}");
    assert!(sums.refused < sums.schedules / 4, "{sums:?}");
    assert!(sums.handed > seeds / 2, "{sums:?}");
    assert!(sums.cut > seeds / 50 && sums.wild > seeds / 10, "{sums:?}");
    for counter in [
        Counter::Data,
        Counter::Double,
        Counter::Late,
        Counter::Forged,
        Counter::Asked,
        Counter::Answered,
    ] {
        assert!(sums.counters[counter as usize] > seeds / 10, "{counter:?}: {sums:?}");
    }
}

#[test]
fn one_seed() {
    let Ok(seed) = std::env::var("GOAL_KERNEL_SEED") else { return };
    let Some(engine) = Engine::or_skip("one_seed") else { return };
    run(engine, seed.parse().expect("a number"), &mut Sums::default());
}
