//! Tests a flood: a host outside of the job sends recorded and changed frames of the job to one of
//! the job's hosts. Runs go on, and end with the right memory.

use crate::allreduce;
use crate::bench::{Bench, Place, outcome};
use crate::forged::{packets, recorded};
use goal_cluster::{Cluster, Switch, Wiring};
use goal_filetest::{patience, until};
use goal_kernel::layout::Counter;
use rustix::net::{SendFlags, send};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[test]
fn a_flood_of_forged_frames_changes_nothing() {
    let name = "a_flood_of_forged_frames_changes_nothing";
    let wiring = Wiring { hosts: 3, mtu: 9000, switch: Switch::Bridge };
    let Some(cluster) = Cluster::or_skip(name, &wiring) else { return };
    let places = Place::of(&cluster);
    let (program, plan) = allreduce();
    let mut bench = Bench::at(&places[..2], &[plan], None, None);
    let victim = cluster.hosts()[1].call(packets).unwrap();
    let (inputs, wanted) = outcome(&program, 0);
    assert_eq!(wanted.first_difference(&bench.run(0, &inputs)), None);
    let mut frames = Vec::new();
    until("frames are recorded", || {
        frames.extend(recorded(&victim, places[1].mac));
        !frames.is_empty()
    });
    drop(victim);
    // Its own address, so that the switch does not learn wrong ones.
    frames.iter_mut().for_each(|frame| frame[6..12].copy_from_slice(&places[2].mac));
    let (ends, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let flood = || {
        let socket = packets();
        for number in 0u64.. {
            if ends.load(Ordering::Relaxed) {
                break;
            }
            let mut frame = frames[number as usize % frames.len()].clone();
            if number.is_multiple_of(2) {
                let at = 26 + (number / 2) as usize % (frame.len() - 26);
                frame[at] ^= 1 << (number % 8);
            }
            if send(&socket, &frame, SendFlags::empty()).is_ok() {
                sent.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    let refusals = [Counter::Forged, Counter::Late, Counter::Double, Counter::Malformed];
    let refused = |bench: &Bench| -> u64 {
        refusals.map(|counter| bench.kernels[1].counter(counter)).iter().sum()
    };
    let before = refused(&bench);
    std::thread::scope(|scope| {
        let attacker = scope.spawn(|| places[2].call(flood));
        let began = Instant::now();
        let runs = 200 * goal_filetest::seeds(1);
        for round in 0..runs {
            let (inputs, wanted) = outcome(&program, round);
            assert_eq!(wanted.first_difference(&bench.run(0, &inputs)), None, "run {round}");
        }
        // Enough of the flood, however fast the runs were.
        while sent.load(Ordering::Relaxed) < 100 * runs && began.elapsed() < patience(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        ends.store(true, Ordering::Relaxed);
        attacker.join().unwrap();
        println!("{runs} runs and {sent:?} frames in {:?}", began.elapsed());
    });
    let (sent, refused) = (sent.into_inner(), refused(&bench) - before);
    println!("{refused} refused: {}", bench.counters());
    // A changed address, kind or number of a job makes a frame that is not for the engine.
    assert!(refused > sent / 2, "{refused} of {sent}");
}
