//! Two hosts with many more ranks than processors: a few ranks of each run for a while, and then
//! others.
//!
//! All ranks of one host send to all of the other one. Frames repeated to a rank that has no
//! processor fill its queue and cost it time when it runs.

use goal_esp::auth::JobKey;
use goal_esp::endpoint::{Config, Endpoint, Event, FRAME_LEN_MAX, Timing};
use goal_esp::sim::{Random, Simulation};
use std::collections::VecDeque;

/// The time between two polls of the ranks that run, and the number of polls in a turn.
const LOOK_NS: u64 = 5_000_000;
const LOOKS: u64 = 60;
/// The number of ranks of a host that run at a time.
const RUNNING: usize = 5;
/// The most frames in the queue of a rank; further ones are lost.
const WAITING_MAX: usize = 1000;

struct Rank {
    endpoint: Endpoint,
    arrived: VecDeque<Vec<u8>>,
    has_begun: bool,
    connected: usize,
    read: usize,
}

struct Outcome {
    /// The number of turns of each rank.
    turns: u64,
    /// The number of frames for each pair of ranks.
    frames: f64,
}

/// Simulates `ranks` ranks on each of two hosts with one processor. Each sends one message to each
/// rank of the other host.
fn exchange(seed: u64, ranks: usize) -> Outcome {
    let mut random = Random::new(seed);
    let job_key = JobKey::new(&random.bytes());
    let mut all: Vec<Rank> = (0..2 * ranks)
        .map(|rank| {
            let payload_max = Config::payload_max_of(1500).expect("it is enough");
            let mut config = Config::new(Simulation::address(rank), job_key.clone(), payload_max);
            // The timing of goal-run's ranks.
            config.timing = Timing {
                dead_ns: 300_000_000_000,
                connect_ns: 300_000_000_000,
                retransmit_max_ns: 20_000_000,
                probe_ns: 10_000_000_000,
                ..Timing::default()
            };
            let endpoint = Endpoint::new(config, random.bytes());
            Rank { endpoint, arrived: VecDeque::new(), has_begun: false, connected: 0, read: 0 }
        })
        .collect();
    let (mut sent, mut out) = (0u64, vec![0; FRAME_LEN_MAX]);
    let numbers = move |rank: usize| if rank < ranks { ranks..2 * ranks } else { 0..ranks };
    for look in 0.. {
        // Other ranks run together each time that all have run.
        let (step, now_ns) = (look / LOOKS, 1 + look * LOOK_NS);
        let groups = (ranks / RUNNING) as u64;
        if all.iter().all(|rank| (rank.connected, rank.read) == (ranks, ranks)) {
            return Outcome {
                turns: step.div_ceil(groups),
                frames: sent as f64 / (ranks * ranks) as f64,
            };
        }
        assert!(step < 20 * groups * groups, "some pair starves");
        let [first, second] =
            [step % groups, (step + step / groups) % groups].map(|group| group as usize * RUNNING);
        for number in (first..first + RUNNING).chain(ranks + second..ranks + second + RUNNING) {
            let rank = &mut all[number];
            if !std::mem::replace(&mut rank.has_begun, true) {
                for peer in numbers(number) {
                    rank.endpoint
                        .connect(now_ns, Simulation::address(peer))
                        .expect("there is room for all");
                }
            }
            for frame in rank.arrived.drain(..) {
                rank.endpoint.handle_frame(now_ns, &frame);
            }
            rank.endpoint.handle_timeout(now_ns);
            while let Some(event) = rank.endpoint.poll_event() {
                match event {
                    Event::Connected { id, .. } => {
                        rank.connected += 1;
                        rank.endpoint.push(id, vec![0; 100], true).expect("it is the first");
                    }
                    Event::Readable(id) => {
                        rank.read += usize::from(rank.endpoint.read(now_ns, id).is_some())
                    }
                    Event::Lost { cause, .. } => panic!("rank {number} lost a peer: {cause}"),
                    _ => {}
                }
            }
            while let Some(len) = all[number].endpoint.poll_transmit(now_ns, &mut out) {
                sent += 1;
                let to = numbers(number).find(|&to| Simulation::address(to).mac.0 == out[..6]);
                let arrived = &mut all[to.expect("a rank of the other host")].arrived;
                if arrived.len() < WAITING_MAX {
                    arrived.push_back(out[..len].to_vec());
                }
            }
        }
    }
    unreachable!()
}

#[test]
fn ranks_that_share_a_processor_are_not_asked_in_vain() {
    for ranks in [20, 80] {
        let Outcome { turns, frames } = exchange(7, ranks);
        println!("{ranks} ranks on a host: {turns} turns each, {frames:.1} frames for each pair");
        assert!(turns < 10, "{turns}");
        assert!(frames < 20.0, "{frames}");
    }
}
