//! Eight hosts send to one at once: compares the receiver's congestion budget with windows that are
//! always full.
//!
//! In one run each host sends all of its data, in another one a part after each answer, as in a row
//! of gathers.

use goal_esp::endpoint::{ConnectionId, Event};
use goal_esp::sim::{Counts, Faults, Links, Simulation};
use std::collections::BTreeMap;

const SENDERS: usize = 8;
const BYTES: usize = 4 << 20;
/// The length of a part in bytes: some 45 packets.
const PART: usize = 1 << 16;

struct Outcome {
    gbit_s: f64,
    counts: Counts,
    sent_again: u64,
}

/// Hosts 1 to 8 send to host 0, which answers each part and has a budget of `budget` packets. The
/// switch's outputs have room for `queue` frames.
fn incast(budget: u16, queue_frames_max: usize, part: usize) -> Outcome {
    let links = Links { queue_frames_max, ..Links::default() };
    let mut simulation =
        Simulation::new(1, SENDERS + 1, links, Faults::default(), |config| config.budget = budget);
    for host in 1..=SENDERS {
        let now_ns = simulation.host_now_ns(host);
        simulation.hosts[host].endpoint.connect(now_ns, Simulation::address(0)).expect("one peer");
        simulation.flush(host);
    }
    let mut left = [part; SENDERS + 1];
    let mut read = [0; SENDERS + 1];
    let mut senders = BTreeMap::new();
    // The bytes read, and the time, when data of each sender had arrived. Losses before that are
    // not counted as congestion: no round trip was measured yet.
    let mut begun = None;
    let sum = |read: &[usize]| read.iter().sum::<usize>();
    while sum(&read) < SENDERS * BYTES {
        if begun.is_none() && read[1..].iter().all(|&read| read >= PART) {
            begun = Some((sum(&read), simulation.now_ns()));
        }
        let Some(host) = simulation.advance().expect("they are connected") else { continue };
        assert!(simulation.now_ns() < 60_000_000_000, "a budget of {budget} takes a minute");
        let now_ns = simulation.host_now_ns(host);
        while let Some(event) = simulation.hosts[host].endpoint.poll_event() {
            let endpoint = &mut simulation.hosts[host].endpoint;
            match event {
                Event::Connected { id, .. } | Event::Writable(id) if host > 0 => {
                    write(endpoint, id, &mut left[host]);
                }
                Event::Connected { id, peer } => {
                    senders.insert(id, peer);
                }
                Event::Readable(id) if host > 0 => {
                    while endpoint.read(now_ns, id).is_some() {
                        left[host] = part;
                    }
                    write(endpoint, id, &mut left[host]);
                }
                Event::Readable(id) => {
                    let sender =
                        (1..=SENDERS).find(|&host| Simulation::address(host) == senders[&id]);
                    let read = &mut read[sender.expect("one of the senders")];
                    while let Some(payload) = endpoint.read(now_ns, id) {
                        *read += payload.len();
                        if *read % part == 0 && *read < BYTES {
                            endpoint.push(id, vec![0], true).expect("one answer at a time");
                        }
                    }
                }
                Event::Lost { cause, .. } => panic!("host {host} lost its peer: {cause}"),
                _ => {}
            }
        }
        simulation.flush(host);
    }
    let (before, begun_ns) = begun.expect("all have begun");
    Outcome {
        gbit_s: (8 * (sum(&read) - before)) as f64 / (simulation.now_ns() - begun_ns) as f64,
        counts: simulation.network.counts(),
        sent_again: simulation.hosts.iter().map(|host| host.endpoint.stats().sent_again).sum(),
    }
}

fn write(endpoint: &mut goal_esp::endpoint::Endpoint, id: ConnectionId, left: &mut usize) {
    while *left > 0 {
        let len = endpoint.payload_max(id).min(*left);
        if endpoint.push(id, vec![0; len], false).is_err() {
            return;
        }
        *left -= len;
    }
}

#[test]
fn a_budget_keeps_the_queue_from_overrunning() {
    println!("queue   part  budget  Gbit/s  overrun  sent again");
    for (queue, part) in
        [32, 64, 128, 256].into_iter().flat_map(|queue| [(queue, BYTES), (queue, PART)])
    {
        let [controlled, free] = [queue as u16 * 3 / 4, u16::MAX].map(|budget| {
            let outcome = incast(budget, queue, part);
            let Outcome { gbit_s, counts, sent_again } = &outcome;
            let budget = if budget == u16::MAX { "none".into() } else { budget.to_string() };
            let part = part >> 10;
            println!(
                "{queue:>5}  {part:>5}  {budget:>6}  {gbit_s:>6.2}  {:>7}  {sent_again:>10}",
                counts.overrun
            );
            outcome
        });
        assert!(controlled.counts.overrun < free.counts.overrun / 2, "the budget does not help");
        assert!(controlled.gbit_s > free.gbit_s, "the budget costs more than it saves");
    }
}
